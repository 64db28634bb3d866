//! The reading end: a thread reads, the core takes. What nobody has taken yet is bounded; beyond it the thread waits.

use std::io::{ErrorKind, Read};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::RETRY;

/// Bytes read at once.
const READ_BYTES: usize = 64 * 1024;

/// Bytes that wait for the core; then nothing is read until it takes them.
const WAITING_BYTES_MAX: usize = 256 * 1024;

/// What the reading thread and the core share.
#[derive(Default)]
pub(super) struct Inflow {
    state: Mutex<State>,
    /// Something was taken, or the core has left.
    taken: Condvar,
}

#[derive(Default)]
struct State {
    bytes: Vec<u8>,
    /// The stream has ended, or cannot be read any more.
    ended: bool,
    /// The core takes no more.
    left: bool,
    waker: Option<Waker>,
}

impl Inflow {
    /// For the core: appends what has come. Ready with false at the end of the stream. The waker is woken by another
    /// thread.
    pub(super) fn poll_take(&self, cx: &Context<'_>, buf: &mut Vec<u8>) -> Poll<bool> {
        let state = &mut *self.lock();
        if !state.bytes.is_empty() {
            buf.append(&mut state.bytes);
            self.taken.notify_one();
            return Poll::Ready(true);
        }
        if state.ended {
            return Poll::Ready(false);
        }
        state.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    /// For the core: it takes no more. The thread ends when it next reads something.
    pub(super) fn leave(&self) {
        let state = &mut *self.lock();
        state.left = true;
        state.waker = None;
        self.taken.notify_one();
    }

    /// The thread's work: reads to the end.
    pub(super) fn run(&self, mut reader: Box<dyn Read + Send>) {
        // Also when the reader panics.
        let _ends = Ends(self);
        let mut piece = vec![0; READ_BYTES];
        loop {
            match reader.read(&mut piece) {
                Ok(0) => return,
                Ok(read) => {
                    if !self.give(&piece[..read]) {
                        return;
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(RETRY),
                Err(error) => return tracing::warn!(%error, "the input cannot be read any more"),
            }
        }
    }

    /// False: nobody takes it.
    fn give(&self, piece: &[u8]) -> bool {
        let mut state = self.lock();
        while state.bytes.len() >= WAITING_BYTES_MAX && !state.left {
            state = self.taken.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.left {
            return false;
        }
        state.bytes.extend_from_slice(piece);
        let waker = state.waker.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
        true
    }

    // The state is whole between any two statements that can panic.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Ends<'f>(&'f Inflow);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        let waker = {
            let state = &mut *self.0.lock();
            state.ended = true;
            state.waker.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }
}
