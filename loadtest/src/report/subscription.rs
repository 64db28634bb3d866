//! The report of the subscribe scenario: its latency is from a publish to the event's arrival on a stream.

use super::latency::{self, Latency};
use super::model::{KindOfError, Report, Target};
use crate::cli::RunArgs;
use crate::subscribe::{Figures, Found};

impl Report {
    /// The report of a subscribe run. Its operations are the events that streams should have got.
    pub(crate) fn of_subscribe(args: &RunArgs, found: &Found) -> Self {
        let figures = Figures::of(found);
        let arrivals = &found.tally.to_arrival;
        let (ok, errors) = (found.operations(), found.error_count());
        let kinds = found.errors_by_kind().into_iter().map(|(kind, count, samples)| {
            (kind.to_owned(), KindOfError { count, samples: samples.to_vec() })
        });
        Self {
            discipline: "streams".into(),
            connections: found.opened,
            workers: found.setting.workers,
            driver: found.setting.driver.to_string(),
            warmup_s: figures.opening_s,
            measured_s: figures.publishing_s,
            interrupted: found.interrupted,
            requests: ok + errors,
            ok,
            errors,
            errors_by_kind: kinds.collect(),
            ok_per_s: figures.delivered_per_s.unwrap_or(0.0),
            latency_us: Latency::of(arrivals),
            percentiles: latency::curve(arrivals),
            histogram: latency::bars(arrivals),
            received_bytes: found.tally.received_bytes,
            own_cpu_s: found.publishes.own_cpu.map(|cpu| cpu.as_secs_f64()),
            target: figures.target.as_ref().map(|look| Target {
                pid: look.pid,
                cpu_s: look.cpu_publishing_s,
                cpu_us_per_request: look.cpu_us_per_delivery,
                rss_bytes: look.rss_held_bytes,
                rss_peak_bytes: look.rss_peak_bytes,
                threads: look.threads,
            }),
            notes: found.notes(),
            subscribe: Some(figures),
            ..Self::blank(args)
        }
    }
}
