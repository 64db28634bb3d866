//! What a subscribe run found.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde_json::Value;

use super::tally::{Tally, times};
use super::target::Target;
use crate::worker::Chosen;

/// The share of a core from which the generator itself may be what delays arrivals.
const BUSY_SHARE: f64 = 0.9;

/// Delivering times too short for the generator's share of CPU, which is known to 10 ms, to mean something.
const SHARE_MEANT: Duration = Duration::from_millis(200);

const SPACED: &str = "a publish is followed by the next only when every open stream has its event, or --timeout is \
     over: servers may fold changes that follow each other faster than a stream takes them into one event, and such \
     events could not be told from lost ones";

const ALIKE: &str = "these events do not say whose they are: each is taken for the publish under way, so disorder \
     cannot be seen (a URI with {n} in --filter and --publish-request makes it visible)";

const KERNEL: &str =
    "memory is the target's resident set; what the kernel holds for its sockets is not part of it";

const BUSY: &str = "the client was the limit: this generator was busy for most of the time in which events arrived; \
     give it more --workers, or cores of its own";

const INTERRUPTED: &str = "ended early by Ctrl-C: the figures are of what was measured until then";

/// What was run.
#[derive(Debug)]
pub(crate) struct Setting {
    pub(crate) driver: Chosen,
    pub(crate) workers: u64,
    pub(crate) streams: u64,
    /// Streams opened a second, as asked for.
    pub(crate) open_rate: u64,
    /// What publishes, in words; `None`: nothing does.
    pub(crate) publish: Option<String>,
    /// As it was given.
    pub(crate) filter: Value,
    /// Whether events say whose they are.
    pub(crate) numbered: bool,
}

/// How long the parts of a run took.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    pub(crate) opening: Duration,
    pub(crate) publishing: Duration,
    pub(crate) holding: Duration,
    pub(crate) closing: Duration,
}

/// The publishes of a run.
#[derive(Debug)]
pub(crate) struct Publishes {
    /// Answered as they should be.
    pub(crate) right: u64,
    pub(crate) wrong: u64,
    /// Events that streams should have got from the right ones.
    pub(crate) expected: u64,
    /// Of these, events that did not come in time.
    pub(crate) missed: u64,
    /// From request to answer, in ns.
    pub(crate) to_answer: Histogram<u64>,
    /// From request to the last stream's arrival, in ns.
    pub(crate) to_last: Histogram<u64>,
    /// This program's CPU time meanwhile.
    pub(crate) own_cpu: Option<Duration>,
}

impl Publishes {
    pub(crate) fn new() -> Self {
        Self {
            right: 0,
            wrong: 0,
            expected: 0,
            missed: 0,
            to_answer: times(),
            to_last: times(),
            own_cpu: None,
        }
    }
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) setting: Setting,
    pub(crate) times: Times,
    pub(crate) opened: u64,
    /// Opened streams that ended by themselves.
    pub(crate) broken: u64,
    pub(crate) publishes: Publishes,
    /// Of all streams, and what was wrong with publishes.
    pub(crate) tally: Tally,
    pub(crate) target: Option<Target>,
    /// Ctrl-C ended it early.
    pub(crate) interrupted: bool,
}

impl Found {
    /// Right operations: events that arrived, or streams that opened where nothing was to be published.
    pub(crate) fn operations(&self) -> u64 {
        if self.setting.publish.is_some() { self.tally.arrived } else { self.opened }
    }

    /// Events that never came. Ones that look alike and came late are no loss.
    pub(crate) fn lost(&self) -> u64 {
        let late = if self.setting.numbered { 0 } else { self.tally.late };
        self.publishes.missed.saturating_sub(late)
    }

    /// Everything that was not as it should be: kind, count, samples.
    pub(crate) fn errors_by_kind(&self) -> Vec<(&'static str, u64, &[String])> {
        let tally = &self.tally;
        let events = [
            ("lost", self.lost()),
            ("duplicate", tally.duplicates),
            ("late", tally.late),
            ("order", tally.out_of_order),
        ];
        let faults =
            tally.errors.iter().map(|(kind, e)| (kind.name(), e.count, e.samples.as_slice()));
        let events = events.into_iter().map(|(kind, count)| (kind, count, &[][..]));
        faults.chain(events.filter(|(_, count, _)| *count > 0)).collect()
    }

    /// The sum of [`errors_by_kind`](Self::errors_by_kind).
    pub(crate) fn error_count(&self) -> u64 {
        self.errors_by_kind().iter().map(|(_, count, _)| count).sum()
    }

    /// The time in which events arrived.
    pub(crate) fn delivering(&self) -> Duration {
        let last = &self.publishes.to_last;
        Duration::from_secs_f64((last.mean() * last.len() as f64 / 1e9).max(0.0))
    }

    /// What a reader has to know before trusting the figures.
    pub(crate) fn notes(&self) -> Vec<String> {
        let publishes = self.setting.publish.is_some();
        let notes = [
            (publishes, SPACED),
            (publishes && !self.setting.numbered, ALIKE),
            (self.target.is_some(), KERNEL),
            (self.client_was_the_limit(), BUSY),
            (self.interrupted, INTERRUPTED),
        ];
        notes.into_iter().filter(|(applies, _)| *applies).map(|(_, note)| note.to_owned()).collect()
    }

    fn client_was_the_limit(&self) -> bool {
        let delivering = self.delivering();
        let cores = delivering.as_secs_f64() * self.setting.workers as f64;
        let share = self.publishes.own_cpu.map(|cpu| cpu.as_secs_f64() / cores);
        delivering >= SHARE_MEANT && share.is_some_and(|share| share >= BUSY_SHARE)
    }
}
