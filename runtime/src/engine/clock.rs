//! The coarse clock of one core: milliseconds for deadlines, unix seconds and the `Date` header for answers. Reading
//! it is a load; the ticker moves it on. A simulated clock moves only when told.

use std::cell::Cell;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How often the ticker moves the clock and looks at deadlines: nothing in the engine is timed more finely.
pub(crate) const TICK: Duration = Duration::from_millis(50);

/// Writes the `Date` header's value for a unix time (RFC 9110 section 5.6.7).
pub(crate) type DateFormat = fn(u64) -> [u8; 29];

/// One core's time. Cells only: it never leaves its thread.
pub(crate) struct Clock {
    source: Source,
    now_ms: Cell<u64>,
    unix_secs: Cell<u64>,
    date: Cell<[u8; 29]>,
    format: DateFormat,
}

enum Source {
    System {
        start: Instant,
    },
    /// Unix milliseconds at virtual time 0.
    Simulated {
        epoch_ms: u64,
    },
}

impl Clock {
    /// Follows the system's clocks: monotonic for deadlines, wall clock for the date.
    pub(crate) fn system(format: DateFormat) -> Self {
        let clock = Self::new(Source::System { start: Instant::now() }, format);
        clock.refresh();
        clock
    }

    /// Starts at 0 ms, which is `unix_secs`, and moves by [`Clock::advance`] only.
    pub(crate) fn simulated(unix_secs: u64, format: DateFormat) -> Self {
        let clock = Self::new(Source::Simulated { epoch_ms: unix_secs * 1000 }, format);
        clock.advance(0);
        clock
    }

    fn new(source: Source, format: DateFormat) -> Self {
        Self {
            source,
            now_ms: Cell::new(0),
            unix_secs: Cell::new(u64::MAX),
            date: Cell::new([b' '; 29]),
            format,
        }
    }

    /// Whether it moves only when told.
    pub(crate) fn is_simulated(&self) -> bool {
        matches!(self.source, Source::Simulated { .. })
    }

    /// Milliseconds since the clock was made, at most one [`TICK`] old while the core is not stalled. Never goes back.
    pub(crate) fn now_ms(&self) -> u64 {
        self.now_ms.get()
    }

    /// Unix seconds, as old as [`Clock::now_ms`].
    pub(crate) fn unix_secs(&self) -> u64 {
        self.unix_secs.get()
    }

    /// The value of the `Date` header.
    pub(crate) fn date(&self) -> [u8; 29] {
        self.date.get()
    }

    /// Catches up with the system. A simulated clock stays where it is.
    pub(crate) fn refresh(&self) {
        if let Source::System { start } = self.source {
            let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            self.set(start.elapsed().as_millis() as u64, unix.as_secs());
        }
    }

    /// Moves a simulated clock on by `ms`. No effect on the system's time.
    pub(crate) fn advance(&self, ms: u64) {
        if let Source::Simulated { epoch_ms } = self.source {
            let now = self.now_ms.get() + ms;
            self.set(now, (epoch_ms + now) / 1000);
        }
    }

    fn set(&self, now_ms: u64, unix_secs: u64) {
        self.now_ms.set(now_ms.max(self.now_ms.get()));
        if self.unix_secs.replace(unix_secs) != unix_secs {
            self.date.set((self.format)(unix_secs));
        }
    }
}
