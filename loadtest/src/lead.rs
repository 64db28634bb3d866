//! Leads one worker's connections: moves the phases on, starts what is due, watches over time.

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use crate::cpu;
use crate::live;
use crate::pace::{Phase, Schedule};
use crate::seat::Seat;
use crate::worker::Shared;

/// How exactly phases begin and end.
const TICK: Duration = Duration::from_millis(5);

/// Between looks at connections that may be late.
const WATCH: Duration = Duration::from_millis(100);

/// The runtime's timers fire up to two milliseconds late: closer to the next operation than this, the clock is
/// watched instead of a timer set.
const TIMER_SLACK: Duration = Duration::from_millis(3);

/// What one look at the clock takes at most: if it took longer, this thread was not running.
const SPIN_MAX: Duration = Duration::from_micros(20);

/// While the clock is watched no timer fires. Somebody who needs one waits this long at most.
const TIMERS_STARVE: Duration = Duration::from_millis(50);

/// The times of one worker.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    /// When the measured part began…
    pub(crate) started: Instant,
    /// …and when the last of it was over.
    pub(crate) ended: Instant,
    /// Of this process, in the measured part.
    pub(crate) cpu: Option<Duration>,
    /// Of it, spent watching the clock.
    pub(crate) spun: Duration,
}

/// How long what lasts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) begun: Instant,
    pub(crate) warmup: Duration,
    pub(crate) duration: Option<Duration>,
}

pub(crate) struct Lead<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) seats: &'a [Rc<Seat>],
    pub(crate) plan: Plan,
    pub(crate) live: &'a live::Cell,
    pub(crate) interrupted: &'a AtomicBool,
}

/// What changes while a worker runs.
struct State {
    started: Option<(Instant, Option<Duration>)>,
    next_tick: Instant,
    next_watch: Instant,
    /// When a timer could fire last.
    parked: Instant,
    spun: Cell<Duration>,
}

impl Lead<'_> {
    /// Goes on until every connection is done.
    pub(crate) async fn run(&self) -> Clock {
        let begun = self.plan.begun;
        let mut state = State {
            started: None,
            next_tick: begun,
            next_watch: begun + WATCH,
            parked: begun,
            spun: Cell::new(Duration::ZERO),
        };
        self.shared.pace.begin(begun);
        if let Some(from) = self.shared.pace.schedule().and_then(Schedule::measured_from) {
            self.shared.tally.borrow_mut().series.start(from);
        }
        while self.shared.alive.get() > 0 {
            let now = Instant::now();
            if now >= state.next_tick {
                self.tick(&mut state, now);
            }
            match self.shared.pace.schedule() {
                Some(schedule) if self.shared.pace.phase() != Phase::Over => {
                    self.dispatch(schedule, &mut state, now).await;
                }
                _ => monoio::time::sleep(TICK).await,
            }
        }
        self.publish();
        self.clock(&state)
    }

    /// What is done every few milliseconds.
    fn tick(&self, state: &mut State, now: Instant) {
        let pace = &self.shared.pace;
        state.next_tick = now + TICK;
        if self.interrupted.load(Ordering::Relaxed) {
            pace.stop(now);
        }
        match (pace.phase(), self.plan.duration, state.started) {
            (Phase::Warmup, ..) if now - self.plan.begun >= self.plan.warmup => {
                let scheduled = pace.schedule().and_then(Schedule::measured_from);
                state.started = Some((scheduled.unwrap_or(now), cpu::used()));
                state.spun.set(Duration::ZERO);
                self.shared.tally.borrow_mut().series.start(scheduled.unwrap_or(now));
                pace.start_measuring();
            }
            (Phase::Measured, Some(duration), Some((started, _)))
                if pace.schedule().is_none() && now - started >= duration =>
            {
                pace.stop(now);
            }
            (Phase::Over, ..) => self.shared.idle.nudge(u64::MAX),
            _ => {}
        }
        if now >= state.next_watch {
            state.next_watch = now + WATCH;
            self.seats.iter().for_each(|seat| seat.watch(now, self.shared.timeout));
            self.shared.idle.deepen(now);
            self.publish();
        }
    }

    /// Starts what is due, and waits for what comes next, a tick at most.
    async fn dispatch(&self, schedule: &Schedule, state: &mut State, now: Instant) {
        let idle = &self.shared.idle;
        let Some(due) = schedule.next_due() else { return };
        if schedule.measured_to().is_some_and(|to| due >= to) {
            return self.shared.pace.stop(now);
        }
        if idle.is_empty() {
            state.parked = now;
            let _ = monoio::time::timeout(TICK, idle.some()).await;
            return;
        }
        let wait = due.saturating_duration_since(now);
        if wait.is_zero() {
            idle.nudge(schedule.overdue(now));
        }
        if self.shared.timers.get() > 0 && now - state.parked > TIMERS_STARVE {
            state.parked = now;
            monoio::time::sleep(Duration::from_millis(1)).await;
        } else if wait > TIMER_SLACK {
            state.parked = now;
            monoio::time::sleep((wait - TIMER_SLACK + Duration::from_millis(1)).min(TICK)).await;
        } else {
            let before = self.shared.activity.get();
            yield_now().await;
            if before == self.shared.activity.get() {
                state.spun.set(state.spun.get() + now.elapsed().min(SPIN_MAX));
            }
        }
    }

    fn publish(&self) {
        let tally = self.shared.tally.borrow();
        let errors = tally.error_count() + tally.warmup_errors + tally.unasked;
        self.live.ok.store(tally.ok, Ordering::Relaxed);
        self.live.errors.store(errors, Ordering::Relaxed);
        let p99 = if tally.ok == 0 { 0 } else { tally.latencies.value_at_quantile(0.99) };
        self.live.p99_ns.store(p99, Ordering::Relaxed);
    }

    fn clock(&self, state: &State) -> Clock {
        let pace = &self.shared.pace;
        let (started, cpu_before) = state.started.unwrap_or((Instant::now(), cpu::used()));
        let over = match pace.schedule().and_then(Schedule::measured_to) {
            Some(to) if !self.interrupted.load(Ordering::Relaxed) => Some(to),
            _ => pace.over_at(),
        };
        // Waiting for a late answer that never came is no time of the right ones.
        let ended = over.max(self.shared.tally.borrow().last_ok).unwrap_or(started);
        Clock {
            started,
            ended: ended.max(started),
            cpu: cpu::used().zip(cpu_before).map(|(end, start)| end.saturating_sub(start)),
            spun: state.spun.get(),
        }
    }
}

/// Lets everybody else have a turn.
async fn yield_now() {
    let mut yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
