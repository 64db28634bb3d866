//! The life of one subscription on HTTP: a small task that owns the socket after the request machine has let go of
//! it. It waits for news, the peer, or the next sign of life, and holds no buffer while it waits.
//!
//! What it says is handed to the socket at once, from a buffer that the core's next stream uses again, while it goes on
//! watching the peer: telling nine thousand streams needs one buffer and one system call each. Only what a full socket has
//! no room for becomes a buffer of the stream's own, and a write that waits.

#[cfg(test)]
mod tests;

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Poll, ready};

use transport::http::respond;
use transport::sse;

use super::core::{Core, CoreParts, LinkGuard, Serve};
use super::deadline::{Deadline, Kind};
use crate::hub::{Envelope, Subscription};
use crate::io::{Link, Peer};

/// Bytes that a peer may send on a connection which its listen has taken over, in total. They are thrown away, since
/// nothing is answered here any more; beyond this the connection is closed.
pub(crate) const UNREAD_BYTES_MAX: usize = 64 * 1024;

/// Bytes thrown away at once.
const DISCARD_STEP_BYTES: usize = 1024;

/// The comment that keeps proxies and clients from giving up on a silent stream (LEDGER SSE-10).
const KEEP_ALIVE_TEXT: &str = "keepalive";

/// How a stream is written, and when it acts by itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// HTTP/1.1: events travel in chunks. HTTP/1.0: as they are, up to the end of the connection.
    pub(crate) chunked: bool,
    /// Silence before a comment, in milliseconds; 0 is never.
    pub(crate) keep_alive_ms: u32,
    /// How long the peer may accept nothing of a write, in milliseconds; 0 is for ever.
    pub(crate) write_timeout_ms: u32,
    /// When the opener's grant is void, in the core's milliseconds: the stream ends gracefully then (LEDGER AUTH-16).
    /// Without end: `u64::MAX`.
    pub(crate) until_ms: u64,
}

/// Writes `head` (the response's, built by the caller) with the acknowledgement behind it, then whatever the
/// subscription has to tell, until the peer leaves or the server ends the stream. Ends when the connection is done.
// Not an async function: that would keep each argument twice, and a hundred thousand of these futures wait at once.
pub(crate) fn run<S: Serve, L: Link>(
    core: Rc<Core<S>>,
    link: L,
    open: LinkGuard,
    mut head: Vec<u8>,
    stream: Subscription,
    pace: Pace,
) -> impl Future<Output = ()> {
    pace.frame(&mut head, |out| stream.write_ack(out, Envelope::Event));
    let mut turn = Turn::Full(Box::new(Rest { bytes: head, said: Said::default() }));
    let deadline = core.deadline(Some(link.shutdown_handle()));
    let mut task = Task { core, link, open, stream, deadline, pace, unread: 0 };
    async move {
        let graceful = loop {
            match Box::pin(task.act(turn)).await {
                Then::Wait => turn = task.wait().await,
                Then::End => break true,
                Then::Leave => break false,
            }
        };
        // Everything the stream holds is freed before the connection takes its leave of the peer.
        let Task { link, stream, deadline, open, .. } = task;
        drop((stream, deadline));
        if graceful {
            Box::pin(link.close()).await;
        }
        drop(open);
    }
}

/// What a stream is while it waits. Whatever else may take time is boxed for as long as it runs.
struct Task<S: Serve, L> {
    core: Rc<Core<S>>,
    link: L,
    /// Counts the connection as open.
    open: LinkGuard,
    stream: Subscription,
    deadline: Deadline,
    pace: Pace,
    /// Bytes that the peer has sent and nobody read.
    unread: usize,
}

/// Why the task has to do something that may wait.
#[derive(Debug, PartialEq, Eq)]
enum Turn {
    /// The socket is full.
    Full(Box<Rest>),
    /// The closing result was written.
    Ended,
    Unread,
    Gone,
}

/// What a full socket left of something said.
#[derive(Debug, PartialEq, Eq)]
struct Rest {
    bytes: Vec<u8>,
    said: Said,
}

/// What was said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Said {
    events: u64,
    /// The closing result was part of it.
    last: bool,
}

/// How a stream goes on.
enum Then {
    Wait,
    /// Everything is said.
    End,
    /// The peer is gone, or has to be.
    Leave,
}

