//! A running handler: polled until it answers, its time is up, or its client is gone.
//!
//! The common handler is ready at the first poll: then nothing is watched and no time is armed. A pending one is
//! polled beside the peer; when the peer goes, the future is dropped, and with it all it holds (SSE-08, SSE-09).

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context as Task, Poll};

use super::answer::Reply;
use super::connection::write;
use crate::app::{App, ResponseMode};
use crate::context::{Cancel, Emitter};
use crate::engine::core::Core;
use crate::engine::deadline::{Deadline, Kind};
use crate::engine::guard;
use crate::engine::wake::TaskWaker;
use crate::handler::{HandlerFuture, Outcome};
use crate::io::{Link, Peer, PooledFuture};

/// Bytes read at once from a client that sends ahead.
const AHEAD_READ_BYTES: usize = 4 * 1024;

/// How the run ended.
pub(super) enum End {
    Outcome(Outcome),
    /// The handler panicked; the panic is logged (ERR-11).
    Panicked,
    /// Its time was up (CAN-01).
    TimedOut,
    /// The client is gone: nothing is written any more.
    Gone,
}

/// What one run uses of its connection.
pub(super) struct Drive<'c, L> {
    pub(super) core: &'c Rc<Core<App>>,
    pub(super) link: &'c mut L,
    pub(super) out: &'c mut Vec<u8>,
    /// What the client sends ahead of its answer.
    pub(super) ahead: &'c mut Vec<u8>,
    pub(super) waker: &'c TaskWaker,
    pub(super) deadline: &'c Deadline,
    pub(super) timer: &'c Deadline,
    pub(super) emitter: &'c Emitter,
    pub(super) cancel: &'c Cancel,
    pub(super) reply: Reply<'c>,
    /// What messages before the answer become; `None` drops them (SSE-01).
    pub(super) stream: Option<Stream>,
    /// The answer is an event in any case, so a slow one may begin its stream with a sign of life (SSE-10).
    pub(super) eager: bool,
    /// For warnings about a handler that holds its core.
    pub(super) name: &'c str,
    pub(super) ends_ms: u64,
}

/// An event stream that the answer may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    /// Nothing is written yet: the answer may still be JSON.
    Possible,
    /// The head is written.
    Open,
}

enum Turn {
    Done(Result<Outcome, guard::Panic>),
    Messages,
    Time(Kind),
    Peer(Peer),
}

