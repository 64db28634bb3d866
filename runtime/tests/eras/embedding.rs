//! What programs that embed a server see of the 2025 era: modes of answers, observers, and a server without a socket.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ringmcp::{Builder, Context, LegacyMode, ResponseMode, Server, ToolError};
use serde_json::{Map, Value, json};

use crate::client::{Client, LATEST, call, initialize, message, messages, request};
use crate::support::serve;

fn server(mode: LegacyMode) -> Builder {
    Server::builder("embedding", "1").legacy(mode).tool(
        "steps",
        "Reports",
        async |ctx: &Context<'_>, _: Map<String, Value>| {
            ctx.progress(1, 2);
            ctx.sleep(Duration::from_millis(1)).await;
            ctx.progress(2, 2);
            Ok::<_, ToolError>("stepped")
        },
    )
}

fn steps() -> Value {
    let mut body = call(1, "steps", json!({}));
    body["params"]["_meta"] = json!({ "progressToken": 1 });
    body
}

/// [LEG-20] [SSE-01] the server's own choice of answers holds for this era as well.
#[test]
fn response_modes() {
    for legacy in [LegacyMode::Stateless, LegacyMode::Sessions] {
        for (mode, form, progress) in [
            (ResponseMode::Json, "application/json", 0),
            (ResponseMode::Auto, "text/event-stream", 2),
            (ResponseMode::Sse, "text/event-stream", 2),
        ] {
            let running = serve(server(legacy).response_mode(mode));
            let client = Client::connect(&running, LATEST, json!({}));
            let answer = client.post(&steps());
            assert_eq!(answer.header("content-type"), Some(form), "{mode:?}");
            assert_eq!(messages(&answer).len(), progress + 1, "{mode:?}");
            let listed = client.post(&request(2, "tools/list", json!({})));
            let form = if mode == ResponseMode::Sse { form } else { "application/json" };
            assert_eq!(listed.header("content-type"), Some(form), "{mode:?}");
            assert_eq!(message(&listed)["result"]["tools"][0]["name"], "steps");
            let note = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
            assert_eq!(client.post(&note).status, 202);
        }
    }
}

/// Observers hear of answers in this era: method, status and code.
#[test]
fn observers() {
    type Seen = Arc<Mutex<Vec<(String, u16, Option<i32>)>>>;
    let seen = Seen::default();
    let told = Arc::clone(&seen);
    let running = serve(server(LegacyMode::Sessions).observe(move |answered| {
        let line = (answered.method.to_owned(), answered.status, answered.code);
        told.lock().expect("no panic inside").push(line);
    }));
    let client = Client::connect(&running, LATEST, json!({}));
    client.code("unknown/method", json!({}));
    assert_eq!(client.post(&initialize(LATEST, json!({}))).status, 400);
    let seen = seen.lock().expect("no panic inside").clone();
    let line = |method: &str, status, code| (method.to_owned(), status, code);
    assert_eq!(
        seen,
        [
            line("initialize", 200, None),
            line("notifications/initialized", 202, None),
            line("unknown/method", 200, Some(-32601)),
            line("initialize", 400, Some(-32600)),
        ]
    );
}

/// A session on a server without a socket: its requests are tasks there, too.
#[test]
fn sessions_without_a_socket() {
    let server = server(LegacyMode::Sessions).in_process().expect("a server");
    let post = |session: Option<&str>, body: &Value| {
        let body = body.to_string();
        let session = session.map(|id| format!("Mcp-Session-Id: {id}\r\n")).unwrap_or_default();
        let bytes = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\n{session}\
             Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let connection = server.connect();
        connection.send(bytes.as_bytes());
        let answer = connection.receive(Duration::from_secs(30), |_| connection.closed());
        String::from_utf8(answer).expect("UTF-8")
    };
    let hello = post(None, &initialize(LATEST, json!({})));
    let session =
        hello.lines().find_map(|line| line.strip_prefix("Mcp-Session-Id: ")).expect("a session");
    assert_eq!(server.counters().sessions_open, 1);
    let answer = post(Some(session), &steps());
    assert!(answer.contains("\"progress\":2") && answer.contains("stepped"), "{answer}");
}
