//! Names the handler that holds its core: every other connection of that core waits meanwhile.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::clock::{Clock, TICK};

/// At most one warning per core in this time; what was left out is counted in the next one.
const WARN_EVERY_MS: u64 = 1000;

/// Times polls of handlers. One per core.
pub(crate) struct StallMeter {
    /// Zero switches the meter off.
    threshold: Duration,
    quiet_until_ms: Cell<u64>,
    unreported: Cell<u64>,
}

impl StallMeter {
    pub(crate) fn new(threshold: Duration) -> Self {
        Self { threshold, quiet_until_ms: Cell::new(0), unreported: Cell::new(0) }
    }

    /// Runs one poll of the handler `name`. True beside its result when it held the core longer than the threshold.
    pub(crate) fn time<R>(&self, clock: &Clock, name: &str, poll: impl FnOnce() -> R) -> (R, bool) {
        if self.threshold.is_zero() {
            return (poll(), false);
        }
        let start = Instant::now();
        let result = poll();
        let held = start.elapsed();
        if held >= TICK {
            // Deadlines armed from a clock that stood still would fire early.
            clock.refresh();
        }
        let stalled = held >= self.threshold;
        if stalled {
            self.report(clock.now_ms(), name, held);
        }
        (result, stalled)
    }

    fn report(&self, now_ms: u64, name: &str, held: Duration) {
        if now_ms < self.quiet_until_ms.get() {
            self.unreported.set(self.unreported.get() + 1);
            return;
        }
        self.quiet_until_ms.set(now_ms + WARN_EVERY_MS);
        tracing::warn!(
            handler = name,
            held_ms = held.as_millis() as u64,
            unreported = self.unreported.replace(0),
            "a handler held its core: offload what blocks or burns CPU"
        );
    }
}
