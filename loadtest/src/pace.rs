//! Who may send when: as often as answers come (a closed loop), or when a schedule says so (a fixed rate).

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long after the end of the measured part operations that were due in it are still started. What a server has
/// not let start by then is reported, not waited for.
const GRACE: Duration = Duration::from_secs(1);

/// How late an operation may start before it counts as late.
const TARDY: Duration = Duration::from_millis(1);

/// The parts of a run, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Load that is checked and not counted.
    Warmup,
    /// Load that counts.
    Measured,
    /// Nothing more is sent.
    Over,
}

/// One worker's allowance of operations.
#[derive(Debug)]
pub(crate) struct Pace {
    phase: Cell<Phase>,
    ids: Ids,
    discipline: Discipline,
    /// When [`Phase::Over`] began.
    over_at: Cell<Option<Instant>>,
}

#[derive(Debug)]
enum Discipline {
    /// Measured operations still to be started by all workers; `None`: as many as fit the time.
    Closed(Option<Arc<AtomicU64>>),
    Open(Schedule),
}

/// Ids that no other worker of the run gives out.
#[derive(Debug)]
struct Ids {
    next: Cell<u64>,
    stride: u64,
}

/// Permission to start one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    /// The first request's id, no other's in this run.
    pub(crate) id: u64,
    /// Whether it counts: settled when it is sent, so that no answer falls between two phases.
    pub(crate) measured: bool,
    /// When it was due; `None` in a closed loop.
    pub(crate) intended: Option<Instant>,
}

/// The answer to [`Pace::take`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Take {
    Turn(Turn),
    /// The next operation is not due yet.
    Later,
    /// There will be no more.
    Over,
}

/// Where one of `count` workers stands among them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) index: u64,
    pub(crate) count: u64,
}

impl Pace {
    /// A closed loop. `left`: how many operations count, shared by all workers; `None` for as many as fit the time.
    pub(crate) fn closed(place: Place, left: Option<Arc<AtomicU64>>) -> Self {
        Self::new(place, Discipline::Closed(left))
    }

    /// A fixed rate.
    pub(crate) fn open(place: Place, schedule: Schedule) -> Self {
        Self::new(place, Discipline::Open(schedule))
    }

    fn new(place: Place, discipline: Discipline) -> Self {
        Self {
            phase: Cell::new(Phase::Warmup),
            ids: Ids { next: Cell::new(place.index + 1), stride: place.count },
            discipline,
            over_at: Cell::new(None),
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        self.phase.get()
    }

    /// The schedule of a fixed rate.
    pub(crate) fn schedule(&self) -> Option<&Schedule> {
        match &self.discipline {
            Discipline::Closed(_) => None,
            Discipline::Open(schedule) => Some(schedule),
        }
    }

    /// The load begins.
    pub(crate) fn begin(&self, now: Instant) {
        if let Discipline::Open(schedule) = &self.discipline {
            schedule.begun.set(Some(now));
        }
    }

    /// The warm-up is over.
    pub(crate) fn start_measuring(&self) {
        self.phase.set(Phase::Measured);
    }

    /// No more operations.
    pub(crate) fn stop(&self, now: Instant) {
        if self.phase.replace(Phase::Over) == Phase::Over {
            return;
        }
        self.over_at.set(Some(now));
        if let Discipline::Open(schedule) = &self.discipline {
            schedule.count_unsent(now);
        }
    }

    /// When sending stopped.
    pub(crate) fn over_at(&self) -> Option<Instant> {
        self.over_at.get()
    }

    /// An id that no other request of the run has.
    pub(crate) fn next_id(&self) -> u64 {
        self.ids.next.replace(self.ids.next.get() + self.ids.stride)
    }

    /// The next operation, if it is time. Taking the last ends the run. `crowded`: no other connection is free.
    pub(crate) fn take(&self, now: Instant, crowded: bool) -> Take {
        if self.phase.get() == Phase::Over {
            return Take::Over;
        }
        let (measured, intended) = match &self.discipline {
            Discipline::Closed(left) => {
                let measured = self.phase.get() == Phase::Measured;
                match left.as_deref().filter(|_| measured).map(claim) {
                    Some(None) => {
                        self.stop(now);
                        return Take::Over;
                    }
                    Some(Some(1)) => self.stop(now),
                    _ => {}
                }
                (measured, None)
            }
            Discipline::Open(schedule) => match schedule.take(now, crowded) {
                Ok((measured, intended)) => (measured, Some(intended)),
                Err(Wait::Later) => return Take::Later,
                Err(Wait::End) => {
                    self.stop(now);
                    return Take::Over;
                }
            },
        };
        Take::Turn(Turn { id: self.next_id(), measured, intended })
    }
}

/// Takes one of what is left; how many there were.
fn claim(left: &AtomicU64) -> Option<u64> {
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).ok()
}

