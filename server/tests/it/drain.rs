//! The end by signal.

use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::http::{Conversation, request};
use crate::process::Server;

/// A call of `sleep` that has begun: its progress has arrived.
fn sleeping(server: &Server, ms: u64) -> Conversation {
    let address = server.address();
    let params = json!({
        "name": "sleep", "arguments": { "ms": ms }, "_meta": { "progressToken": "t" }
    });
    let mut call =
        Conversation::open(address, &request(address, "tools/call", "sleep", &params, ""));
    call.until("notifications/progress");
    call
}

fn listening(server: &Server) -> Conversation {
    let address = server.address();
    let params = json!({ "notifications": { "toolsListChanged": true } });
    let bytes = request(address, "subscriptions/listen", "", &params, "");
    let mut listen = Conversation::open(address, &bytes);
    listen.until("notifications/subscriptions/acknowledged");
    listen
}

/// [SSE-14] [SUB-14] a running call gets its answer, a subscription its closing result, the process its exit code.
fn drains(signal: &str, driver: &str) {
    let server = Server::start(&["--handlers", "everything", "--driver", driver]);
    let (call, listen) = (sleeping(&server, 700), listening(&server));
    server.signal(signal);
    server.wait_for_log("draining");
    let listened = listen.rest();
    assert!(listened.contains(r#""result":{"#), "{listened}");
    let called = call.rest();
    assert!(called.contains("slept 700 ms"), "{called}");
    let (status, log) = server.wait();
    assert_eq!(status.code(), Some(0), "{log}");
}

#[test]
fn sigterm_drains_on_epoll() {
    drains("TERM", "epoll");
}

#[test]
fn sigint_drains_on_whatever_there_is() {
    drains("INT", "auto");
}

#[test]
fn a_call_that_outlasts_the_deadline_is_given_up() {
    let args = ["--handlers", "everything", "--drain-deadline", "300ms"];
    let server = Server::start(&args);
    let call = sleeping(&server, 600_000);
    let begun = Instant::now();
    server.signal("TERM");
    let called = call.rest();
    assert!(!called.contains("slept"), "{called}");
    let (status, log) = server.wait();
    assert_eq!(status.code(), Some(0), "{log}");
    // Far more than the deadline, far less than the call.
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let server = Server::start(&["--handlers", "everything"]);
    let _call = sleeping(&server, 600_000);
    server.signal("TERM");
    server.wait_for_log("draining");
    server.signal("INT");
    let (status, log) = server.wait();
    assert_eq!((status.code(), status.signal()), (Some(130), None), "{log}");
    assert!(log.contains("a second signal"), "{log}");
}
