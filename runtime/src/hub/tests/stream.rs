//! What one stream writes: tags, order, coalescing, bounds.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};

use codec::id::{Id, OwnedId};
use serde_json::{Value, json};

use super::super::event::{Event, Payload};
use super::super::stream::{Stream, TAKE_BYTES_MAX, WIDE_URIS_PER_STREAM_MAX};
use super::super::{Envelope, ExchangeConfig, Filter};
use super::{
    TAG, config, deliver, filter, hub, hub_with, kinds, lines, matching_hub, method, open, take,
    take_all, uris,
};
use crate::hub::Topic::{PromptsListChanged, ResourcesListChanged, ToolsListChanged};

/// [SUB-02] [SUB-03] [SUB-04] every message carries the listen request's id as it was written
#[test]
fn every_message_is_tagged_with_the_id_verbatim() {
    let ids: [(Id<'_>, &str); 5] = [
        (Id::from("1"), r#""1""#),
        (Id::from(1u64), "1"),
        (Id::from(0u64), "0"),
        (Id::from(""), r#""""#),
        (Id::from(9_007_199_254_740_993u64), "9007199254740993"),
    ];
    for (id, raw) in ids {
        let server_info = Some(r#"{"name":"s","version":"1"}"#.into());
        let (exchange, hub) = hub_with(ExchangeConfig { server_info, ..config() });
        let filter = filter(&[ToolsListChanged], &["file:///a"]);
        let stream = hub.open(id.to_owned(), filter, None, None).expect("room");
        exchange.offer(&Event::ListChanged(ToolsListChanged));
        exchange.offer(&Event::ResourceUpdated("file:///a".into()));
        deliver(&hub);
        let mut out = Vec::new();
        stream.write_ack(&mut out, Envelope::Line);
        stream.take_frames(&mut out, Envelope::Line);
        stream.write_closing(&mut out, Envelope::Line);
        let text = String::from_utf8(out).expect("UTF-8");
        assert_eq!(text.lines().count(), 4);
        for line in text.lines() {
            assert!(line.contains(&format!(r#""{TAG}":{raw}"#)), "{line}");
        }
        let closing = text.lines().last().expect("four lines");
        let info = r#""io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}"#;
        assert!(
            closing.contains(&format!(r#""id":{raw},"#)) && closing.contains(info),
            "{closing}"
        );
    }
}

/// [SUB-04] [SUB-14] the exact shape of each message
#[test]
fn messages_have_the_shape_of_the_protocol() {
    let (exchange, hub) = hub();
    let mut wish = filter(&[ToolsListChanged, PromptsListChanged], &["file:///a\"b"]);
    wish.keys.push((kinds().named("taskIds").expect("registered"), "t".into()));
    let stream = open(&hub, 7, wish);
    let mut out = Vec::new();
    stream.write_ack(&mut out, Envelope::Line);
    let payload = json!({ "taskId": "t", "status": "working", "_meta": { "dropped": true } });
    exchange.offer(&Event::Extension {
        field: "taskIds".into(),
        key: "t".into(),
        payload: Payload::new(payload.as_object().expect("an object")),
    });
    exchange.offer(&Event::ResourceUpdated("file:///a\"b".into()));
    exchange.offer(&Event::ListChanged(PromptsListChanged));
    deliver(&hub);
    assert_eq!(stream.take_frames(&mut out, Envelope::Line), 3);
    stream.write_closing(&mut out, Envelope::Line);
    let meta = json!({ TAG: 7 });
    let told = |method: &str, params: Value| json!({ "jsonrpc": "2.0", "method": method, "params": params });
    let expected = [
        told(
            "notifications/subscriptions/acknowledged",
            json!({ "_meta": meta, "notifications": {
                "toolsListChanged": true, "promptsListChanged": true,
                "resourceSubscriptions": ["file:///a\"b"], "taskIds": ["t"],
            }}),
        ),
        told("notifications/prompts/list_changed", json!({ "_meta": meta })),
        told("notifications/tasks", json!({ "_meta": meta, "taskId": "t", "status": "working" })),
        told("notifications/resources/updated", json!({ "_meta": meta, "uri": "file:///a\"b" })),
        json!({ "jsonrpc": "2.0", "id": 7, "result": { "resultType": "complete", "_meta": meta } }),
    ];
    assert_eq!(lines(&out), expected);
}

/// [SSE-04] [SSE-05] an event is `event: message`, one data line, a blank line, and nothing else
#[test]
fn events_are_framed_exactly() {
    let (_, hub) = hub();
    let stream = open(&hub, 1, filter(&[ToolsListChanged], &[]));
    let mut out = Vec::new();
    stream.write_ack(&mut out, Envelope::Event);
    let expected = format!(
        "event: message\ndata: {}\n\n",
        concat!(
            r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":"#,
            r#"{"io.modelcontextprotocol/subscriptionId":1},"notifications":{"toolsListChanged":true}}}"#
        )
    );
    assert_eq!(String::from_utf8(out).expect("UTF-8"), expected);
}

/// [SUB-20] [SSE-11] a burst is told once, and a change after the bytes were taken is told again
#[test]
fn bursts_coalesce_and_later_changes_follow() {
    let (exchange, hub) = hub();
    let stream = open(&hub, 1, filter(&[ToolsListChanged], &["u:a", "u:b"]));
    for _ in 0..100_000 {
        exchange.offer(&Event::ListChanged(ToolsListChanged));
        exchange.offer(&Event::ResourceUpdated("u:a".into()));
        exchange.offer(&Event::ResourceUpdated("u:b".into()));
    }
    deliver(&hub);
    let frames = take(&stream);
    assert_eq!(frames.len(), 3);
    assert_eq!(uris(&frames[1..]), ["u:a", "u:b"]);
    assert!(!stream.is_dirty() && take(&stream).is_empty());
    exchange.offer(&Event::ResourceUpdated("u:b".into()));
    deliver(&hub);
    assert_eq!(uris(&take(&stream)), ["u:b"]);
}

/// [SSE-11] one write is bounded; what did not fit follows, in order, each thing once
#[test]
fn a_write_is_bounded_and_the_rest_follows() {
    let (exchange, hub) = hub();
    let names: Vec<String> = (0..1000).map(|n| format!("u:{n}:{}", "x".repeat(1000))).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let stream = open(&hub, 1, filter(&[], &names));
    for name in &names {
        exchange.offer(&Event::ResourceUpdated((*name).into()));
    }
    deliver(&hub);
    let mut all = Vec::new();
    let bytes: usize = names.iter().map(|name| name.len() + 200).sum();
    for _ in 0..bytes / TAKE_BYTES_MAX + 2 {
        let mut out = Vec::new();
        stream.take_frames(&mut out, Envelope::Event);
        assert!(out.len() < TAKE_BYTES_MAX + 2048, "{} bytes at once", out.len());
        // A thing that changes again while its frame waits is not told twice; one already told is.
        exchange.offer(&Event::ResourceUpdated(names[999].into()));
        deliver(&hub);
        let text = String::from_utf8(out).expect("UTF-8");
        let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
        all.extend(data.map(|line| serde_json::from_str::<Value>(line).expect("JSON")));
    }
    assert_eq!(uris(&all)[..1000], names);
    assert!(uris(&all)[1000..].iter().all(|uri| *uri == names[999]), "only what changed again");
}

/// [SUB-10] what the opener may no longer hear of is not told
#[test]
fn authorisation_is_asked_again_at_delivery() {
    use std::cell::Cell;
    use std::rc::Rc;
    let (exchange, hub) = hub();
    let open_door = Rc::new(Cell::new(true));
    let door = Rc::clone(&open_door);
    let access: crate::hub::Access = Rc::new(move |_| door.get());
    let stream = super::open_with(&hub, filter(&[ToolsListChanged], &["u:a"]), access);
    let tell = || {
        exchange.offer(&Event::ResourceUpdated("u:a".into()));
        deliver(&hub);
        take(&stream)
    };
    assert_eq!(uris(&tell()), ["u:a"]);
    open_door.set(false);
    assert_eq!(tell(), Vec::<Value>::new());
    assert!(!stream.is_dirty());
    open_door.set(true);
    assert_eq!(uris(&tell()), ["u:a"]);
}

/// [SUB-23] of an extension's news for one key the reader gets the newest
#[test]
fn extension_news_keeps_the_newest_payload() {
    let (exchange, hub) = hub();
    let kind = kinds().named("taskIds").expect("registered");
    let wish = Filter { keys: vec![(kind, "a".into()), (kind, "b".into())], ..Filter::default() };
    let stream = open(&hub, 1, wish);
    let tell = |key: &str, n: u64| {
        let params = json!({ "n": n });
        exchange.offer(&Event::Extension {
            field: "taskIds".into(),
            key: key.into(),
            payload: Payload::new(params.as_object().expect("an object")),
        });
    };
    tell("a", 1);
    tell("a", 2);
    deliver(&hub);
    tell("a", 3);
    tell("unknown", 9);
    deliver(&hub);
    let frames = take(&stream);
    assert_eq!(frames.len(), 1);
    assert_eq!((method(&frames[0]), &frames[0]["params"]["n"]), ("notifications/tasks", &json!(3)));
    // A payload without members leaves valid JSON.
    exchange.offer(&Event::Extension {
        field: "taskIds".into(),
        key: "b".into(),
        payload: Payload::new(&serde_json::Map::new()),
    });
    deliver(&hub);
    assert_eq!(take(&stream)[0]["params"], json!({ "_meta": { TAG: 1 } }));
}

/// [SUB-09] a matcher delivers updates of sub-resources under their own URI; others stay exact
#[test]
fn a_matcher_widens_the_match() {
    let (exchange, hub) = matching_hub(|subscribed, updated| updated.starts_with(subscribed));
    let stream = open(&hub, 1, filter(&[], &["u:dir/", "u:file"]));
    let other = open(&hub, 2, filter(&[], &["u:elsewhere/"]));
    for uri in ["u:dir/a", "u:dir/a", "u:dir/", "u:far", "u:fi"] {
        exchange.offer(&Event::ResourceUpdated(uri.into()));
    }
    deliver(&hub);
    let frames = take_all(&stream);
    let mut told = uris(&frames);
    told.sort_unstable();
    assert_eq!(told, ["u:dir/", "u:dir/a"]);
    assert!(!other.is_dirty());
}

/// [SUB-09] [SSE-11] beyond the bound of widened URIs the subscribed URI is told instead: nothing is lost
#[test]
fn widened_updates_are_bounded_per_stream() {
    let (exchange, hub) = matching_hub(|subscribed, updated| updated.starts_with(subscribed));
    let stream = open(&hub, 1, filter(&[], &["u:dir/"]));
    for n in 0..500 {
        exchange.offer(&Event::ResourceUpdated(format!("u:dir/{n}").into()));
    }
    deliver(&hub);
    let frames = take_all(&stream);
    assert_eq!(frames.len(), WIDE_URIS_PER_STREAM_MAX + 1);
    assert!(uris(&frames).contains(&"u:dir/"), "the rest is told as the subscribed URI");
}

/// [SUB-09] [SSE-11] beyond the bound of one core every subscribed URI counts as changed
#[test]
fn widened_updates_are_bounded_per_core() {
    let (exchange, hub) = matching_hub(|subscribed, updated| updated.starts_with(subscribed));
    let a = open(&hub, 1, filter(&[], &["u:a/"]));
    let b = open(&hub, 2, filter(&[ToolsListChanged], &["u:b/"]));
    for n in 0..5000 {
        exchange.offer(&Event::ResourceUpdated(format!("u:a/{n}").into()));
    }
    deliver(&hub);
    assert_eq!(uris(&take_all(&a)), ["u:a/"]);
    assert_eq!(uris(&take_all(&b)), ["u:b/"]);
    exchange.offer(&Event::ResourceUpdated("u:a/1".into()));
    deliver(&hub);
    assert_eq!((uris(&take_all(&a)), b.is_dirty()), (vec!["u:a/1"], false));
}

#[derive(Default)]
struct Rung(AtomicUsize);

impl Wake for Rung {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// [SUB-06] [SUB-20] a burst wakes a waiting reader once, a change it did not ask for does not wake it
#[test]
fn only_the_reader_concerned_is_woken_and_once() {
    let (exchange, hub) = hub();
    let stream = open(&hub, 1, filter(&[ToolsListChanged], &[]));
    let rung = Arc::new(Rung::default());
    let waker = Waker::from(Arc::clone(&rung));
    let mut cx = Context::from_waker(&waker);
    assert!(stream.poll_news(&mut cx).is_pending());
    exchange.offer(&Event::ListChanged(ResourcesListChanged));
    deliver(&hub);
    assert_eq!(rung.0.load(Ordering::Relaxed), 0);
    for _ in 0..3 {
        exchange.offer(&Event::ListChanged(ToolsListChanged));
        deliver(&hub);
    }
    assert_eq!(rung.0.load(Ordering::Relaxed), 1);
    assert!(stream.poll_news(&mut cx).is_ready());
    assert_eq!(take(&stream).len(), 1);
    assert!(stream.poll_news(&mut cx).is_pending());
}

/// [SUB-12] a stream of lists only stays small: a hundred thousand of them are held at once
#[test]
fn an_idle_stream_is_small() {
    assert!(size_of::<Stream>() <= 128, "{} bytes", size_of::<Stream>());
    assert!(size_of::<OwnedId>() <= 40);
}
