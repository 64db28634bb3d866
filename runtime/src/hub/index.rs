//! Who follows what on one core: lists with constant-time removal, since a hundred thousand streams on one
//! topic also close.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::inbox::Key;
use super::stream::Stream;
use super::topic::{TOPICS, Topic};

/// The lists that a stream may be in: one per topic, and the one of all streams.
pub(super) const LISTS: usize = TOPICS + 1;
const ALL: usize = TOPICS;

/// The streams of a core by topic, and all of them.
#[derive(Default)]
pub(super) struct Lists {
    lists: [Vec<Rc<Stream>>; LISTS],
}

/// The streams that follow one key.
pub(super) struct Followers {
    pub(super) key: Arc<Key>,
    /// With each stream the index of the key in the stream's own list.
    streams: RefCell<Vec<(Rc<Stream>, u32)>>,
}

impl Lists {
    /// Lists a stream under what it honours. True if one of its topics had no stream before.
    pub(super) fn insert(&mut self, stream: &Rc<Stream>) -> bool {
        let mut first = false;
        for list in lists_of(stream) {
            first |= list != ALL && self.lists[list].is_empty();
            stream.places[list].set(self.lists[list].len() as u32);
            self.lists[list].push(Rc::clone(stream));
        }
        first
    }

    /// Takes a listed stream out. True if one of its topics has no stream left.
    pub(super) fn remove(&mut self, stream: &Rc<Stream>) -> bool {
        let mut last = false;
        for at in lists_of(stream) {
            let place = stream.places[at].get() as usize;
            let list = &mut self.lists[at];
            debug_assert!(Rc::ptr_eq(&list[place], stream), "a stream knows its place");
            list.swap_remove(place);
            if let Some(moved) = list.get(place) {
                moved.places[at].set(place as u32);
            }
            if list.is_empty() {
                *list = Vec::new();
                last |= at != ALL;
            }
        }
        last
    }

    pub(super) fn len(&self) -> usize {
        self.lists[ALL].len()
    }

    /// The `at`-th stream that follows the topic.
    pub(super) fn of_topic(&self, topic: Topic, at: usize) -> Option<Rc<Stream>> {
        self.lists[topic as usize].get(at).cloned()
    }

    pub(super) fn topic_len(&self, topic: Topic) -> usize {
        self.lists[topic as usize].len()
    }

    /// The `at`-th of all streams.
    pub(super) fn any(&self, at: usize) -> Option<Rc<Stream>> {
        self.lists[ALL].get(at).cloned()
    }
}

fn lists_of(stream: &Stream) -> impl Iterator<Item = usize> {
    stream.topics().iter().map(|topic| topic as usize).chain([ALL])
}

impl Followers {
    pub(super) fn new(key: Arc<Key>) -> Followers {
        Followers { key, streams: RefCell::default() }
    }

    pub(super) fn insert(&self, stream: &Rc<Stream>, index: u32) -> u32 {
        let mut streams = self.streams.borrow_mut();
        streams.push((Rc::clone(stream), index));
        streams.len() as u32 - 1
    }

    /// Takes a stream out of its place. True if nobody follows the key any more.
    pub(super) fn remove(&self, stream: &Rc<Stream>, place: u32) -> bool {
        let mut streams = self.streams.borrow_mut();
        let place = place as usize;
        debug_assert!(Rc::ptr_eq(&streams[place].0, stream), "a stream knows its place");
        streams.swap_remove(place);
        if let Some((moved, index)) = streams.get(place)
            && let Some(keyed) = &moved.keyed
        {
            keyed.keys[*index as usize].place.set(place as u32);
        }
        streams.is_empty()
    }

    /// Every stream with its index of the key, from the end and without a borrow held across the call (see
    /// `Hub::mark_topic`).
    pub(super) fn backwards(&self, mut each: impl FnMut(&Rc<Stream>, u32)) {
        let mut at = self.streams.borrow().len();
        while at > 0 {
            at -= 1;
            let found = self.streams.borrow().get(at).cloned();
            if let Some((stream, index)) = found {
                each(&stream, index);
            }
        }
    }
}
