//! Giving way on a core. A task that is always ready would never let its siblings run: one that wakes itself is polled
//! again before them. It is woken instead by a porter task, which queues behind all that was ready.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::task::{Context, Poll, Waker};

/// The tasks of one core that have stepped aside. Warm, stepping aside allocates nothing.
#[derive(Default)]
pub(crate) struct Turns {
    waiting: RefCell<Vec<Waker>>,
    porter: Cell<Option<Waker>>,
}

impl Turns {
    /// Lets the other ready tasks of this core run once.
    pub(crate) async fn step_aside(&self) {
        let mut aside = false;
        poll_fn(|cx| {
            if std::mem::replace(&mut aside, true) {
                return Poll::Ready(());
            }
            match self.porter.take() {
                Some(porter) => {
                    self.waiting.borrow_mut().push(cx.waker().clone());
                    porter.wake();
                }
                // On its way already; or none at all, on a simulated core, whose driver decides who goes next.
                None if !self.waiting.borrow().is_empty() => {
                    self.waiting.borrow_mut().push(cx.waker().clone());
                }
                None => cx.waker().wake_by_ref(),
            }
            Poll::Pending
        })
        .await;
    }

    /// The porter's own task, until `finished` is set and it is called.
    pub(super) async fn carry(&self, finished: &Cell<bool>) {
        poll_fn(|cx| self.poll_carry(cx, finished)).await;
    }

    fn poll_carry(&self, cx: &Context<'_>, finished: &Cell<bool>) -> Poll<()> {
        let mut waiting = self.waiting.take();
        waiting.drain(..).for_each(Waker::wake);
        // Nobody steps aside while wakers are called on this core: they only queue. The room is kept for the next time.
        self.waiting.replace(waiting);
        if finished.get() {
            return Poll::Ready(());
        }
        self.porter.set(Some(cx.waker().clone()));
        Poll::Pending
    }

    /// Calls the porter.
    pub(super) fn call(&self) {
        if let Some(porter) = self.porter.take() {
            porter.wake();
        }
    }
}
