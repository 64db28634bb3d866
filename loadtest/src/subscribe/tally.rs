//! What one thread's streams have seen; the threads' tallies are added up at the end.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;

use super::filter::Honoured;
use crate::fault::{Fault, Kind};
use crate::series::Series;

/// Samples kept of each kind of error.
const SAMPLES_MAX: usize = 3;

/// Times are told apart to this many decimal digits…
const DIGITS: u8 = 3;

/// …up to this one, which stands for all longer ones too.
const TIME_MAX: Duration = Duration::from_secs(3600);

/// The counts of one kind of error.
#[derive(Debug, Default)]
pub(crate) struct Errors {
    pub(crate) count: u64,
    pub(crate) samples: Vec<String>,
}

/// The counts of one thread, or of all.
#[derive(Debug)]
pub(crate) struct Tally {
    /// First events of a publish on a stream.
    pub(crate) arrived: u64,
    pub(crate) duplicates: u64,
    /// Events that came after their publish had been waited for in vain. Numbered ones are in `arrived` instead.
    pub(crate) late: u64,
    /// Events of an earlier publish than one seen before.
    pub(crate) out_of_order: u64,
    pub(crate) errors: BTreeMap<Kind, Errors>,
    /// From the start of a stream's connection to its acknowledgement, in ns.
    pub(crate) to_ack: Histogram<u64>,
    /// From a publish to its event on a stream, in ns.
    pub(crate) to_arrival: Histogram<u64>,
    /// Arrivals over time.
    pub(crate) series: Series,
    pub(crate) received_bytes: u64,
    pub(crate) honoured: Option<Honoured>,
}

impl Tally {
    pub(crate) fn new() -> Self {
        Self {
            arrived: 0,
            duplicates: 0,
            late: 0,
            out_of_order: 0,
            errors: BTreeMap::new(),
            to_ack: times(),
            to_arrival: times(),
            series: Series::default(),
            received_bytes: 0,
            honoured: None,
        }
    }

    /// Counts something wrong with stream or publish `id`.
    pub(crate) fn wrong(&mut self, whose: &str, id: u64, fault: &Fault) {
        let errors = self.errors.entry(fault.kind).or_default();
        errors.count += 1;
        if errors.samples.len() < SAMPLES_MAX {
            errors.samples.push(format!("{whose} {id}: {}", fault.detail));
        }
    }

    /// Adds another thread's.
    pub(crate) fn add(&mut self, other: Self) {
        self.arrived += other.arrived;
        self.duplicates += other.duplicates;
        self.late += other.late;
        self.out_of_order += other.out_of_order;
        self.received_bytes += other.received_bytes;
        for (kind, more) in other.errors {
            let errors = self.errors.entry(kind).or_default();
            errors.count += more.count;
            errors.samples.extend(more.samples);
            errors.samples.truncate(SAMPLES_MAX);
        }
        for (own, more) in
            [(&mut self.to_ack, &other.to_ack), (&mut self.to_arrival, &other.to_arrival)]
        {
            own.add(more).expect("all histograms have one range");
        }
        self.series.merge(other.series);
        if self.honoured.is_none() {
            self.honoured = other.honoured;
        }
    }
}

/// An empty histogram of times in ns.
pub(crate) fn times() -> Histogram<u64> {
    let max = u64::try_from(TIME_MAX.as_nanos()).unwrap_or(u64::MAX);
    Histogram::new_with_max(max, DIGITS).expect("one hour at three digits is a legal range")
}

/// Counts one time.
pub(crate) fn record(times: &mut Histogram<u64>, took: Duration) {
    times.saturating_record(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
}
