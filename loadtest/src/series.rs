//! The figures over time: intervals of one second, of two once there are many, and so on, so that a run of any
//! length keeps a few hundred of them.

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use crate::tally::LATENCY_MAX;

/// Intervals kept at most; one more doubles the width of all.
const INTERVALS_MAX: usize = 600;

/// The width of an interval to begin with.
const WIDTH: Duration = Duration::from_secs(1);

/// Latencies of an interval are told apart to this many decimal digits, from [`LATENCY_MIN_NS`] on: a dozen
/// kilobytes an interval.
const DIGITS: u8 = 2;

const LATENCY_MIN_NS: u64 = 1_000;

/// What was settled in one interval.
#[derive(Debug)]
pub(crate) struct Interval {
    /// Right answers.
    pub(crate) ok: u64,
    /// Wrong ones, and lost ones.
    pub(crate) errors: u64,
    latencies: Histogram<u32>,
}

impl Interval {
    fn new() -> Self {
        let max = u64::try_from(LATENCY_MAX.as_nanos()).unwrap_or(u64::MAX);
        let latencies = Histogram::new_with_bounds(LATENCY_MIN_NS, max, DIGITS)
            .expect("a microsecond to an hour at two digits is a legal range");
        Self { ok: 0, errors: 0, latencies }
    }

    /// The latency of this quantile (0 to 1) in ns, to two digits; `None` without a right answer.
    pub(crate) fn latency_ns(&self, quantile: f64) -> Option<u64> {
        (!self.latencies.is_empty()).then(|| self.latencies.value_at_quantile(quantile))
    }

    fn add(&mut self, other: &Self) {
        self.ok += other.ok;
        self.errors += other.errors;
        self.latencies.add(&other.latencies).expect("all intervals have one range");
    }
}

/// The measured part of a run, by the time of settling.
#[derive(Debug)]
pub(crate) struct Series {
    /// When the measured part began; nothing is kept before.
    origin: Option<Instant>,
    width: Duration,
    intervals: Vec<Interval>,
}

impl Default for Series {
    fn default() -> Self {
        Self { origin: None, width: WIDTH, intervals: Vec::new() }
    }
}

impl Series {
    /// The measured part begins.
    pub(crate) fn start(&mut self, origin: Instant) {
        self.origin = Some(origin);
    }

    /// The width of every interval (the run may end within the last).
    pub(crate) fn width(&self) -> Duration {
        self.width
    }

    /// The intervals from the beginning of the measured part, quiet ones included.
    pub(crate) fn intervals(&self) -> &[Interval] {
        &self.intervals
    }

    /// A right answer that took `latency_ns`.
    pub(crate) fn right(&mut self, now: Instant, latency_ns: u64) {
        if let Some(interval) = self.at(now) {
            interval.ok += 1;
            interval.latencies.saturating_record(latency_ns);
        }
    }

    /// A wrong answer, or none.
    pub(crate) fn wrong(&mut self, now: Instant) {
        if let Some(interval) = self.at(now) {
            interval.errors += 1;
        }
    }

    /// Adds another worker's, of the same beginning.
    pub(crate) fn merge(&mut self, mut other: Self) {
        self.origin = self.origin.or(other.origin);
        while self.width < other.width {
            self.widen();
        }
        while other.width < self.width {
            other.widen();
        }
        for (place, theirs) in other.intervals.into_iter().enumerate() {
            match self.intervals.get_mut(place) {
                Some(ours) => ours.add(&theirs),
                None => self.intervals.push(theirs),
            }
        }
    }

    fn at(&mut self, now: Instant) -> Option<&mut Interval> {
        let since = now.checked_duration_since(self.origin?)?;
        let mut place = since.as_nanos() / self.width.as_nanos();
        while place >= INTERVALS_MAX as u128 {
            self.widen();
            place /= 2;
        }
        let place = place as usize;
        while self.intervals.len() <= place {
            self.intervals.push(Interval::new());
        }
        self.intervals.get_mut(place)
    }

    /// Makes one interval of every two.
    fn widen(&mut self) {
        self.width *= 2;
        let mut old = std::mem::take(&mut self.intervals).into_iter();
        while let Some(mut first) = old.next() {
            if let Some(second) = old.next() {
                first.add(&second);
            }
            self.intervals.push(first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However long the run and however many workers, nothing is lost and the number of intervals stays bounded.
    #[test]
    fn widening_and_merging_keep_every_count() {
        let origin = Instant::now();
        let at = |seconds: f64| origin + Duration::from_secs_f64(seconds);
        let (mut long, mut short) = (Series::default(), Series::default());
        long.right(at(0.5), 1_000);
        assert!(long.intervals().is_empty(), "nothing counts before the start");
        for series in [&mut long, &mut short] {
            series.start(origin);
            series.right(at(0.2), 1_000_000);
            series.right(at(0.9), 3_000_000);
            series.wrong(at(2.5));
        }
        assert_eq!(short.intervals().len(), 3);
        assert_eq!(short.intervals()[1].latency_ns(0.5), None);
        long.right(at(5_000.0), 9_000_000);
        assert!(long.intervals().len() <= INTERVALS_MAX && long.width() == 16 * WIDTH);
        short.merge(long);
        assert_eq!(short.width(), 16 * WIDTH);
        let sums = short
            .intervals()
            .iter()
            .fold((0, 0), |(ok, errors), interval| (ok + interval.ok, errors + interval.errors));
        assert_eq!(sums, (5, 2));
        let first = short.intervals()[0].latency_ns(1.0).expect("four answers");
        assert!(first.abs_diff(3_000_000) < 60_000, "{first}");
    }
}
