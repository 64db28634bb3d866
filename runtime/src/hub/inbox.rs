//! The cross-core half: what other threads have told one core and it has not yet looked at. Bounded by what
//! the core's streams subscribed to, so publishing never blocks on a reader, never fails and loses nothing.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::event::{Event, Payload};
use super::topic::{Kind, Kinds, Topics};

/// Distinct updated URIs one core keeps between two looks when a matcher widens the match (LEDGER SUB-09).
/// Beyond it every subscribed URI of the core counts as changed: some readers look again for nothing, none
/// misses a change. Without a matcher the bound is the subscribed URIs themselves.
pub(crate) const WIDE_URIS_PER_CORE_MAX: usize = 1024;

/// Rouses the core: one message in its mailbox. Called at most once between two looks.
pub(crate) type Bell = Box<dyn Fn() + Send + Sync>;

/// One core's inbox, shared with every publisher.
pub(crate) struct Inbox {
    kinds: Arc<Kinds>,
    /// A matcher is installed: updated URIs are kept as such and matched on the core.
    wide: bool,
    /// Topics that some stream of this core honours. Written by the core, read by publishers.
    topics_wanted: AtomicU8,
    /// Keys that some stream of this core honours: zero spares publishers the lock.
    keys_wanted: AtomicUsize,
    topics_raised: AtomicU8,
    keys: Mutex<Keys>,
    /// Rung and not yet looked at. Set after the news is in place, cleared before it is taken.
    ringing: AtomicBool,
    bell: OnceLock<Bell>,
}

struct Keys {
    /// By kind, then by text.
    wanted: Box<[HashMap<Arc<str>, Arc<Key>>]>,
    raised: Vec<Arc<Key>>,
    wide: HashSet<Arc<str>>,
    wide_overflow: bool,
}

/// One key that some stream of the core follows: a resource URI, or a string of an extension's field.
pub(crate) struct Key {
    pub(crate) kind: Kind,
    pub(crate) text: Arc<str>,
    /// In the list of raised keys, or just taken from it.
    raised: AtomicBool,
    /// Extensions only: what to tell, the newest.
    payload: Mutex<Option<Payload>>,
}

/// What one look found.
#[derive(Default)]
pub(crate) struct News {
    pub(crate) topics: Topics,
    pub(crate) keys: Vec<Arc<Key>>,
    /// Updated URIs to be matched; empty without a matcher.
    pub(crate) wide: HashSet<Arc<str>>,
    /// More URIs were updated than are kept: all subscribed resources count as changed.
    pub(crate) wide_overflow: bool,
}

impl Inbox {
    pub(crate) fn new(kinds: Arc<Kinds>, wide: bool) -> Arc<Inbox> {
        let wanted = kinds.iter().map(|_| HashMap::new()).collect();
        Arc::new(Inbox {
            kinds,
            wide,
            topics_wanted: AtomicU8::new(0),
            keys_wanted: AtomicUsize::new(0),
            topics_raised: AtomicU8::new(0),
            keys: Mutex::new(Keys {
                wanted,
                raised: Vec::new(),
                wide: HashSet::new(),
                wide_overflow: false,
            }),
            ringing: AtomicBool::new(false),
            bell: OnceLock::new(),
        })
    }

    /// Installs the bell, once, before the core opens its first stream; it rings at once if news is waiting.
    pub(crate) fn set_bell(&self, bell: Bell) {
        let bell = self.bell.get_or_init(|| bell);
        // Against the fence in `ring`: either the ringer sees the bell or this load sees the ring.
        fence(Ordering::SeqCst);
        if self.ringing.load(Ordering::Acquire) {
            bell();
        }
    }

    /// Takes in an event, from any thread. A core without interest costs one load.
    pub(crate) fn offer(&self, event: &Event) {
        match event {
            Event::ListChanged(topic) => {
                let bit = Topics::bit(*topic);
                if self.topics_wanted.load(Ordering::Acquire) & bit == 0 {
                    return;
                }
                if self.topics_raised.fetch_or(bit, Ordering::AcqRel) & bit == 0 {
                    self.ring();
                }
            }
            Event::ResourceUpdated(uri) => self.offer_key(Kind::RESOURCE, uri, None),
            Event::Extension { field, key, payload } => {
                if let Some(kind) = self.kinds.named(field) {
                    self.offer_key(kind, key, Some(payload));
                }
            }
        }
    }