impl<S: Serve, L: Link> Task<S, L> {
    async fn act(&mut self, turn: Turn) -> Then {
        match turn {
            Turn::Gone => Then::Leave,
            Turn::Ended => Then::End,
            Turn::Unread => {
                let room = Vec::with_capacity(DISCARD_STEP_BYTES);
                match self.link.read(room).await.0 {
                    Ok(n @ 1..) => self.unread += n,
                    Ok(0) | Err(_) => return Then::Leave,
                }
                if self.unread > UNREAD_BYTES_MAX {
                    tracing::debug!("a peer keeps sending on a subscription: closed");
                    return Then::Leave;
                }
                Then::Wait
            }
            Turn::Full(rest) => {
                let Rest { bytes, said } = *rest;
                if !self.write(bytes).await {
                    return Then::Leave;
                }
                self.core.counters.events_delivered.add(said.events);
                if said.last { Then::End } else { Then::Wait }
            }
        }
    }

    /// Says what there is to say for as long as the socket takes it, holding nothing but the stream and the link. The
    /// peer comes first: once it is gone nothing is written.
    async fn wait(&mut self) -> Turn {
        let task = &*self;
        let mut watch = pin!(task.link.watch());
        poll_fn(|cx| {
            if let Poll::Ready(peer) = watch.as_mut().poll(cx) {
                return Poll::Ready(if peer == Peer::Gone { Turn::Gone } else { Turn::Unread });
            }
            loop {
                let turn = if task.stream.poll_news(cx).is_ready() {
                    task.say(|out| task.tell(out))
                } else {
                    ready!(task.deadline.poll_fired(cx));
                    task.due()
                };
                if let Some(turn) = turn {
                    return Poll::Ready(turn);
                }
            }
        })
        .await
    }

    /// The next sign of life is due, or the end of the opener's grant.
    fn due(&self) -> Option<Turn> {
        if self.core.clock.now_ms() >= self.pace.until_ms {
            self.stream.end();
            return None;
        }
        self.say(|out| {
            self.pace.frame(out, |out| sse::comment(out, KEEP_ALIVE_TEXT));
            Said::default()
        })
    }

    /// Hands what `fill` appends to the socket. `None` when it was taken and the stream goes on.
    fn say(&self, fill: impl FnOnce(&mut Vec<u8>) -> Said) -> Option<Turn> {
        let mut out = self.core.buffers.get();
        let said = fill(&mut out);
        let turn = match self.link.write_now(&out) {
            Ok(taken) if taken == out.len() => {
                self.core.counters.events_delivered.add(said.events);
                // Nothing was said when the opener may no longer hear of what was pending.
                if taken > 0 {
                    self.arm_next();
                }
                said.last.then_some(Turn::Ended)
            }
            Ok(taken) => {
                let bytes = out[taken..].to_vec();
                Some(Turn::Full(Box::new(Rest { bytes, said })))
            }
            Err(_) => Some(Turn::Gone),
        };
        self.core.buffers.put(out);
        turn
    }

    /// Appends what is pending, and the closing result behind the last of it.
    fn tell(&self, out: &mut Vec<u8>) -> Said {
        let mut said = Said::default();
        self.pace.frame(out, |out| {
            said.events = self.stream.take_frames(out, Envelope::Event) as u64;
            said.last = self.stream.is_ending() && !self.stream.is_dirty();
            if said.last {
                self.stream.write_closing(out, Envelope::Event);
            }
        });
        if said.last && self.pace.chunked {
            respond::last_chunk(out);
        }
        said
    }

    /// Writes all of `out`, however long the peer takes for it, and arms the next sign of life. False when the connection
    /// is lost.
    async fn write(&mut self, out: Vec<u8>) -> bool {
        let (core, deadline, timeout_ms) = (&self.core, &self.deadline, self.pace.write_timeout_ms);
        deadline.arm(Kind::Write, at_ms(core, timeout_ms));
        let progress = |_| {
            // What has fired has shut the link down; arming again would only hide the reason.
            if deadline.fired().is_none() {
                deadline.arm(Kind::Write, at_ms(core, timeout_ms));
            }
        };
        let (result, out) = self.link.write_paced(out, progress).await;
        core.buffers.put(out);
        if self.deadline.fired() == Some(Kind::Write) {
            core.counters.write_timeouts.add(1);
            return false;
        }
        self.arm_next();
        result.is_ok()
    }

    /// Arms the next sign of life; waiting never outlasts the opener's grant.
    fn arm_next(&self) {
        let due = at_ms(&self.core, self.pace.keep_alive_ms);
        self.deadline.arm(Kind::KeepAlive, due.min(self.pace.until_ms));
    }
}

/// So many milliseconds from now; 0 is never.
fn at_ms(core: &CoreParts, after_ms: u32) -> u64 {
    if after_ms == 0 { u64::MAX } else { core.clock.now_ms().saturating_add(after_ms.into()) }
}

impl Pace {
    fn frame(&self, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        if self.chunked {
            respond::chunk(out, write);
        } else {
            write(out);
        }
    }
}
