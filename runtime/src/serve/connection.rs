//! The requests that have begun on a connection: frames them, answers them in order, and reads what is missing of them.
//! Its future lives from the first byte of a request until nothing of any is left; between requests there is `kept`.

use std::io;
use std::ops::Range;
use std::rc::Rc;

use codec::document::{Document, JsonError};
use transport::http::respond;
use transport::http::{Event, Machine, Reject, Waiting};
use transport::mcp::accept::Forms;
use transport::mcp::head::Places;

use super::answer::{self, Closing};
use super::kept::{Kept, ROOM_BYTES_MAX, Reading};
use super::legacy::Standing;
use super::workspace::Workspace;
use super::{head, request};
use crate::app::App;
use crate::context::Emitter;
use crate::dispatch::Splice;
use crate::engine::core::Core;
use crate::engine::deadline::{Deadline, Kind};
use crate::engine::listen::Pace;
use crate::engine::wake::TaskWaker;
use crate::hooks::Principal;
use crate::hub::Subscription;
use crate::io::{Link, PooledFuture};

/// Answers of pipelined requests are written together up to this many bytes.
const BATCH_BYTES: usize = 64 * 1024;

/// Requests answered in a row before the core's other tasks get their turn.
const REQUESTS_PER_TURN: u32 = 64;

/// A request or an answer this large takes so long that the core looks at the time afterwards.
const LARGE_BYTES: usize = 256 * 1024;

/// What becomes of the connection after a request.
pub(super) enum Next<L> {
    /// The next request.
    Keep,
    /// The answer is the last one.
    Close,
    /// The peer is gone, or takes nothing: nothing more is written.
    Gone,
    /// The request opened a subscription: the link belongs to it now.
    Listen(Box<Handover<L>>),
    /// The request opened a stream of a session of the 2025 era: the same.
    Stand(Box<Standing<L>>),
}

/// What a subscription takes over from the request that opened it.
pub(super) struct Handover<L> {
    pub(super) link: L,
    /// The response head; earlier answers of the same connection stand before it.
    pub(super) head: Vec<u8>,
    pub(super) subscription: Subscription,
    pub(super) pace: Pace,
}

/// What becomes of the connection when nothing of any request is left.
pub(super) enum Then<L> {
    /// The next request may come.
    Rest,
    /// What is due is written, and that is all.
    Close,
    /// There is nobody to write to.
    Gone,
    /// The connection has become a subscription.
    Listen(Box<Handover<L>>),
    /// The connection has become a stream of a session.
    Stand(Box<Standing<L>>),
}

/// A connection and all it takes to serve its requests.
pub(super) struct Connection<'c, L> {
    pub(super) core: Rc<Core<App>>,
    /// Taken when a subscription begins.
    pub(super) link: Option<L>,
    pub(super) machine: Machine,
    /// Bytes read and not yet answered.
    pub(super) buf: Vec<u8>,
    /// Answers not yet written.
    pub(super) out: Vec<u8>,
    /// What belongs into `out`; written as soon as the request is answered.
    pub(super) splice: Option<Box<Splice>>,
    /// The JSON of the answer under way.
    pub(super) body: Vec<u8>,
    pub(super) document: Document,
    pub(super) emitter: Rc<Emitter>,
    pub(super) waker: TaskWaker,
    /// Ends the link's operations: head, body, idle and write timeouts.
    pub(super) deadline: &'c Deadline,
    /// Wakes the task: handler timeout and comments on a quiet stream.
    pub(super) timer: Deadline,
    /// What the deadline was armed for, so that a slow sender does not push it ahead byte by byte.
    pub(super) waiting: Waiting,
    /// Requests answered since the task last stepped aside.
    in_a_row: u32,
    reading: Reading,
    /// Where the request at hand has its headers.
    pub(super) places: Places,
    /// The forms of answer that it accepts (HTTP-16).
    pub(super) forms: Forms,
    /// Who makes the request at hand.
    pub(super) principal: Option<Rc<Principal>>,
}

/// Serves the requests of which `kept` has read the beginning. It has its link back afterwards, if there is more to come.
pub(super) async fn serve<L: Link>(core: &Rc<Core<App>>, kept: &mut Kept<L>) -> Then<L> {
    let (link, buf) = (kept.link.take(), std::mem::take(&mut kept.buf));
    let mut connection = Connection::new(core, link, &kept.deadline, buf, kept.reading);
    let then = connection.requests().await;
    (kept.link, kept.buf, kept.out, kept.reading) = connection.end();
    then
}

