//! What has been counted: settled requests, latencies, errors with samples.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use crate::fault::{Fault, Kind};

/// Samples kept of each kind of error.
const SAMPLES_MAX: usize = 3;

/// Latencies are told apart to this many decimal digits…
const DIGITS: u8 = 3;

/// …up to this one, which stands for all longer ones too.
const LATENCY_MAX: Duration = Duration::from_secs(3600);

/// The counts of one kind of error.
#[derive(Debug, Default)]
pub(crate) struct Errors {
    /// Measured requests that ended so.
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

/// The counts of one run.
#[derive(Debug)]
pub(crate) struct Tally {
    /// Right answers to measured requests.
    pub(crate) ok: u64,
    pub(crate) errors: BTreeMap<Kind, Errors>,
    /// Wrong answers to requests of the warm-up.
    pub(crate) warmup_errors: u64,
    /// Times a connection was given up because the server sent more than was asked for.
    pub(crate) unasked: u64,
    /// Of the measured requests with right answers, in ns.
    pub(crate) latencies: Histogram<u64>,
    /// Bytes of measured requests with right answers, and of those answers, heads included.
    pub(crate) sent_bytes: u64,
    pub(crate) received_bytes: u64,
    /// Connections made in place of lost or closed ones.
    pub(crate) reconnects: u64,
    /// When the last right answer to a measured request was there.
    pub(crate) last_ok: Option<Instant>,
}

/// A request under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) id: u64,
    pub(crate) measured: bool,
    pub(crate) at: Instant,
    pub(crate) bytes: usize,
}

impl Tally {
    pub(crate) fn new() -> Self {
        let max = u64::try_from(LATENCY_MAX.as_nanos()).unwrap_or(u64::MAX);
        Self {
            ok: 0,
            errors: BTreeMap::new(),
            warmup_errors: 0,
            unasked: 0,
            latencies: Histogram::new_with_max(max, DIGITS)
                .expect("one hour at three digits is a legal range"),
            sent_bytes: 0,
            received_bytes: 0,
            reconnects: 0,
            last_ok: None,
        }
    }

    /// Settles a request with a right answer of `bytes` bytes.
    pub(crate) fn right(&mut self, sent: &Sent, bytes: usize, now: Instant) {
        if !sent.measured {
            return;
        }
        let took = now.saturating_duration_since(sent.at);
        self.ok += 1;
        self.latencies.saturating_record(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
        self.sent_bytes += sent.bytes as u64;
        self.received_bytes += bytes as u64;
        self.last_ok = Some(now);
    }

    /// Settles a request with a wrong answer or none.
    pub(crate) fn wrong(&mut self, sent: &Sent, fault: &Fault) {
        let errors = self.errors.entry(fault.kind).or_default();
        errors.sample(|| format!("request {}: {}", sent.id, fault.detail));
        if sent.measured {
            errors.count += 1;
        } else {
            self.warmup_errors += 1;
        }
    }

    /// Notes bytes that answer no request: an error, but no request's.
    pub(crate) fn unasked(&mut self, fault: &Fault) {
        self.errors.entry(fault.kind).or_default().sample(|| fault.detail.clone());
        self.unasked += 1;
    }

    /// Errors of measured requests.
    pub(crate) fn error_count(&self) -> u64 {
        self.errors.values().map(|errors| errors.count).sum()
    }
}
