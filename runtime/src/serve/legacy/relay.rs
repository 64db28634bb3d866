//! From a feed to the connection: whatever is made, here or on another core, is written as it comes, beside the peer and
//! the clock.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;

use transport::http::Head;

use crate::app::App;
use crate::engine::core::Core;
use crate::engine::deadline::{Deadline, Kind};
use crate::engine::wake::TaskWaker;
use crate::hooks::Principal;
use crate::io::{Link, Peer};
use crate::legacy::feed::{Answer, Feed, News};
use crate::serve::answer::{Closing, Reply};
use crate::serve::connection::{Connection, write};

/// Bytes read at once from a client that sends ahead.
const AHEAD_READ_BYTES: usize = 4 * 1024;

/// What relaying uses of the connection.
pub(super) struct Pipe<'c, L> {
    pub(super) core: &'c Rc<Core<App>>,
    pub(super) link: &'c mut Option<L>,
    pub(super) out: &'c mut Vec<u8>,
    pub(super) ahead: &'c mut Vec<u8>,
    pub(super) waker: &'c TaskWaker,
    pub(super) timer: &'c Deadline,
    pub(super) deadline: &'c Deadline,
    pub(super) reply: Reply<'c>,
    /// A comment is due some time.
    pub(super) armed: bool,
    /// Somebody else writes the stream, if it becomes one.
    pub(super) hands_over: bool,
}

/// What the connection knows of the request, while the pipe has the rest of it.
pub(super) struct Asked<'c> {
    pub(super) head: &'c Head,
    /// What has been read on the connection.
    pub(super) buf: &'c mut Vec<u8>,
    pub(super) principal: Option<&'c Rc<Principal>>,
}

/// Parts a connection: what an answer is relayed with, and what it is made from meanwhile.
pub(super) fn part<'c, L>(
    connection: &'c mut Connection<'_, L>,
    ahead: &'c mut Vec<u8>,
    closing: Closing,
) -> (Pipe<'c, L>, Asked<'c>) {
    let Connection { core, link, machine, buf, out, waker, timer, deadline, principal, .. } =
        connection;
    let head = machine.head();
    let reply = Reply { core, minor: head.minor, closing };
    let (armed, hands_over) = (false, false);
    let pipe = Pipe { core, link, out, ahead, waker, timer, deadline, reply, armed, hands_over };
    (pipe, Asked { head, buf, principal: principal.as_ref() })
}

/// What was relayed.
pub(super) enum Relayed {
    /// Nothing yet: this is the whole answer.
    Answer(Answer),
    /// A stream that somebody else goes on with, and its first events.
    Opened(Vec<u8>),
    /// A stream, to its end.
    Streamed,
    /// The client is gone.
    Gone,
}

/// What is made by the connection's own task, if it is not made elsewhere.
pub(super) type Work<'w> = Option<Pin<&'w mut dyn Future<Output = ()>>>;

/// Waits for the feed and writes what comes. When the client leaves, the feed is told, and the work is its caller's to
/// drop.
pub(super) async fn relay<L: Link>(mut pipe: Pipe<'_, L>, feed: &Feed, work: Work<'_>) -> Relayed {
    let relayed = pipe.turns(feed, work).await;
    pipe.timer.disarm();
    if matches!(relayed, Relayed::Streamed | Relayed::Gone) {
        feed.leave();
    }
    relayed
}

enum Turn {
    News(News),
    /// Nothing more has come, and something is to be written.
    Flush,
    Comment,
    Peer(Peer),
}

impl<L: Link> Pipe<'_, L> {
    async fn turns(&mut self, feed: &Feed, mut work: Work<'_>) -> Relayed {
        let mut open = false;
        loop {
            let Some(turn) = self.turn(feed, &mut work).await else { return Relayed::Gone };
            match turn {
                Turn::News(News::Answer(answer)) => return Relayed::Answer(answer),
                Turn::News(News::Events(events)) if self.hands_over => {
                    return Relayed::Opened(events);
                }
                Turn::News(News::Events(events)) => {
                    if !std::mem::replace(&mut open, true) {
                        self.reply.stream_head(self.out);
                    }
                    self.reply.events(self.out, &events);
                }
                Turn::News(News::End) => {
                    self.reply.stream_end(self.out);
                    return Relayed::Streamed;
                }
                Turn::Flush => {
                    if !self.flush().await {
                        return Relayed::Gone;
                    }
                    self.arm(open);
                }
                Turn::Comment => self.reply.comment(self.out),
                Turn::Peer(Peer::Gone) => {
                    self.core.counters.disconnect_cancellations.add(u64::from(work.is_some()));
                    return Relayed::Gone;
                }
                Turn::Peer(Peer::Bytes) => {
                    if !self.read_ahead().await {
                        return Relayed::Gone;
                    }
                }
            }
        }
    }

    /// Waits for whatever comes first. `None`: there is no link.
    async fn turn(&mut self, feed: &Feed, work: &mut Work<'_>) -> Option<Turn> {
        let watches = self.ahead.len() < self.core.serve.limits.ahead_bytes;
        let (waker, timer, armed) = (self.waker, self.timer, self.armed);
        let pending = !self.out.is_empty();
        let mut peer = pin!(self.link.as_mut()?.watch());
        let turn = poll_fn(|cx| {
            if let Some(making) = work
                && making.as_mut().poll(cx).is_ready()
            {
                *work = None;
            }
            if let Poll::Ready(news) = waker.with(cx, |cx| feed.poll_news(cx)) {
                return Poll::Ready(Turn::News(news));
            }
            // Earlier answers on the connection do not wait for this one.
            if pending {
                return Poll::Ready(Turn::Flush);
            }
            if armed && timer.poll_fired(cx).is_ready() {
                return Poll::Ready(Turn::Comment);
            }
            match watches.then(|| peer.as_mut().poll(cx)) {
                Some(Poll::Ready(peer)) => Poll::Ready(Turn::Peer(peer)),
                _ => Poll::Pending,
            }
        });
        Some(turn.await)
    }

    /// The next comment on a quiet stream (SSE-10).
    fn arm(&mut self, open: bool) {
        let after = self.core.serve.limits.keep_alive.as_millis() as u64;
        self.armed = open && after > 0;
        if self.armed {
            self.timer.arm(Kind::KeepAlive, self.core.clock.now_ms().saturating_add(after));
        }
    }

    async fn flush(&mut self) -> bool {
        let Some(link) = self.link.as_mut() else { return false };
        let out = std::mem::take(self.out);
        let (written, mut out) = write(link, out, self.core, self.deadline).await;
        out.clear();
        *self.out = out;
        written
    }

    /// Keeps what a client sends ahead for its next request, up to a bound; the rest stays in the kernel.
    async fn read_ahead(&mut self) -> bool {
        let Some(link) = self.link.as_mut() else { return false };
        let mut ahead = std::mem::take(self.ahead);
        ahead.reserve(AHEAD_READ_BYTES);
        let (read, ahead) = link.read(ahead).await;
        *self.ahead = ahead;
        matches!(read, Ok(1..))
    }
}
