//! The life of one subscription on HTTP: a small task that owns the socket after the request machine has let go of
//! it. It waits for news, the peer, or the next sign of life, and holds no buffer while it waits.

#[cfg(test)]
mod tests;

use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use transport::http::respond;
use transport::sse;

use super::core::{Core, CoreParts, Serve};
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

/// Serves an open subscription in a task of its own. The connection's task may end: the link is counted anew.
pub(crate) fn spawn<S: Serve, L: Link + 'static>(
    core: &Rc<Core<S>>,
    link: L,
    head: Vec<u8>,
    subscription: Subscription,
    pace: Pace,
) {
    let open = core.links.enter(link.shutdown_handle());
    let owner = Rc::clone(core);
    core.spawn("listen", async move {
        let _open = open;
        run(&owner, link, head, subscription, pace).await;
    });
}

/// Writes `head` (the response's, built by the caller) with the acknowledgement behind it, then whatever the
/// subscription has to tell, until the peer leaves or the server ends the stream. Returns when the connection is done.
pub(crate) async fn run<L: Link>(
    core: &CoreParts,
    mut link: L,
    mut head: Vec<u8>,
    subscription: Subscription,
    pace: Pace,
) {
    pace.frame(&mut head, |out| subscription.write_ack(out, Envelope::Event));
    let task = Task { core, deadline: core.deadline(Some(link.shutdown_handle())), pace };
    let graceful = task.serve(&mut link, head, &subscription).await;
    // Everything the stream holds is freed before the connection takes its leave of the peer.
    drop(subscription);
    drop(task);
    if graceful {
        link.close().await;
    }
}

struct Task<'c> {
    core: &'c CoreParts,
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

impl Task<'_> {
    /// True when the closing result was written.
    async fn serve<L: Link>(&self, link: &mut L, head: Vec<u8>, stream: &Subscription) -> bool {
        if !self.write(link, head).await {
            return false;
        }
        let mut unread = 0;
        loop {
            match self.wait(link, stream).await {
                Turn::Gone => return false,
                Turn::Unread => {
                    let (result, _) = link.read(Vec::with_capacity(DISCARD_STEP_BYTES)).await;
                    match result {
                        Ok(n @ 1..) => unread += n,
                        Ok(0) | Err(_) => return false,
                    }
                    if unread > UNREAD_BYTES_MAX {
                        tracing::debug!("a peer keeps sending on a subscription: closed");
                        return false;
                    }
                }
                Turn::Due if self.is_void() => stream.end(),
                Turn::Due => {
                    let mut out = self.core.buffers.get();
                    self.pace.frame(&mut out, |out| sse::comment(out, KEEP_ALIVE_TEXT));
                    if !self.write(link, out).await {
                        return false;
                    }
                }
                Turn::News => match self.tell(link, stream).await {
                    Some(true) => {}
                    Some(false) => return false,
                    None => return true,
                },
            }
        }
    }

    /// Waits holding nothing but the stream and the link. The peer comes first: once it is gone nothing is written.
    async fn wait<L: Link>(&self, link: &mut L, stream: &Subscription) -> Turn {
        let mut watch = pin!(link.watch());
        poll_fn(|cx| {
            if let Poll::Ready(peer) = watch.as_mut().poll(cx) {
                return Poll::Ready(if peer == Peer::Gone { Turn::Gone } else { Turn::Unread });
            }
            if stream.poll_news(cx).is_ready() {
                return Poll::Ready(Turn::News);
            }
            self.deadline.poll_fired(cx).map(|_| Turn::Due)
        })
        .await
    }

    /// Writes what is pending, and the closing result behind the last of it. `Some` says whether the stream goes on
    /// well, `None` that it is complete.
    async fn tell<L: Link>(&self, link: &mut L, stream: &Subscription) -> Option<bool> {
        let mut out = self.core.buffers.get();
        let mut events = 0;
        let mut last = false;
        self.pace.frame(&mut out, |out| {
            events = stream.take_frames(out, Envelope::Event) as u64;
            last = stream.is_ending() && !stream.is_dirty();
            if last {
                stream.write_closing(out, Envelope::Event);
            }
        });
        if last && self.pace.chunked {
            respond::last_chunk(&mut out);
        }
        let written = self.write(link, out).await;
        if written {
            self.core.counters.events_delivered.add(events);
        }
        if last && written { None } else { Some(written) }
    }

    /// Writes all of `out` and arms the next sign of life. False when the connection is lost.
    async fn write<L: Link>(&self, link: &mut L, out: Vec<u8>) -> bool {
        // Only when the opener may no longer hear of what was pending.
        if out.is_empty() {
            self.core.buffers.put(out);
            return true;
        }
        self.arm(Kind::Write, self.pace.write_timeout_ms);
        let progress = |_| {
            // What has fired has shut the link down; arming again would only hide the reason.
            if self.deadline.fired().is_none() {
                self.arm(Kind::Write, self.pace.write_timeout_ms);
            }
        };
        let (result, out) = link.write_paced(out, progress).await;
        self.core.buffers.put(out);
        if self.deadline.fired() == Some(Kind::Write) {
            self.core.counters.write_timeouts.add(1);
            return false;
        }
        self.arm(Kind::KeepAlive, self.pace.keep_alive_ms);
        result.is_ok()
    }

    /// Arms for so many milliseconds from now, 0 being never; waiting never outlasts the opener's grant.
    fn arm(&self, kind: Kind, after_ms: u64) {
        let after = match after_ms {
            0 => u64::MAX,
            ms => self.core.clock.now_ms().saturating_add(ms),
        };
        let until = self.pace.until_ms.filter(|_| kind == Kind::KeepAlive);
        self.deadline.arm(kind, after.min(until.unwrap_or(u64::MAX)));
    }

    fn is_void(&self) -> bool {
        self.pace.until_ms.is_some_and(|until| self.core.clock.now_ms() >= until)
    }
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
