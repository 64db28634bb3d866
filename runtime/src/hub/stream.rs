//! One subscription: what it honours, what of it is dirty, and who is waiting for that. Everything pending fits
//! in bits and indices over the stream's own filter, so memory is bounded by the filter however slow the reader
//! and however long the burst, and a burst is told once (LEDGER SSE-11, SUB-20).

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use codec::id::OwnedId;

use super::event::Payload;
use super::filter::{Access, Subject, allowed, subject};
use super::frame::{self, Envelope};
use super::index::{Followers, LISTS};
use super::topic::{Kind, Kinds, Topic, Topics};

/// Updated URIs that one stream keeps, beyond those it named, when a matcher widens the match. Beyond it the
/// subscribed URI itself is told: no change is lost, only its exact place.
pub(crate) const WIDE_URIS_PER_STREAM_MAX: usize = 64;
/// Bytes of notifications written at once; what does not fit stays dirty and follows after that write.
pub(crate) const TAKE_BYTES_MAX: usize = 32 * 1024;

/// One open subscription. Belongs to its core's [`super::Hub`]; single-threaded.
pub(crate) struct Stream {
    /// The listen request's, which tags every message of the subscription.
    id: OwnedId,
    kinds: Arc<Kinds>,
    honoured: Topics,
    dirty: Cell<Topics>,
    ending: Cell<bool>,
    /// It has news, and is in one of the lists of [`super::rounds`].
    pub(super) awaits_turn: Cell<bool>,
    waker: Cell<Option<Waker>>,
    /// Absent on the many streams that follow lists only.
    pub(super) keyed: Option<Box<Keyed>>,
    /// The stream's place in each of the hub's lists.
    pub(super) places: [Cell<u32>; LISTS],
}

/// The half of a stream that follows single keys.
pub(super) struct Keyed {
    pub(super) keys: Box<[Followed]>,
    /// Indices into `keys`, each at most once: those with `dirty` set.
    dirty: RefCell<Vec<u32>>,
    /// Updated URIs that a matcher let through, each once.
    wide: RefCell<Vec<Arc<str>>>,
    access: Option<Access>,
}

/// One key that the stream follows.
pub(super) struct Followed {
    pub(super) followers: Rc<Followers>,
    /// The stream's place in the list of followers.
    pub(super) place: Cell<u32>,
    dirty: Cell<bool>,
    /// Extensions only: what to tell.
    payload: Cell<Option<Payload>>,
}

impl Stream {
    pub(super) fn new(
        id: OwnedId,
        kinds: Arc<Kinds>,
        honoured: Topics,
        keys: Vec<Rc<Followers>>,
        access: Option<Access>,
    ) -> Stream {
        let keyed = (!keys.is_empty()).then(|| {
            let keys = keys.into_iter().map(Followed::new).collect();
            Box::new(Keyed { keys, dirty: RefCell::default(), wide: RefCell::default(), access })
        });
        Stream {
            id,
            kinds,
            honoured,
            dirty: Cell::default(),
            ending: Cell::new(false),
            awaits_turn: Cell::new(false),
            waker: Cell::new(None),
            keyed,
            places: Default::default(),
        }
    }

    /// The topics that were honoured.
    pub(crate) fn topics(&self) -> Topics {
        self.honoured
    }

    /// Nothing was honoured. LEDGER SUB-18.
    pub(crate) fn is_empty(&self) -> bool {
        self.honoured.is_empty() && self.keyed.is_none()
    }

    /// Something is pending.
    pub(crate) fn is_dirty(&self) -> bool {
        !self.dirty.get().is_empty() || self.keyed.as_ref().is_some_and(|keyed| keyed.is_dirty())
    }

    /// The server ends the subscription: what is pending is still told, then the closing result.
    pub(crate) fn is_ending(&self) -> bool {
        self.ending.get()
    }

    /// Ready when something is pending or the end has come; otherwise wakes this task then.
    pub(crate) fn poll_news(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_dirty() || self.is_ending() {
            return Poll::Ready(());
        }
        let waker = match self.waker.take() {
            Some(waker) if waker.will_wake(cx.waker()) => waker,
            _ => cx.waker().clone(),
        };
        self.waker.set(Some(waker));
        Poll::Pending
    }

    /// Writes the acknowledgement: the first message of the subscription. LEDGER SUB-02, SUB-05.
    pub(crate) fn write_ack(&self, out: &mut Vec<u8>, envelope: Envelope) {
        let keys = self.followed().iter().map(|key| (key.kind(), key.text()));
        envelope.wrap(out, |out| {
            frame::acknowledged(out, &self.id, &self.kinds, self.honoured, keys);
        });
    }

    /// Writes what is pending, about [`TAKE_BYTES_MAX`] at a time, each changed thing once. A change that comes
    /// after this call, while the bytes are on their way, makes the stream dirty again. Returns how many
    /// notifications were written: none, when the opener may no longer hear of what is pending.
    pub(crate) fn take_frames(&self, out: &mut Vec<u8>, envelope: Envelope) -> usize {
        let mut count = 0;
        for topic in self.dirty.take().iter() {
            envelope.wrap(out, |out| frame::list_changed(out, &self.id, topic));
            count += 1;
        }
        if let Some(keyed) = &self.keyed {
            let full = out.len().saturating_add(TAKE_BYTES_MAX);
            count += self.take_keys(keyed, out, envelope, full);
            count += self.take_wide(keyed, out, envelope, full);
        }
        count
    }

