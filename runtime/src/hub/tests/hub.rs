//! Opening, closing, ending, and the places that streams take.

use super::super::event::Event;
use super::super::seats::Full;
use super::super::{Envelope, ExchangeConfig, Filter};
use super::{config, deliver, filter, hub, hub_with, id, lines, open, take, take_all, uris};
use crate::hub::Topic::{PromptsListChanged, ToolsListChanged};

/// [SUB-06] [SUB-08] [SUB-11] each stream hears of what it asked for, and one event can go to many
#[test]
fn events_reach_exactly_the_streams_that_asked() {
    let (exchange, hub) = hub();
    let tools = open(&hub, 1, filter(&[ToolsListChanged], &["u:a"]));
    let prompts = open(&hub, 2, filter(&[PromptsListChanged], &["u:a", "u:b"]));
    exchange.offer(&Event::ListChanged(ToolsListChanged));
    exchange.offer(&Event::ResourceUpdated("u:b".into()));
    exchange.offer(&Event::ResourceUpdated("u:c".into()));
    deliver(&hub);
    let frames = take(&tools);
    assert_eq!(frames.len(), 1);
    assert_eq!(frames[0]["method"], "notifications/tools/list_changed");
    assert_eq!(uris(&take(&prompts)), ["u:b"]);
    exchange.offer(&Event::ResourceUpdated("u:a".into()));
    deliver(&hub);
    assert_eq!((uris(&take(&tools)), uris(&take(&prompts))), (vec!["u:a"], vec!["u:a"]));
}

/// [SUB-12] [SUB-16] ten thousand openings and closings leave nothing behind, in whatever order they close
#[test]
fn closing_frees_everything() {
    let (exchange, hub) = hub();
    let mut streams = Vec::new();
    for n in 0..10_000u64 {
        let own = format!("u:{n}");
        let wish = filter(&[ToolsListChanged], &["u:shared", &own]);
        let name = format!("p{}", n % 997);
        streams.push(hub.open(id(n), wish, Some(&name), None).expect("room"));
    }
    assert_eq!((hub.len(), exchange.open_count()), (10_000, 10_000));
    assert_eq!(hub.inbox.keys_wanted(), 10_001);
    // Half of them from the middle out, so that every removal moves another stream.
    let mut rest = streams.split_off(5_000);
    while let Some(stream) = streams.pop() {
        drop(stream);
        drop(rest.remove(rest.len() / 2));
        if rest.len() % 1000 == 0 {
            exchange.offer(&Event::ListChanged(ToolsListChanged));
            exchange.offer(&Event::ResourceUpdated("u:shared".into()));
            deliver(&hub);
            assert!(rest.iter().all(|stream| take_all(stream).len() == 2));
        }
    }
    assert_eq!((hub.len(), exchange.open_count()), (0, 0));
    assert_eq!(hub.counters.subscriptions_open.get(), 0);
    assert_eq!((hub.inbox.keys_wanted(), exchange.seats.principals()), (0, 0));
    assert!(hub.keys.borrow().iter().all(|keys| keys.is_empty() && keys.capacity() == 0));
    exchange.offer(&Event::ListChanged(ToolsListChanged));
    exchange.offer(&Event::ResourceUpdated("u:shared".into()));
    assert!(!hub.inbox.has_news(), "nobody is interested any more");
}

/// [SUB-16] news that was waiting for a closed stream does not reach one that opened later
#[test]
fn stale_news_does_not_reach_a_new_stream() {
    let (exchange, hub) = hub();
    let stream = open(&hub, 1, filter(&[], &["u:a"]));
    exchange.offer(&Event::ResourceUpdated("u:a".into()));
    drop(stream);
    let stream = open(&hub, 1, filter(&[], &["u:a"]));
    deliver(&hub);
    assert!(!stream.is_dirty());
}

/// [SUB-17] [SEC-02] the process and each principal have their limits; a closed stream gives its place back
#[test]
fn places_are_limited() {
    let (_, hub) = hub_with(ExchangeConfig {
        subscriptions_max: 3,
        subscriptions_per_principal_max: 2,
        ..config()
    });
    let ann = "ann";
    let wish = || filter(&[ToolsListChanged], &[]);
    let mut anns: Vec<_> =
        (0..2).map(|n| hub.open(id(n), wish(), Some(ann), None).expect("room")).collect();
    assert_eq!(hub.open(id(3), wish(), Some(ann), None).err(), Some(Full::Principal));
    let anyone = hub.open(id(4), wish(), None, None).expect("room");
    assert_eq!(hub.open(id(5), wish(), None, None).err(), Some(Full::Process));
    assert_eq!(hub.len(), 3);
    drop(anyone);
    anns.pop();
    assert!(hub.open(id(6), wish(), Some(ann), None).is_ok());
    assert_eq!(Full::MESSAGE, "Subscription limit reached");
}

/// [SUB-18] a filter that honours nothing is acknowledged with `{}` and then ended
#[test]
fn an_empty_filter_opens_ending() {
    let (_, hub) = hub();
    let stream = open(&hub, 1, Filter::default());
    assert!(stream.is_ending() && stream.is_empty());
    let mut out = Vec::new();
    stream.write_ack(&mut out, Envelope::Line);
    assert_eq!(lines(&out)[0]["params"]["notifications"], serde_json::json!({}));
}

/// [SUB-14] [SSE-14] a drain ends every stream, present and to come, and what was pending is still there to tell
#[test]
fn a_drain_ends_every_stream() {
    let (exchange, hub) = hub();
    let streams: Vec<_> =
        (0..10).map(|n| open(&hub, n, filter(&[ToolsListChanged], &[]))).collect();
    assert!(!streams.iter().any(|stream| stream.is_ending()));
    exchange.offer(&Event::ListChanged(ToolsListChanged));
    deliver(&hub);
    hub.end_all();
    assert!(streams.iter().all(|stream| stream.is_ending() && take(stream).len() == 1));
    assert!(open(&hub, 11, filter(&[ToolsListChanged], &[])).is_ending());
}
