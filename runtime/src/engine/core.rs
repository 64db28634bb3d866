//! What one core owns, and the seam to the server that runs on it.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::io;
use std::ops::Deref;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::clock::{Clock, DateFormat};
use super::counters::CoreCounters;
use super::deadline::{Deadline, Deadlines};
use super::ebb::Ebb;
use super::guard;
use super::mailbox::{Inbox, Mailbox, mailbox};
use super::pool::BufferPool;
use super::slab::{Key, Slab};
use super::stall::StallMeter;
use super::turn::Turns;
use super::wake::WakeTable;
use crate::io::{How, Shutdown, TcpLink};

/// The server that runs on the engine: one value for the process, one [`Serve::Local`] per core.
pub(crate) trait Serve: Send + Sync + Sized + 'static {
    /// What the server keeps on each core.
    type Local: 'static;

    /// Builds a core's part, on the core's own thread, before its first connection.
    fn local(&self, parts: &CoreParts) -> Self::Local;

    /// Serves one connection to its end, which is the drop of `open`: it may be handed on. A panic costs this connection only.
    fn connection(
        core: Rc<Core<Self>>,
        link: TcpLink,
        open: LinkGuard,
    ) -> impl Future<Output = ()> + 'static;

    /// Answers [`Mailbox::nudge`]: looks up what the bits announce.
    fn nudged(core: &Rc<Core<Self>>, bits: u32) {
        let _ = (core, bits);
    }

    /// Called once when the core begins to drain: no connection is accepted any more, `draining` is set. Streams that
    /// would stay open for ever are to be ended from here; connections idle between requests are ended by the engine,
    /// as if their idle deadline had passed.
    fn draining(core: &Rc<Core<Self>>) {
        let _ = core;
    }

    /// Called when the core holds much less than it did: what the server keeps for a peak can go.
    fn shed(core: &Rc<Core<Self>>) {
        let _ = core;
    }

    /// Called when everything of the peak that can go is gone.
    fn ebbed(core: &Rc<Core<Self>>) {
        let _ = core;
    }

    /// Called once when the drain's deadline has passed with connections still open: their sockets have been shut down,
    /// and whatever else keeps their tasks, such as a handler that never looks at its socket, is to be dropped.
    fn ending(core: &Rc<Core<Self>>) {
        let _ = core;
    }
}

/// The sizes of one core.
#[derive(Clone, Debug)]
pub(crate) struct CoreConfig {
    /// Connections open at once; beyond it they are refused.
    pub(crate) connections_max: usize,
    /// Jobs from other threads that may wait.
    pub(crate) mailbox_depth: usize,
    /// A handler's poll that holds the core this long is named in a warning; zero: never.
    pub(crate) stall_threshold: Duration,
    /// Capacity of a pooled buffer, in bytes.
    pub(crate) buffer_bytes: usize,
    /// Idle buffers kept per core.
    pub(crate) buffers_kept_max: usize,
    /// Writes the `Date` header.
    pub(crate) date: DateFormat,
}

/// One core: its parts, the process-wide server and the server's own part.
pub(crate) struct Core<S: Serve> {
    parts: CoreParts,
    /// The server, shared by all cores.
    pub(crate) serve: Arc<S>,
    /// The server's part of this core.
    pub(crate) app: S::Local,
}

impl<S: Serve> Deref for Core<S> {
    type Target = CoreParts;

    fn deref(&self) -> &CoreParts {
        &self.parts
    }
}

/// What every core has, whatever it serves. Never leaves its thread.
pub(crate) struct CoreParts {
    /// 0 for the first worker.
    pub(crate) id: usize,
    pub(crate) clock: Clock,
    pub(crate) deadlines: Rc<Deadlines>,
    pub(crate) counters: Arc<CoreCounters>,
    pub(crate) buffers: BufferPool,
    pub(crate) wakes: Rc<WakeTable>,
    pub(crate) stall: StallMeter,
    pub(super) ebb: Ebb,
    /// For tasks that find work ready without end.
    pub(crate) turns: Turns,
    pub(crate) links: Rc<Links>,
    /// Set when a drain begins, never cleared.
    pub(crate) draining: Cell<bool>,
    pub(crate) connections_max: usize,
    /// The core's last task has ended: ticker and mailbox follow.
    pub(super) finished: Cell<bool>,
    drain_within_ms: Cell<Option<u64>>,
    /// When the ordered drain is over, on the core's clock.
    drain_ends_ms: Cell<u64>,
    drain_waiter: Cell<Option<Waker>>,
    /// Where a simulated core's tasks go: it has no runtime.
    simulated: Option<SpawnedTasks>,
}

