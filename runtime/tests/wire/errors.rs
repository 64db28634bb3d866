//! Errors: their codes, their data, what they say and what they keep to themselves (ledger section 1b), and what the
//! revision has removed (section 21).

use ringmcp::types::{Capability, Prompt, Resource, RpcError};
use ringmcp::{Builder, Context, HandlerError, LegacyMode, Server, ToolError};
use serde_json::{Map, Value, json};

use crate::support::{Answer, PV, Request, VERSION, read_answer, serve, support_write};

type Arguments = Map<String, Value>;

const SECRET: &str = "/srv/secret at 10.0.0.7";

/// Tools, a prompt and a resource that fail in every way.
fn server() -> Builder {
    Server::builder("errors", "1")
        .tool("code", "Fails with a code", async |ctx: &Context, arguments: Arguments| {
            let code = arguments["code"].as_i64().and_then(|code| i32::try_from(code).ok());
            if arguments.contains_key("first") {
                ctx.progress(1_u64, 2_u64);
            }
            let error = RpcError::new(code.unwrap_or_default(), "as asked").with_data(&json!([1]));
            Err::<&str, _>(ToolError::protocol(error))
        })
        .tool("panic", "Panics", async |_: &Context, _: Arguments| {
            assert!(SECRET.is_empty(), "{SECRET}");
            Ok::<_, ToolError>("unreachable")
        })
        .tool("fails", "Fails by itself", async |_: &Context, _: Arguments| {
            Err::<&str, _>(ToolError::new("No flights on that day"))
        })
        .tool("needs", "Needs a capability", async |ctx: &Context, arguments: Arguments| {
            if arguments.contains_key("first") {
                ctx.progress(1_u64, 2_u64);
            }
            match arguments["what"].as_str() {
                Some("form") => ctx.require(&Capability::ElicitationForm)?,
                Some("url") => ctx.require(&Capability::ElicitationUrl)?,
                Some("tools") => ctx.require(&Capability::SamplingTools)?,
                Some("extension") => ctx.require(&Capability::Extension("com.example/x"))?,
                _ => ctx.require(&Capability::Sampling)?,
            }
            Ok::<_, ToolError>("had it")
        })
        .prompt_with(Prompt::new("panic"), async |_: &Context, _: Arguments| {
            assert!(SECRET.is_empty(), "{SECRET}");
            Ok::<_, HandlerError>("unreachable")
        })
        .prompt_with(Prompt::new("fails"), async |_: &Context, _: Arguments| {
            Err::<&str, HandlerError>(std::io::Error::other(SECRET).into())
        })
        .resource(Resource::new("test://panic", "panic"), async |_: &Context| {
            assert!(SECRET.is_empty(), "{SECRET}");
            Ok::<_, HandlerError>("unreachable")
        })
        .resource(Resource::new("test://fails", "fails"), async |_: &Context| {
            Err::<&str, HandlerError>(std::io::Error::other(SECRET).into())
        })
}

fn code(code: i32) -> Request {
    Request::call("code", json!({ "code": code }))
}

/// [ERR-01] [ERR-02] [ERR-03] [ERR-04] [ERR-08] [D-05] a handler's own codes pass in band; reserved ones without a
/// meaning become internal errors; those with one stay in band, whatever status they have elsewhere.
#[test]
fn codes_of_handlers() {
    let running = serve(server());
    for own in [1234, 1, 0, -1, -31_999, -32_769, i32::MAX, i32::MIN] {
        let answer = running.send(&code(own));
        assert_eq!(answer.error(), (200, own.into()));
        assert_eq!(answer.error_object()["data"], json!([1]));
    }
    for meant in [-32600, -32601, -32602, -32603] {
        assert_eq!(running.send(&code(meant)).error(), (200, meant.into()));
    }
    for reserved in
        [-32050, -32002, -32042, -32000, -32001, -32019, -32099, -32768, -32700, -32023, -32500]
    {
        let answer = running.send(&code(reserved));
        assert_eq!(answer.error(), (200, -32603), "{reserved}");
        assert_eq!(answer.error_object()["message"], "Internal error");
        assert_eq!(answer.error_object().get("data"), None);
    }
}

