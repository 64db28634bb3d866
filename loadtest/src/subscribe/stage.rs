//! What the publisher and the streams' threads know of each other: which publish is under way, and who has its event.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::live::Cell;

/// Shared by all threads of a run. Numbers of publishes start at 1; 0 is before the first.
#[derive(Debug)]
pub(crate) struct Stage {
    /// Times are nanoseconds from here.
    base: Instant,
    opened: AtomicU64,
    failed: AtomicU64,
    current: AtomicU64,
    /// Streams that ended after they had opened. Held while a publish begins, so that each such stream is excused
    /// from every later publish exactly once.
    broken: Mutex<u64>,
    slots: Box<[Slot]>,
    closing: AtomicBool,
    /// One for each thread of streams, for the progress line.
    cells: Vec<Arc<Cell>>,
}

/// One publish.
#[derive(Debug, Default)]
struct Slot {
    sent_ns: AtomicU64,
    arrived: AtomicU64,
    /// Streams that have the event or will never have it.
    settled: AtomicU64,
    last_ns: AtomicU64,
}

impl Stage {
    pub(crate) fn new(events: u64, workers: u64) -> Self {
        Self {
            base: Instant::now(),
            opened: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            current: AtomicU64::new(0),
            broken: Mutex::new(0),
            slots: (0..events).map(|_| Slot::default()).collect(),
            closing: AtomicBool::new(false),
            cells: (0..workers).map(|_| Arc::default()).collect(),
        }
    }

    /// When the run began.
    pub(crate) fn base(&self) -> Instant {
        self.base
    }

    /// A stream was acknowledged.
    pub(crate) fn note_opened(&self) {
        self.opened.fetch_add(1, Ordering::SeqCst);
    }

    /// A stream was not.
    pub(crate) fn note_failed(&self) {
        self.failed.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn opened(&self) -> u64 {
        self.opened.load(Ordering::SeqCst)
    }

    pub(crate) fn failed(&self) -> u64 {
        self.failed.load(Ordering::SeqCst)
    }

    pub(crate) fn broken(&self) -> u64 {
        *self.broken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An opened stream ended; `has` tells whether it had a publish's event.
    pub(crate) fn note_broken(&self, has: impl Fn(u64) -> bool) {
        let mut broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        *broken += 1;
        let current = self.current();
        if let Some(slot) = self.slot(current).filter(|_| !has(current)) {
            slot.settled.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Publish `number` is about to be sent.
    pub(crate) fn begin(&self, number: u64) {
        let broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = self.slot(number) {
            slot.settled.fetch_add(*broken, Ordering::SeqCst);
            slot.sent_ns.store(self.since_base(Instant::now()), Ordering::SeqCst);
        }
        self.current.store(number, Ordering::SeqCst);
    }

    /// When publish `number` was sent.
    pub(crate) fn sent_at(&self, number: u64) -> Instant {
        let sent = self.slot(number).map_or(0, |slot| slot.sent_ns.load(Ordering::SeqCst));
        self.base + Duration::from_nanos(sent)
    }

    /// The publish under way, or the last one.
    pub(crate) fn current(&self) -> u64 {
        self.current.load(Ordering::SeqCst)
    }

    /// A stream has the event of publish `number`: how long that took.
    pub(crate) fn note_arrived(&self, number: u64, at: Instant) -> Duration {
        let Some(slot) = self.slot(number) else { return Duration::ZERO };
        let at = self.since_base(at);
        slot.last_ns.fetch_max(at, Ordering::SeqCst);
        slot.arrived.fetch_add(1, Ordering::SeqCst);
        slot.settled.fetch_add(1, Ordering::SeqCst);
        Duration::from_nanos(at.saturating_sub(slot.sent_ns.load(Ordering::SeqCst)))
    }

    /// Whether nobody's event of publish `number` is still to come.
    pub(crate) fn is_settled(&self, number: u64) -> bool {
        self.slot(number).is_none_or(|slot| slot.settled.load(Ordering::SeqCst) >= self.opened())
    }

    /// Streams that got the event of publish `number`.
    pub(crate) fn arrived(&self, number: u64) -> u64 {
        self.slot(number).map_or(0, |slot| slot.arrived.load(Ordering::SeqCst))
    }

    /// From publish `number` to its last arrival; `None` if there was none.
    pub(crate) fn fan_out(&self, number: u64) -> Option<Duration> {
        let slot = self.slot(number).filter(|slot| slot.arrived.load(Ordering::SeqCst) > 0)?;
        let last = slot.last_ns.load(Ordering::SeqCst);
        Some(Duration::from_nanos(last.saturating_sub(slot.sent_ns.load(Ordering::SeqCst))))
    }

    /// Every stream is to be closed.
    pub(crate) fn close(&self) {
        self.closing.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::SeqCst)
    }

    pub(crate) fn cells(&self) -> &[Arc<Cell>] {
        &self.cells
    }

    fn slot(&self, number: u64) -> Option<&Slot> {
        self.slots.get(usize::try_from(number.checked_sub(1)?).ok()?)
    }

    fn since_base(&self, at: Instant) -> u64 {
        let since = at.saturating_duration_since(self.base).as_nanos();
        u64::try_from(since).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A publish is over when every stream has its event or is gone, and a stream is excused once for each.
    #[test]
    fn settled() {
        let stage = Stage::new(2, 1);
        (0..3).for_each(|_| stage.note_opened());
        stage.begin(1);
        stage.note_arrived(1, Instant::now());
        stage.note_broken(|number| number == 1);
        assert!(!stage.is_settled(1));
        stage.note_broken(|_| false);
        assert!(!stage.is_settled(1));
        stage.note_arrived(1, Instant::now());
        assert!(stage.is_settled(1));
        stage.begin(2);
        assert!(!stage.is_settled(2));
        stage.note_arrived(2, Instant::now());
        assert!(stage.is_settled(2));
        assert_eq!((stage.arrived(1), stage.arrived(2), stage.broken()), (2, 1, 2));
    }

    /// Times run from the publish to the last arrival.
    #[test]
    fn times() {
        let stage = Stage::new(1, 1);
        assert_eq!(stage.fan_out(1), None);
        stage.begin(1);
        let sent = stage.sent_at(1);
        assert_eq!(stage.note_arrived(1, sent + Duration::from_micros(9)).as_micros(), 9);
        assert_eq!(stage.note_arrived(1, sent + Duration::from_micros(7)).as_micros(), 7);
        assert_eq!(stage.fan_out(1), Some(Duration::from_micros(9)));
        assert_eq!(stage.note_arrived(2, sent), Duration::ZERO);
    }
}