/// Tasks that whoever drives a simulated core takes and polls.
type SpawnedTasks = Rc<RefCell<Vec<Pin<Box<dyn Future<Output = ()>>>>>>;

impl<S: Serve> Core<S> {
    /// A core on the calling thread, behind `inbox`.
    pub(crate) fn new(
        id: usize,
        serve: Arc<S>,
        config: &CoreConfig,
        clock: Clock,
        counters: Arc<CoreCounters>,
        inbox: &Inbox<S>,
    ) -> Rc<Self> {
        let simulated = clock.is_simulated().then(SpawnedTasks::default);
        let parts = CoreParts {
            id,
            clock,
            deadlines: Deadlines::new(),
            counters: counters.clone(),
            buffers: BufferPool::new(config.buffer_bytes, config.buffers_kept_max),
            wakes: WakeTable::new(inbox.bell().clone()),
            stall: StallMeter::new(config.stall_threshold),
            ebb: Ebb::default(),
            turns: Turns::default(),
            links: Links::new(counters),
            draining: Cell::new(false),
            connections_max: config.connections_max,
            finished: Cell::new(false),
            drain_within_ms: Cell::new(None),
            drain_ends_ms: Cell::new(u64::MAX),
            drain_waiter: Cell::new(None),
            simulated,
        };
        let app = serve.local(&parts);
        Rc::new(Self { parts, serve, app })
    }

    /// A core without a runtime, on a simulated clock that starts at `unix_secs`: for whole servers driven in a test.
    /// Its futures are polled by hand, `clock.advance`, `deadlines.tick` and `inbox.deliver` are called by hand.
    pub(crate) fn simulated(
        serve: Arc<S>,
        config: &CoreConfig,
        unix_secs: u64,
    ) -> io::Result<(Rc<Self>, Mailbox<S>, Inbox<S>)> {
        let (mailbox, inbox) = mailbox(config.mailbox_depth)?;
        let clock = Clock::simulated(unix_secs, config.date);
        let core = Self::new(0, serve, config, clock, Arc::default(), &inbox);
        Ok((core, mailbox, inbox))
    }

    /// Spawns the task that `make` makes on this core. Its panic is caught, counted and logged.
    pub(crate) fn spawn<F: Future<Output = ()> + 'static>(
        self: &Rc<Self>,
        what: &'static str,
        make: impl FnOnce() -> F + 'static,
    ) {
        let core = self.clone();
        let spawned = self.parts.simulated.clone();
        let task = async move {
            if let Err(panic) = guard::catch_future(make).await {
                core.report(what, &panic);
            }
        };
        match spawned {
            None => drop(monoio::spawn(task)),
            Some(spawned) => spawned.borrow_mut().push(Box::pin(task)),
        }
    }
}

impl CoreParts {
    /// Runs something of the server's that must not take the core down.
    pub(super) fn contain(&self, what: &'static str, f: impl FnOnce()) {
        if let Err(panic) = guard::catch(f) {
            self.report(what, &panic);
        }
    }

    fn report(&self, what: &'static str, panic: &guard::Panic) {
        self.counters.panics.add(1);
        tracing::error!(core = self.id, what, %panic, "panic caught");
    }

    /// Takes the tasks that were spawned on a simulated core since the last call.
    pub(crate) fn take_spawned(&self) -> Vec<Pin<Box<dyn Future<Output = ()>>>> {
        self.simulated.as_ref().map(|spawned| spawned.take()).unwrap_or_default()
    }

    /// A deadline slot; see [`Deadlines::slot`].
    pub(crate) fn deadline(&self, shutdown: Option<Shutdown>) -> Deadline {
        self.deadlines.slot(shutdown)
    }

