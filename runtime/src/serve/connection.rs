//! One connection: reads, frames requests, answers them in order, and decides when it ends.

use std::io;
use std::ops::Range;
use std::rc::Rc;

use codec::document::Document;
use transport::http::respond;
use transport::http::{Event, Machine, Reject, Waiting};
use transport::mcp::accept::Forms;

use super::answer::{self, Closing};
use super::{head, request};
use crate::app::App;
use crate::context::Emitter;
use crate::engine::core::Core;
use crate::engine::deadline::{Deadline, Kind};
use crate::engine::listen::Pace;
use crate::engine::wake::TaskWaker;
use crate::hooks::Principal;
use crate::hub::Subscription;
use crate::io::{Link, Peer};

/// Room made for one read, in bytes; also the capacity that a request usually fits.
const READ_BYTES: usize = 4 * 1024;

/// Silence after which a kept connection gives its buffers back, in milliseconds.
const QUIET_MS: u64 = 1000;

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
}

/// What a subscription takes over from the request that opened it.
pub(super) struct Handover<L> {
    pub(super) link: L,
    /// The response head; earlier answers of the same connection stand before it.
    pub(super) head: Vec<u8>,
    pub(super) subscription: Subscription,
    pub(super) pace: Pace,
}

/// The parts of a connection. Everything is reused from request to request.
pub(super) struct Connection<L> {
    pub(super) core: Rc<Core<App>>,
    /// Taken when a subscription begins.
    pub(super) link: Option<L>,
    pub(super) machine: Machine,
    /// Bytes read and not yet answered.
    pub(super) buf: Vec<u8>,
    /// Answers not yet written.
    pub(super) out: Vec<u8>,
    /// The JSON of the answer under way.
    pub(super) body: Vec<u8>,
    pub(super) document: Document,
    pub(super) emitter: Rc<Emitter>,
    pub(super) waker: TaskWaker,
    /// Ends the link's operations: head, body, idle and write timeouts.
    pub(super) deadline: Deadline,
    /// Wakes the task: handler timeout and comments on a quiet stream.
    pub(super) timer: Deadline,
    /// What the deadline was armed for, so that a slow sender does not push it ahead byte by byte.
    pub(super) waiting: Waiting,
    /// Requests answered since the task last stepped aside.
    in_a_row: u32,
    /// The forms of answer that the request at hand accepts (HTTP-16).
    pub(super) forms: Forms,
    /// Who makes the request at hand.
    pub(super) principal: Option<Rc<Principal>>,
}

/// Serves a connection until it ends or becomes a subscription.
pub(super) async fn serve<L: Link>(core: Rc<Core<App>>, link: L) -> Option<Box<Handover<L>>> {
    let mut connection = Connection::new(core, link);
    loop {
        let next = match connection.machine.poll(&mut connection.buf) {
            Event::NeedMore => connection.fill().await,
            Event::Head => head::check(&mut connection).await,
            Event::Body(body) => connection.request(body).await,
            Event::Reject(reject) => connection.reject(reject),
        };
        match next {
            Next::Keep => {}
            Next::Close => break,
            Next::Gone => return None,
            Next::Listen(handover) => return Some(handover),
        }
    }
    connection.close().await;
    None
}

impl<L: Link> Connection<L> {
    fn new(core: Rc<Core<App>>, link: L) -> Self {
        let limits = &core.serve.limits;
        let machine = Machine::new(transport::http::Limits {
            head_bytes_max: limits.head_bytes,
            headers_max: limits.headers,
            body_bytes_max: limits.body_bytes,
            target_bytes_max: limits.target_bytes,
            ..transport::http::Limits::default()
        });
        Self {
            machine,
            buf: core.buffers.get(),
            out: Vec::new(),
            body: Vec::new(),
            document: Document::new(),
            emitter: Emitter::new(limits.emit_bytes),
            waker: TaskWaker::new(&core.wakes),
            deadline: core.deadline(Some(link.shutdown_handle())),
            timer: core.deadline(None),
            waiting: Waiting::Nothing,
            in_a_row: 0,
            forms: Forms::ANY,
            principal: None,
            link: Some(link),
            core,
        }
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
        if waiting == Waiting::Idle && self.buf.is_empty() {
            return self.rest().await;
        }
        self.arm(waiting);
        self.read().await
    }

