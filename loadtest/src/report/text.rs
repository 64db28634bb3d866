//! The summary printed after a run.

use std::fmt;

use serde_json::Value;

use super::latency::Latency;
use super::model::Report;
use super::units::{bytes, count, rate, some_time, time};

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.show_setting(f)?;
        match &self.subscribe {
            Some(figures) => write!(f, "\n{figures}")?,
            None => self.show_operations(f)?,
        }
        self.show_costs(f)?;
        self.show_errors(f)?;
        for part in &self.parts {
            show_latency(f, &part.name, &part.latency_us)?;
            writeln!(f, "             {} right, {} errors", count(part.ok), count(part.errors))?;
        }
        if let Some(ramp) = &self.ramp {
            show_ramp(f, ramp)?;
        }
        let mut notes = self.notes.iter().peekable();
        while let Some(note) = notes.next() {
            write!(f, "note: {note}")?;
            if notes.peek().is_some() {
                writeln!(f)?;
            }
        }
        Ok(())
    }
}

impl Report {
    fn show_setting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural =
            |n: u64, one: &str| format!("{} {one}{}", count(n), if n == 1 { "" } else { "s" });
        let tool = self.tool.as_ref().map(|tool| format!(" {tool}")).unwrap_or_default();
        writeln!(f, "{}{tool} of {}", self.scenario, self.url)?;
        if self.subscribe.is_some() {
            return writeln!(f, "{} on {}", plural(self.workers, "worker"), self.driver);
        }
        writeln!(
            f,
            "{}, {} deep, {} on {}, {} loop, answers {}",
            plural(self.connections, "connection"),
            self.pipeline,
            plural(self.workers, "worker"),
            self.driver,
            self.discipline,
            if self.verify == "none" { "NOT checked" } else { "checked" },
        )?;
        writeln!(f, "{:.2} s measured after {:.2} s of warm-up", self.measured_s, self.warmup_s)
    }

    fn show_operations(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "\nrequests     {} ({} right, {} errors)",
            count(self.requests),
            count(self.ok),
            count(self.errors)
        )?;
        write!(f, "rate         {} right answers/s", rate(self.ok_per_s))?;
        match self.asked_per_s {
            Some(asked) => {
                let percent = self.ok_per_s * 100.0 / asked.max(f64::MIN_POSITIVE);
                writeln!(f, ", {} asked for ({percent:.2} %)", rate(asked))?;
            }
            None => writeln!(f)?,
        }
        show_latency(f, "latency", &self.latency_us)?;
        match &self.uncorrected_us {
            Some(uncorrected) => show_latency(f, "uncorrected", uncorrected),
            None => Ok(()),
        }
    }

    fn show_costs(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "bytes        {} sent, {} received; reconnects {}",
            bytes(self.sent_bytes),
            bytes(self.received_bytes),
            count(self.reconnects)
        )?;
        if let (Some(cpu), Some(share)) = (self.own_cpu_s, self.own_share()) {
            writeln!(
                f,
                "own CPU      {cpu:.2} s, {:.0} % of {}",
                share * 100.0,
                if self.workers == 1 {
                    "one core".into()
                } else {
                    format!("{} cores", self.workers)
                }
            )?;
        }
        // What subscriptions show of the target is more, and was shown.
        let Some(target) = self.target.as_ref().filter(|_| self.subscribe.is_none()) else {
            return Ok(());
        };
        write!(f, "target CPU   ")?;
        match target.cpu_s {
            Some(cpu) => {
                write!(f, "{cpu:.2} s, {} a request", some_time(target.cpu_us_per_request))?
            }
            None => write!(f, "unknown")?,
        }
        let memory = |b: Option<u64>| b.map_or_else(|| "unknown".into(), bytes);
        writeln!(
            f,
            "; memory {} resident, {} at most (pid {})",
            memory(target.rss_bytes),
            memory(target.rss_peak_bytes),
            target.pid
        )
    }

    fn show_errors(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (kind, errors) in &self.errors_by_kind {
            writeln!(f, "error {kind:10} {}", errors.count)?;
            for sample in &errors.samples {
                writeln!(f, "    {sample}")?;
            }
        }
        if self.warmup_errors > 0 {
            writeln!(f, "errors during the warm-up: {}", self.warmup_errors)?;
        }
        if self.unasked > 0 {
            writeln!(f, "connections with bytes nobody asked for: {}", self.unasked)?;
        }
        Ok(())
    }
}

fn show_latency(f: &mut fmt::Formatter<'_>, title: &str, latency: &Latency) -> fmt::Result {
    write!(f, "{title:12}")?;
    for (name, us) in latency.percentiles() {
        write!(f, " {name} {:<9}", some_time(us))?;
    }
    writeln!(f, " (mean {})", some_time(latency.mean))
}

/// The rates that `--ramp` tried, in order.
fn show_ramp(f: &mut fmt::Formatter<'_>, ramp: &Value) -> fmt::Result {
    let objectives: Vec<&str> =
        ramp["objectives"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    writeln!(f, "\nrates tried for {}", objectives.join(", "))?;
    for step in ramp["steps"].as_array().into_iter().flatten() {
        let number = |name: &str| step[name].as_f64().map_or_else(|| "–".into(), rate);
        let times = step["latencies_us"].as_array().into_iter().flatten().filter_map(Value::as_f64);
        let times: Vec<String> = times.map(time).collect();
        let (asked, achieved) = (number("asked_per_s"), number("ok_per_s"));
        let verdict = step["failed"].as_str().unwrap_or("held");
        writeln!(f, "{asked:>12}/s {achieved:>12}/s  {:<16} {verdict}", times.join(", "))?;
    }
    match ramp["highest_per_s"].as_f64() {
        Some(highest) => writeln!(f, "the highest that held: {}/s", rate(highest)),
        None => writeln!(f, "no rate held"),
    }
}
