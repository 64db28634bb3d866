//! Streams that are lost and taken up again (LEG-63 to LEG-65).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ringmcp::{Builder, Context, LegacyMode, Limits, Server, ToolError};
use serde_json::{Map, Value, json};

use crate::client::{Client, Event, LATEST, call, messages};
use crate::support::{on_both_drivers, serve};

/// Reports step `n` once `go` is at least `n`, up to five; then answers.
fn server(go: &Arc<AtomicUsize>) -> Builder {
    let go = Arc::clone(go);
    Server::builder("resume", "1")
        .legacy(LegacyMode::Sessions)
        .tool("steps", "Five steps", async move |ctx: &Context<'_>, _: Map<String, Value>| {
            for step in 1..=5 {
                while go.load(Ordering::SeqCst) < step {
                    ctx.sleep(Duration::from_millis(1)).await;
                }
                ctx.progress(step, 5);
            }
            Ok::<_, ToolError>("stepped")
        })
        .tool(
            "away",
            "Lets go of the connection",
            async |ctx: &Context<'_>, _: Map<String, Value>| {
                ctx.release_connection();
                ctx.sleep(Duration::from_millis(1)).await;
                Ok::<_, ToolError>("back")
            },
        )
}

fn steps() -> Value {
    let mut body = call(1, "steps", json!({}));
    body["params"]["_meta"] = json!({ "progressToken": "t" });
    body
}

fn told(events: &[Event]) -> Vec<Value> {
    let messages = events.iter().filter_map(|event| event.message.as_ref());
    messages.map(|message| message["params"]["progress"].clone()).collect()
}

/// [LEG-65] [LEG-64] a client that loses its stream, wherever it was, gets the rest of it, once; ids are unique in the
/// session; a priming event comes first and says how long to wait.
#[test]
fn nothing_lost_nothing_repeated() {
    let go = Arc::new(AtomicUsize::new(0));
    on_both_drivers(
        || server(&go),
        |running| {
            for lost_after in 0..=4_usize {
                go.store(lost_after, Ordering::SeqCst);
                let client = Client::connect(running, LATEST, json!({}));
                let mut stream = client.stream(&steps());
                let first = stream.event().expect("the priming event");
                assert!(first.message.is_none() && first.retry.is_some());
                let mut seen = vec![first];
                for _ in 0..lost_after {
                    seen.push(stream.event().expect("a step"));
                }
                drop(stream);
                go.store(5, Ordering::SeqCst);
                let last = seen.last().and_then(|event| event.id.clone()).expect("an id");
                seen.extend(client.get(Some(&last)).rest());
                let expected = [json!(1), json!(2), json!(3), json!(4), json!(5), Value::Null];
                assert_eq!(told(&seen), expected, "lost after {lost_after}");
                let mut ids: Vec<_> = seen.iter().map(|event| event.id.clone()).collect();
                ids.dedup();
                assert_eq!(ids.len(), 7);
                // Again, from any place: the same rest.
                for (at, event) in seen.iter().enumerate() {
                    let rest = client.get(event.id.as_deref()).rest();
                    assert_eq!(rest, seen[at + 1..], "from {at}");
                }
            }
        },
    );
}

/// [LEG-65] a stream that goes on is read by the connection that came last; the one before it ends.
#[test]
fn the_last_reader_reads() {
    let go = Arc::new(AtomicUsize::new(1));
    let running = serve(server(&go));
    let client = Client::connect(&running, LATEST, json!({}));
    let mut before = client.stream(&steps());
    let (primed, _) = (before.event().expect("primed"), before.event().expect("the first step"));
    let mut after = client.get(primed.id.as_deref());
    assert_eq!(after.message()["params"]["progress"], 1);
    assert!(before.event().is_none());
    go.store(5, Ordering::SeqCst);
    assert_eq!(told(&after.rest()), [json!(2), json!(3), json!(4), json!(5), Value::Null]);
}

/// [LEG-65] ids that name no event are refused, and so is one whose successors are not kept any more.
#[test]
fn unknown_events() {
    let go = Arc::new(AtomicUsize::new(5));
    let limits = Limits { session_events: 3, ..Limits::default() };
    let running = serve(server(&go).limits(limits));
    let client = Client::connect(&running, LATEST, json!({}));
    let seen = client.stream(&steps()).rest();
    assert_eq!(seen.len(), 7);
    for (at, event) in seen.iter().enumerate() {
        let id = event.id.as_deref();
        // The last three events are kept.
        if at < 3 {
            assert_eq!(client.get_refused(id), 400, "{at}");
        } else {
            assert_eq!(client.get(id).rest(), seen[at + 1..], "{at}");
        }
    }
    for id in ["", "x", "1", "1-99", "9-0", "-1-0", "01-0", "1-+1"] {
        assert_eq!(client.get_refused(Some(id)), 400, "{id}");
    }
}

/// [LEG-65] [SEC-02] what is kept is bounded in bytes as well.
#[test]
fn bytes_are_bounded() {
    let go = Arc::new(AtomicUsize::new(5));
    let limits = Limits { session_event_bytes: 150, ..Limits::default() };
    let running = serve(server(&go).limits(limits));
    let client = Client::connect(&running, LATEST, json!({}));
    let seen = client.stream(&steps()).rest();
    assert_eq!(seen.len(), 7);
    let ids: Vec<_> = seen.iter().map(|event| event.id.as_deref()).collect();
    assert_eq!(client.get_refused(ids[0]), 400);
    assert_eq!(client.get(ids[5]).rest(), seen[6..], "the last one fits");
}

/// [LEG-65] clients of older revisions take every event for a message: they get ids, and no priming event.
#[test]
fn older_clients_are_not_primed() {
    let go = Arc::new(AtomicUsize::new(5));
    let running = serve(server(&go));
    let client = Client::connect(&running, "2025-06-18", json!({}));
    let seen = client.stream(&steps()).rest();
    assert_eq!(told(&seen), [json!(1), json!(2), json!(3), json!(4), json!(5), Value::Null]);
    assert_eq!(client.get(seen[2].id.as_deref()).rest(), seen[3..]);
    // They could not come back to a stream that has said nothing: it is not let go of.
    let answer = client.post(&call(2, "away", json!({})));
    assert_eq!(messages(&answer).len(), 1);
}

/// [LEG-65] a handler may let go of the connection on purpose; the answer waits for the client to come back.
#[test]
fn let_go_on_purpose() {
    let go = Arc::new(AtomicUsize::new(0));
    on_both_drivers(
        || server(&go),
        |running| {
            let client = Client::connect(running, LATEST, json!({}));
            let events = client.stream(&call(1, "away", json!({}))).rest();
            assert_eq!(events.len(), 1);
            assert!(events[0].message.is_none() && events[0].retry.is_some());
            let rest = client.get(events[0].id.as_deref()).rest();
            let answer = rest[0].message.as_ref().expect("the answer");
            assert_eq!(answer["result"]["content"][0]["text"], "back");
        },
    );
}
