//! One session: its client, whom it belongs to, and its streams. It lives on one core, which its id names.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use codec::error::RpcError;
use transport::mcp::ladder::Rung;
use transport::mcp::refusal::Refusal;

use super::client::Client;
use super::feed::Answer;
use super::feed::Feed;
use super::outlet::Outlet;
use super::streams::Streams;
use crate::app::App;
use crate::engine::core::Core;
use crate::hooks::Principal;
use crate::io::{Ends, How};

/// A session.
pub(crate) struct Session {
    pub(crate) client: Client,
    /// Who began it; nobody else may use it (LEG-68).
    subject: Option<Arc<str>>,
    pub(crate) streams: RefCell<Streams>,
    /// When it was last used, on the core's clock.
    seen_ms: Cell<u64>,
    /// Requests that run, and standing streams that are read: while there are any it is in use.
    busy: Cell<usize>,
}

impl Session {
    pub(super) fn new(
        client: Client,
        principal: Option<&Rc<Principal>>,
        streams: Streams,
        now_ms: u64,
    ) -> Rc<Self> {
        Rc::new(Self {
            client,
            subject: principal.map(|principal| Arc::clone(&principal.subject)),
            streams: RefCell::new(streams),
            seen_ms: Cell::new(now_ms),
            busy: Cell::new(0),
        })
    }

    /// Whether this caller began it.
    pub(super) fn belongs_to(&self, principal: Option<&Rc<Principal>>) -> bool {
        self.subject.as_deref() == principal.map(|principal| &*principal.subject)
    }

    pub(super) fn seen(&self, now_ms: u64) {
        self.seen_ms.set(now_ms);
    }

    /// When it has been idle for so long; never while it is in use.
    pub(super) fn expires_ms(&self, idle_ms: u64) -> u64 {
        if self.busy.get() > 0 { u64::MAX } else { self.seen_ms.get().saturating_add(idle_ms) }
    }

    /// In use for as long as the guard lives.
    pub(super) fn busy(self: &Rc<Self>, core: &Rc<Core<App>>) -> Busy {
        self.busy.set(self.busy.get() + 1);
        Busy { session: Rc::clone(self), core: Rc::clone(core) }
    }

    /// Ends it: readers, running requests, and whatever is kept.
    pub(super) fn end(&self) {
        self.client.cancel_all();
        if let Some(news) = &self.client.news {
            news.end();
        }
        self.streams.borrow_mut().clear();
    }
}

/// What the end of a drain does to it: its requests are dropped.
impl Ends for Session {
    fn end(&self, _: How) {
        self.client.cancel_all();
    }
}

/// Keeps a session from expiring; afterwards its time starts anew.
pub(super) struct Busy {
    session: Rc<Session>,
    core: Rc<Core<App>>,
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.session.busy.set(self.session.busy.get() - 1);
        self.session.seen(self.core.clock.now_ms());
    }
}

/// The stream of one POST of a session. It begins with the first message, or when the request turns out to take time:
/// an answer that is there at once is a JSON body.
pub(super) struct PostStream {
    pub(super) session: Rc<Session>,
    pub(super) feed: Arc<Feed>,
    number: Cell<Option<u64>>,
}

impl PostStream {
    pub(super) fn new(session: Rc<Session>, feed: Arc<Feed>) -> Self {
        Self { session, feed, number: Cell::new(None) }
    }

    pub(super) fn number(&self) -> Option<u64> {
        self.number.get()
    }

    /// From here on the answer is an event of a stream that can be resumed.
    pub(super) fn begin(&self) -> u64 {
        if let Some(number) = self.number.get() {
            return number;
        }
        let number = self.session.streams.borrow_mut().begin(Arc::clone(&self.feed));
        self.number.set(Some(number));
        number
    }
}

/// A request that ended without an answer has panicked: its client does not wait for ever.
impl Drop for PostStream {
    fn drop(&mut self) {
        if let Some(number) = self.number() {
            if let Ok(mut streams) = self.session.streams.try_borrow_mut() {
                streams.end(number);
            }
            return;
        }
        let refusal = Refusal::at(Rung::Handler, RpcError::internal()).with_status(500);
        self.feed.settle(Answer::Refused(refusal, None));
    }
}

impl Outlet for PostStream {
    fn send(&self, json: &[u8]) {
        let number = self.begin();
        self.session.streams.borrow_mut().push(number, json);
    }

    /// Only a client that was told where the stream begins knows what to come back for.
    fn release(&self) {
        if self.session.client.version.has_priming() {
            let number = self.begin();
            self.session.streams.borrow_mut().part(number);
        }
    }

    /// Nobody reading is no reason to hold back: what is sent is kept, up to a bound.
    fn poll_room(&self, cx: &mut Context<'_>) -> Poll<()> {
        let reader = self
            .number()
            .and_then(|number| self.session.streams.borrow().reader(number).map(Arc::clone));
        reader.map_or(Poll::Ready(()), |feed| feed.poll_room(cx))
    }
}
