//! The life of one subscription on HTTP: a small task that owns the socket after the request machine has let go of
//! it. It waits for news, the peer, or the next sign of life, and holds no buffer while it waits.

#[cfg(test)]
mod tests;

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use transport::http::respond;
use transport::sse;

use super::core::CoreParts;
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
    pub(crate) keep_alive_ms: u64,
    /// How long the peer may accept nothing of a write, in milliseconds; 0 is for ever.
    pub(crate) write_timeout_ms: u64,
    /// When the opener's grant is void, in the core's milliseconds: the stream ends gracefully then (LEDGER AUTH-16).
    pub(crate) until_ms: Option<u64>,
}

/// Writes `head` (the response's, built by the caller) with the acknowledgement behind it, then whatever the
/// subscription has to tell, until the peer leaves or the server ends the stream. Ends when the connection is done.
// Not an async function: that would keep each argument twice, and a hundred thousand of these futures wait at once.
pub(crate) fn run<'c, L: Link + 'c>(
    core: &'c CoreParts,
    link: L,
    mut head: Vec<u8>,
    stream: Subscription,
    pace: Pace,
) -> impl Future<Output = ()> + 'c {
    pace.frame(&mut head, |out| stream.write_ack(out, Envelope::Event));
    let deadline = core.deadline(Some(link.shutdown_handle()));
    let mut task = Task { core, link, stream, deadline, pace };
    async move {
        let graceful = task.serve(head).await;
        // Everything the stream holds is freed before the connection takes its leave of the peer.
        let Task { link, stream, deadline, .. } = task;
        drop((stream, deadline));
        if graceful {
            Box::pin(link.close()).await;
        }
    }
}

/// The futures of the link's operations are boxed, each for as long as it runs: only waiting is part of the task.
struct Task<'c, L> {
    core: &'c CoreParts,
    link: L,
    stream: Subscription,
    deadline: Deadline,
    pace: Pace,
}

/// Why the task woke up.
#[derive(Debug, PartialEq, Eq)]
enum Turn {
    News,
    /// The next comment, or the end of the opener's grant, is due.
    Due,
    Unread,
    Gone,
}

impl<L: Link> Task<'_, L> {
    /// True when the closing result was written.
    async fn serve(&mut self, head: Vec<u8>) -> bool {
        if !self.write(head).await {
            return false;
        }
        let mut unread = 0;
        loop {
            match self.wait().await {
                Turn::Gone => return false,
                Turn::Unread => {
                    let room = Vec::with_capacity(DISCARD_STEP_BYTES);
                    match Box::pin(self.link.read(room)).await.0 {
                        Ok(n @ 1..) => unread += n,
                        Ok(0) | Err(_) => return false,
                    }
                    if unread > UNREAD_BYTES_MAX {
                        tracing::debug!("a peer keeps sending on a subscription: closed");
                        return false;
                    }
                }
                Turn::Due if self.is_void() => self.stream.end(),
                Turn::Due => {
                    let mut out = self.core.buffers.get();
                    self.pace.frame(&mut out, |out| sse::comment(out, KEEP_ALIVE_TEXT));
                    if !self.write(out).await {
                        return false;
                    }
                }
                Turn::News => {
                    let mut out = self.core.buffers.get();
                    let (events, last) = self.tell(&mut out);
                    if !self.write(out).await {
                        return false;
                    }
                    self.core.counters.events_delivered.add(events);
                    if last {
                        return true;
                    }
                }
            }
        }
    }

    /// Waits holding nothing but the stream and the link. The peer comes first: once it is gone nothing is written.
    async fn wait(&mut self) -> Turn {
        let mut watch = pin!(self.link.watch());
        poll_fn(|cx| {
            if let Poll::Ready(peer) = watch.as_mut().poll(cx) {
                return Poll::Ready(if peer == Peer::Gone { Turn::Gone } else { Turn::Unread });
            }
            if self.stream.poll_news(cx).is_ready() {
                return Poll::Ready(Turn::News);
            }
            self.deadline.poll_fired(cx).map(|_| Turn::Due)
        })
        .await
    }

    /// Appends what is pending, and the closing result behind the last of it: how many events, and whether it was
    /// the last.
    fn tell(&self, out: &mut Vec<u8>) -> (u64, bool) {
        let mut events = 0;
        let mut last = false;
        self.pace.frame(out, |out| {
            events = self.stream.take_frames(out, Envelope::Event) as u64;
            last = self.stream.is_ending() && !self.stream.is_dirty();
            if last {
                self.stream.write_closing(out, Envelope::Event);
            }
        });
        if last && self.pace.chunked {
            respond::last_chunk(out);
        }
        (events, last)
    }

    /// Writes all of `out` and arms the next sign of life. False when the connection is lost.
    async fn write(&mut self, out: Vec<u8>) -> bool {
        // Empty only when the opener may no longer hear of what was pending.
        if out.is_empty() {
            self.core.buffers.put(out);
            return true;
        }
        let (core, deadline, timeout_ms) = (self.core, &self.deadline, self.pace.write_timeout_ms);
        deadline.arm(Kind::Write, at_ms(core, timeout_ms));
        let progress = |_| {
            // What has fired has shut the link down; arming again would only hide the reason.
            if deadline.fired().is_none() {
                deadline.arm(Kind::Write, at_ms(core, timeout_ms));
            }
        };
        let (result, out) = Box::pin(self.link.write_paced(out, progress)).await;
        core.buffers.put(out);
        if self.deadline.fired() == Some(Kind::Write) {
            core.counters.write_timeouts.add(1);
            return false;
        }
        // Waiting never outlasts the opener's grant.
        let due = at_ms(core, self.pace.keep_alive_ms).min(self.pace.until_ms.unwrap_or(u64::MAX));
        self.deadline.arm(Kind::KeepAlive, due);
        result.is_ok()
    }

    fn is_void(&self) -> bool {
        self.pace.until_ms.is_some_and(|until| self.core.clock.now_ms() >= until)
    }
}

/// So many milliseconds from now; 0 is never.
fn at_ms(core: &CoreParts, after_ms: u64) -> u64 {
    if after_ms == 0 { u64::MAX } else { core.clock.now_ms().saturating_add(after_ms) }
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
