//! What has been counted: settled operations, latencies, errors with samples. One tally a worker, merged at the end.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use crate::fault::{Fault, Kind};
use crate::series::Series;

/// Samples kept of each kind of error.
const SAMPLES_MAX: usize = 3;

/// Latencies are told apart to this many decimal digits…
const DIGITS: u8 = 3;

/// …up to this one, which stands for all longer ones too.
pub(crate) const LATENCY_MAX: Duration = Duration::from_secs(3600);

/// The counts of one kind of error.
#[derive(Debug, Default)]
pub(crate) struct Errors {
    /// Measured operations that ended so.
    pub(crate) count: u64,
    /// The first few, of the warm-up too.
    pub(crate) samples: Vec<String>,
}

impl Errors {
    fn sample(&mut self, text: impl FnOnce() -> String) {
        if self.samples.len() < SAMPLES_MAX {
            self.samples.push(text());
        }
    }
}

/// The counts of one part of a mixed scenario.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) name: String,
    /// Measured operations of this part with right answers.
    pub(crate) ok: u64,
    /// Measured operations of this part that went wrong.
    pub(crate) errors: u64,
    /// Of the right ones, in ns, counted as [`Tally::latencies`].
    pub(crate) latencies: Histogram<u64>,
}

/// The counts of one run. An operation is one request and its answer, or as many as the scenario needs.
#[derive(Debug)]
pub(crate) struct Tally {
    /// Measured operations with right answers.
    pub(crate) ok: u64,
    pub(crate) errors: BTreeMap<Kind, Errors>,
    /// Operations of the warm-up that went wrong.
    pub(crate) warmup_errors: u64,
    /// Times a connection was given up because the server sent more than was asked for.
    pub(crate) unasked: u64,
    /// Of the measured operations with right answers, in ns: at a fixed rate from the intended start (so that a
    /// stall counts for every operation it delayed), in a closed loop from the sending.
    pub(crate) latencies: Histogram<u64>,
    /// At a fixed rate, the same operations counted from the sending: what a tool that waits for its turn would
    /// have shown. `None` in a closed loop, where it is the same.
    pub(crate) uncorrected: Option<Histogram<u64>>,
    /// The same over time.
    pub(crate) series: Series,
    /// The parts of a mixed scenario; empty in any other.
    pub(crate) parts: Vec<Part>,
    /// Bytes of measured operations with right answers, heads included.
    pub(crate) sent_bytes: u64,
    pub(crate) received_bytes: u64,
    /// Requests of measured operations with right answers: more than `ok` where an operation has rounds.
    pub(crate) exchanges: u64,
    /// Notifications that came before measured right answers.
    pub(crate) notifications: u64,
    /// Connections made in place of lost or closed ones.
    pub(crate) reconnects: u64,
    /// When the last right answer of a measured operation was there.
    pub(crate) last_ok: Option<Instant>,
}

/// An operation under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    /// Of its first request.
    pub(crate) id: u64,
    pub(crate) measured: bool,
    /// When it was to start: at a fixed rate by the schedule, in a closed loop the same as `at`.
    pub(crate) intended: Instant,
    /// When it did.
    pub(crate) at: Instant,
    /// Sent so far.
    pub(crate) sent_bytes: usize,
    /// Received so far.
    pub(crate) received_bytes: usize,
    /// Requests so far.
    pub(crate) exchanges: u32,
    /// Notifications so far.
    pub(crate) notifications: u32,
    /// Index of the part of a mixed scenario.
    pub(crate) part: usize,
}