    fn offer_key(&self, kind: Kind, text: &Arc<str>, payload: Option<&Payload>) {
        if self.keys_wanted.load(Ordering::Acquire) == 0 {
            return;
        }
        let mut keys = self.lock();
        let fresh = if self.wide && kind == Kind::RESOURCE {
            keys.raise_wide(text)
        } else {
            keys.raise(kind, text, payload)
        };
        drop(keys);
        if fresh {
            self.ring();
        }
    }

    /// Everything that was told since the last look. Only the core calls this.
    pub(crate) fn take(&self) -> News {
        // Cleared first: whatever is raised from here on rings again.
        if !self.ringing.swap(false, Ordering::AcqRel) {
            return News::default();
        }
        let topics = Topics(self.topics_raised.swap(0, Ordering::AcqRel));
        let mut keys = self.lock();
        News {
            topics,
            keys: std::mem::take(&mut keys.raised),
            wide: std::mem::take(&mut keys.wide),
            wide_overflow: std::mem::take(&mut keys.wide_overflow),
        }
    }

    /// Whether a look would find something.
    #[cfg(test)]
    pub(crate) fn has_news(&self) -> bool {
        self.ringing.load(Ordering::Acquire)
    }

    /// The core now follows exactly these topics.
    pub(crate) fn want_topics(&self, topics: Topics) {
        self.topics_wanted.store(topics.0, Ordering::Release);
    }

    /// The core follows one more key; the caller knows that it did not until now.
    pub(crate) fn want_key(&self, kind: Kind, text: Arc<str>) -> Arc<Key> {
        let key = Arc::new(Key {
            kind,
            text: Arc::clone(&text),
            raised: AtomicBool::new(false),
            payload: Mutex::new(None),
        });
        let mut keys = self.lock();
        let before = keys.wanted[kind.index()].insert(text, Arc::clone(&key));
        debug_assert!(before.is_none(), "a key is wanted once per core");
        self.keys_wanted.fetch_add(1, Ordering::AcqRel);
        key
    }

    /// The core no longer follows this key.
    pub(crate) fn forget_key(&self, key: &Key) {
        let mut keys = self.lock();
        let wanted = &mut keys.wanted[key.kind.index()];
        let before = wanted.remove(&key.text);
        debug_assert!(before.is_some(), "only a wanted key is forgotten");
        if wanted.is_empty() {
            *wanted = HashMap::new();
        }
        self.keys_wanted.fetch_sub(1, Ordering::AcqRel);
    }

    /// Keys wanted now.
    #[cfg(test)]
    pub(crate) fn keys_wanted(&self) -> usize {
        self.keys_wanted.load(Ordering::Acquire)
    }

    fn ring(&self) {
        if self.ringing.swap(true, Ordering::AcqRel) {
            return;
        }
        fence(Ordering::SeqCst);
        if let Some(bell) = self.bell.get() {
            bell();
        }
    }

    // No step under the lock runs foreign code, so a poisoned lock holds whole data.
    fn lock(&self) -> MutexGuard<'_, Keys> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Keys {
    /// Raises an exact key; true if it was not raised before.
    fn raise(&mut self, kind: Kind, text: &str, payload: Option<&Payload>) -> bool {
        let Some(key) = self.wanted[kind.index()].get(text) else { return false };
        if let Some(payload) = payload {
            *key.payload.lock().unwrap_or_else(PoisonError::into_inner) = Some(payload.clone());
        }
        let fresh = !key.raised.swap(true, Ordering::AcqRel);
        if fresh {
            self.raised.push(Arc::clone(key));
        }
        fresh
    }

    /// Keeps an updated URI for the matcher; true if a look is due for it.
    fn raise_wide(&mut self, uri: &Arc<str>) -> bool {
        if self.wanted[Kind::RESOURCE.index()].is_empty() || self.wide_overflow {
            return false;
        }
        if self.wide.len() < WIDE_URIS_PER_CORE_MAX {
            return self.wide.insert(Arc::clone(uri));
        }
        if self.wide.contains(uri) {
            return false;
        }
        self.wide = HashSet::new();
        self.wide_overflow = true;
        true
    }
}

impl Key {
    /// Lowers the key before its streams are marked: a change from here on raises it again. Gives the payload
    /// of an extension; `None` there means that the newest was told already.
    pub(crate) fn lower(&self) -> Option<Payload> {
        self.raised.swap(false, Ordering::AcqRel);
        self.payload.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
