//! The bus and the notifier in front of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use super::super::{Bus, Event, Exchange, Hub, LocalBus, Payload, Topic};
use super::{config, deliver, filter, open, take, uris};
use crate::notifier::Notifier;

/// [SUB-19] two servers on one bus hear of each other's changes
#[test]
fn two_servers_share_a_bus() {
    let bus: Arc<dyn Bus> = Arc::new(LocalBus::new());
    let servers = [Exchange::new(config(), &*bus), Exchange::new(config(), &*bus)];
    let hubs = servers.each_ref().map(|exchange| Hub::new(Arc::clone(exchange), 0, Arc::default()));
    let streams = hubs.each_ref().map(|hub| open(hub, 1, filter(&Topic::ALL, &["u:a"])));
    let notifier = Notifier::new(Arc::clone(&bus));
    notifier.tools_changed();
    notifier.prompts_changed();
    notifier.resources_changed();
    notifier.resource_updated("u:a");
    for (hub, stream) in hubs.iter().zip(&streams) {
        deliver(hub);
        let frames = take(stream);
        let methods: Vec<_> = frames[..3].iter().map(super::method).collect();
        assert_eq!(methods, Topic::ALL.map(Topic::method));
        assert_eq!(uris(&frames[3..]), ["u:a"]);
    }
}

/// [SUB-12] [SUB-19] a server that is gone no longer hears of anything, and nothing of it is kept alive
#[test]
fn a_dropped_server_leaves_the_bus() {
    let bus = LocalBus::new();
    let exchange = Exchange::new(config(), &bus);
    let gone = Arc::downgrade(&exchange);
    drop(exchange);
    bus.publish(&Event::ListChanged(Topic::ToolsListChanged));
    assert!(gone.upgrade().is_none());
}

/// [SUB-19] a sink may use the bus it is called by
#[test]
fn a_sink_may_publish_and_subscribe() {
    let bus = Arc::new(LocalBus::new());
    let heard = Arc::new(AtomicUsize::new(0));
    let (inner, count) = (Arc::clone(&bus), Arc::clone(&heard));
    bus.subscribe(Box::new(move |event| {
        count.fetch_add(1, Ordering::Relaxed);
        if let Event::ResourceUpdated(_) = event {
            inner.publish(&Event::ListChanged(Topic::ToolsListChanged));
            inner.subscribe(Box::new(|_| {}));
        }
    }));
    bus.publish(&Event::ResourceUpdated("u:a".into()));
    assert_eq!(heard.load(Ordering::Relaxed), 2);
}

/// [SUB-19] events survive the way through a broker; other programs' messages are skipped
#[test]
fn events_survive_their_wire_form() {
    let params = json!({ "taskId": "t", "n": [1, { "x": null }] });
    let payload = Payload::new(params.as_object().expect("an object"));
    let extension = Event::Extension { field: "taskIds".into(), key: "t\n".into(), payload };
    let empty = Event::Extension {
        field: "f".into(),
        key: "".into(),
        payload: Payload::new(&serde_json::Map::new()),
    };
    let updated = Event::ResourceUpdated("file:///\u{e9}\"".into());
    let lists = Topic::ALL.map(Event::ListChanged);
    for event in [extension, empty, updated].iter().chain(&lists) {
        assert_eq!(Event::from_json(&event.to_json()).as_ref(), Some(event));
    }
    for other in ["", "7", "{}", "[]", r#"{"listChanged":"x"}"#, r#"{"field":"a","key":"b"}"#] {
        assert_eq!(Event::from_json(other), None, "{other}");
    }
}