impl Tally {
    /// `rate`: whether the load has a fixed rate; `parts`: the names of a mixed scenario's parts.
    pub(crate) fn new(rate: bool, parts: &[String]) -> Self {
        let part =
            |name: &String| Part { name: name.clone(), ok: 0, errors: 0, latencies: histogram() };
        Self {
            ok: 0,
            errors: BTreeMap::new(),
            warmup_errors: 0,
            unasked: 0,
            latencies: histogram(),
            uncorrected: rate.then(histogram),
            series: Series::default(),
            parts: parts.iter().map(part).collect(),
            sent_bytes: 0,
            received_bytes: 0,
            exchanges: 0,
            notifications: 0,
            reconnects: 0,
            last_ok: None,
        }
    }

    /// Settles an operation with a right answer.
    pub(crate) fn right(&mut self, sent: &Sent, now: Instant) {
        if !sent.measured {
            return;
        }
        let took = nanos(now, sent.intended);
        self.ok += 1;
        self.latencies.saturating_record(took);
        if let Some(uncorrected) = &mut self.uncorrected {
            uncorrected.saturating_record(nanos(now, sent.at));
        }
        self.series.right(now, took);
        if let Some(part) = self.parts.get_mut(sent.part) {
            part.ok += 1;
            part.latencies.saturating_record(took);
        }
        self.sent_bytes += sent.sent_bytes as u64;
        self.received_bytes += sent.received_bytes as u64;
        self.exchanges += u64::from(sent.exchanges);
        self.notifications += u64::from(sent.notifications);
        self.last_ok = Some(now);
    }

    /// Settles an operation with a wrong answer or none.
    pub(crate) fn wrong(&mut self, sent: &Sent, fault: &Fault, now: Instant) {
        let errors = self.errors.entry(fault.kind).or_default();
        errors.sample(|| format!("request {}: {}", sent.id, fault.detail));
        if !sent.measured {
            self.warmup_errors += 1;
            return;
        }
        errors.count += 1;
        self.series.wrong(now);
        if let Some(part) = self.parts.get_mut(sent.part) {
            part.errors += 1;
        }
    }

    /// Notes a fault that is no operation's: bytes that answer nothing, say.
    pub(crate) fn unasked(&mut self, fault: &Fault) {
        self.errors.entry(fault.kind).or_default().sample(|| fault.detail.clone());
        self.unasked += 1;
    }

    /// Errors of measured operations.
    pub(crate) fn error_count(&self) -> u64 {
        self.errors.values().map(|errors| errors.count).sum()
    }

    /// Adds another worker's counts of the same run.
    pub(crate) fn merge(&mut self, other: Self) {
        self.ok += other.ok;
        self.warmup_errors += other.warmup_errors;
        self.unasked += other.unasked;
        self.sent_bytes += other.sent_bytes;
        self.received_bytes += other.received_bytes;
        self.exchanges += other.exchanges;
        self.notifications += other.notifications;
        self.reconnects += other.reconnects;
        self.last_ok = self.last_ok.max(other.last_ok);
        for (kind, theirs) in other.errors {
            let ours = self.errors.entry(kind).or_default();
            ours.count += theirs.count;
            theirs.samples.into_iter().for_each(|text| ours.sample(|| text));
        }
        add(&mut self.latencies, &other.latencies);
        if let (Some(ours), Some(theirs)) = (&mut self.uncorrected, &other.uncorrected) {
            add(ours, theirs);
        }
        self.series.merge(other.series);
        for (ours, theirs) in self.parts.iter_mut().zip(&other.parts) {
            ours.ok += theirs.ok;
            ours.errors += theirs.errors;
            add(&mut ours.latencies, &theirs.latencies);
        }
    }
}

fn histogram() -> Histogram<u64> {
    let max = u64::try_from(LATENCY_MAX.as_nanos()).unwrap_or(u64::MAX);
    Histogram::new_with_max(max, DIGITS).expect("one hour at three digits is a legal range")
}

fn add(ours: &mut Histogram<u64>, theirs: &Histogram<u64>) {
    ours.add(theirs).expect("all histograms of a run have one range");
}

fn nanos(now: Instant, since: Instant) -> u64 {
    u64::try_from(now.saturating_duration_since(since).as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
