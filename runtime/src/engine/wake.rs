//! Wakers that may go anywhere. monoio's own wakers count their references without atomics and may not leave their
//! thread, so a handler is polled with a waker that only names its task: on the task's own core it wakes it directly,
//! elsewhere it rings the core's bell.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Wake, Waker};

use super::mailbox::Bell;
use super::slab::{Key, Slab};

/// Tells the cores of a process apart, also when several are simulated on one thread.
static CORES: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The tables of the cores that live on this thread: one, except in simulations.
    static TABLES: RefCell<Vec<Rc<WakeTable>>> = const { RefCell::new(Vec::new()) };
}

/// The tasks of one core that can be woken from elsewhere.
pub(crate) struct WakeTable {
    core: u64,
    bell: Arc<Bell>,
    tasks: RefCell<Slab<Option<Waker>>>,
    closed: Cell<bool>,
}

impl WakeTable {
    /// Registers a core on the calling thread.
    pub(crate) fn new(bell: Arc<Bell>) -> Rc<Self> {
        let table = Rc::new(Self {
            core: CORES.fetch_add(1, Ordering::Relaxed),
            bell,
            tasks: RefCell::new(Slab::new()),
            closed: Cell::new(false),
        });
        TABLES.with_borrow_mut(|tables| tables.push(table.clone()));
        table
    }

    /// What other threads ring.
    pub(crate) fn bell(&self) -> &Arc<Bell> {
        &self.bell
    }

    /// The end of the core: from now on every wake of its tasks does nothing. Called while the runtime still lives,
    /// since the wakers given back here are its own. Harmless when repeated.
    pub(crate) fn close(&self) {
        self.closed.set(true);
        self.bell.close();
        let wakers = self.tasks.borrow_mut().drain();
        drop(wakers);
        let _ =
            TABLES.try_with(|tables| tables.borrow_mut().retain(|table| table.core != self.core));
    }

    /// Gives back the room that a peak of tasks took.
    pub(super) fn shrink(&self) {
        self.tasks.borrow_mut().shrink();
    }

    fn wake(&self, key: Key) {
        let waker = self.tasks.borrow().get(key).cloned().flatten();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Wakes what was queued by other threads. Each entry is taken off its queue before it wakes, so a wake that comes
    /// in between is queued anew and none is lost.
    pub(super) fn wake_queued(&self, queued: &mut Vec<Arc<Remote>>) {
        for remote in queued.drain(..) {
            remote.queued.swap(false, Ordering::AcqRel);
            self.wake(remote.key);
        }
    }
}

/// What a thread-safe waker carries: a name, never a monoio waker.
pub(crate) struct Remote {
    core: u64,
    key: Key,
    bell: Arc<Bell>,
    /// Already on the core's queue: bounds that queue by the number of live wakers.
    queued: AtomicBool,
}

impl Wake for Remote {
    fn wake(self: Arc<Self>) {
        Self::wake_by_ref(&self);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let home = TABLES.try_with(|tables| {
            tables.borrow().iter().find(|table| table.core == self.core).cloned()
        });
        match home {
            Ok(Some(table)) => table.wake(self.key),
            _ if self.queued.swap(true, Ordering::AcqRel) => {}
            _ => self.bell.wake(self.clone()),
        }
    }
}

/// The thread-safe waker of one task at a time, made once and used for many requests: polling a handler allocates
/// nothing.
pub(crate) struct TaskWaker {
    table: Rc<WakeTable>,
    key: Key,
    waker: Waker,
}

impl TaskWaker {
    pub(crate) fn new(table: &Rc<WakeTable>) -> Self {
        let key = table.tasks.borrow_mut().insert(None);
        let remote = Remote {
            core: table.core,
            key,
            bell: table.bell.clone(),
            queued: AtomicBool::new(false),
        };
        Self { table: table.clone(), key, waker: Waker::from(Arc::new(remote)) }
    }

    /// Polls with the thread-safe waker, which from now on wakes the task of `cx`.
    pub(crate) fn with<R>(&self, cx: &Context<'_>, poll: impl FnOnce(&mut Context<'_>) -> R) -> R {
        self.attach(cx.waker());
        poll(&mut Context::from_waker(self.waker()))
    }

    /// Makes the thread-safe waker wake `task`, a waker of this thread.
    pub(crate) fn attach(&self, task: &Waker) {
        // A closed core's tasks are not woken any more; keeping its wakers would outlive the runtime.
        if self.table.closed.get() {
            return;
        }
        let old = match self.table.tasks.borrow_mut().get_mut(self.key) {
            Some(Some(known)) if known.will_wake(task) => None,
            Some(slot) => slot.replace(task.clone()),
            None => None,
        };
        drop(old);
    }

    /// Makes the thread-safe waker wake nobody, until it is attached again.
    pub(crate) fn detach(&self) {
        let old = self.table.tasks.borrow_mut().get_mut(self.key).and_then(Option::take);
        drop(old);
    }

    /// May be cloned, sent to and woken from any thread, at any time, also after the task has ended.
    pub(crate) fn waker(&self) -> &Waker {
        &self.waker
    }
}

impl Drop for TaskWaker {
    fn drop(&mut self) {
        let waker = self.table.tasks.borrow_mut().remove(self.key);
        drop(waker);
    }
}

/// Makes any waker fit to leave the thread: for futures whose answer comes from another thread, wherever on a core they
/// are polled.
#[derive(Default)]
pub(crate) struct Portable(Option<TaskWaker>);

impl Portable {
    /// Calls `poll` with a waker that may be sent away. On a thread without a core the caller's waker is used as it is.
    pub(crate) fn with<R>(
        &mut self,
        cx: &mut Context<'_>,
        poll: impl FnOnce(&mut Context<'_>) -> R,
    ) -> R {
        if self.0.is_none() {
            let table = TABLES.with_borrow(|tables| tables.last().cloned());
            self.0 = table.as_ref().map(TaskWaker::new);
        }
        match &self.0 {
            Some(waker) => waker.with(cx, poll),
            None => poll(cx),
        }
    }
}
