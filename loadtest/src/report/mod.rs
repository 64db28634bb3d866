//! The figures of one run, for people and for programs.

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::cli::RunArgs;
use crate::request::VERSION;
use crate::tally::Tally;
use crate::worker::Chosen;

/// The share of one core from which the generator itself may be what limits the rate.
const BUSY_SHARE: f64 = 0.9;

/// Changes when a member of the JSON report changes its name or meaning.
const FORMAT: u64 = 1;

const CLOSED_LOOP: &str = "closed loop: a connection asks again only after an answer, so a server that stalls is asked less \
     and the requests it would have met meanwhile are in no figure";

/// The latencies shown, as quantiles.
const QUANTILES: [(&str, f64); 5] =
    [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0)];

/// What was run.
#[derive(Debug)]
pub(crate) struct Setting {
    url: String,
    scenario: &'static str,
    tool: Option<String>,
    expect: Option<String>,
    connections: u64,
    pipeline: u64,
    driver: Chosen,
    /// As it turned out.
    warmup: Duration,
}

impl Setting {
    pub(crate) fn new(args: &RunArgs, driver: Chosen, warmup: Duration) -> Self {
        Self {
            url: args.url.to_string(),
            scenario: args.scenario.name(),
            tool: args.scenario.is_call().then(|| args.tool.clone()),
            expect: args.expect.clone(),
            connections: args.connections,
            pipeline: args.pipeline,
            driver,
            warmup,
        }
    }
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Report {
    setting: Setting,
    tally: Tally,
    /// From the first measured request to the end of sending or the last right answer, whichever was later.
    elapsed: Duration,
    /// This process's CPU time meanwhile.
    cpu: Option<Duration>,
}

impl Report {
    pub(crate) fn new(
        setting: Setting,
        tally: Tally,
        elapsed: Duration,
        cpu: Option<Duration>,
    ) -> Self {
        Self { setting, tally, elapsed, cpu }
    }

    /// Whether every answer was right, the warm-up's too, and there was one.
    pub(crate) fn clean(&self) -> bool {
        let wrong = self.tally.error_count() + self.tally.warmup_errors + self.tally.unasked;
        wrong == 0 && self.tally.ok > 0
    }

    /// Right answers a second; wrong ones are no throughput.
    fn rate(&self) -> f64 {
        let seconds = self.elapsed.as_secs_f64();
        if seconds > 0.0 { self.tally.ok as f64 / seconds } else { 0.0 }
    }

    /// The share of one core this generator used.
    fn share(&self) -> Option<f64> {
        let seconds = self.elapsed.as_secs_f64();
        self.cpu.filter(|_| seconds > 0.0).map(|cpu| cpu.as_secs_f64() / seconds)
    }

    fn latency_us(&self, quantile: f64) -> Option<f64> {
        let latencies = &self.tally.latencies;
        (!latencies.is_empty()).then(|| latencies.value_at_quantile(quantile) as f64 / 1e3)
    }

    /// The figures as JSON: times in the unit their names end with.
    pub(crate) fn to_json(&self) -> Value {
        let Self { setting, tally, .. } = self;
        let errors = tally.errors.iter().map(|(kind, errors)| {
            (kind.name().to_owned(), json!({ "count": errors.count, "samples": errors.samples }))
        });
        let latency =
            QUANTILES.iter().map(|(name, q)| ((*name).to_owned(), json!(self.latency_us(*q))));
        json!({
            "format": FORMAT,
            "generator": concat!("ringmcp-loadtest ", env!("CARGO_PKG_VERSION")),
            "protocol": VERSION,
            "url": setting.url,
            "scenario": setting.scenario,
            "tool": setting.tool,
            "expect": setting.expect,
            "connections": setting.connections,
            "pipeline": setting.pipeline,
            "driver": setting.driver.to_string(),
            "loop": "closed",
            "warmup_s": setting.warmup.as_secs_f64(),
            "measured_s": self.elapsed.as_secs_f64(),
            "requests": tally.ok + tally.error_count(),
            "ok": tally.ok,
            "errors": tally.error_count(),
            "errors_by_kind": errors.collect::<Map<_, _>>(),
            "warmup_errors": tally.warmup_errors,
            "unasked": tally.unasked,
            "reconnects": tally.reconnects,
            "ok_per_s": self.rate(),
            "latency_us": latency.collect::<Map<_, _>>(),
            "sent_bytes": tally.sent_bytes,
            "received_bytes": tally.received_bytes,
            "own_cpu_s": self.cpu.map(|cpu| cpu.as_secs_f64()),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { setting, tally, .. } = self;
        writeln!(f, "{} of {}", setting.scenario, setting.url)?;
        writeln!(
            f,
            "{} connections, {} deep, {}; {:.2} s measured after {:.2} s of warm-up",
            setting.connections,
            setting.pipeline,
            setting.driver,
            self.elapsed.as_secs_f64(),
            setting.warmup.as_secs_f64(),
        )?;
        let errors = tally.error_count();
        writeln!(f, "\nrequests   {} ({} right, {errors} errors)", tally.ok + errors, tally.ok)?;
        writeln!(f, "rate       {:.1} right answers/s", self.rate())?;
        write!(f, "latency us")?;
        for (name, quantile) in QUANTILES {
            match self.latency_us(quantile) {
                Some(us) => write!(f, "  {name} {us:.1}")?,
                None => write!(f, "  {name} -")?,
            }
        }
        writeln!(f, "\nbytes      {} sent, {} received", tally.sent_bytes, tally.received_bytes)?;
        if let (Some(cpu), Some(share)) = (self.cpu, self.share()) {
            writeln!(
                f,
                "own CPU    {:.2} s, {:.0} % of one core",
                cpu.as_secs_f64(),
                share * 100.0
            )?;
        }
        writeln!(f, "reconnects {}", tally.reconnects)?;
        self.show_errors(f)?;
        if self.share().is_some_and(|share| share >= BUSY_SHARE) {
            writeln!(
                f,
                "note: this generator was busy most of the time and may be what limits the rate"
            )?;
        }
        write!(f, "note: {CLOSED_LOOP}")
    }
}

impl Report {
    fn show_errors(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tally = &self.tally;
        for (kind, errors) in &tally.errors {
            writeln!(f, "error {:10} {}", kind.name(), errors.count)?;
            for sample in &errors.samples {
                writeln!(f, "    {sample}")?;
            }
        }
        if tally.warmup_errors > 0 {
            writeln!(f, "errors during the warm-up: {}", tally.warmup_errors)?;
        }
        if tally.unasked > 0 {
            writeln!(f, "connections with bytes nobody asked for: {}", tally.unasked)?;
        }
        Ok(())
    }
}
