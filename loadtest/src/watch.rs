//! Looks at the measured process while the load runs: what it used in the measured part, and its memory.

use std::io;
use std::time::Duration;

use crate::proc::{Process, Usage};
use crate::report::model::Target;

/// The looks at a process during one run.
#[derive(Debug)]
pub(crate) struct Watch {
    pid: u32,
    process: Process,
    /// By the time since the load began.
    looks: Vec<(Duration, Usage)>,
}

impl Watch {
    /// The process with this id.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] when there is none; [`io::ErrorKind::PermissionDenied`] when it may not be seen.
    pub(crate) fn start(pid: u32) -> io::Result<Self> {
        let process = Process::find(pid)?;
        let usage = process.usage()?;
        Ok(Self { pid, process, looks: vec![(Duration::ZERO, usage)] })
    }

    /// Takes a look, `since` the load began. Looks of an earlier load are forgotten.
    pub(crate) fn look(&mut self, since: Duration) {
        if self.looks.last().is_some_and(|(last, _)| *last > since) {
            self.looks.clear();
        }
        // A process that has ended is no fault of the run: its connections tell.
        if let Ok(usage) = self.process.usage() {
            self.looks.push((since, usage));
        }
    }

    /// What the process used from one time to another, in which it answered `requests`.
    pub(crate) fn finish(self, from: Duration, to: Duration, requests: u64) -> Target {
        let cpu = cpu_between(&self.looks, from, to).map(|cpu| cpu.as_secs_f64());
        let within = self.looks.iter().take_while(|(at, _)| *at <= to).last();
        let last = within.or(self.looks.first()).map(|(_, usage)| *usage);
        Target {
            pid: self.pid,
            cpu_s: cpu,
            cpu_us_per_request: cpu.filter(|_| requests > 0).map(|cpu| cpu * 1e6 / requests as f64),
            rss_bytes: last.map(|usage| usage.rss_bytes),
            rss_peak_bytes: last.map(|usage| usage.peak_rss_bytes),
            threads: last.map(|usage| usage.threads),
        }
    }
}

/// CPU time from one time to another, on straight lines between the looks; `None` with less than two of them.
fn cpu_between(looks: &[(Duration, Usage)], from: Duration, to: Duration) -> Option<Duration> {
    let last = looks.len().checked_sub(1).filter(|last| *last > 0)?;
    let at = |time: Duration| {
        let after = looks.partition_point(|(at, _)| *at < time).clamp(1, last);
        let ((start, before), (end, after)) = (looks[after - 1], looks[after]);
        let width = (end - start).as_secs_f64();
        let part = time.saturating_sub(start).as_secs_f64() / width.max(f64::MIN_POSITIVE);
        before.cpu + after.cpu.saturating_sub(before.cpu).mul_f64(part.min(1.0))
    };
    Some(at(to).saturating_sub(at(from)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was used before and after the measured part is not counted.
    #[test]
    fn between() {
        let look = |ms: u64, cpu: u64| {
            let cpu = Duration::from_millis(cpu);
            let usage = Usage { rss_bytes: 0, peak_rss_bytes: 0, cpu, threads: 1, files: None };
            (Duration::from_millis(ms), usage)
        };
        let looks = [look(0, 0), look(100, 80), look(200, 160), look(300, 160)];
        let used = |from: u64, to: u64| {
            let (from, to) = (Duration::from_millis(from), Duration::from_millis(to));
            cpu_between(&looks, from, to).map(|cpu| cpu.as_millis())
        };
        assert_eq!(used(50, 150), Some(80));
        assert_eq!(used(0, 300), Some(160));
        assert_eq!(used(250, 900), Some(0));
        assert_eq!(cpu_between(&looks[..1], Duration::ZERO, Duration::ZERO), None);
    }
}
