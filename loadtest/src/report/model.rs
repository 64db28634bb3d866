//! What a report holds, which is also what `--json` writes. `REPORT.md` documents every member.
//!
//! Every other form of a report is made from this one, so that `report FILE` shows what the run showed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::latency::{Bar, Latency, Point};
use super::machine::Machine;
use super::series::Interval;
use crate::subscribe::Figures;

/// Changes when a member changes its name or meaning; new members leave it as it is.
pub(crate) const FORMAT: u64 = 1;

/// The figures of one run. Times are in the unit their names end with.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Report {
    pub(crate) format: u64,
    /// This program and its version.
    pub(crate) generator: String,
    /// The protocol revision spoken.
    pub(crate) protocol: String,
    /// The command line, program first.
    pub(crate) command: Vec<String>,
    /// When the run ended, in seconds since 1970.
    pub(crate) ended_unix_s: u64,
    pub(crate) machine: Machine,
    pub(crate) url: String,
    pub(crate) scenario: String,
    pub(crate) tool: Option<String>,
    pub(crate) expect: Option<String>,
    /// Whether answers were checked: `full` or `none`.
    pub(crate) verify: String,
    /// `closed`, `open` (a fixed rate), `ramp` or `streams` (subscribe).
    #[serde(rename = "loop")]
    pub(crate) discipline: String,
    /// The rate asked for; absent in a closed loop.
    pub(crate) asked_per_s: Option<f64>,
    /// The rate at which operations were started; absent in a closed loop.
    pub(crate) sent_per_s: Option<f64>,
    pub(crate) connections: u64,
    pub(crate) pipeline: u64,
    pub(crate) workers: u64,
    /// The kernel interface of the generator.
    pub(crate) driver: String,
    pub(crate) warmup_s: f64,
    pub(crate) measured_s: f64,
    /// Whether Ctrl-C ended the run early.
    pub(crate) interrupted: bool,
    /// Measured operations that were settled: `ok` and `errors` together.
    pub(crate) requests: u64,
    pub(crate) ok: u64,
    pub(crate) errors: u64,
    pub(crate) errors_by_kind: BTreeMap<String, KindOfError>,
    pub(crate) warmup_errors: u64,
    pub(crate) unasked: u64,
    pub(crate) reconnects: u64,
    /// Requests behind `ok`: more where an operation has rounds.
    pub(crate) exchanges: u64,
    /// Notifications that came before right answers.
    pub(crate) notifications: u64,
    pub(crate) ok_per_s: f64,
    /// At a fixed rate, from when the request was due; else from when it was sent.
    pub(crate) latency_us: Latency,
    /// At a fixed rate, from when the request was sent: what a tool without the correction would show.
    #[serde(default)]
    pub(crate) uncorrected_us: Option<Latency>,
    pub(crate) percentiles: Vec<Point>,
    #[serde(default)]
    pub(crate) uncorrected_percentiles: Vec<Point>,
    pub(crate) histogram: Vec<Bar>,
    pub(crate) series: Vec<Interval>,
    /// The parts of a mixed scenario.
    #[serde(default)]
    pub(crate) parts: Vec<Part>,
    pub(crate) sent_bytes: u64,
    pub(crate) received_bytes: u64,
    /// CPU time of the generator during the measured part.
    pub(crate) own_cpu_s: Option<f64>,
    /// What it used besides, awake only so as not to miss the next operation of a fixed rate.
    #[serde(default)]
    pub(crate) own_waiting_s: f64,
    /// The measured process, where `--pid` named it.
    #[serde(default)]
    pub(crate) target: Option<Target>,
    /// The steps of `--ramp`.
    #[serde(default)]
    pub(crate) ramp: Option<Value>,
    /// The figures of the subscribe scenario.
    #[serde(default)]
    pub(crate) subscribe: Option<Figures>,
    /// What a reader has to know before trusting the figures.
    pub(crate) notes: Vec<String>,
}

/// The errors of one kind.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct KindOfError {
    pub(crate) count: u64,
    /// The first few, of the warm-up too.
    pub(crate) samples: Vec<String>,
}

/// A part of a mixed scenario.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) ok: u64,
    pub(crate) errors: u64,
    pub(crate) latency_us: Latency,
}

/// What the measured process used.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Target {
    pub(crate) pid: u32,
    /// User and kernel time during the measured part.
    pub(crate) cpu_s: Option<f64>,
    /// `cpu_s` divided by `requests`.
    pub(crate) cpu_us_per_request: Option<f64>,
    /// Resident memory at the end of the measured part.
    pub(crate) rss_bytes: Option<u64>,
    /// The most there was since the process began.
    pub(crate) rss_peak_bytes: Option<u64>,
    pub(crate) threads: Option<u64>,
}

impl Report {
    /// Whether every answer was right, the warm-up's too, and there was one.
    pub(crate) fn clean(&self) -> bool {
        let measured = match &self.subscribe {
            Some(figures) => figures.opened > 0,
            None => self.ok > 0,
        };
        self.errors + self.warmup_errors + self.unasked == 0 && measured
    }

    /// The share of its cores that this generator used; `None` where that is not known.
    pub(crate) fn own_share(&self) -> Option<f64> {
        let cores = self.workers.max(1) as f64;
        self.own_cpu_s.filter(|_| self.measured_s > 0.0).map(|cpu| cpu / self.measured_s / cores)
    }

    /// What one of its operations is called.
    pub(crate) fn operation(&self) -> &'static str {
        if self.subscribe.is_some() { "event" } else { "operation" }
    }

    /// What several are called.
    pub(crate) fn operations(&self) -> &'static str {
        if self.subscribe.is_some() { "events" } else { "answers" }
    }

    /// Wrong answers of a hundred.
    pub(crate) fn error_percent(&self) -> f64 {
        if self.requests == 0 { 0.0 } else { self.errors as f64 * 100.0 / self.requests as f64 }
    }
}
