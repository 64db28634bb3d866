//! What the fixture shows of the server: cancellation, subscriptions, typed arguments, rounds.

use serde_json::{Value, json};

use crate::http::{Conversation, call, request, text};
use crate::process::{PATIENCE, Server};

fn fixture() -> Server {
    Server::start(&["--handlers", "everything"])
}

/// Asks until the tool's text is `wanted`: what it counts changes shortly after what the test did.
fn becomes(server: &Server, tool: &str, wanted: &str) {
    let begun = std::time::Instant::now();
    loop {
        let now = text(&call(server.address(), tool, json!({})));
        if now == wanted {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "{tool}: {now}, not {wanted}");
    }
}

/// [CAN-01] a client that goes away cancels its request: the handler's destructors run.
#[test]
fn closing_the_connection_cancels_the_call() {
    let server = fixture();
    let params = json!({ "name": "sleep", "arguments": { "ms": 3_600_000 } });
    let bytes = request(server.address(), "tools/call", "sleep", &params, "");
    becomes(&server, "gauge", "0");
    let sleeping = Conversation::open(server.address(), &bytes);
    becomes(&server, "gauge", "1");
    drop(sleeping);
    becomes(&server, "gauge", "0");
}

/// [SUB-01] open subscriptions are counted, and a change reaches them.
#[test]
fn subscriptions_are_counted_and_hear_of_changes() {
    let server = fixture();
    let params = json!({ "notifications": { "promptsListChanged": true } });
    let bytes = request(server.address(), "subscriptions/listen", "", &params, "");
    let mut listen = Conversation::open(server.address(), &bytes);
    listen.until("notifications/subscriptions/acknowledged");
    becomes(&server, "listening", "1");
    assert_eq!(text(&call(server.address(), "test_trigger_prompt_change", json!({}))), "Announced");
    listen.until("notifications/prompts/list_changed");
    drop(listen);
    becomes(&server, "listening", "0");
}

/// [SUB-01] an update that is announced many times in one call reaches the stream.
#[test]
fn an_update_is_published_as_often_as_asked() {
    let server = fixture();
    let uri = "test://watched-resource";
    let params = json!({ "notifications": { "resourceSubscriptions": [uri] } });
    let bytes = request(server.address(), "subscriptions/listen", "", &params, "");
    let mut listen = Conversation::open(server.address(), &bytes);
    listen.until("notifications/subscriptions/acknowledged");
    let published = call(server.address(), "publish", json!({ "uri": uri, "times": 1_000 }));
    assert!(text(&published).parse::<u128>().is_ok_and(|at| at > 0), "{published}");
    listen.until("notifications/resources/updated");
    let none = call(server.address(), "publish", json!({ "times": 0 }));
    assert_eq!(text(&none), "0");
}

/// [CAN-01] the destructor of a held call notes when it ran, once.
#[test]
fn a_held_call_notes_when_its_client_left() {
    let server = fixture();
    let meta = json!({ "progressToken": "t" });
    let params = json!({ "name": "hold", "arguments": { "tag": 7 }, "_meta": meta });
    let bytes = request(server.address(), "tools/call", "hold", &params, "");
    let mut holding = Conversation::open(server.address(), &bytes);
    holding.until("notifications/progress");
    assert_eq!(text(&call(server.address(), "released", json!({}))), "");
    drop(holding);
    let begun = std::time::Instant::now();
    let mut released = String::new();
    while released.is_empty() {
        assert!(begun.elapsed() < PATIENCE, "never dropped");
        released = text(&call(server.address(), "released", json!({})));
    }
    let at = released.strip_prefix("7 ").unwrap_or_else(|| panic!("{released}"));
    assert!(at.trim_end().parse::<u128>().is_ok(), "{released}");
}

#[test]
fn typed_arguments_arrive() {
    let server = fixture();
    let row = |id: u64, note: Option<&str>| {
        json!({
            "id": id, "name": "n", "active": true, "score": 0.5, "tags": ["a", "b"],
            "pos": { "lat": 1.0, "lon": 2.0 }, "note": note
        })
    };
    let rows = json!({ "rows": [row(7, None), row(u64::MAX, Some("x")), row(5, None)] });
    let summed = text(&call(server.address(), "rows_sum", rows));
    assert!(summed.starts_with("rows=3 ids=11 active=3 score=1.5 tags=6 notes=1 "), "{summed}");
    let v = json!({ "v": { "a": [1, 2.5, null, "é"] } });
    assert_eq!(text(&call(server.address(), "echo_json", v)), r#"{"a":[1,2.5,null,"é"]}"#);
    assert_eq!(
        text(&call(server.address(), "big_text", json!({ "size": 100_000 }))).len(),
        100_000
    );
}

/// [ERR-10] [ERR-11] a panic costs its own request, and the client learns nothing of it.
#[test]
fn a_panic_is_answered_and_the_server_goes_on() {
    let server = fixture();
    let answer = call(server.address(), "panic", json!({}));
    assert!(answer.contains(r#""isError":true"#), "{answer}");
    assert_eq!(text(&answer), "Internal error");
    assert!(server.wait_for_log("panicked").contains("the tool panic was called"));
    assert_eq!(text(&call(server.address(), "noargs", json!({}))), "nothing taken");
}

/// [MR-10] answers of earlier rounds are carried in the state, not sent again.
#[test]
fn two_rounds_end_in_a_result() {
    let server = fixture();
    let tool = "test_input_required_result_multi_round";
    let round = |state: Option<&Value>, answers: Value| -> Value {
        let mut params = json!({ "name": tool, "arguments": {}, "inputResponses": answers });
        if let Some(state) = state {
            params["requestState"] = state.clone();
        }
        let bytes = request(server.address(), "tools/call", tool, &params, "Connection: close\r\n");
        let answer = Conversation::open(server.address(), &bytes).rest();
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    };
    let accept = |key: &str, field: &str, value: &str| json!({ key: { "action": "accept", "content": { field: value } } });
    let first = round(None, json!({}));
    let first = &first["result"];
    assert_eq!(first["resultType"], "input_required");
    assert!(first["inputRequests"]["step1"].is_object(), "{first}");
    let second = round(Some(&first["requestState"]), accept("step1", "name", "Ada"));
    let second = &second["result"];
    assert!(second["inputRequests"]["step2"].is_object(), "{second}");
    assert_ne!(second["requestState"], first["requestState"]);
    let third = round(Some(&second["requestState"]), accept("step2", "color", "blue"));
    assert_eq!(third["result"]["content"][0]["text"], "Ada likes blue");
}