/// [ERR-05] [ERR-08] [MR-10] a missing capability is nested to its leaf, at status 400.
#[test]
fn missing_capabilities() {
    let running = serve(server());
    for (what, needed) in [
        ("sampling", json!({ "sampling": {} })),
        ("tools", json!({ "sampling": { "tools": {} } })),
        ("url", json!({ "elicitation": { "url": {} } })),
        ("extension", json!({ "extensions": { "com.example/x": {} } })),
    ] {
        let call = || Request::call("needs", json!({ "what": what }));
        let answer = running.send(&call());
        assert_eq!(answer.error(), (400, -32021));
        assert_eq!(
            answer.error_object()["data"],
            json!({ "requiredCapabilities": needed.clone() })
        );
        assert_eq!(answer.message()["id"], 1);
        assert_eq!(running.send(&call().capabilities(needed)).text(), "had it", "{what}");
    }
    let form = Request::call("needs", json!({ "what": "form" }));
    let required = &running.send(&form).error_object()["data"]["requiredCapabilities"];
    assert!(required["elicitation"].is_object(), "{required}");
}

/// [ERR-09] [ERR-08] once events flow, every error is the last of them, at status 200.
#[test]
fn errors_on_an_open_stream() {
    let running = serve(server());
    for (request, expected) in [
        (Request::call("needs", json!({ "what": "sampling", "first": 1 })), -32021),
        (Request::call("code", json!({ "code": 1234, "first": 1 })), 1234),
        (Request::call("code", json!({ "code": -32050, "first": 1 })), -32603),
    ] {
        let answer = running.send(&request.meta("progressToken", json!("t")));
        let messages = answer.messages();
        assert_eq!(answer.status, 200);
        assert_eq!(messages[0]["method"], "notifications/progress");
        assert_eq!(messages.len(), 2);
        assert_eq!(messages[1]["error"]["code"], expected);
        assert_eq!(messages[1]["id"], 1);
    }
}

/// [ERR-06] [HDR-03] [DSC-07] [LEG-04] an unsupported version is refused with the supported ones, on every method, and
/// those are what discovery names.
#[test]
fn unsupported_versions() {
    let running = serve(server().legacy(LegacyMode::Reject));
    let discover = running.send(&Request::new("server/discover", json!({})));
    let supported = discover.result("server/discover")["supportedVersions"].clone();
    assert_eq!(supported, json!([VERSION]));
    let versions =
        ["v999.0.0", "2025-11-25", "2024-11-05", "2031-01-01", "2026-07-29", "", "2026-07-28 "];
    for version in versions {
        for method in ["server/discover", "tools/list", "initialize", "unknown/method"] {
            let request = Request::new(method, json!({}))
                .meta(PV, json!(version))
                .header("MCP-Protocol-Version", version);
            // Blanks around a header's value are not part of it.
            let header_differs = version.ends_with(' ');
            let answer = running.send(&request);
            if header_differs {
                assert_eq!(answer.error(), (400, -32020), "{version}");
                continue;
            }
            assert_eq!(answer.error(), (400, -32022), "{version} {method}");
            let data = &answer.error_object()["data"];
            assert_eq!(*data, json!({ "supported": supported, "requested": version }));
        }
    }
}

/// [ERR-07] [SEC-13] an unknown method is 404 with a JSON-RPC error, which repeats no more of it than it must.
#[test]
fn unknown_methods() {
    let running = serve(server());
    let long = "m".repeat(4000);
    for method in
        ["unknown/method", "tools/List", "tools", "", "rpc.discover", "tools/list/", &long]
    {
        let answer = running.send(&Request::new(method, json!({})));
        assert_eq!(answer.error(), (404, -32601), "{method}");
        assert_eq!(answer.message()["id"], 1);
        let message = answer.error_object()["message"].as_str().expect("text").to_owned();
        assert!(message.chars().count() < 260, "{}", message.len());
    }
    let hostile = "m\u{1b}[31m\u{7f}\r\n<script>";
    let request = Request::new("x", json!({})).member("method", json!(hostile));
    // The header cannot hold it, so the request stops below; a tool's name travels encoded.
    assert_eq!(running.send(&request).error(), (400, -32020));
    let encoded = "=?base64?bRtbMzFt?=";
    let call = Request::call("m\u{1b}[31m", json!({})).header("Mcp-Name", encoded);
    let message = running.send(&call).error_object()["message"].as_str().expect("text").to_owned();
    assert!(message.starts_with("Unknown tool: ") && !message.contains('\u{1b}'), "{message:?}");
}

fn says_nothing(answer: &Answer) {
    let body = String::from_utf8(answer.body.clone()).expect("UTF-8");
    for leak in ["secret", "10.0.0.7", "panick", ".rs", "src/"] {
        assert!(!body.contains(leak), "{leak} in {body}");
    }
}