    pub(super) fn write_closing(
        &self,
        out: &mut Vec<u8>,
        envelope: Envelope,
        server_info: Option<&str>,
    ) {
        envelope.wrap(out, |out| frame::closing(out, &self.id, server_info));
    }

    fn take_keys(
        &self,
        keyed: &Keyed,
        out: &mut Vec<u8>,
        envelope: Envelope,
        full: usize,
    ) -> usize {
        let pending = keyed.dirty.take();
        let (mut taken, mut count) = (0, 0);
        while out.len() < full
            && let Some(at) = pending.get(taken)
        {
            taken += 1;
            let key = &keyed.keys[*at as usize];
            key.dirty.set(false);
            let payload = key.payload.take();
            let about = subject(&self.kinds, key.kind(), key.text());
            if !allowed(keyed.access.as_ref(), about) {
                continue;
            }
            match (about, payload) {
                (Subject::Resource(uri), _) => {
                    count += 1;
                    envelope.wrap(out, |out| frame::updated(out, &self.id, uri));
                }
                (Subject::Extension { .. }, Some(payload)) => {
                    count += 1;
                    let method = self.kinds.method(key.kind());
                    envelope.wrap(out, |out| {
                        frame::extension(out, &self.id, method, payload.members());
                    });
                }
                (Subject::Extension { .. }, None) => {}
            }
        }
        restore(&keyed.dirty, pending, taken);
        count
    }

    fn take_wide(
        &self,
        keyed: &Keyed,
        out: &mut Vec<u8>,
        envelope: Envelope,
        full: usize,
    ) -> usize {
        let pending = keyed.wide.take();
        let (mut taken, mut count) = (0, 0);
        while out.len() < full
            && let Some(uri) = pending.get(taken)
        {
            taken += 1;
            if allowed(keyed.access.as_ref(), Subject::Resource(uri)) {
                count += 1;
                envelope.wrap(out, |out| frame::updated(out, &self.id, uri));
            }
        }
        restore(&keyed.wide, pending, taken);
        count
    }

    pub(super) fn followed(&self) -> &[Followed] {
        self.keyed.as_ref().map_or(&[][..], |keyed| &keyed.keys)
    }

    pub(super) fn mark_topic(&self, topic: Topic) {
        debug_assert!(self.honoured.contains(topic), "only what was honoured is delivered");
        self.dirty.set(self.dirty.get().with(topic));
    }

    /// Marks the key at this index, with what an extension has to tell.
    pub(super) fn mark_key(&self, at: u32, payload: Option<&Payload>) {
        let Some(keyed) = &self.keyed else { return };
        let key = &keyed.keys[at as usize];
        if payload.is_some() {
            key.payload.set(payload.cloned());
        }
        if !key.dirty.replace(true) {
            keyed.dirty.borrow_mut().push(at);
        }
    }

    /// Marks an updated URI that a matcher found to belong to the key at this index; one that the stream follows
    /// itself is marked as its own key. False when that is no news.
    pub(super) fn mark_wide(&self, at: u32, uri: &Arc<str>) -> bool {
        let Some(keyed) = &self.keyed else { return false };
        let mut wide = keyed.wide.borrow_mut();
        if wide.contains(uri) || keyed.follows(uri) {
            return false;
        }
        if wide.len() < WIDE_URIS_PER_STREAM_MAX {
            wide.push(Arc::clone(uri));
        } else {
            self.mark_key(at, None);
        }
        true
    }

    /// Ends the subscription from the server's side: see [`Stream::is_ending`].
    pub(crate) fn end(&self) {
        self.ending.set(true);
        self.wake();
    }

    pub(super) fn wake(&self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

impl Keyed {
    fn follows(&self, uri: &str) -> bool {
        self.keys.iter().any(|key| key.kind() == Kind::RESOURCE && key.text() == uri)
    }

    fn is_dirty(&self) -> bool {
        !self.dirty.borrow().is_empty() || !self.wide.borrow().is_empty()
    }
}

impl Followed {
    fn new(followers: Rc<Followers>) -> Followed {
        Followed {
            followers,
            place: Cell::new(0),
            dirty: Cell::new(false),
            payload: Cell::new(None),
        }
    }

    fn kind(&self) -> Kind {
        self.followers.key.kind
    }

    fn text(&self) -> &str {
        &self.followers.key.text
    }
}

/// Puts back what was not taken, before anything that was marked meanwhile; an empty list keeps no memory.
fn restore<T>(list: &RefCell<Vec<T>>, mut pending: Vec<T>, taken: usize) {
    if taken == pending.len() {
        return;
    }
    pending.drain(..taken);
    let mut list = list.borrow_mut();
    pending.append(&mut list);
    *list = pending;
}