impl<L: Link> Drive<'_, L> {
    /// Runs the handler to its end. The future is dropped in any case, inside the same guard as its polls.
    pub(super) async fn run(&mut self, mut future: HandlerFuture<'_>) -> End {
        let end = self.turns(&mut future).await;
        if let Err(panic) = guard::catch(move || drop(future)) {
            self.report(&panic);
        }
        self.timer.disarm();
        end
    }

    async fn turns(&mut self, future: &mut HandlerFuture<'_>) -> End {
        let first = poll_fn(|cx| Poll::Ready(self.poll_handler(future.as_mut(), cx))).await;
        if let Poll::Ready(done) = first {
            return self.done(done);
        }
        // Answers to earlier requests do not wait for this one.
        if !self.out.is_empty() && !self.flush().await {
            return self.gone();
        }
        self.arm_timer();
        loop {
            match self.turn(future).await {
                Turn::Done(done) => return self.done(done),
                Turn::Messages => {
                    if !self.send_messages().await {
                        return self.gone();
                    }
                }
                Turn::Time(Kind::KeepAlive) => {
                    if !self.send_comment().await {
                        return self.gone();
                    }
                    self.arm_timer();
                }
                Turn::Time(_) => {
                    self.core.counters.handler_timeouts.add(1);
                    self.cancel.cancel();
                    return End::TimedOut;
                }
                Turn::Peer(Peer::Gone) => return self.gone(),
                Turn::Peer(Peer::Bytes) => {
                    if !self.read_ahead().await {
                        return self.gone();
                    }
                }
            }
        }
    }

    /// Waits for whatever comes first.
    async fn turn(&mut self, future: &mut HandlerFuture<'_>) -> Turn {
        let watches = self.ahead.len() < self.core.serve.limits.ahead_bytes;
        let Self { core, link, waker, timer, emitter, name, ends_ms, .. } = self;
        let mut peer = pin!(link.watch());
        poll_fn(|cx| {
            emitter.set_waker(cx.waker());
            if let Poll::Ready(done) = poll_guarded(core, waker, name, future.as_mut(), cx) {
                return Poll::Ready(Turn::Done(done));
            }
            // Before its messages: a handler that always has some would never run out of time (CAN-01).
            if core.clock.now_ms() >= *ends_ms {
                return Poll::Ready(Turn::Time(Kind::Handler));
            }
            if emitter.is_waiting() {
                return Poll::Ready(Turn::Messages);
            }
            if let Poll::Ready(kind) = timer.poll_fired(cx) {
                return Poll::Ready(Turn::Time(kind));
            }
            match watches.then(|| peer.as_mut().poll(cx)) {
                Some(Poll::Ready(peer)) => Poll::Ready(Turn::Peer(peer)),
                _ => Poll::Pending,
            }
        })
        .await
    }

    fn poll_handler(
        &self,
        future: Pin<&mut (dyn Future<Output = Outcome> + '_)>,
        cx: &Task<'_>,
    ) -> Poll<Result<Outcome, guard::Panic>> {
        poll_guarded(self.core, self.waker, self.name, future, cx)
    }

    fn done(&self, done: Result<Outcome, guard::Panic>) -> End {
        match done {
            Ok(outcome) => End::Outcome(outcome),
            Err(panic) => {
                self.report(&panic);
                End::Panicked
            }
        }
    }

    fn report(&self, panic: &guard::Panic) {
        self.core.counters.panics.add(1);
        tracing::error!(handler = self.name, %panic, "a handler panicked");
    }

    fn gone(&self) -> End {
        self.core.counters.disconnect_cancellations.add(1);
        tracing::debug!(handler = self.name, "cancelled: the client is gone");
        self.cancel.cancel();
        End::Gone
    }

    /// The next comment on an open stream, or the end of the handler's time, whichever is nearer.
    fn arm_timer(&self) {
        let comment = match self.stream {
            Some(Stream::Possible) if self.eager => self.keep_alive_ms(),
            Some(Stream::Open) => self.keep_alive_ms(),
            _ => 0,
        };
        let comment_at = self.core.clock.now_ms() + comment;
        if comment > 0 && comment_at < self.ends_ms {
            self.timer.arm(Kind::KeepAlive, comment_at);
        } else {
            self.timer.arm(Kind::Handler, self.ends_ms);
        }
    }

    fn keep_alive_ms(&self) -> u64 {
        self.core.serve.limits.keep_alive.as_millis() as u64
    }

    /// Writes what the handler has sent so far; the first message opens the stream.
    async fn send_messages(&mut self) -> bool {
        if self.stream.is_none() {
            self.drop_messages();
            return true;
        }
        self.queue_messages();
        let written = self.flush().await;
        self.arm_timer();
        written
    }

    async fn send_comment(&mut self) -> bool {
        self.open();
        self.reply.comment(self.out);
        self.flush().await
    }

    /// Back-pressure: the handler is not polled while its messages wait for the peer (SSE-11).
    async fn flush(&mut self) -> bool {
        let write = write(self.link, std::mem::take(self.out), self.core, self.deadline);
        let (written, mut out) = PooledFuture::new(write).await;
        out.clear();
        *self.out = out;
        written
    }

    /// Keeps what a client sends ahead for its next request, up to a bound; the rest stays in the kernel.
    async fn read_ahead(&mut self) -> bool {
        let mut ahead = std::mem::take(self.ahead);
        ahead.reserve(AHEAD_READ_BYTES);
        let (read, ahead) = PooledFuture::new(self.link.read(ahead)).await;
        *self.ahead = ahead;
        matches!(read, Ok(1..))
    }

    /// A handler that panicked before its first poll.
    pub(super) fn panicked(&self, panic: &guard::Panic) -> End {
        self.report(panic);
        End::Panicked
    }

    /// What the handler sent right before it ended joins the output; the answer follows in the same write.
    pub(super) fn last_messages(&mut self, end: &End) {
        let sends = self.stream.is_some() && !matches!(end, End::Gone);
        if !sends || !self.emitter.is_waiting() {
            self.drop_messages();
            return;
        }
        self.queue_messages();
    }

    /// Nobody can take what the handler sent: the server answers in JSON alone, or the client accepts nothing else
    /// (SSE-01).
    fn drop_messages(&self) {
        match (self.emitter.discard(), self.core.serve.mode) {
            (0, _) => {}
            (dropped, ResponseMode::Json) => {
                tracing::warn!(
                    handler = self.name,
                    dropped,
                    "response mode json: messages dropped"
                );
            }
            (dropped, _) => {
                tracing::debug!(
                    handler = self.name,
                    dropped,
                    "messages dropped: nobody takes them"
                );
            }
        }
    }

    /// Begins the stream, if that is still to be done.
    fn open(&mut self) {
        if self.stream == Some(Stream::Possible) {
            self.reply.stream_head(self.out);
            self.stream = Some(Stream::Open);
        }
    }

    fn queue_messages(&mut self) {
        self.open();
        let (reply, out) = (&self.reply, &mut *self.out);
        self.emitter.drain(|message| reply.event(out, message));
    }

    /// Whether the answer is an event of a stream that has begun.
    pub(super) fn is_open(&self) -> bool {
        self.stream == Some(Stream::Open)
    }
}

/// One poll: with a waker that may cross threads, timed, and with its panic caught.
pub(crate) fn poll_guarded(
    core: &Rc<Core<App>>,
    waker: &TaskWaker,
    name: &str,
    future: Pin<&mut (dyn Future<Output = Outcome> + '_)>,
    cx: &Task<'_>,
) -> Poll<Result<Outcome, guard::Panic>> {
    let poll = || waker.with(cx, |cx| guard::catch(|| future.poll(cx)));
    let (polled, stalled) = core.stall.time(&core.clock, name, poll);
    if stalled {
        core.counters.stalls.add(1);
        core.catch_up();
    }
    match polled {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(outcome)) => Poll::Ready(Ok(outcome)),
        Err(panic) => Poll::Ready(Err(panic)),
    }
}