/// [ERR-10] [ERR-11] [CALL-05] a handler's panic or fault ends its own request and says nothing of the inside; the
/// connection and the server live on.
#[test]
fn panics_and_faults() {
    let running = serve(server());
    let mut stream = running.connect();
    let mut send = |request: &Request| {
        support_write(&mut stream, &request.bytes());
        read_answer(&mut stream).expect("an answer on the same connection")
    };
    for round in 0..3 {
        let tool = send(&Request::call("panic", json!({})));
        assert_eq!(tool.result("tools/call")["isError"], true, "{round}");
        says_nothing(&tool);
        for (method, params) in [
            ("prompts/get", json!({ "name": "panic" })),
            ("prompts/get", json!({ "name": "fails" })),
            ("resources/read", json!({ "uri": "test://panic" })),
            ("resources/read", json!({ "uri": "test://fails" })),
        ] {
            let answer = send(&Request::new(method, params));
            assert_eq!(answer.error(), (200, -32603));
            assert_eq!(answer.error_object()["message"], "Internal error");
            says_nothing(&answer);
        }
        let own = send(&Request::call("fails", json!({}))).result("tools/call");
        assert_eq!(own["isError"], true);
        assert_eq!(own["content"][0]["text"], "No flights on that day");
    }
    running.until("panics are counted", |counters| counters.panics == 9);
}

/// [ERR-01] [ERR-03] [RPC-09] [RPC-10] whatever is sent, the codes of refusals are those of the table, and an error
/// has an id of a legal type or none.
#[test]
fn codes_of_refusals() {
    let running = serve(server());
    let allowed = [-32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022];
    let base = Request::call("fails", json!({ "a": 1 }));
    let text = base.message.to_string();
    let mut tried = 0;
    for at in 0..text.len() {
        // One byte lost, one replaced, at every place of the message.
        let mut without = text.clone().into_bytes();
        without.remove(at);
        let mut replaced = text.clone().into_bytes();
        replaced[at] = b"{}[]\",:0x\\\xff"[at % 11];
        for body in [without, replaced] {
            let answer = running.send(&base.clone().body(body));
            if answer.status == 202 {
                // The byte was in "id": a notification now.
                continue;
            }
            let message = answer.message();
            if let Some(code) = message["error"]["code"].as_i64() {
                assert!(allowed.contains(&code), "{message}");
                let id = message.get("id");
                assert!(id.is_none_or(|id| id.is_string() || id.is_i64()), "{message}");
                tried += 1;
            }
        }
    }
    assert!(tried > text.len(), "most of these are refused: {tried} of {}", 2 * text.len());
}

/// [REM-01] [LEG-02] what the revision removed, and what only clients serve, is unknown, even in a valid envelope.
#[test]
fn removed_methods() {
    let running = serve(server());
    for method in [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "tasks/result",
        "tasks/list",
        "tasks/get",
        "tasks/cancel",
        "sampling/createMessage",
        "elicitation/create",
        "roots/list",
        "notifications/initialized",
    ] {
        let answer =
            running.send(&Request::new(method, json!({ "level": "info", "uri": "test://panic" })));
        assert_eq!(answer.error(), (404, -32601), "{method}");
        assert_eq!(answer.message()["id"], 1);
    }
}

/// [REM-03] [REM-02] [CAN-04] [CAN-05] [HTTP-07] notifications that mean nothing here are accepted and dropped.
#[test]
fn dropped_notifications() {
    let running = serve(server());
    for (method, params) in [
        ("notifications/initialized", json!({})),
        ("notifications/roots/list_changed", json!({})),
        ("notifications/progress", json!({ "progressToken": 1, "progress": 1 })),
        ("notifications/cancelled", json!({ "requestId": 1 })),
        ("notifications/cancelled", json!({})),
        ("notifications/cancelled", json!({ "requestId": [] })),
        ("notifications/nobody/knows", json!({})),
        ("tools/call", json!({ "name": "panic" })),
    ] {
        let request = Request::new(method, params).without_member("id");
        let answer = running.send(&request);
        assert_eq!((answer.status, answer.body.len()), (202, 0), "{method}");
        assert_eq!(answer.header("content-type"), None);
    }
    assert_eq!(running.handle().counters().panics, 0, "a call without an id runs nothing");
}

/// [REM-04] [HTTP-13] [HTTP-14] sessions and resumption are gone: their headers change nothing and never come back.
#[test]
fn sessions_are_gone() {
    let running = serve(server());
    let plain = running.send(&Request::new("tools/list", json!({})));
    let request = Request::new("tools/list", json!({}))
        .header("Mcp-Session-Id", "00000000-0000-0000-0000-000000000000")
        .header("Last-Event-ID", "7");
    let answer = running.send(&request);
    assert_eq!(answer.body, plain.body);
    assert_eq!(answer.header("mcp-session-id"), None);
    let capabilities = running.send(&Request::new("server/discover", json!({})));
    let capabilities = capabilities.result("server/discover");
    assert_eq!(capabilities["capabilities"].get("tasks"), None);
    assert_eq!(capabilities.get("serverInfo"), None);
}
