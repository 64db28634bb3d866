//! The writing end: whoever has a message puts it behind the others whole, and one thread writes (STD-04).

use std::io::{self, ErrorKind, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::RETRY;

/// Room that an empty queue keeps, in bytes.
const KEPT_BYTES_MAX: usize = 256 * 1024;

/// What the core and the writing thread share.
pub(super) struct Outflow {
    state: Mutex<State>,
    /// Something has come, or nothing more will.
    more: Condvar,
    /// Unwritten bytes beyond which the client counts as behind.
    unread_bytes_max: usize,
}

#[derive(Default)]
struct State {
    lines: Vec<u8>,
    /// Taken by the thread and not yet written.
    writing: usize,
    /// Nothing more comes.
    closed: bool,
    /// The thread has ended: everything is written, or nothing more can be.
    ended: bool,
    /// Nothing more can be written (STD-13).
    broken: bool,
    waiting: Vec<Waker>,
}

impl State {
    /// A task waits for the next change. Each waits once.
    fn wait(&mut self, waker: &Waker) {
        if !self.waiting.iter().any(|known| known.will_wake(waker)) {
            self.waiting.push(waker.clone());
        }
    }
}

impl Outflow {
    pub(super) fn new(unread_bytes_max: usize) -> Self {
        Self { state: Mutex::default(), more: Condvar::new(), unread_bytes_max }
    }

    /// Puts one message behind the others. Never waits; dropped when nobody can read it any more.
    pub(super) fn send(&self, json: &[u8]) {
        let state = &mut *self.lock();
        if state.broken || state.closed {
            return;
        }
        let start = state.lines.len();
        state.lines.extend_from_slice(json);
        flatten(&mut state.lines[start..]);
        state.lines.push(b'\n');
        self.more.notify_one();
    }

    /// Puts whole lines behind the others.
    pub(super) fn send_lines(&self, lines: &[u8]) {
        lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).for_each(|line| {
            self.send(line);
        });
    }

    /// Ready while the client keeps up. This and the other wakers are woken by the thread.
    pub(super) fn poll_room(&self, cx: &Context<'_>) -> Poll<()> {
        self.poll(cx, |state| {
            state.broken || state.lines.len() + state.writing < self.unread_bytes_max
        })
    }

    /// Ready once nothing more can be written.
    pub(super) fn poll_broken(&self, cx: &Context<'_>) -> Poll<()> {
        self.poll(cx, |state| state.broken)
    }

    /// Ready once everything is written, behind a [`close`](Self::close).
    pub(super) fn poll_ended(&self, cx: &Context<'_>) -> Poll<()> {
        self.poll(cx, |state| state.ended)
    }

    /// Nothing more comes.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.more.notify_one();
    }

    fn poll(&self, cx: &Context<'_>, is_so: impl Fn(&State) -> bool) -> Poll<()> {
        let state = &mut *self.lock();
        if is_so(state) {
            return Poll::Ready(());
        }
        state.wait(cx.waker());
        Poll::Pending
    }

    /// The thread's work: writes to the end.
    pub(super) fn run(&self, mut writer: Box<dyn Write + Send>) {
        // Also when the writer panics.
        let _ends = Ends(self);
        let mut batch = Vec::new();
        while self.next(&mut batch) {
            if let Err(error) = write_whole(&mut *writer, &batch) {
                tracing::debug!(%error, "nobody reads the output any more");
                return;
            }
        }
    }

    /// Takes all that has come, behind the batch that was written. False when nothing more comes.
    fn next(&self, batch: &mut Vec<u8>) -> bool {
        batch.clear();
        batch.shrink_to(KEPT_BYTES_MAX);
        self.change(|state| state.writing = 0);
        let mut state = self.lock();
        while state.lines.is_empty() && !state.closed {
            state = self.more.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        std::mem::swap(&mut state.lines, batch);
        state.writing = batch.len();
        !batch.is_empty()
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let waiting = {
            let state = &mut *self.lock();
            change(state);
            std::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }

    // The state is whole between any two statements that can panic.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A line break in JSON text is white space between tokens, as a program's own value may have it: a blank says the same
/// (STD-01).
fn flatten(line: &mut [u8]) {
    if memchr::memchr2(b'\n', b'\r', line).is_none() {
        return;
    }
    for byte in line {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
}

/// Writes everything, and flushes.
fn write_whole(writer: &mut dyn Write, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match writer.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(RETRY),
            Err(error) => return Err(error),
        }
    }
    writer.flush()
}

struct Ends<'f>(&'f Outflow);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.change(|state| {
            state.ended = true;
            state.broken = !(state.closed && state.lines.is_empty() && state.writing == 0);
            if state.broken {
                state.lines = Vec::new();
            }
        });
    }
}
