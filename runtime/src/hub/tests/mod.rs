//! Tests of the subscription rooms; the shared way to make a hub and to read what a stream writes is here.

mod bus;
mod filter;
mod hub;
mod property;
mod stream;
mod threads;

use std::rc::Rc;
use std::sync::Arc;

use codec::id::{Id, OwnedId};
use serde_json::Value;

use super::topic::{ExtensionField, Kind, Kinds, Topic, Topics};
use super::{Access, Envelope, Exchange, ExchangeConfig, Filter, Hub, LocalBus, Stream};
use super::{Matcher, Subscription};

const TAG: &str = "io.modelcontextprotocol/subscriptionId";

/// The kinds of a server with the tasks extension.
fn kinds() -> Kinds {
    let mut kinds = Kinds::default();
    let tasks = ExtensionField { field: "taskIds".into(), method: "notifications/tasks".into() };
    kinds.register(tasks).expect("a free field");
    kinds
}

fn config() -> ExchangeConfig {
    ExchangeConfig {
        cores: 1,
        kinds: kinds(),
        matcher: None,
        server_info: None,
        subscriptions_max: 100_000,
        subscriptions_per_principal_max: 64,
    }
}

fn hub() -> (Arc<Exchange>, Rc<Hub>) {
    hub_with(config())
}

fn matching_hub(
    matcher: impl Fn(&str, &str) -> bool + Send + Sync + 'static,
) -> (Arc<Exchange>, Rc<Hub>) {
    let matcher: Matcher = Arc::new(matcher);
    hub_with(ExchangeConfig { matcher: Some(matcher), ..config() })
}

fn hub_with(config: ExchangeConfig) -> (Arc<Exchange>, Rc<Hub>) {
    let exchange = Exchange::new(config, &LocalBus::new());
    let hub = Hub::new(Arc::clone(&exchange), 0, Arc::default());
    (exchange, hub)
}

fn id(number: u64) -> OwnedId {
    Id::from(number).to_owned()
}

/// A filter of topics and URIs.
fn filter(topics: &[Topic], uris: &[&str]) -> Filter {
    Filter {
        topics: topics.iter().fold(Topics::default(), |set, topic| set.with(*topic)),
        keys: uris.iter().map(|uri| (Kind::RESOURCE, Box::from(*uri))).collect(),
    }
}

fn open(hub: &Rc<Hub>, number: u64, filter: Filter) -> Subscription {
    hub.open(id(number), filter, None, None).expect("room for a subscription")
}

fn open_with(hub: &Rc<Hub>, filter: Filter, access: Access) -> Subscription {
    hub.open(id(1), filter, None, Some(access)).expect("room for a subscription")
}

/// Has the hub look at the news, and wake everybody concerned.
fn deliver(hub: &Hub) {
    let mut more = hub.deliver();
    while more {
        while hub.turn() {}
        more = hub.next_round();
    }
}

/// What the stream has to tell now.
fn take(stream: &Stream) -> Vec<Value> {
    let mut out = Vec::new();
    let count = stream.take_frames(&mut out, Envelope::Line);
    let frames = lines(&out);
    assert_eq!(frames.len(), count, "the count is the number of frames");
    frames
}

/// What the stream has to tell until it has nothing left.
fn take_all(stream: &Stream) -> Vec<Value> {
    let mut frames = Vec::new();
    while stream.is_dirty() {
        frames.extend(take(stream));
    }
    frames
}

fn lines(bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).expect("frames are UTF-8");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("a frame is one line of JSON"))
        .collect()
}

fn method(frame: &Value) -> &str {
    frame["method"].as_str().expect("a notification names its method")
}

/// The URIs that `notifications/resources/updated` frames name; any other frame fails the test.
fn uris(frames: &[Value]) -> Vec<&str> {
    let uri = |frame| {
        assert_eq!(method(frame), "notifications/resources/updated");
        frame["params"]["uri"].as_str().expect("an update names its URI")
    };
    frames.iter().map(uri).collect()
}
