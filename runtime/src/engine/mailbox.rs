//! Everything that crosses from one thread to a core: wakes, nudges, the order to drain, and jobs. One ring of the bell
//! per batch, however much was posted.
//!
//! Wakes, nudges and the drain order cannot be lost and need no room in the queue: a wake is one entry per live waker,
//! a nudge is a bit, the order a number. Only jobs are refused when the queue is full, and their sender is told.

use std::cell::RefCell;
use std::io;
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossbeam_channel::{Receiver, Sender, bounded};
use monoio::io::AsyncReadRent;

use super::core::{Core, Serve};
use super::wake::Remote;

/// Jobs run in one turn before the core's tasks get theirs.
const JOBS_PER_TURN: usize = 64;

/// Bytes read from the bell at once; it never holds more than one or two.
const BELL_READ_BYTES: usize = 16;

/// No drain was ordered.
const NO_DRAIN: u64 = u64::MAX;

/// What runs on a core, sent from elsewhere.
pub(crate) type Job<S> = Box<dyn FnOnce(&Rc<Core<S>>) + Send>;

/// The lossless part of a mailbox, and what wakes its core.
pub(crate) struct Bell {
    end: UnixStream,
    /// The bell has been rung and not yet answered.
    rung: AtomicBool,
    wakes: Mutex<Wakes>,
    nudges: AtomicU32,
    drain_within_ms: AtomicU64,
}

#[derive(Default)]
struct Wakes {
    /// Bounded by the number of live wakers: each is listed at most once.
    list: Vec<Arc<Remote>>,
    /// The core has ended. The list stays empty, since a listed waker holds the bell that holds the list.
    closed: bool,
}

impl Bell {
    /// Has the core look at its mailbox soon.
    ///
    /// No wake is lost: whoever posts does so before this swap. If it finds the bell rung, the core has not yet answered
    /// it, and the core's own swap, which comes later, sees all that was posted before.
    pub(crate) fn ring(&self) {
        if !self.rung.swap(true, Ordering::AcqRel) {
            let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
            // Full is impossible with one byte out at a time; broken means that the core has ended.
            let _ = socket2::SockRef::from(&self.end).send_with_flags(&[1], flags);
        }
    }

    /// The drain that was ordered since the last look, if any.
    pub(super) fn take_drain(&self) -> Option<u64> {
        let ordered = self.drain_within_ms.load(Ordering::Relaxed) != NO_DRAIN;
        let within_ms = ordered.then(|| self.drain_within_ms.swap(NO_DRAIN, Ordering::AcqRel));
        within_ms.filter(|within_ms| *within_ms != NO_DRAIN)
    }

    pub(super) fn wake(&self, remote: Arc<Remote>) {
        let mut wakes = self.wakes();
        if wakes.closed {
            return;
        }
        wakes.list.push(remote);
        drop(wakes);
        self.ring();
    }

    pub(super) fn close(&self) {
        let list = {
            let mut wakes = self.wakes();
            wakes.closed = true;
            std::mem::take(&mut wakes.list)
        };
        drop(list);
    }

    fn wakes(&self) -> MutexGuard<'_, Wakes> {
        // Nothing in these critical sections can panic half-way.
        self.wakes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The sending side. Cheap to clone, usable from any thread.
pub(crate) struct Mailbox<S: Serve> {
    bell: Arc<Bell>,
    jobs: Sender<Job<S>>,
}

impl<S: Serve> Clone for Mailbox<S> {
    fn clone(&self) -> Self {
        Self { bell: self.bell.clone(), jobs: self.jobs.clone() }
    }
}

impl<S: Serve> Mailbox<S> {
    /// Runs `job` on the core. Never blocks.
    ///
    /// # Errors
    /// Gives the job back when the queue is full or the core has ended.
    pub(crate) fn post(&self, job: Job<S>) -> Result<(), Job<S>> {
        self.jobs.try_send(job).map_err(crossbeam_channel::TrySendError::into_inner)?;
        self.bell.ring();
        Ok(())
    }

    /// Has the core call [`Serve::nudged`] with these bits, joined with others not yet delivered. Never blocks, never
    /// fails: the news itself stays with the sender, where the core looks it up.
    pub(crate) fn nudge(&self, bits: u32) {
        self.bell.nudges.fetch_or(bits, Ordering::AcqRel);
        self.bell.ring();
    }

    /// Orders the core to drain within so many milliseconds, and then to end. A later order may only shorten it.
    pub(crate) fn drain(&self, within_ms: u64) {
        self.bell.drain_within_ms.fetch_min(within_ms.min(NO_DRAIN - 1), Ordering::AcqRel);
        self.bell.ring();
    }
}

/// The core's side.
pub(crate) struct Inbox<S: Serve> {
    bell: Arc<Bell>,
    jobs: Receiver<Job<S>>,
    /// Taken by [`Inbox::run`].
    end: Option<UnixStream>,
    spare: RefCell<Vec<Arc<Remote>>>,
}

/// A mailbox for one core, with room for `depth` jobs.
pub(crate) fn mailbox<S: Serve>(depth: usize) -> io::Result<(Mailbox<S>, Inbox<S>)> {
    let (ringer, end) = UnixStream::pair()?;
    let bell = Arc::new(Bell {
        end: ringer,
        rung: AtomicBool::new(false),
        wakes: Mutex::default(),
        nudges: AtomicU32::new(0),
        drain_within_ms: AtomicU64::new(NO_DRAIN),
    });
    let (sender, jobs) = bounded(depth.max(1));
    let mailbox = Mailbox { bell: bell.clone(), jobs: sender };
    Ok((mailbox, Inbox { bell, jobs, end: Some(end), spare: RefCell::default() }))
}

impl<S: Serve> Inbox<S> {
    pub(crate) fn bell(&self) -> &Arc<Bell> {
        &self.bell
    }

    /// Delivers what has come so far, jobs up to a turn's worth; what is left rings again. Needs no runtime.
    pub(crate) fn deliver(&self, core: &Rc<Core<S>>) {
        self.bell.rung.swap(false, Ordering::AcqRel);
        let mut queued = self.spare.take();
        std::mem::swap(&mut self.bell.wakes().list, &mut queued);
        core.wakes.wake_queued(&mut queued);
        self.spare.replace(queued);

        match self.bell.nudges.swap(0, Ordering::AcqRel) {
            0 => {}
            bits => core.contain("nudge", || S::nudged(core, bits)),
        }
        if let Some(within_ms) = self.bell.take_drain() {
            core.order_drain(within_ms);
        }
        for job in self.jobs.try_iter().take(JOBS_PER_TURN) {
            core.contain("job", || job(core));
        }
        if !self.jobs.is_empty() {
            self.bell.ring();
        }
    }

    /// Answers the bell until the core has finished. On monoio, both drivers.
    pub(super) async fn run(mut self, core: Rc<Core<S>>, nonblocking: bool) -> io::Result<()> {
        let end = self.end.take().ok_or(io::ErrorKind::NotConnected)?;
        end.set_nonblocking(nonblocking)?;
        let mut end = monoio::net::UnixStream::from_std(end)?;
        let mut buf = Vec::with_capacity(BELL_READ_BYTES);
        while !core.finished.get() {
            let (result, read) = end.read(buf).await;
            buf = read;
            match result {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                result => {
                    result?;
                }
            }
            self.deliver(&core);
        }
        Ok(())
    }
}
