//! An obstacle course: one server that has every rung of the ladder, one request that climbs them all, and for every
//! rung a way to break the request there and nowhere below. Ways of different rungs combine, so that any two faults
//! can be had in one request.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ringmcp::types::{RpcError, Tool};
use ringmcp::{
    Builder, Context, Denied, HandlerError, LegacyMode, Limits, Observed, Principal, RequestHead,
    Server, ToolError,
};
use serde_json::{Map, Value, json};

use crate::support::{Answer, CC, PV, Request};

/// Bytes of one body on this server: little, so that a body too large is cheap.
pub(crate) const BODY_BYTES: usize = 16 * 1024;

/// The extension behind `ext/run`.
const EXTENSION: &str = "com.example/course";

/// The id of every request here; an answer repeats it or has no id at all.
pub(crate) const ID: &str = "course-7";

/// What the course counts.
#[derive(Clone, Default)]
pub(crate) struct Seen {
    /// Handlers that ran.
    pub(crate) handlers: Arc<AtomicUsize>,
    /// Guards that were asked.
    pub(crate) guards: Arc<AtomicUsize>,
}

impl Seen {
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.guards.load(Ordering::SeqCst), self.handlers.load(Ordering::SeqCst))
    }
}

/// A server with something on every rung: an authenticator (3), small bodies (5), no prompts (16), a method of an
/// extension (17), a tool with a mirrored argument (19), scopes and a guard (20), a schema (23), and handlers that
/// fail on demand (24).
pub(crate) fn server(seen: &Seen) -> Builder {
    let (tool, method, guard) = (seen.clone(), seen.clone(), seen.clone());
    let definition = Tool::new("course").input_schema(json!({
        "type": "object",
        "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "n": { "type": "integer" },
        },
        "required": ["region", "n"],
    }));
    Server::builder("course", "1")
        // Rung 8 refuses only where the other era is not served.
        .legacy(LegacyMode::Reject)
        .limits(Limits { body_bytes: BODY_BYTES, ..Limits::default() })
        .authenticate(authenticate)
        .guard(move |observed| {
            guard.guards.fetch_add(1, Ordering::SeqCst);
            refuse_the_denied(observed)
        })
        .tool_raw(
            definition.expect("a schema"),
            async move |_: &Context, arguments: Map<String, Value>| {
                tool.handlers.fetch_add(1, Ordering::SeqCst);
                match arguments.get("fail") {
                    Some(_) => Err(ToolError::protocol(RpcError::new(1234, "as asked"))),
                    None => Ok("through"),
                }
            },
        )
        .require_scopes("course", ["course:call"])
        .extension(EXTENSION, Map::new())
        .method("ext/run", Some(EXTENSION), async move |_: &Context, params: Map<String, Value>| {
            method.handlers.fetch_add(1, Ordering::SeqCst);
            match params["arguments"].get("fail") {
                Some(_) => Err(HandlerError::protocol(RpcError::new(1234, "as asked"))),
                None => Ok(json!({ "through": true })),
            }
        })
}

