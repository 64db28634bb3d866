//! A running handler: polled until it answers, its time is up, or its client is gone.
//!
//! The common handler is ready at the first poll: then nothing is watched and no time is armed. A pending one is
//! polled beside the peer; when the peer goes, the future is dropped, and with it all it holds (SSE-08, SSE-09).

#![expect(clippy::manual_async_fn, reason = "an async function would keep each argument twice")]

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context as Task, Poll};

use super::answer::Shape;
use super::connection::write;
use super::request::Exchange;
use crate::app::{App, ResponseMode};
use crate::context::Cancel;
use crate::engine::core::Core;
use crate::engine::deadline::Kind;
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

/// One run, on its exchange's connection.
pub(super) struct Drive<'d, 'c, L> {
    exchange: &'d mut Exchange<'c, L>,
    cancel: &'d Cancel,
    /// For warnings about a handler that holds its core.
    name: &'d str,
    /// What messages before the answer become; `None` drops them (SSE-01).
    stream: Option<Stream>,
}

/// An event stream that the answer may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    /// Nothing is written yet: the answer may still be JSON.
    Possible,
    /// The head is written.
    Open,
}

/// What a wait has come to.
enum Turn {
    End(End),
    Work(Work),
}

/// What is to be done before it goes on.
#[derive(Clone, Copy)]
enum Work {
    SendMessages,
    SendComment,
    ReadAhead,
}

impl<'d, 'c, L: Link> Drive<'d, 'c, L> {
    pub(super) fn new(
        exchange: &'d mut Exchange<'c, L>,
        cancel: &'d Cancel,
        name: &'d str,
    ) -> Self {
        // As events, if the server streams and the client takes them.
        let streams = exchange.app().mode != ResponseMode::Json && exchange.forms.sse;
        Self { exchange, cancel, name, stream: streams.then_some(Stream::Possible) }
    }

