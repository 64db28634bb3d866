//! Small parts that many tests here are built from.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ringmcp::{Builder, Denied, Principal, RequestHead, Server};
use serde_json::{Value, json};

use crate::support::{Answer, Request, Running, serve};

pub(crate) const KEY: &[u8] = b"0123456789abcdef0123456789abcdef";
pub(crate) const OTHER_KEY: &[u8] = b"fedcba9876543210fedcba9876543210";

/// Arguments of something that takes none.
#[derive(serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct NoArgs {}

/// Any arguments.
pub(crate) type Free = serde_json::Map<String, Value>;

/// A server that offers nothing yet.
pub(crate) fn server() -> Builder {
    Server::builder("t", "1")
}

/// How often something ran.
#[derive(Clone, Default)]
pub(crate) struct Runs(Arc<AtomicUsize>);

impl Runs {
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// Callers name themselves: `Bearer SUBJECT` or `Bearer SUBJECT:SCOPE,SCOPE`.
pub(crate) fn with_callers(builder: Builder) -> Builder {
    builder.authenticate(async |head: &RequestHead<'_>| {
        let token = head.header("Authorization").and_then(|value| value.strip_prefix(b"Bearer "));
        let token = token.ok_or_else(|| Denied::unauthorized(r#"Bearer realm="t""#))?;
        let token = String::from_utf8_lossy(token);
        let (subject, scopes) = token.split_once(':').unwrap_or((&token, ""));
        let granted = scopes.split(',').filter(|scope| !scope.is_empty());
        Ok(granted.fold(Principal::new(subject), Principal::scope))
    })
}

/// The same request by this caller.
pub(crate) fn by(token: &str, request: Request) -> Request {
    request.header("Authorization", &format!("Bearer {token}"))
}

/// An ordinary request of a method without parameters.
pub(crate) fn ask(method: &str) -> Request {
    Request::new(method, json!({}))
}

/// The advertised capabilities.
pub(crate) fn capabilities(server: &Running) -> Value {
    server.send(&ask("server/discover")).result("server/discover")["capabilities"].clone()
}

/// Serves, sends one request, gives the answer.
pub(crate) fn once(builder: Builder, request: &Request) -> Answer {
    serve(builder).send(request)
}

/// The members `name` of the objects in an array.
pub(crate) fn names(list: &Value, name: &str) -> Vec<String> {
    let list = list.as_array().expect("a list");
    list.iter().map(|item| item[name].as_str().expect("a text").to_owned()).collect()
}

/// The first line of a refusal in OAuth's style: its status and its `error`.
pub(crate) fn denial(answer: &Answer) -> (u16, String) {
    let body: Value = serde_json::from_slice(&answer.body).expect("a JSON body");
    assert!(body.get("jsonrpc").is_none(), "no JSON-RPC: {body}");
    (answer.status, body["error"].as_str().expect("an error").to_owned())
}
