//! What a run came to: the tally, and what has to be known to read it.

use std::time::Duration;

use crate::tally::Tally;
use crate::worker::Chosen;

/// The share of one core from which a worker may itself be what limits the rate.
const BUSY_SHARE: f64 = 0.9;

/// How far below the asked rate is still the asked rate.
pub(crate) const RATE_TOLERANCE: f64 = 0.01;

/// The result of one run.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) tally: Tally,
    /// As they turned out.
    pub(crate) warmup: Duration,
    /// From the first measured operation to the end of sending or the last right answer, whichever was later.
    pub(crate) measured: Duration,
    /// This process's CPU time meanwhile, waiting for the clock left out; `None` where there is no procfs.
    pub(crate) cpu: Option<Duration>,
    /// Time spent awake only so as not to miss the next operation's start (part of the process's CPU time, not of
    /// `cpu`).
    pub(crate) spun: Duration,
    pub(crate) workers: u64,
    pub(crate) driver: Chosen,
    /// At a fixed rate.
    pub(crate) rate: Option<Rate>,
    /// With `--ramp`: every step, in the order they were run. The rest of this outcome is the best one's.
    pub(crate) ramp: Option<Ramp>,
    /// Ctrl-C ended it early.
    pub(crate) interrupted: bool,
}

/// How a fixed rate was kept.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rate {
    /// Operations a second asked for.
    pub(crate) asked: f64,
    /// Operations a second started in the measured part.
    pub(crate) sent: f64,
    /// Operations that found every connection busy when they were due, and started late.
    pub(crate) waited: u64,
    /// Operations that were due and found a connection free, but were started late by more than a millisecond: this
    /// generator's own doing.
    pub(crate) tardy: u64,
    /// Operations due in the measured part that were never started.
    pub(crate) unsent: u64,
}

/// The search for the highest rate that holds the objectives.
#[derive(Clone, Debug)]
pub(crate) struct Ramp {
    /// The objectives as they were given.
    pub(crate) objectives: Vec<String>,
    /// The highest rate asked for that held them, if any did.
    pub(crate) highest: Option<f64>,
    pub(crate) steps: Vec<Step>,
}

/// One rate tried.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) asked: f64,
    /// Right answers a second.
    pub(crate) achieved: f64,
    pub(crate) errors: u64,
    /// The latencies the objectives are about, in ns, in their order.
    pub(crate) latencies_ns: Vec<u64>,
    /// Why it did not hold; `None`: it did.
    pub(crate) failed: Option<String>,
}

impl Outcome {
    /// Right answers a second; wrong ones are no throughput.
    pub(crate) fn ok_per_s(&self) -> f64 {
        per_second(self.tally.ok, self.measured)
    }

    /// The share of the workers' cores this generator used, 0 to 1 and a little more.
    pub(crate) fn cpu_share(&self) -> Option<f64> {
        let seconds = self.measured.as_secs_f64() * self.workers as f64;
        self.cpu.filter(|_| seconds > 0.0).map(|cpu| cpu.as_secs_f64() / seconds)
    }

    /// Whether this generator, not the server, may be what limited the rate.
    pub(crate) fn client_was_the_limit(&self) -> bool {
        let busy = self.cpu_share().is_some_and(|share| share >= BUSY_SHARE);
        match &self.rate {
            None => busy,
            Some(rate) => self.missed_rate() && (busy || rate.tardy > rate.waited),
        }
    }

    /// Whether fewer right answers came than were asked for, by more than a hundredth.
    fn missed_rate(&self) -> bool {
        self.rate.is_some_and(|rate| self.ok_per_s() < rate.asked * (1.0 - RATE_TOLERANCE))
    }

    /// Why the asked rate was not reached; `None` when it was, and in a closed loop.
    pub(crate) fn rate_missed_because(&self) -> Option<String> {
        let rate = self.rate.filter(|_| self.missed_rate())?;
        let errors = self.tally.error_count();
        let mut reasons = Vec::new();
        if self.client_was_the_limit() {
            let share = self.cpu_share().unwrap_or_default() * 100.0;
            reasons.push(format!(
                "the client was the limit ({share:.0} % of its cores used, {} operations started late by its own doing)",
                rate.tardy
            ));
        } else if rate.waited > 0 {
            reasons.push(format!(
                "{} operations found every connection waiting for an answer: the server was slower than the rate, or \
                 --connections is too few",
                rate.waited
            ));
        }
        if rate.unsent > 0 {
            reasons.push(format!("{} were due and never started", rate.unsent));
        }
        if errors > 0 {
            reasons.push(format!("{errors} went wrong"));
        }
        if reasons.is_empty() {
            reasons.push("too few answers came within the measured time".to_owned());
        }
        Some(reasons.join("; "))
    }
}

/// Of a count over a time.
pub(crate) fn per_second(count: u64, time: Duration) -> f64 {
    let seconds = time.as_secs_f64();
    if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
}
