//! Every bound of sessions, by its limit (LEG-68, SEC-02). Those of the shim are in `shim`, of batches in `batches`, of
//! what is kept for replays in `resume`.

use std::time::Duration;

use ringmcp::{Context, Limits, ToolError};
use serde_json::{Map, Value, json};

use crate::client::{Client, LATEST, initialize, message, request};
use crate::sessions::server;
use crate::support::{on_both_drivers, serve};

/// [LEG-68] [SEC-02] a core has so many sessions; the next is told when to come back.
#[test]
fn sessions_per_core() {
    let limits = Limits { sessions_per_core: 2, ..Limits::default() };
    let running = serve(server().limits(limits));
    let first = Client::connect(&running, LATEST, json!({}));
    let _second = Client::connect(&running, LATEST, json!({}));
    let third = Client::new(&running).post(&initialize(LATEST, json!({})));
    assert_eq!((third.status, third.header("retry-after")), (503, Some("1")));
    assert_eq!(message(&third)["error"]["code"], -32603);
    assert_eq!(first.delete(), 204);
    Client::connect(&running, LATEST, json!({}));
}

/// [LEG-68] [LEG-61] an idle session ends; one with a stream that is read does not.
#[test]
fn idle_sessions_end() {
    let limits = Limits { session_idle_timeout: Duration::from_millis(300), ..Limits::default() };
    on_both_drivers(
        || server().limits(limits.clone()),
        |running| {
            let read = Client::connect(running, LATEST, json!({}));
            let mut stream = read.get(None);
            assert!(stream.event().is_some());
            let idle = Client::connect(running, LATEST, json!({}));
            running.until("one has ended", |counters| counters.sessions_expired == 1);
            assert_eq!(idle.post(&request(1, "ping", json!({}))).status, 404);
            assert_eq!(read.result("ping", json!({})), json!({}));
            drop(stream);
            running.until("the other as well", |counters| counters.sessions_open == 0);
        },
    );
}

/// [SEC-02] a client may say so much about itself, and no more.
#[test]
fn what_is_kept_of_a_handshake() {
    let running = serve(server());
    let capabilities = json!({ "experimental": { "x": "y".repeat(20_000) } });
    let answer = Client::new(&running).post(&initialize(LATEST, capabilities));
    assert_eq!((answer.status, &message(&answer)["error"]["code"]), (200, &json!(-32602)));
    assert_eq!(answer.header("mcp-session-id"), None);
}

/// [SEC-02] running handlers are counted for sessions as for everybody.
#[test]
fn requests_per_core() {
    let limits = Limits { requests_per_core: 1, ..Limits::default() };
    let builder = server().limits(limits).tool(
        "wait",
        "Waits",
        async |ctx: &Context<'_>, _: Map<String, Value>| {
            ctx.sleep(Duration::from_secs(3600)).await;
            Ok::<_, ToolError>("waited")
        },
    );
    let running = serve(builder);
    let client = Client::connect(&running, LATEST, json!({}));
    let mut waiting = client.stream(&crate::client::call(1, "wait", json!({})));
    assert!(waiting.event().is_some());
    let refused = client.post(&crate::client::call(2, "echo", json!({})));
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
    assert_eq!(client.delete(), 204);
    assert!(waiting.event().is_none());
}