impl<'c, L: Link> Connection<'c, L> {
    fn new(
        core: &Rc<Core<App>>,
        link: Option<L>,
        deadline: &'c Deadline,
        buf: Vec<u8>,
        reading: Reading,
    ) -> Self {
        let workspace = core.app.workspaces.take(core);
        let Workspace { machine, body, document, emitter, waker, timer, in_a_row } = workspace;
        Self {
            core: Rc::clone(core),
            link,
            machine,
            buf,
            out: core.buffers.get(),
            splice: None,
            body,
            document,
            emitter,
            waker,
            deadline,
            timer,
            waiting: Waiting::Nothing,
            in_a_row,
            reading,
            places: Places::default(),
            forms: Forms::ANY,
            principal: None,
        }
    }

    /// Gives the workspace back to the core, and to the connection what is its own: link, input, output, manner of reading.
    fn end(self) -> (Option<L>, Vec<u8>, Vec<u8>, Reading) {
        let Self { core, machine, body, document, emitter, waker, timer, in_a_row, .. } = self;
        let workspace = Workspace { machine, body, document, emitter, waker, timer, in_a_row };
        core.app.workspaces.put(workspace);
        let mut buf = self.buf;
        if buf.capacity() > ROOM_BYTES_MAX {
            core.app.large.put(std::mem::take(&mut buf));
        }
        (self.link, buf, self.out, self.reading)
    }

    async fn requests(&mut self) -> Then<L> {
        loop {
            let next = match self.machine.poll(&mut self.buf) {
                Event::NeedMore if self.is_done() => return Then::Rest,
                Event::NeedMore => self.fill().await,
                Event::Head => head::check(self).await,
                Event::Body(body) => self.request(body).await,
                Event::Reject(reject) => self.reject(reject),
            };
            match next {
                Next::Keep => {}
                Next::Close => return Then::Close,
                Next::Gone => return Then::Gone,
                Next::Listen(handover) => return Then::Listen(handover),
                Next::Stand(standing) => return Then::Stand(standing),
            }
        }
    }

    /// Nothing of any request is left, read or to be read.
    fn is_done(&self) -> bool {
        self.buf.is_empty() && self.machine.waiting(&self.buf) == Waiting::Idle
    }

    /// Writes what is due and reads more.
    async fn fill(&mut self) -> Next<L> {
        if self.machine.wants_continue() {
            respond::interim_continue(&mut self.out);
            self.machine.continue_sent();
        }
        if !self.flush().await {
            return Next::Gone;
        }
        let waiting = self.machine.waiting(&self.buf);
        if waiting == Waiting::Idle && self.core.draining.get() {
            return Next::Close;
        }
        self.arm(waiting);
        self.read().await
    }

    async fn read(&mut self) -> Next<L> {
        let mut buf = std::mem::take(&mut self.buf);
        self.core.app.large.lend(&mut buf);
        self.reading.make_room(&mut buf);
        let Some(link) = self.link.as_mut() else { return Next::Gone };
        let (read, buf) = PooledFuture::new(link.read(buf)).await;
        self.buf = buf;
        self.settle(&read)
    }

    fn settle(&mut self, read: &io::Result<usize>) -> Next<L> {
        match read {
            Ok(0) | Err(_) => self.ended(),
            Ok(_) => {
                self.reading.learn(&self.buf);
                Next::Keep
            }
        }
    }

    /// Arms the timeout of what is awaited, once: a sender of one byte a second gains nothing by it (SEC-06).
    fn arm(&mut self, waiting: Waiting) {
        if waiting == self.waiting {
            return;
        }
        self.waiting = waiting;
        let limits = &self.core.serve.limits;
        let (kind, limit) = match waiting {
            Waiting::Idle => (Kind::Idle, limits.idle_timeout),
            Waiting::Head => (Kind::Head, limits.head_timeout),
            Waiting::Body => (Kind::Body, limits.body_timeout),
            Waiting::Nothing => return self.deadline.disarm(),
        };
        self.deadline.arm(kind, self.core.clock.now_ms() + limit.as_millis() as u64);
    }

    /// The read side has ended: by the peer, or by a timeout of ours.
    fn ended(&mut self) -> Next<L> {
        let counters = &self.core.counters;
        let what = match self.deadline.fired() {
            Some(Kind::Head) => {
                counters.head_timeouts.add(1);
                "the request head did not arrive in time"
            }
            Some(Kind::Body) => {
                counters.body_timeouts.add(1);
                "the request body did not arrive in time"
            }
            // A drain ends the wait as well.
            Some(Kind::Idle) => {
                counters.idle_timeouts.add(u64::from(!self.core.draining.get()));
                return Next::Close;
            }
            _ => return Next::Gone,
        };
        self.reject(Reject { status: 408, reason: what })
    }

    /// A request that cannot be framed, or came too late: the last answer of the connection.
    pub(super) fn reject(&mut self, reject: Reject) -> Next<L> {
        answer::reject(self, reject);
        Next::Close
    }

