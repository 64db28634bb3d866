//! One HTTP answer in the making, between whoever makes it, on the core of the session, and the connection that writes
//! it, on whatever core that is. The only state that both touch.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use codec::id::OwnedId;
use transport::mcp::refusal::Refusal;
use transport::sse;

use super::outlet::Outlet;

/// An answer that is no event stream.
#[derive(Debug)]
pub(crate) enum Answer {
    /// 202: nothing is to be said.
    Accepted,
    /// 204: the session has ended as it was asked to.
    Ended,
    /// A JSON body.
    Json(Vec<u8>),
    /// An error with a status of its own.
    Refused(Refusal, Option<OwnedId>),
}

/// What a connection finds.
#[derive(Debug)]
pub(crate) enum News {
    /// The whole answer; nothing has been sent before.
    Answer(Answer),
    /// Events, ready to be written. The first ones open the stream, even if they are none.
    Events(Vec<u8>),
    /// The stream has ended.
    End,
}

/// See the head of this file. Wakers that are given to it go to other threads.
pub(crate) struct Feed {
    state: Mutex<State>,
    /// Events that may wait before notifications hold back, in bytes.
    bytes_max: usize,
}

#[derive(Default)]
struct State {
    answer: Option<Answer>,
    /// There is, or was, an answer.
    settled: bool,
    /// An event stream has begun.
    open: bool,
    /// The connection knows that.
    told: bool,
    events: Vec<u8>,
    ended: bool,
    /// The connection is gone.
    left: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl Feed {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { state: Mutex::default(), bytes_max }
    }

    /// The whole answer at once. Ignored once there is one, or a stream has begun.
    pub(crate) fn settle(&self, answer: Answer) {
        self.change(|state| {
            if !state.open && !std::mem::replace(&mut state.settled, true) {
                state.answer = Some(answer);
            }
        });
    }

    /// Begins the event stream, or adds to it.
    pub(crate) fn events(&self, write: impl FnOnce(&mut Vec<u8>)) {
        self.change(|state| {
            state.open = true;
            if !state.left {
                write(&mut state.events);
            }
        });
    }

    /// No more events.
    pub(crate) fn end(&self) {
        self.change(|state| {
            state.open = true;
            state.ended = true;
        });
    }

    /// Whether an event stream has begun.
    pub(crate) fn is_open(&self) -> bool {
        self.lock().open
    }

    /// Whether the connection is gone: what is sent now reaches nobody.
    pub(crate) fn is_left(&self) -> bool {
        self.lock().left
    }

    /// Ready once the connection is gone.
    pub(crate) fn poll_left(&self, cx: &mut Context<'_>) -> Poll<()> {
        let state = &mut *self.lock();
        if state.left {
            return Poll::Ready(());
        }
        state.writer = Some(cx.waker().clone());
        Poll::Pending
    }

    /// For the connection: the next thing to write.
    pub(crate) fn poll_news(&self, cx: &mut Context<'_>) -> Poll<News> {
        let (news, writer) = {
            let state = &mut *self.lock();
            let news = if let Some(answer) = state.answer.take() {
                News::Answer(answer)
            } else if !state.events.is_empty() || state.open && !state.told {
                state.told = true;
                News::Events(std::mem::take(&mut state.events))
            } else if state.ended {
                News::End
            } else {
                state.reader = Some(cx.waker().clone());
                return Poll::Pending;
            };
            (news, state.writer.take())
        };
        writer.into_iter().for_each(Waker::wake);
        Poll::Ready(news)
    }

    /// For the connection: it is gone.
    pub(crate) fn leave(&self) {
        let writer = {
            let state = &mut *self.lock();
            state.left = true;
            state.events = Vec::new();
            state.writer.take()
        };
        writer.into_iter().for_each(Waker::wake);
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let reader = {
            let state = &mut *self.lock();
            change(state);
            state.reader.take()
        };
        reader.into_iter().for_each(Waker::wake);
    }

    // The state is whole between any two statements that can panic.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request outside a session: events without ids, since nothing can be resumed.
impl Outlet for Feed {
    fn send(&self, json: &[u8]) {
        self.events(|out| sse::message(out, json));
    }

    fn poll_room(&self, cx: &mut Context<'_>) -> Poll<()> {
        let state = &mut *self.lock();
        if state.left || state.events.len() < self.bytes_max {
            return Poll::Ready(());
        }
        state.writer = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl std::fmt::Debug for Feed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Feed").finish_non_exhaustive()
    }
}
