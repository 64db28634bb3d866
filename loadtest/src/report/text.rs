//! The summary printed after a run.

use std::fmt;

use super::latency::Latency;
use super::model::Report;
use super::units::{bytes, count, rate, some_time};

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.show_setting(f)?;
        writeln!(
            f,
            "\nrequests     {} ({} right, {} errors)",
            count(self.requests),
            count(self.ok),
            count(self.errors)
        )?;
        write!(f, "rate         {} right answers/s", rate(self.ok_per_s))?;
        match self.asked_per_s {
            Some(asked) => writeln!(
                f,
                ", {} asked for ({:.2} %)",
                rate(asked),
                self.ok_per_s * 100.0 / asked.max(f64::MIN_POSITIVE)
            )?,
            None => writeln!(f)?,
        }
        show_latency(f, "latency", &self.latency_us)?;
        if let Some(uncorrected) = &self.uncorrected_us {
            show_latency(f, "uncorrected", uncorrected)?;
        }
        if let Some(figures) = &self.subscribe {
            write!(f, "{figures}")?;
        }
        self.show_costs(f)?;
        self.show_errors(f)?;
        for part in &self.parts {
            show_latency(f, &part.name, &part.latency_us)?;
            writeln!(f, "             {} right, {} errors", count(part.ok), count(part.errors))?;
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
        let Some(target) = &self.target else { return Ok(()) };
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
