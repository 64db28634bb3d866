//! The event bus: carries events from publishers to every server that shares it. In process by default;
//! replicas plug in one that talks to a broker. Which streams care is not decided here.

use std::sync::Arc;

use arc_swap::ArcSwap;

use super::event::Event;

/// What a server hands to [`Bus::subscribe`]: called for every event, from any thread. It never blocks on a
/// stream, however slow, and does not panic.
pub type Sink = Box<dyn Fn(&Event) + Send + Sync>;

/// Carries events between publishers and servers. LEDGER SUB-19.
///
/// An implementation over a broker keeps these rules: `publish` returns without waiting for the broker
/// (queue, and coalesce or drop duplicates when the queue is full: an event says only that something
/// changed), never fails towards its caller, and every event reaches every sink of every replica, including
/// those of the server that published it. [`Event::to_json`] and [`Event::from_json`] are the wire form.
pub trait Bus: Send + Sync {
    /// Hands an event to all sinks.
    fn publish(&self, event: &Event);
    /// Adds a sink for as long as the bus lives. A server that is gone leaves an empty sink behind.
    fn subscribe(&self, sink: Sink);
}

/// The bus inside one process: calls the sinks on the publisher's thread.
#[derive(Default)]
pub struct LocalBus {
    // Replaced as a whole on subscribe, so that publishing takes no lock and a sink may publish or subscribe.
    sinks: ArcSwap<Vec<Arc<Sink>>>,
}

impl LocalBus {
    /// A bus without sinks.
    pub fn new() -> LocalBus {
        LocalBus::default()
    }
}

impl Bus for LocalBus {
    fn publish(&self, event: &Event) {
        for sink in self.sinks.load().iter() {
            sink(event);
        }
    }

    fn subscribe(&self, sink: Sink) {
        let sink = Arc::new(sink);
        self.sinks.rcu(|sinks| {
            let mut more = Vec::clone(sinks);
            more.push(Arc::clone(&sink));
            more
        });
    }
}
