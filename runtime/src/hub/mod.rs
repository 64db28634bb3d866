//! Subscriptions: a hub per core knows the core's open streams and marks those that a change concerns; inboxes
//! carry changes from any thread to the cores, a bus from any replica to the servers. Ledger section 5.
//!
//! Writing to a peer is not done here: `engine/listen.rs` does that for HTTP, one small task per stream.

mod bus;
mod event;
mod exchange;
mod filter;
mod frame;
mod inbox;
mod index;
mod rounds;
mod seats;
mod stream;
mod topic;

#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use codec::id::OwnedId;

pub use bus::{Bus, LocalBus, Sink};
pub use event::{Event, Payload};
pub(crate) use exchange::{Exchange, ExchangeConfig, Matcher};
pub(crate) use filter::{Access, Filter, FilterLimits, KEY_BYTES_MAX, Subject, Supported};
pub(crate) use frame::Envelope;
#[cfg(test)]
pub(crate) use rounds::WOKEN_PER_TURN_MAX;
pub(crate) use seats::Full;
pub(crate) use stream::Stream;
pub use topic::{ExtensionField, Topic};
pub(crate) use topic::{Kind, Kinds, Topics};

use inbox::Inbox;
use index::{Followers, Lists};
use rounds::Rounds;
use seats::Seat;

use crate::engine::counters::CoreCounters;

/// The followed keys of one kind, by their text.
type KeyMap = HashMap<Arc<str>, Rc<Followers>>;

/// The streams of one core. Single-threaded; everything it holds for a stream is gone when the stream's
/// [`Subscription`] is dropped.
pub(crate) struct Hub {
    exchange: Arc<Exchange>,
    inbox: Arc<Inbox>,
    lists: RefCell<Lists>,
    /// By kind.
    keys: RefCell<Box<[KeyMap]>>,
    rounds: Rounds,
    draining: Cell<bool>,
    counters: Arc<CoreCounters>,
}

impl Hub {
    /// The hub of this core, which counts its open streams.
    pub(crate) fn new(
        exchange: Arc<Exchange>,
        core: usize,
        counters: Arc<CoreCounters>,
    ) -> Rc<Hub> {
        let inbox = Arc::clone(exchange.inbox(core));
        let keys = exchange.kinds.iter().map(|_| KeyMap::new()).collect();
        Rc::new(Hub {
            exchange,
            inbox,
            lists: RefCell::default(),
            keys: RefCell::new(keys),
            rounds: Rounds::default(),
            draining: Cell::new(false),
            counters,
        })
    }

    /// Opens a subscription with the honoured filter. From here on changes are marked, so that none is missed
    /// between the acknowledgement and the first wait. A filter that honours nothing (LEDGER SUB-18), and any
    /// on a draining core, is opened already ending: the acknowledgement is followed by the closing result.
    pub(crate) fn open(
        self: &Rc<Self>,
        id: OwnedId,
        filter: Filter,
        principal: Option<&str>,
        access: Option<Access>,
    ) -> Result<Subscription, Full> {
        let seat = self.exchange.seats.take(principal)?;
        let followers = filter.keys.into_iter().map(|(kind, key)| self.followers(kind, key));
        let followers: Vec<_> = followers.collect();
        let kinds = Arc::clone(&self.exchange.kinds);
        let stream = Rc::new(Stream::new(id, kinds, filter.topics, followers, access));
        for (at, key) in stream.followed().iter().enumerate() {
            key.place.set(key.followers.insert(&stream, at as u32));
        }
        if self.lists.borrow_mut().insert(&stream) {
            self.want_topics();
        }
        if stream.is_empty() || self.draining.get() {
            stream.end();
        }
        self.counters.subscriptions_open.add(1);
        Ok(Subscription { hub: Rc::clone(self), stream, seat: Some(seat) })
    }

    /// Streams open on this core.
    pub(crate) fn len(&self) -> usize {
        self.lists.borrow().len()
    }

    /// Marks what other threads have told since the last call, and wakes only the streams concerned, the first of them at
    /// once. True when there are more: the caller has a task go on with [`Hub::turn`]. The worker calls it on the bell's
    /// message, and may call it at any other time: without news it is one swap.
    #[must_use]
    pub(crate) fn deliver(&self) -> bool {
        self.mark_news();
        self.rounds.begin()
    }

    /// Wakes the next of the streams that have news. True while there are more in this round.
    pub(crate) fn turn(&self) -> bool {
        self.rounds.turn()
    }

    /// Begins a round of those that have got news since the last round began, which is over. False when there is none.
    pub(crate) fn next_round(&self) -> bool {
        self.rounds.next_round()
    }

