//! A stream that a GET has opened: a small task of its own, since it may be quiet for as long as its session lives. It
//! holds the link and the feed, and no buffer while it waits.

use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use transport::http::respond;
use transport::sse;

use crate::app::App;
use crate::engine::core::{Core, LinkGuard};
use crate::engine::deadline::{Deadline, Kind};
use crate::engine::listen::UNREAD_BYTES_MAX;
use crate::engine::wake::TaskWaker;
use crate::io::{Link, Peer};
use crate::legacy::feed::{Feed, News};
use crate::serve::connection::write;

/// Bytes thrown away at once.
const DISCARD_STEP_BYTES: usize = 1024;

/// What it takes over from the request that opened it.
pub(in crate::serve) struct Standing<L> {
    pub(super) link: L,
    /// The response head and the first events.
    pub(super) head: Vec<u8>,
    pub(super) feed: Arc<Feed>,
    /// HTTP/1.1: events travel in chunks.
    pub(super) chunked: bool,
}

enum Turn {
    News(News),
    Comment,
    Peer(Peer),
}

/// Writes what the feed brings until it ends or the client leaves.
pub(in crate::serve) async fn run<L: Link>(
    core: Rc<Core<App>>,
    open: LinkGuard,
    standing: Box<Standing<L>>,
) {
    let Standing { link, head, feed, chunked } = *standing;
    let deadline = core.deadline(Some(link.shutdown_handle()));
    let waker = TaskWaker::new(&core.wakes);
    let mut task = Task { core: &core, link, feed: &feed, chunked, deadline, waker };
    let graceful = task.serve(head).await;
    feed.leave();
    if graceful {
        Box::pin(task.link.close()).await;
    }
    drop(open);
}

struct Task<'c, L> {
    core: &'c Rc<Core<App>>,
    link: L,
    feed: &'c Feed,
    chunked: bool,
    deadline: Deadline,
    waker: TaskWaker,
}

impl<L: Link> Task<'_, L> {
    /// True when the stream has come to its own end.
    async fn serve(&mut self, head: Vec<u8>) -> bool {
        let mut unread = 0;
        let mut out = head;
        let mut ends = false;
        loop {
            if !out.is_empty() && !self.write(out).await {
                return false;
            }
            if ends {
                return true;
            }
            out = Vec::new();
            match self.turn().await {
                Turn::News(News::Events(events)) => {
                    self.frame(&mut out, |out| out.extend_from_slice(&events));
                }
                // An answer comes before a stream, and this one has begun.
                Turn::News(News::End | News::Answer(_)) => {
                    ends = true;
                    if self.chunked {
                        respond::last_chunk(&mut out);
                    }
                }
                Turn::Comment => self.frame(&mut out, |out| sse::comment(out, "keepalive")),
                Turn::Peer(Peer::Gone) => return false,
                Turn::Peer(Peer::Bytes) => {
                    let room = Vec::with_capacity(DISCARD_STEP_BYTES);
                    match Box::pin(self.link.read(room)).await.0 {
                        Ok(read @ 1..) => unread += read,
                        Ok(0) | Err(_) => return false,
                    }
                    if unread > UNREAD_BYTES_MAX {
                        return false;
                    }
                }
            }
        }
    }

    async fn turn(&mut self) -> Turn {
        let Self { link, feed, deadline, waker, .. } = self;
        let mut peer = pin!(link.watch());
        poll_fn(|cx| {
            if let Poll::Ready(peer) = peer.as_mut().poll(cx) {
                return Poll::Ready(Turn::Peer(peer));
            }
            if let Poll::Ready(news) = waker.with(cx, |cx| feed.poll_news(cx)) {
                return Poll::Ready(Turn::News(news));
            }
            deadline.poll_fired(cx).map(|_| Turn::Comment)
        })
        .await
    }

    /// Writes all of `out`, and arms the next sign of life (SSE-10).
    async fn write(&mut self, out: Vec<u8>) -> bool {
        let (written, _) = Box::pin(write(&mut self.link, out, self.core, &self.deadline)).await;
        let after = self.core.serve.limits.keep_alive.as_millis() as u64;
        let at = if after == 0 { u64::MAX } else { self.core.clock.now_ms().saturating_add(after) };
        self.deadline.arm(Kind::KeepAlive, at);
        written
    }

    fn frame(&self, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        if self.chunked { respond::chunk(out, write) } else { write(out) }
    }
}
