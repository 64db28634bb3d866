//! From what was counted to the report.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::latency::{self, Latency};
use super::machine::Machine;
use super::model::{FORMAT, KindOfError, Part, Report};
use super::series;
use crate::cli::{RunArgs, Verify};
use crate::outcome::{Outcome, Ramp};
use crate::request::VERSION;
use crate::tally::Tally;

const BUSY: &str = "the client was the limit: this generator was busy nearly all the time, so the server may do more \
     than was measured; give it more --workers, or cores of its own";

const CLOSED_LOOP: &str = "closed loop: a connection asks again only after an answer, so a server that stalls is asked less \
     and the requests it would have met meanwhile are in no figure; --rate counts them";

const UNCHECKED: &str = "answers were not checked (--verify none): a wrong one counts as right";

const INTERRUPTED: &str = "ended early by Ctrl-C: the figures are of what was measured until then";

impl Report {
    /// The report of a run that has just ended.
    pub(crate) fn new(args: &RunArgs, outcome: &Outcome) -> Self {
        let Outcome { tally, .. } = outcome;
        let (errors, measured_s) = (tally.error_count(), outcome.measured.as_secs_f64());
        let uncorrected = tally.uncorrected.as_ref();
        Self {
            discipline: discipline(outcome).into(),
            asked_per_s: outcome.rate.map(|rate| rate.asked),
            sent_per_s: outcome.rate.map(|rate| rate.sent),
            workers: outcome.workers,
            driver: outcome.driver.to_string(),
            warmup_s: outcome.warmup.as_secs_f64(),
            measured_s,
            interrupted: outcome.interrupted,
            requests: tally.ok + errors,
            ok: tally.ok,
            errors,
            errors_by_kind: errors_by_kind(tally),
            warmup_errors: tally.warmup_errors,
            unasked: tally.unasked,
            reconnects: tally.reconnects,
            exchanges: tally.exchanges,
            notifications: tally.notifications,
            ok_per_s: outcome.ok_per_s(),
            latency_us: Latency::of(&tally.latencies),
            uncorrected_us: uncorrected.map(Latency::of),
            percentiles: latency::curve(&tally.latencies),
            uncorrected_percentiles: uncorrected.map(latency::curve).unwrap_or_default(),
            histogram: latency::bars(&tally.latencies),
            series: series::of(&tally.series, measured_s),
            parts: tally.parts.iter().map(Part::of).collect(),
            sent_bytes: tally.sent_bytes,
            received_bytes: tally.received_bytes,
            own_cpu_s: outcome.cpu.map(|cpu| cpu.as_secs_f64()),
            own_waiting_s: outcome.spun.as_secs_f64(),
            ramp: outcome.ramp.as_ref().map(ramp),
            notes: notes(args, outcome),
            ..Self::blank(args)
        }
    }

    /// What is known before anything was measured.
    pub(super) fn blank(args: &RunArgs) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            format: FORMAT,
            generator: concat!("ringmcp-loadtest ", env!("CARGO_PKG_VERSION")).into(),
            protocol: VERSION.into(),
            command: std::env::args().collect(),
            ended_unix_s: now.as_secs(),
            machine: Machine::here(),
            url: args.url.to_string(),
            scenario: args.scenario.as_str().into(),
            tool: args.ask().tool,
            expect: args.expect.clone(),
            verify: if args.verify == crate::cli::Verify::Full { "full" } else { "none" }.into(),
            connections: args.connections,
            pipeline: args.pipeline,
            ..Self::default()
        }
    }
}

impl Part {
    fn of(part: &crate::tally::Part) -> Self {
        Self {
            name: part.name.clone(),
            ok: part.ok,
            errors: part.errors,
            latency_us: Latency::of(&part.latencies),
        }
    }
}

fn discipline(outcome: &Outcome) -> &'static str {
    match (&outcome.ramp, &outcome.rate) {
        (Some(_), _) => "ramp",
        (None, Some(_)) => "open",
        (None, None) => "closed",
    }
}

fn errors_by_kind(tally: &Tally) -> BTreeMap<String, KindOfError> {
    let kind = |(kind, errors): (&crate::fault::Kind, &crate::tally::Errors)| {
        let found = KindOfError { count: errors.count, samples: errors.samples.clone() };
        (kind.name().to_owned(), found)
    };
    tally.errors.iter().map(kind).collect()
}

/// What a reader has to know before trusting the figures.
fn notes(args: &RunArgs, outcome: &Outcome) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(reason) = outcome.rate_missed_because() {
        notes.push(format!("the asked rate was not reached: {reason}"));
    } else if outcome.client_was_the_limit() {
        notes.push(BUSY.into());
    }
    if outcome.rate.is_none() {
        notes.push(CLOSED_LOOP.into());
    }
    if args.verify == Verify::None {
        notes.push(UNCHECKED.into());
    }
    if outcome.interrupted {
        notes.push(INTERRUPTED.into());
    }
    notes
}

fn ramp(ramp: &Ramp) -> Value {
    let step = |step: &crate::outcome::Step| {
        let us: Vec<f64> = step.latencies_ns.iter().map(|ns| *ns as f64 / 1e3).collect();
        json!({
            "asked_per_s": step.asked,
            "ok_per_s": step.achieved,
            "errors": step.errors,
            "latencies_us": us,
            "held": step.failed.is_none(),
            "failed": step.failed,
        })
    };
    json!({
        "objectives": ramp.objectives,
        "highest_per_s": ramp.highest,
        "steps": ramp.steps.iter().map(step).collect::<Vec<_>>(),
    })
}
