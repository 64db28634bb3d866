//! Deadlines of one core: a table of slots looked at once per tick, so that arming one for a request is two stores and
//! no timer is ever created.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::io::{How, Shutdown};

/// No deadline.
const NEVER: u64 = u64::MAX;

/// What a deadline guards, and so what happens when it passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The rest of a request body: the reading side is shut down, so that a 408 can still be written.
    Body,
    /// The end of a drain: its waiter is woken.
    Drain,
    /// A handler's answer: the task is woken.
    Handler,
    /// A request head that has begun: as [`Kind::Body`].
    Head,
    /// The next request on a kept connection: the reading side is shut down.
    Idle,
    /// The next comment on a quiet stream: the task is woken.
    KeepAlive,
    /// A kept connection that has been quiet for a while: its read is interrupted, so that the buffer can be given back.
    Quiet,
    /// A handler's own sleep: the task is woken.
    Sleep,
    /// A write that makes no progress: both directions are shut down.
    Write,
}

impl Kind {
    /// How the link is shut down when this kind passes; `None` wakes the waiting task instead.
    fn ends(self) -> Option<How> {
        match self {
            Self::Body | Self::Head | Self::Idle => Some(How::Read),
            Self::Quiet => Some(How::Interrupt),
            Self::Write => Some(How::Both),
            Self::Drain | Self::Handler | Self::KeepAlive | Self::Sleep => None,
        }
    }
}

/// The table. Slots live in parallel vectors: a scan reads only `at`, eight bytes a slot.
pub(crate) struct Deadlines {
    at: RefCell<Vec<u64>>,
    slots: RefCell<Vec<Slot>>,
    free: RefCell<Vec<usize>>,
    /// Not later than the earliest armed deadline: a tick before it has nothing to do.
    earliest: Cell<u64>,
}

struct Slot {
    kind: Kind,
    fired: Option<Kind>,
    shutdown: Option<Shutdown>,
    waker: Option<Waker>,
}

impl Deadlines {
    pub(crate) fn new() -> Rc<Self> {
        Rc::new(Self {
            at: RefCell::default(),
            slots: RefCell::default(),
            free: RefCell::default(),
            earliest: Cell::new(NEVER),
        })
    }

    /// A slot of its own, freed on drop. `shutdown` ends the link for the kinds that say so.
    pub(crate) fn slot(self: &Rc<Self>, shutdown: Option<Shutdown>) -> Deadline {
        let slot = Slot { kind: Kind::Sleep, fired: None, shutdown, waker: None };
        let index = match self.free.borrow_mut().pop() {
            Some(index) => {
                self.slots.borrow_mut()[index] = slot;
                index
            }
            None => {
                self.slots.borrow_mut().push(slot);
                self.at.borrow_mut().push(NEVER);
                self.at.borrow().len() - 1
            }
        };
        Deadline { table: self.clone(), index }
    }

    /// Slots in use: one for each connection, each request that is served, each handler that sleeps.
    pub(crate) fn len(&self) -> usize {
        self.slots.borrow().len() - self.free.borrow().len()
    }

    /// Slots that the table has room for.
    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.slots.borrow().capacity()
    }

    /// Gives back the room behind the last slot in use; the others are filled from the front from now on.
    pub(crate) fn shrink(&self) {
        let (mut at, mut slots) = (self.at.borrow_mut(), self.slots.borrow_mut());
        let mut free = self.free.borrow_mut();
        free.sort_unstable();
        while free.last().is_some_and(|index| index + 1 == slots.len()) {
            free.pop();
            slots.pop();
            at.pop();
        }
        free.reverse();
        free.shrink_to_fit();
        slots.shrink_to_fit();
        at.shrink_to_fit();
    }

    /// Fires every deadline that is not later than `now_ms`, and returns how many.
    pub(crate) fn tick(&self, now_ms: u64) -> usize {
        if now_ms < self.earliest.get() {
            return 0;
        }
        // Firing may arm again (a woken task may run at once in a simulation), so no borrow is held across it, and
        // what is armed meanwhile lowers `earliest` by itself.
        self.earliest.set(NEVER);
        let mut fired = 0;
        let slots = self.at.borrow().len();
        for index in 0..slots {
            let at = self.at.borrow()[index];
            if at <= now_ms {
                self.fire(index);
                fired += 1;
            } else if at < self.earliest.get() {
                self.earliest.set(at);
            }
        }
        fired
    }

    /// Fires every armed deadline of one kind now.
    pub(crate) fn fire_all(&self, kind: Kind) {
        let slots = self.at.borrow().len();
        for index in 0..slots {
            let armed = self.at.borrow()[index] != NEVER;
            let meant = self.slots.borrow()[index].kind == kind;
            if armed && meant {
                self.fire(index);
            }
        }
    }

    fn fire(&self, index: usize) {
        self.at.borrow_mut()[index] = NEVER;
        let (shutdown, waker) = {
            let slot = &mut self.slots.borrow_mut()[index];
            slot.fired = Some(slot.kind);
            let ends = slot.kind.ends();
            (ends.and_then(|how| Some((slot.shutdown.clone()?, how))), slot.waker.take())
        };
        if let Some((shutdown, how)) = shutdown {
            shutdown.end(how);
        }
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// One slot of the table: at most one deadline at a time.
pub(crate) struct Deadline {
    table: Rc<Deadlines>,
    index: usize,
}

impl Deadline {
    /// Sets the deadline to `at_ms` of the core's clock, replacing the one before and forgetting what had fired.
    pub(crate) fn arm(&self, kind: Kind, at_ms: u64) {
        let slot = &mut self.table.slots.borrow_mut()[self.index];
        slot.kind = kind;
        slot.fired = None;
        self.table.at.borrow_mut()[self.index] = at_ms;
        if at_ms < self.table.earliest.get() {
            self.table.earliest.set(at_ms);
        }
    }

    /// Takes the deadline back. [`Deadline::fired`] keeps its answer.
    pub(crate) fn disarm(&self) {
        self.table.at.borrow_mut()[self.index] = NEVER;
        self.table.slots.borrow_mut()[self.index].waker = None;
    }

    /// Which kind has fired since the slot was last armed.
    pub(crate) fn fired(&self) -> Option<Kind> {
        self.table.slots.borrow()[self.index].fired
    }

    /// Ready once the armed deadline has fired; until then the task is woken by it.
    pub(crate) fn poll_fired(&self, cx: &Context<'_>) -> Poll<Kind> {
        let slot = &mut self.table.slots.borrow_mut()[self.index];
        if let Some(kind) = slot.fired {
            return Poll::Ready(kind);
        }
        match &mut slot.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    /// Waits for the armed deadline.
    pub(crate) async fn passed(&self) -> Kind {
        std::future::poll_fn(|cx| self.poll_fired(cx)).await
    }
}

impl Drop for Deadline {
    /// Forgets the link and the waker at once: nothing of the connection stays behind in the table.
    fn drop(&mut self) {
        self.disarm();
        let shutdown = self.table.slots.borrow_mut()[self.index].shutdown.take();
        drop(shutdown);
        self.table.free.borrow_mut().push(self.index);
    }
}