    async fn read(&mut self) -> Next<L> {
        let buf = self.room();
        let Some(link) = self.link.as_mut() else { return Next::Gone };
        let (read, buf) = link.read(buf).await;
        self.buf = buf;
        self.settle(&read)
    }

    /// The buffer with room for a read. Room grows with what has arrived, never with what was declared (SEC-07).
    fn room(&mut self) -> Vec<u8> {
        let mut buf = std::mem::take(&mut self.buf);
        if buf.capacity() - buf.len() < READ_BYTES / 4 {
            buf.reserve(READ_BYTES.max(buf.len()));
        }
        buf
    }

    fn settle(&mut self, read: &io::Result<usize>) -> Next<L> {
        match read {
            Ok(0) | Err(_) => self.ended(),
            Ok(_) => Next::Keep,
        }
    }

    /// Waits for the next request. A connection that stays quiet holds no buffer meanwhile.
    async fn rest(&mut self) -> Next<L> {
        let now = self.core.clock.now_ms();
        let ends_ms = now + self.core.serve.limits.idle_timeout.as_millis() as u64;
        self.waiting = Waiting::Idle;
        if now + QUIET_MS < ends_ms {
            self.deadline.arm(Kind::Quiet, now + QUIET_MS);
            let buf = self.room();
            let Some(link) = self.link.as_mut() else { return Next::Gone };
            let (read, buf) = link.read_patiently(buf).await;
            self.buf = buf;
            match read {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return self.settle(&read),
            }
        }
        self.shed();
        if self.core.draining.get() {
            return Next::Close;
        }
        self.deadline.arm(Kind::Idle, ends_ms);
        let Some(link) = self.link.as_mut() else { return Next::Gone };
        if link.watch().await == Peer::Gone {
            return self.ended();
        }
        self.buf = self.core.buffers.get();
        self.read().await
    }

    /// Gives back what only a request needs.
    fn shed(&mut self) {
        self.core.buffers.put(std::mem::take(&mut self.buf));
        self.out = Vec::new();
        self.body = Vec::new();
        self.document = Document::new();
        self.emitter.shed();
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
    async fn request(&mut self, body: Range<usize>) -> Next<L> {
        self.waiting = Waiting::Nothing;
        self.deadline.disarm();
        if self.core.overdue() {
            return Next::Gone;
        }
        let large = body.len() >= LARGE_BYTES;
        let next = request::serve(self, body).await;
        if large || self.out.len() >= LARGE_BYTES {
            self.core.catch_up();
        }
        self.principal = None;
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
        let (written, mut out) = write(link, out, &self.core, &self.deadline).await;
        self.waiting = Waiting::Nothing;
        out.clear();
        if out.capacity() <= BATCH_BYTES {
            self.out = out;
        }
        written
    }

    async fn close(mut self) {
        if self.flush().await
            && let Some(link) = self.link.take()
        {
            let limit = self.core.serve.limits.write_timeout.as_millis() as u64;
            self.deadline.arm(Kind::Write, self.core.clock.now_ms() + limit);
            link.close().await;
        }
    }
}

impl<L> Drop for Connection<L> {
    fn drop(&mut self) {
        self.core.buffers.put(std::mem::take(&mut self.buf));
    }
}

/// Writes a buffer under the write timeout, which measures silence: it starts anew with every byte that moves.
pub(super) async fn write<L: Link>(
    link: &mut L,
    out: Vec<u8>,
    core: &Rc<Core<App>>,
    deadline: &Deadline,
) -> (bool, Vec<u8>) {
    let limit = core.serve.limits.write_timeout.as_millis() as u64;
    deadline.arm(Kind::Write, core.clock.now_ms() + limit);
    let progress = |_| {
        // What has fired has shut the link down; arming again would only hide the reason.
        if deadline.fired().is_none() {
            deadline.arm(Kind::Write, core.clock.now_ms() + limit);
        }
    };
    let (result, out) = link.write_paced(out, progress).await;
    if result.is_err() && deadline.fired() == Some(Kind::Write) {
        core.counters.write_timeouts.add(1);
    }
    deadline.disarm();
    (result.is_ok(), out)
}