    /// Looks at the time, and whether a drain was ordered, in the middle of a round of the core's tasks: after work
    /// that took long, since all the work behind it in the round would else come before the ticker and the bell.
    pub(crate) fn catch_up(&self) {
        self.clock.refresh();
        if let Some(within_ms) = self.wakes.bell().take_drain() {
            self.order_drain(within_ms);
        }
        self.deadlines.tick(self.clock.now_ms());
    }

    /// A drain's deadline has passed: nothing more is begun.
    pub(crate) fn overdue(&self) -> bool {
        self.drain_ends_ms.get() <= self.clock.now_ms()
    }

    pub(super) fn order_drain(&self, within_ms: u64) {
        let within_ms = self.drain_within_ms.get().map_or(within_ms, |old| old.min(within_ms));
        self.drain_within_ms.set(Some(within_ms));
        let ends_ms = self.clock.now_ms().saturating_add(within_ms);
        self.drain_ends_ms.set(self.drain_ends_ms.get().min(ends_ms));
        if let Some(waker) = self.drain_waiter.take() {
            waker.wake();
        }
    }

    /// Ready with the time allowed, once per order to drain.
    pub(super) fn poll_drain(&self, cx: &Context<'_>) -> Poll<u64> {
        match self.drain_within_ms.take() {
            Some(within_ms) => Poll::Ready(within_ms),
            None => {
                self.drain_waiter.set(Some(cx.waker().clone()));
                Poll::Pending
            }
        }
    }
}

impl Drop for CoreParts {
    /// A simulated core ends here; a worker has closed its wakers before, while the runtime lived.
    fn drop(&mut self) {
        self.wakes.close();
    }
}

/// The open connections of one core.
pub(crate) struct Links {
    open: RefCell<Slab<Open>>,
    counters: Arc<CoreCounters>,
    waiter: Cell<Option<Waker>>,
}

/// Counts a connection as open for as long as it lives.
pub(crate) struct LinkGuard {
    links: Rc<Links>,
    key: Key,
}

/// What is open, in the table rather than in its guard: the guard is part of every connection's future.
struct Open {
    shutdown: Shutdown,
    /// It is a connection, not a task.
    counted: bool,
}

impl Links {
    fn new(counters: Arc<CoreCounters>) -> Rc<Self> {
        Rc::new(Self { open: RefCell::new(Slab::new()), counters, waiter: Cell::new(None) })
    }

    /// Enters a connection that `shutdown` ends.
    pub(crate) fn enter(self: &Rc<Self>, shutdown: Shutdown) -> LinkGuard {
        self.counters.connections_open.add(1);
        let key = self.open.borrow_mut().insert(Open { shutdown, counted: true });
        LinkGuard { links: self.clone(), key }
    }

    /// Enters a task that works for a connection, maybe of another core: a drain waits for it, and ends it, as if it were
    /// one.
    pub(crate) fn hold(self: &Rc<Self>, shutdown: Shutdown) -> LinkGuard {
        let key = self.open.borrow_mut().insert(Open { shutdown, counted: false });
        LinkGuard { links: self.clone(), key }
    }

    pub(crate) fn len(&self) -> usize {
        self.open.borrow().len()
    }

    /// Gives back the room that a peak of connections took.
    pub(super) fn shrink(&self) {
        self.open.borrow_mut().shrink();
    }

    /// Ends both directions of every open connection: their tasks then end by themselves.
    pub(crate) fn end_all(&self) {
        let all: Vec<Shutdown> =
            self.open.borrow().iter().map(|open| open.shutdown.clone()).collect();
        for shutdown in all {
            shutdown.end(How::Both);
        }
    }

    /// Ready while no connection is open.
    pub(crate) fn poll_empty(&self, cx: &Context<'_>) -> Poll<()> {
        if self.open.borrow().is_empty() {
            return Poll::Ready(());
        }
        self.waiter.set(Some(cx.waker().clone()));
        Poll::Pending
    }
}

impl Drop for LinkGuard {
    fn drop(&mut self) {
        let open = self.links.open.borrow_mut().remove(self.key);
        if open.is_some_and(|open| open.counted) {
            self.links.counters.connections_open.sub(1);
        }
        if self.links.len() == 0
            && let Some(waker) = self.links.waiter.take()
        {
            waker.wake();
        }
    }
}