async fn authenticate(head: &RequestHead<'_>) -> Result<Principal, Denied> {
    match head.header("authorization") {
        Some(b"Bearer all") => Ok(Principal::new("alice").scope("course:call")),
        Some(b"Bearer scopeless") => Ok(Principal::new("bob")),
        _ => Err(Denied::unauthorized(r#"Bearer realm="course""#)),
    }
}

/// Refuses what is marked, whatever its method: a custom method's arguments are its whole params.
fn refuse_the_denied(observed: &Observed<'_>) -> Result<(), Denied> {
    let marked = observed.arguments.is_some_and(|arguments| {
        let inner = arguments.get("arguments").and_then(|inner| inner.as_object());
        arguments.get("deny").is_some() || inner.is_some_and(|inner| inner.get("deny").is_some())
    });
    if marked { Err(Denied::insufficient_scope(&["course:deny".to_owned()])) } else { Ok(()) }
}

/// A request under demolition.
#[derive(Clone)]
pub(crate) struct Draft {
    pub(crate) request: Request,
    /// Blanks behind the body.
    pub(crate) padding: usize,
    /// A brace too many.
    pub(crate) torn: bool,
}

impl Draft {
    /// Climbs every rung.
    pub(crate) fn new() -> Self {
        let arguments = json!({ "region": "eu", "n": 1 });
        let request = Request::call("course", arguments)
            .id(json!(ID))
            .header("Authorization", "Bearer all")
            .header("Mcp-Param-Region", "eu");
        Self { request, padding: 0, torn: false }
    }

    pub(crate) fn broken(ways: &[&Way]) -> Self {
        // From the top down: a lower fault may build on what a higher one has put there.
        let mut ways = ways.to_vec();
        ways.sort_by_key(|way| std::cmp::Reverse(way.rung));
        ways.into_iter().fold(Self::new(), |mut draft, way| {
            (way.apply)(&mut draft);
            draft
        })
    }

    fn change(&mut self, change: impl FnOnce(Request) -> Request) {
        self.request = change(self.request.clone());
    }

    pub(crate) fn header(&mut self, name: &str, value: &str) {
        self.change(|request| request.header(name, value));
    }

    pub(crate) fn without_header(&mut self, name: &str) {
        self.change(|request| request.without_header(name));
    }

    /// Changes a header unless another fault has removed it.
    fn change_header(&mut self, name: &str, value: &str) {
        if self.request.headers.iter().any(|(known, _)| known == name) {
            self.header(name, value);
        }
    }

    pub(crate) fn meta(&mut self, key: &str, value: Value) {
        self.change(|request| request.meta(key, value));
    }

    pub(crate) fn argument(&mut self, name: &str, value: Value) {
        if let Some(arguments) = self.request.message["params"]["arguments"].as_object_mut() {
            arguments.insert(name.to_owned(), value);
        }
    }

    /// Another method, with the header that repeats it.
    fn method(&mut self, method: &str) {
        self.request.message["method"] = json!(method);
        self.change_header("Mcp-Method", method);
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut body = self.request.message.to_string().into_bytes();
        if self.torn {
            body.push(b'}');
        }
        body.resize(body.len() + self.padding, b' ');
        self.request.clone().body(body).bytes()
    }
}

/// A way to break the request at one rung.
pub(crate) struct Way {
    pub(crate) rung: u8,
    pub(crate) what: &'static str,
    pub(crate) apply: fn(&mut Draft),
}

const fn way(rung: u8, what: &'static str, apply: fn(&mut Draft)) -> Way {
    Way { rung, what, apply }
}

/// One way for each rung, in order. [`IMPOSSIBLE`] names the pairs that cannot be had at once.
pub(crate) const COURSE: [Way; 24] = [
    way(1, "a foreign Host", |draft| draft.header("Host", "evil.example")),
    way(2, "PUT", |draft| draft.request.http_method = "PUT".into()),
    way(3, "no credentials", |draft| draft.without_header("Authorization")),
    way(4, "text/plain", |draft| draft.header("Content-Type", "text/plain")),
    way(5, "a body beyond the limit", |draft| draft.padding = BODY_BYTES),
    way(6, "no JSON", |draft| draft.torn = true),
    way(7, "jsonrpc 1.0", |draft| draft.request.message["jsonrpc"] = json!("1.0")),
    way(8, "no claim", |draft| draft.change(|request| request.without_meta(PV))),
    way(9, "a claim that is a number", |draft| draft.meta(PV, json!(20_260_728))),
    way(10, "a version header that differs", |draft| {
        draft.change_header("MCP-Protocol-Version", "2025-11-25");
    }),
    way(11, "an unknown version", |draft| {
        draft.meta(PV, json!("v999.0.0"));
        draft.change_header("MCP-Protocol-Version", "v999.0.0");
    }),
    way(12, "no version header", |draft| draft.without_header("MCP-Protocol-Version")),
    way(13, "capabilities that are an array", |draft| draft.meta(CC, json!([]))),
    way(14, "Mcp-Method of another method", |draft| draft.header("Mcp-Method", "tools/list")),
    way(15, "Mcp-Name of another tool", |draft| draft.header("Mcp-Name", "other")),
    way(16, "a method whose capability is not there", |draft| draft.method("prompts/get")),
    way(17, "an extension that is not declared", |draft| draft.method("ext/run")),
    way(18, "inputResponses that are an array", |draft| {
        draft.change(|request| request.param("inputResponses", json!([])));
    }),
    way(19, "Mcp-Param-Region of another region", |draft| draft.header("Mcp-Param-Region", "us")),
    way(20, "what the guard refuses", |draft| draft.argument("deny", json!("yes"))),
    way(21, "a requestState of nobody", |draft| {
        draft.change(|request| request.param("requestState", json!("nobody.sealed.this")));
    }),
    way(22, "a tool that is not there", |draft| {
        draft.change(|request| request.param("name", json!("missing")));
        draft.change_header("Mcp-Name", "missing");
    }),
    way(23, "an argument of the wrong type", |draft| draft.argument("n", json!("one"))),
    way(24, "a handler that fails", |draft| draft.argument("fail", json!(true))),
];

/// Pairs of rungs that no single request can fail at once, and why.
pub(crate) const IMPOSSIBLE: [(u8, u8, &str); 18] = [
    (8, 9, "a claim is absent or ill-typed"),
    (8, 10, "without a claim there is nothing for the header to differ from"),
    (8, 11, "without a claim there is no version to refuse"),
    (9, 11, "a claim that is no string names no version"),
    (10, 12, "a header is absent or differs"),
    (15, 17, "Mcp-Name repeats nothing of an extension's method"),
    (16, 17, "a method that is not served needs nothing of the client"),
    (16, 19, "no tool, no mirrored argument"),
    (16, 23, "no tool, no schema"),
    (16, 24, "no method, no handler"),
    (17, 18, "the params of an extension's method are its handler's to judge"),
    (17, 19, "an extension's method mirrors no arguments"),
    (17, 21, "an extension's method has no rounds"),
    (17, 22, "an extension's method names nothing that may be missing"),
    (17, 23, "an extension's method has no schema"),
    (19, 22, "a tool that is not there mirrors no arguments (PAR-13)"),
    (22, 23, "a tool that is not there has no schema"),
    (22, 24, "a tool that is not there has no handler"),
];

/// What a rung answers.
pub(crate) struct Expected {
    pub(crate) status: u16,
    /// `None`: the body is no JSON-RPC error.
    pub(crate) code: Option<i64>,
    /// Whether the answer repeats the id.
    pub(crate) id: bool,
    /// A header and what it contains.
    pub(crate) header: Option<(&'static str, &'static str)>,
    /// What the body says: rungs of the same status and code differ by it.
    pub(crate) says: &'static str,
}

const fn expected(status: u16, code: Option<i64>, id: bool, says: &'static str) -> Expected {
    Expected { status, code, id, header: None, says }
}

const fn with_header(mut expected: Expected, name: &'static str, value: &'static str) -> Expected {
    expected.header = Some((name, value));
    expected
}

/// The answers of [`COURSE`], in order: the table of ledger section 1c.
pub(crate) const ANSWERS: [Expected; 24] = [
    expected(403, Some(-32600), false, "Host"),
    with_header(expected(405, Some(-32600), false, "POST"), "Allow", "POST"),
    with_header(
        expected(401, None, false, "invalid_token"),
        "WWW-Authenticate",
        r#"Bearer realm="course""#,
    ),
    expected(415, Some(-32600), false, "Content-Type"),
    with_header(expected(413, Some(-32600), false, "body"), "Connection", "close"),
    expected(400, Some(-32700), false, "JSON"),
    expected(400, Some(-32600), true, "jsonrpc"),
    expected(400, Some(-32602), true, "protocolVersion"),
    expected(400, Some(-32602), true, "must be a string"),
    expected(400, Some(-32020), true, "MCP-Protocol-Version differs"),
    expected(400, Some(-32022), true, "v999.0.0"),
    expected(400, Some(-32020), true, "MCP-Protocol-Version is missing"),
    expected(400, Some(-32602), true, "clientCapabilities"),
    expected(400, Some(-32020), true, "Mcp-Method"),
    expected(400, Some(-32020), true, "Mcp-Name"),
    expected(404, Some(-32601), true, "Method not found"),
    expected(400, Some(-32021), true, EXTENSION),
    expected(200, Some(-32602), true, "inputResponses"),
    expected(400, Some(-32020), true, "Mcp-Param-Region"),
    with_header(
        expected(403, None, false, "insufficient_scope"),
        "WWW-Authenticate",
        r#"error="insufficient_scope", scope="course:deny""#,
    ),
    expected(200, Some(-32602), true, "requestState"),
    expected(200, Some(-32602), true, "Unknown tool"),
    expected(200, None, true, "Invalid arguments"),
    expected(200, Some(1234), true, "as asked"),
];

impl Expected {
    /// Panics unless `answer` is the rung's.
    pub(crate) fn check(&self, answer: &Answer, what: &str) {
        let body = String::from_utf8(answer.body.clone()).expect("UTF-8");
        assert_eq!(answer.status, self.status, "{what}: {body}");
        assert_eq!(answer.header("content-type"), Some("application/json"), "{what}: {body}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{what}");
        if let Some((name, value)) = self.header {
            let found = answer.header(name).unwrap_or_default();
            assert!(found.contains(value), "{what}: {name}: {found}");
        }
        let message: Value = serde_json::from_str(&body).expect("JSON");
        let id = self.id.then(|| json!(ID));
        assert_eq!(message.get("id"), id.as_ref(), "{what}: {body}");
        assert_eq!(message["error"]["code"].as_i64(), self.code, "{what}: {body}");
        assert!(body.contains(self.says), "{what}: {body}");
        if self.code.is_some() {
            answer.message();
        } else if self.status == 200 {
            assert_eq!(answer.result("tools/call")["isError"], true, "{what}: {body}");
        } else {
            assert_eq!(message.get("jsonrpc"), None, "{what}: an authorization error is its own");
        }
    }
}