/// When each operation of one worker is due: `rate` a second over all workers, evenly spaced.
#[derive(Debug)]
pub(crate) struct Schedule {
    begun: Cell<Option<Instant>>,
    /// Between two operations of this worker, in ns; whole numbers would drift.
    period_ns: f64,
    /// Of the first one.
    offset_ns: f64,
    warmup: Duration,
    /// Of the measured part.
    duration: Option<Duration>,
    /// Measured operations of this worker at most.
    limit: Option<u64>,
    next: Cell<u64>,
    /// Measured operations started.
    started: Cell<u64>,
    /// Of them, late for want of a free connection.
    waited: Cell<u64>,
    /// Of them, late though a connection was free.
    tardy: Cell<u64>,
    unsent: Cell<u64>,
}

/// Why there is no operation now.
enum Wait {
    Later,
    End,
}

/// How a schedule was kept.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kept {
    pub(crate) started: u64,
    pub(crate) waited: u64,
    pub(crate) tardy: u64,
    pub(crate) unsent: u64,
}

impl Schedule {
    /// `requests`: how many count over all workers; `duration`: how long is measured.
    pub(crate) fn new(
        place: Place,
        rate: f64,
        warmup: Duration,
        duration: Option<Duration>,
        requests: Option<u64>,
    ) -> Self {
        let between_ns = 1e9 / rate;
        let share = |all: u64| all / place.count + u64::from(place.index < all % place.count);
        Self {
            begun: Cell::new(None),
            period_ns: between_ns * place.count as f64,
            offset_ns: between_ns * place.index as f64,
            warmup,
            duration,
            limit: requests.map(share),
            next: Cell::new(0),
            started: Cell::new(0),
            waited: Cell::new(0),
            tardy: Cell::new(0),
            unsent: Cell::new(0),
        }
    }

    /// When the measured part begins; `None` before the load does.
    pub(crate) fn measured_from(&self) -> Option<Instant> {
        self.begun.get().map(|begun| begun + self.warmup)
    }

    /// When the measured part ends, if a time says so.
    pub(crate) fn measured_to(&self) -> Option<Instant> {
        Some(self.measured_from()? + self.duration?)
    }

    /// When the next operation is due.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.due(self.next.get())
    }

    /// Operations that are due and not started.
    pub(crate) fn overdue(&self, now: Instant) -> u64 {
        let Some(since) = self.begun.get().and_then(|begun| now.checked_duration_since(begun))
        else {
            return 0;
        };
        let due = (since.as_nanos() as f64 - self.offset_ns) / self.period_ns;
        if due < 0.0 { 0 } else { (due as u64 + 1).saturating_sub(self.next.get()) }
    }

    pub(crate) fn kept(&self) -> Kept {
        Kept {
            started: self.started.get(),
            waited: self.waited.get(),
            tardy: self.tardy.get(),
            unsent: self.unsent.get(),
        }
    }

    fn due(&self, number: u64) -> Option<Instant> {
        let after_ns = self.offset_ns + number as f64 * self.period_ns;
        Some(self.begun.get()? + Duration::from_nanos(after_ns as u64))
    }

    fn take(&self, now: Instant, crowded: bool) -> Result<(bool, Instant), Wait> {
        let number = self.next.get();
        let (Some(due), Some(from)) = (self.due(number), self.measured_from()) else {
            return Err(Wait::Later);
        };
        let measured = due >= from;
        let to = self.measured_to();
        let full = measured && self.limit.is_some_and(|limit| self.started.get() >= limit);
        if full || to.is_some_and(|to| due >= to || now >= to + GRACE) {
            return Err(Wait::End);
        }
        if due > now {
            return Err(Wait::Later);
        }
        self.next.set(number + 1);
        if measured {
            self.started.set(self.started.get() + 1);
            if now - due > TARDY {
                let late = if crowded { &self.waited } else { &self.tardy };
                late.set(late.get() + 1);
            }
        }
        Ok((measured, due))
    }

    /// What was due in the measured part and has not been started.
    fn count_unsent(&self, now: Instant) {
        let end = self.measured_to().map_or(now, |to| to.min(now));
        let mut unsent = self.overdue(end);
        if let Some(limit) = self.limit {
            unsent = unsent.min(limit.saturating_sub(self.started.get()));
        }
        // The one that is due at the very end belongs to what comes after.
        if self.due(self.next.get() + unsent.saturating_sub(1)) == Some(end) {
            unsent = unsent.saturating_sub(1);
        }
        self.unsent.set(unsent);
    }
}

#[cfg(test)]
mod tests;
