//! What others see of a connection: the watchdog ends what takes too long, the dispatcher wakes who is free.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use monoio::io::{CancelHandle, Canceller};

/// A connection that has been free this long waits with a read, so that it sees the server close it. (Before that it
/// waits without: waking from a read costs a cancelled system call.)
const DEEP_AFTER: Duration = Duration::from_millis(500);

/// The outside of one connection.
#[derive(Default)]
pub(crate) struct Seat {
    /// When the oldest step under way began; `None` while nothing is waited for.
    since: Cell<Option<Instant>>,
    /// End the read or the write under way.
    read: RefCell<Canceller>,
    write: RefCell<Canceller>,
    /// The watchdog ended it.
    late: Cell<bool>,
    /// It is among the free.
    listed: Cell<bool>,
    /// Since when it waits without a read.
    parked_at: Cell<Option<Instant>>,
    /// There may be something to send.
    nudged: Cell<bool>,
    /// It should wait with a read.
    deep: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Seat {
    /// Says since when the oldest request waits.
    pub(crate) fn waits_since(&self, since: Option<Instant>) {
        self.since.set(since);
    }

    /// Ends what has taken longer than `timeout`.
    pub(crate) fn watch(&self, now: Instant, timeout: Duration) {
        if self.since.get().is_some_and(|since| now.saturating_duration_since(since) >= timeout) {
            self.late.set(true);
            cancel(&self.read);
            cancel(&self.write);
        }
    }

    /// Whether the watchdog ended the step under way.
    pub(crate) fn is_late(&self) -> bool {
        self.late.get()
    }

    /// A new step begins.
    pub(crate) fn forgive(&self) {
        self.late.set(false);
    }

    pub(crate) fn read_handle(&self) -> CancelHandle {
        self.read.borrow().handle()
    }

    pub(crate) fn write_handle(&self) -> CancelHandle {
        self.write.borrow().handle()
    }

    /// There may be something to send: ends the wait, with or without a read.
    pub(crate) fn nudge(&self) {
        self.listed.set(false);
        self.nudged.set(true);
        match self.waker.take() {
            Some(waker) => waker.wake(),
            None => cancel(&self.read),
        }
    }

    /// Whether it was nudged since this was asked last.
    pub(crate) fn take_nudge(&self) -> bool {
        self.nudged.take()
    }

    /// Whether the wait should be a read.
    pub(crate) fn is_deep(&self) -> bool {
        self.deep.get()
    }

    /// Waits without a read until it is nudged, or has waited for long.
    pub(crate) async fn parked(&self) {
        self.parked_at.set(Some(Instant::now()));
        poll_fn(|cx| {
            if self.nudged.take() || self.deep.get() {
                return Poll::Ready(());
            }
            self.waker.replace(Some(cx.waker().clone()));
            Poll::Pending
        })
        .await;
        self.waker.take();
        self.parked_at.set(None);
    }

    /// The wait is over.
    pub(crate) fn busy(&self) {
        self.deep.set(false);
    }

    fn deepen(&self, now: Instant) {
        let long = |at: Instant| now.saturating_duration_since(at) >= DEEP_AFTER;
        if self.parked_at.get().is_some_and(long) {
            self.deep.set(true);
            if let Some(waker) = self.waker.take() {
                waker.wake();
            }
        }
    }
}

fn cancel(canceller: &RefCell<Canceller>) {
    let fresh = canceller.take().cancel();
    canceller.replace(fresh);
}

/// The connections that could send at once, the longest free first.
#[derive(Default)]
pub(crate) struct Idle {
    seats: RefCell<VecDeque<Rc<Seat>>>,
    /// Of who waits for one.
    waker: RefCell<Option<Waker>>,
}

impl Idle {
    /// Adds one, once.
    pub(crate) fn list(&self, seat: &Rc<Seat>) {
        if !seat.listed.replace(true) {
            self.seats.borrow_mut().push_back(seat.clone());
            if let Some(waker) = self.waker.take() {
                waker.wake();
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.seats.borrow().is_empty()
    }

    /// Nudges as many as there is work for.
    pub(crate) fn nudge(&self, count: u64) {
        for _ in 0..count {
            let Some(seat) = self.seats.borrow_mut().pop_front() else { return };
            seat.nudge();
        }
    }

    /// Until there is one.
    pub(crate) async fn some(&self) {
        poll_fn(|cx| {
            if !self.is_empty() {
                return Poll::Ready(());
            }
            self.waker.replace(Some(cx.waker().clone()));
            Poll::Pending
        })
        .await;
    }

    /// Lets those that have waited for long watch their sockets.
    pub(crate) fn deepen(&self, now: Instant) {
        self.seats.borrow().iter().for_each(|seat| seat.deepen(now));
    }
}
