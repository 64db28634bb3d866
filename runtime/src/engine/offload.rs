//! Work that must not run on a core: a bounded pool of threads for what blocks or burns CPU. Answers come back by a waker
//! that may cross threads.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};

use super::guard::{self, Panic};
use super::wake::Portable;

/// Why an offloaded job has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OffloadError {
    /// The pool is shut down, or the job was given up.
    Closed,
    /// The pool's queue is full: the server is overloaded, try later.
    Full,
    /// The job panicked. The panic is in the log.
    Panicked,
}

impl fmt::Display for OffloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed => "the offload pool is shut down",
            Self::Full => "the offload queue is full",
            Self::Panicked => "the offloaded job panicked",
        })
    }
}

impl std::error::Error for OffloadError {}

type Task = Box<dyn FnOnce() + Send>;

/// The door to the pool. Cheap to clone, usable from any thread. The threads end when the last clone is dropped and the
/// queue is done.
#[derive(Clone)]
pub(crate) struct OffloadHandle {
    queue: Sender<Task>,
    closed: Arc<AtomicBool>,
}

impl OffloadHandle {
    /// Starts `threads` threads (at least one) behind a queue of `depth` jobs.
    pub(crate) fn start(threads: usize, depth: usize) -> io::Result<Self> {
        let (queue, tasks) = bounded::<Task>(depth.max(1));
        for id in 0..threads.max(1) {
            let tasks: Receiver<Task> = tasks.clone();
            std::thread::Builder::new()
                .name(format!("ringmcp-offload-{id}"))
                .spawn(move || tasks.iter().for_each(|task| task()))?;
        }
        Ok(Self { queue, closed: Arc::default() })
    }

    /// Refuses jobs from now on; those already queued are still done.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }
}

/// Runs `job` on the pool. It is queued at once; the future only waits. Dropping the future gives up a job that has not
/// begun, and lets one that has run to its end unheard.
pub(crate) fn offload<T: Send + 'static>(
    handle: &OffloadHandle,
    job: impl FnOnce() -> T + Send + 'static,
) -> Offloaded<T> {
    let slot = Arc::new(Slot { state: Mutex::new(State::Waiting(None)) });
    if handle.closed.load(Ordering::Acquire) {
        slot.put(Err(OffloadError::Closed));
        return Offloaded { slot, portable: Portable::default() };
    }
    let answer = Answer(slot.clone());
    let task: Task = Box::new(move || {
        if answer.0.is_wanted() {
            let result = guard::catch(job);
            answer.give(result);
        }
    });
    match handle.queue.try_send(task) {
        Ok(()) => {}
        // The refused task drops its answer here, which would say "closed": the reason is put first.
        Err(TrySendError::Full(task)) => {
            slot.put(Err(OffloadError::Full));
            drop(task);
        }
        Err(TrySendError::Disconnected(task)) => drop(task),
    }
    Offloaded { slot, portable: Portable::default() }
}

struct Slot<T> {
    state: Mutex<State<T>>,
}

enum State<T> {
    Waiting(Option<Waker>),
    Done(Result<T, OffloadError>),
    /// The answer was taken, or nobody waits any more.
    Over,
}

impl<T> Slot<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        // Nothing in these critical sections can panic half-way.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_wanted(&self) -> bool {
        matches!(*self.state(), State::Waiting(_))
    }

    /// The first answer counts.
    fn put(&self, result: Result<T, OffloadError>) {
        let mut state = self.state();
        if let State::Waiting(waker) = &mut *state {
            let waker = waker.take();
            *state = State::Done(result);
            drop(state);
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }
}

/// The job's side: dropped without an answer, it says that the job was given up.
struct Answer<T>(Arc<Slot<T>>);

impl<T> Answer<T> {
    fn give(self, result: Result<T, Panic>) {
        self.0.put(result.map_err(|panic| {
            tracing::error!(%panic, "an offloaded job panicked");
            OffloadError::Panicked
        }));
    }
}

impl<T> Drop for Answer<T> {
    fn drop(&mut self) {
        self.0.put(Err(OffloadError::Closed));
    }
}

/// The future of an offloaded job.
#[must_use = "the answer is lost with its future"]
pub struct Offloaded<T> {
    slot: Arc<Slot<T>>,
    portable: Portable,
}

impl<T> Offloaded<T> {
    /// Whether the queue had no room for the job.
    pub(crate) fn is_refused(&self) -> bool {
        matches!(&*self.slot.state(), State::Done(Err(OffloadError::Full)))
    }
}

impl<T> Future for Offloaded<T> {
    type Output = Result<T, OffloadError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { slot, portable } = self.get_mut();
        portable.with(cx, |cx| {
            let mut state = slot.state();
            if let State::Waiting(waker) = &mut *state {
                *waker = Some(cx.waker().clone());
                return Poll::Pending;
            }
            match std::mem::replace(&mut *state, State::Over) {
                State::Done(result) => Poll::Ready(result),
                State::Over | State::Waiting(_) => Poll::Ready(Err(OffloadError::Closed)),
            }
        })
    }
}

impl<T> Drop for Offloaded<T> {
    fn drop(&mut self) {
        let unheard = std::mem::replace(&mut *self.slot.state(), State::Over);
        drop(unheard);
    }
}

#[cfg(feature = "tokio")]
pub(crate) use super::companion::Companion;
#[cfg(feature = "tokio")]
pub use super::companion::OnTokio;