    /// Serves a whole request, then makes room for the next.
    // Not an async function: that would keep each argument twice, and thousands of requests may wait at once.
    fn request(&mut self, body: Range<usize>) -> impl Future<Output = Next<L>> {
        self.waiting = Waiting::Nothing;
        self.deadline.disarm();
        async move {
            if self.core.overdue() {
                return Next::Gone;
            }
            let large = body.len() >= LARGE_BYTES;
            let parsed = self.parse(body);
            let next = request::serve(self, parsed).await;
            if large || self.out.len() >= LARGE_BYTES {
                self.core.catch_up();
            }
            self.principal = None;
            if let Some(splice) = self.splice.take()
                && !self.flush_around(splice).await
            {
                return Next::Gone;
            }
            self.in_a_row += 1;
            if self.in_a_row >= REQUESTS_PER_TURN {
                // A sender that always has bytes ready must not starve the others.
                self.in_a_row = 0;
                self.core.turns.step_aside().await;
            }
            if self.out.len() >= BATCH_BYTES && matches!(next, Next::Keep) && !self.flush().await {
                return Next::Gone;
            }
            next
        }
    }

    /// Parses the body where it lies: the document has the bytes until the request is answered.
    fn parse(&mut self, body: Range<usize>) -> Result<(), JsonError> {
        let bytes = std::mem::take(&mut self.buf);
        self.document.parse(&mut self.core.app.parser.borrow_mut(), bytes, body)
    }

    /// Whether the answer to the request at hand is the connection's last.
    pub(super) fn closing(&self) -> Closing {
        if self.machine.keeps_alive() && !self.core.draining.get() {
            Closing::KeepAlive
        } else {
            Closing::Close
        }
    }

    /// Writes all pending answers in one go. False: the peer takes nothing more.
    pub(super) async fn flush(&mut self) -> bool {
        if self.out.is_empty() {
            return true;
        }
        let out = std::mem::take(&mut self.out);
        let Some(link) = self.link.as_mut() else { return false };
        let write = write(link, out, &self.core, self.deadline);
        let (written, mut out) = PooledFuture::new(write).await;
        self.waiting = Waiting::Nothing;
        out.clear();
        if out.capacity() <= BATCH_BYTES {
            self.out = out;
        }
        written
    }

    /// Writes pending answers up to the end of the text that belongs there; what comes after it may stay pending. Whatever
    /// the socket has room for goes in one call.
    async fn flush_around(&mut self, splice: Box<Splice>) -> bool {
        let Splice { at, text } = *splice;
        let Some(link) = self.link.as_ref() else { return false };
        let (before, after) = self.out.split_at(at);
        let Ok(sent) = link.write_parts_now([before, text.as_bytes(), after]) else { return false };
        let end = at + text.as_bytes().len();
        let after = after[sent.saturating_sub(end)..].to_vec();
        self.out.truncate(at);
        self.out.drain(..sent.min(at));
        if !self.flush().await {
            return false;
        }
        self.out.extend_from_slice(&after);
        if sent >= end {
            return true;
        }
        let Some(link) = self.link.as_mut() else { return false };
        let silence = Silence::begin(&self.core, self.deadline);
        let rest = text.behind(sent.saturating_sub(at));
        silence.end(link.write_shared(rest, |_| silence.broken()).await)
    }
}

/// Writes a buffer under the write timeout.
pub(super) async fn write<L: Link>(
    link: &mut L,
    out: Vec<u8>,
    core: &Rc<Core<App>>,
    deadline: &Deadline,
) -> (bool, Vec<u8>) {
    let silence = Silence::begin(core, deadline);
    let (result, out) = link.write_paced(out, |_| silence.broken()).await;
    (silence.end(result), out)
}

/// The write timeout measures silence: it starts anew with every byte that moves.
struct Silence<'c> {
    core: &'c Core<App>,
    deadline: &'c Deadline,
}

impl<'c> Silence<'c> {
    fn begin(core: &'c Core<App>, deadline: &'c Deadline) -> Self {
        let silence = Self { core, deadline };
        silence.arm();
        silence
    }

    fn arm(&self) {
        let limit = self.core.serve.limits.write_timeout.as_millis() as u64;
        self.deadline.arm(Kind::Write, self.core.clock.now_ms() + limit);
    }

    fn broken(&self) {
        // What has fired has shut the link down; arming again would only hide the reason.
        if self.deadline.fired().is_none() {
            self.arm();
        }
    }

    /// Whether everything was written.
    fn end(&self, result: io::Result<()>) -> bool {
        if result.is_err() && self.deadline.fired() == Some(Kind::Write) {
            self.core.counters.write_timeouts.add(1);
        }
        self.deadline.disarm();
        result.is_ok()
    }
}