    /// Runs the handler to its end. The future is dropped in any case, inside the same guard as its polls.
    pub(super) fn run<'f>(
        &mut self,
        called: Result<HandlerFuture<'f>, guard::Panic>,
    ) -> impl Future<Output = End> {
        async move {
            let mut future = match called {
                Ok(future) => future,
                Err(panic) => {
                    self.report(&panic);
                    return End::Panicked;
                }
            };
            let end = self.turns(&mut future).await;
            if let Err(panic) = guard::catch(move || drop(future)) {
                self.report(&panic);
            }
            self.exchange.parts.timer.disarm();
            end
        }
    }

    /// Most handlers are done at the first poll. While another one takes its time, only what that needs is held.
    fn turns(&mut self, future: &mut HandlerFuture<'_>) -> impl Future<Output = End> {
        async move {
            let first = poll_fn(|cx| Poll::Ready(self.poll_handler(future.as_mut(), cx)));
            if let Poll::Ready(done) = first.await {
                return self.done(done);
            }
            // Answers to earlier requests do not wait for this one.
            if !self.flush().await {
                return self.gone();
            }
            self.arm_timer();
            loop {
                let work = match self.turn(future).await {
                    Turn::End(end) => return end,
                    Turn::Work(work) => work,
                };
                let goes_on = match work {
                    Work::SendMessages => self.send_messages().await,
                    Work::SendComment => self.send_comment().await,
                    Work::ReadAhead => self.read_ahead().await,
                };
                if !goes_on {
                    return self.gone();
                }
            }
        }
    }

    /// Waits for whatever comes first.
    fn turn(&self, future: &mut HandlerFuture<'_>) -> impl Future<Output = Turn> {
        async move {
            let Some(link) = self.exchange.link.as_ref() else { return Turn::End(self.gone()) };
            let mut peer = pin!(link.watch());
            poll_fn(|cx| self.poll_turn(future.as_mut(), peer.as_mut(), cx)).await
        }
    }

    fn poll_turn(
        &self,
        future: Pin<&mut (dyn Future<Output = Outcome> + '_)>,
        peer: Pin<&mut impl Future<Output = Peer>>,
        cx: &mut Task<'_>,
    ) -> Poll<Turn> {
        let Exchange { core, parts, ahead, .. } = &*self.exchange;
        parts.emitter.set_waker(cx.waker());
        if let Poll::Ready(done) = self.poll_handler(future, cx) {
            return Poll::Ready(Turn::End(self.done(done)));
        }
        // Before its messages: a handler that always has some would never run out of time (CAN-01).
        if core.clock.now_ms() >= self.cancel.ends_ms() {
            return Poll::Ready(Turn::End(self.timed_out()));
        }
        if parts.emitter.is_waiting() {
            return Poll::Ready(Turn::Work(Work::SendMessages));
        }
        if let Poll::Ready(kind) = parts.timer.poll_fired(cx) {
            return Poll::Ready(match kind {
                Kind::KeepAlive => Turn::Work(Work::SendComment),
                _ => Turn::End(self.timed_out()),
            });
        }
        // What a client sends ahead beyond the bound stays in the kernel.
        if ahead.len() >= core.serve.limits.ahead_bytes {
            return Poll::Pending;
        }
        peer.poll(cx).map(|peer| match peer {
            Peer::Bytes => Turn::Work(Work::ReadAhead),
            Peer::Gone => Turn::End(self.gone()),
        })
    }

    fn poll_handler(
        &self,
        future: Pin<&mut (dyn Future<Output = Outcome> + '_)>,
        cx: &Task<'_>,
    ) -> Poll<Result<Outcome, guard::Panic>> {
        poll_guarded(self.exchange.core, self.exchange.parts.waker, self.name, future, cx)
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
        self.exchange.core.counters.panics.add(1);
        tracing::error!(handler = self.name, %panic, "a handler panicked");
    }

    fn timed_out(&self) -> End {
        self.exchange.core.counters.handler_timeouts.add(1);
        self.cancel.cancel();
        End::TimedOut
    }

    fn gone(&self) -> End {
        self.exchange.core.counters.disconnect_cancellations.add(1);
        tracing::debug!(handler = self.name, "cancelled: the client is gone");
        self.cancel.cancel();
        End::Gone
    }

    /// The next comment on an open stream, or the end of the handler's time, whichever is nearer. An answer that is an
    /// event in any case may begin its stream with a sign of life (SSE-10).
    fn arm_timer(&self) {
        let Exchange { core, parts, .. } = &*self.exchange;
        let eager = || self.exchange.preferred() == Shape::Events;
        let comment = match self.stream {
            Some(Stream::Possible) if eager() => self.keep_alive_ms(),
            Some(Stream::Open) => self.keep_alive_ms(),
            _ => 0,
        };
        let (comment_at, ends_ms) = (core.clock.now_ms() + comment, self.cancel.ends_ms());
        if comment > 0 && comment_at < ends_ms {
            parts.timer.arm(Kind::KeepAlive, comment_at);
        } else {
            parts.timer.arm(Kind::Handler, ends_ms);
        }
    }

    fn keep_alive_ms(&self) -> u64 {
        self.exchange.app().limits.keep_alive.as_millis() as u64
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
        self.exchange.reply.comment(self.exchange.out);
        let written = self.flush().await;
        self.arm_timer();
        written
    }

    /// Back-pressure: the handler is not polled while its messages wait for the peer (SSE-11). The room that they took
    /// goes back to the core: nothing is written until there is something to say.
    async fn flush(&mut self) -> bool {
        let Exchange { core, parts, link, out, .. } = &mut *self.exchange;
        let out = std::mem::take(*out);
        if out.is_empty() {
            core.buffers.put(out);
            return true;
        }
        let Some(link) = link.as_mut() else { return false };
        let write = write(link, out, core, parts.deadline);
        let (written, out) = PooledFuture::new(write).await;
        core.buffers.put(out);
        written
    }

    /// Keeps what a client sends ahead for its next request, up to a bound; the rest stays in the kernel.
    async fn read_ahead(&mut self) -> bool {
        let Exchange { link, ahead, .. } = &mut *self.exchange;
        let Some(link) = link.as_mut() else { return false };
        let mut room = std::mem::take(*ahead);
        room.reserve(AHEAD_READ_BYTES);
        let (read, room) = PooledFuture::new(link.read(room)).await;
        *self.exchange.ahead = room;
        matches!(read, Ok(1..))
    }

    /// What the handler sent right before it ended joins the output; the answer follows in the same write. True: as the
    /// last event of a stream that has begun.
    pub(super) fn last_messages(&mut self, end: &End) -> bool {
        let emitter = self.exchange.parts.emitter;
        if !matches!(end, End::Gone) {
            self.room();
        }
        if self.stream.is_some() && !matches!(end, End::Gone) && emitter.is_waiting() {
            self.queue_messages();
        } else {
            self.drop_messages();
        }
        let dropped = emitter.end();
        if dropped > 0 {
            tracing::debug!(handler = self.name, dropped, "messages dropped: the reader is slow");
        }
        self.stream == Some(Stream::Open)
    }

    /// Nobody can take what the handler sent: the server answers in JSON alone, or the client accepts nothing else
    /// (SSE-01).
    fn drop_messages(&self) {
        match (self.exchange.parts.emitter.discard(), self.exchange.app().mode) {
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

    /// Room to write in, if it was given back.
    fn room(&mut self) {
        if self.exchange.out.capacity() == 0 {
            *self.exchange.out = self.exchange.core.buffers.get();
        }
    }

    /// Begins the stream, if that is still to be done.
    fn open(&mut self) {
        self.room();
        if self.stream == Some(Stream::Possible) {
            self.exchange.reply.stream_head(self.exchange.out);
            self.stream = Some(Stream::Open);
        }
    }

    fn queue_messages(&mut self) {
        self.open();
        let Exchange { reply, out, parts, .. } = &mut *self.exchange;
        parts.emitter.drain(|message| reply.event(out, message));
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