    fn mark_news(&self) {
        let news = self.inbox.take();
        for topic in news.topics.iter() {
            self.mark_topic(topic);
        }
        for key in news.keys {
            let payload = key.lower();
            // A key that was forgotten meanwhile, or forgotten and wanted anew, has no news for anyone.
            let followers = self.find(key.kind, &key.text);
            if let Some(followers) = followers.filter(|found| Arc::ptr_eq(&found.key, &key))
                && (key.kind == Kind::RESOURCE || payload.is_some())
            {
                followers.backwards(|stream, at| {
                    stream.mark_key(at, payload.as_ref());
                    self.rounds.enter(stream);
                });
            }
        }
        if news.wide_overflow {
            self.mark_all_resources();
        }
        for uri in &news.wide {
            self.mark_wide(uri);
        }
    }

    /// Ends every stream: what is pending is told, then the closing result (LEDGER SUB-14). Streams opened from
    /// now on end after their acknowledgement.
    pub(crate) fn end_all(&self) {
        self.draining.set(true);
        let mut at = self.len();
        while at > 0 {
            at -= 1;
            let stream = self.lists.borrow().any(at);
            if let Some(stream) = stream {
                stream.end();
            }
        }
    }

    fn close(&self, stream: &Rc<Stream>) {
        for key in stream.followed() {
            if key.followers.remove(stream, key.place.get()) {
                let key = &key.followers.key;
                let map = &mut self.keys.borrow_mut()[key.kind.index()];
                map.remove(&key.text);
                if map.is_empty() {
                    *map = KeyMap::new();
                }
                self.inbox.forget_key(key);
            }
        }
        if self.lists.borrow_mut().remove(stream) {
            self.want_topics();
        }
    }

    /// The followers of a key, made (and wanted of the publishers) if there were none.
    fn followers(&self, kind: Kind, text: Box<str>) -> Rc<Followers> {
        let map = &mut self.keys.borrow_mut()[kind.index()];
        if let Some(followers) = map.get(&*text) {
            return Rc::clone(followers);
        }
        let text: Arc<str> = text.into();
        let key = self.inbox.want_key(kind, Arc::clone(&text));
        let followers = Rc::new(Followers::new(key));
        map.insert(text, Rc::clone(&followers));
        followers
    }

    fn find(&self, kind: Kind, text: &str) -> Option<Rc<Followers>> {
        self.keys.borrow()[kind.index()].get(text).cloned()
    }

    fn want_topics(&self) {
        let lists = self.lists.borrow();
        let wanted = Topic::ALL.into_iter().filter(|topic| lists.topic_len(*topic) > 0);
        self.inbox.want_topics(wanted.fold(Topics::default(), Topics::with));
    }

    // Marking goes from the end of a list and holds no borrow while a stream wakes: should a waker close
    // streams, the one that a removal moves into a gap was marked before.
    fn mark_topic(&self, topic: Topic) {
        let mut at = self.lists.borrow().topic_len(topic);
        while at > 0 {
            at -= 1;
            let stream = self.lists.borrow().of_topic(topic, at);
            if let Some(stream) = stream {
                stream.mark_topic(topic);
                self.rounds.enter(&stream);
            }
        }
    }

    /// Marks the streams that follow this very URI, and those whose URI the matcher finds to cover it.
    fn mark_wide(&self, uri: &Arc<str>) {
        if let Some(exact) = self.find(Kind::RESOURCE, uri) {
            self.mark_key(&exact);
        }
        for followers in self.resources() {
            let subscribed = &*followers.key.text;
            if *subscribed != **uri && self.exchange.matches(subscribed, uri) {
                followers.backwards(|stream, at| {
                    if stream.mark_wide(at, uri) {
                        self.rounds.enter(stream);
                    }
                });
            }
        }
    }

    fn mark_all_resources(&self) {
        for followers in self.resources() {
            self.mark_key(&followers);
        }
    }

    fn mark_key(&self, followers: &Followers) {
        followers.backwards(|stream, at| {
            stream.mark_key(at, None);
            self.rounds.enter(stream);
        });
    }

    fn resources(&self) -> Vec<Rc<Followers>> {
        self.keys.borrow()[Kind::RESOURCE.index()].values().cloned().collect()
    }
}

/// An open subscription. Dropping it, whatever the reason, closes it and frees everything (LEDGER SUB-12).
pub(crate) struct Subscription {
    hub: Rc<Hub>,
    stream: Rc<Stream>,
    /// Present until the drop.
    seat: Option<Seat>,
}

impl Subscription {
    /// Writes the closing result: the last message of the subscription. LEDGER SUB-14.
    pub(crate) fn write_closing(&self, out: &mut Vec<u8>, envelope: Envelope) {
        self.stream.write_closing(out, envelope, self.hub.exchange.server_info.as_deref());
    }
}

impl Deref for Subscription {
    type Target = Stream;

    fn deref(&self) -> &Stream {
        &self.stream
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.hub.close(&self.stream);
        // Before the gauge moves: whoever sees the stream gone finds its place free.
        drop(self.seat.take());
        self.hub.counters.subscriptions_open.sub(1);
    }
}
