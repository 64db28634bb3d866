//! The measured process before, while and after its streams are open.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::proc::{Process, Usage};

/// Looks at the target's memory while streams are held; the figure is their median.
#[derive(Debug)]
pub(crate) struct Target {
    pid: u32,
    process: Process,
    before: Usage,
    /// All streams are open, nothing has been published.
    opened: Option<Usage>,
    published: Option<Usage>,
    held: Vec<Usage>,
    closed: Option<Usage>,
}

impl Target {
    /// Takes the look before the first stream.
    ///
    /// # Errors
    /// There is no such process, or no procfs.
    pub(crate) fn find(pid: u32) -> std::io::Result<Self> {
        let process = Process::find(pid)?;
        let before = process.usage()?;
        Ok(Self {
            pid,
            process,
            before,
            opened: None,
            published: None,
            held: Vec::new(),
            closed: None,
        })
    }

    pub(crate) fn process(&self) -> &Process {
        &self.process
    }

    pub(crate) fn note_opened(&mut self) {
        self.opened = self.process.usage().ok();
    }

    pub(crate) fn note_published(&mut self) {
        self.published = self.process.usage().ok();
    }

    pub(crate) fn note_held(&mut self) {
        self.held.extend(self.process.usage().ok());
    }

    pub(crate) fn note_closed(&mut self) {
        self.closed = self.process.usage().ok();
    }

    /// Whether it has let go of the streams' sockets; also when that cannot be seen.
    pub(crate) fn has_let_go(&self) -> bool {
        let now = self.process.usage().ok().and_then(|usage| usage.files);
        now.zip(self.before.files).is_none_or(|(now, before)| now <= before)
    }

    /// The median of its memory while the streams were held.
    fn held_rss(&self) -> Option<u64> {
        let mut sizes: Vec<u64> = self.held.iter().map(|usage| usage.rss_bytes).collect();
        sizes.sort_unstable();
        sizes.get(sizes.len() / 2).copied()
    }

    /// What its memory had grown by at one look, for each of `streams`.
    fn grown(&self, rss_bytes: Option<u64>, streams: u64) -> Option<f64> {
        let grown = rss_bytes? as f64 - self.before.rss_bytes as f64;
        (streams > 0).then(|| grown / streams as f64)
    }

    /// Its CPU time for opening, for publishing, and for holding.
    fn cpu(&self) -> [Option<Duration>; 3] {
        let between =
            |from: Option<Usage>, to: Option<Usage>| Some(to?.cpu.saturating_sub(from?.cpu));
        [
            between(Some(self.before), self.opened),
            between(self.opened, self.published),
            between(self.published, self.held.last().copied()),
        ]
    }

    /// All looks in figures; `streams` were open, `deliveries` were made.
    pub(crate) fn look(&self, streams: u64, deliveries: u64) -> Look {
        let held = self.held.last();
        let opened = self.opened.map(|usage| usage.rss_bytes);
        let [opening, publishing, holding] = self.cpu().map(|cpu| cpu.map(|cpu| cpu.as_secs_f64()));
        Look {
            pid: self.pid,
            bytes_per_stream: self.grown(self.held_rss(), streams),
            bytes_per_new_stream: self.grown(opened, streams),
            rss_before_bytes: self.before.rss_bytes,
            rss_opened_bytes: opened,
            rss_held_bytes: self.held_rss(),
            rss_closed_bytes: self.closed.map(|usage| usage.rss_bytes),
            rss_peak_bytes: self.closed.as_ref().or(held).map(|usage| usage.peak_rss_bytes),
            files_before: self.before.files,
            files_held: held.and_then(|usage| usage.files),
            files_closed: self.closed.and_then(|usage| usage.files),
            threads: held.map(|usage| usage.threads),
            cpu_opening_s: opening,
            cpu_publishing_s: publishing,
            cpu_us_per_delivery: publishing
                .filter(|_| deliveries > 0)
                .map(|cpu| cpu * 1e6 / deliveries as f64),
            cpu_holding_s: holding,
        }
    }
}

/// What the looks at the target gave.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Look {
    pub(crate) pid: u32,
    /// What its memory had grown by while the streams were held, for each stream.
    pub(crate) bytes_per_stream: Option<f64>,
    /// The same when all streams were open, before the first publish.
    #[serde(default)]
    pub(crate) bytes_per_new_stream: Option<f64>,
    pub(crate) rss_before_bytes: u64,
    pub(crate) rss_opened_bytes: Option<u64>,
    /// The median while the streams were held.
    pub(crate) rss_held_bytes: Option<u64>,
    pub(crate) rss_closed_bytes: Option<u64>,
    pub(crate) rss_peak_bytes: Option<u64>,
    pub(crate) files_before: Option<u64>,
    pub(crate) files_held: Option<u64>,
    pub(crate) files_closed: Option<u64>,
    pub(crate) threads: Option<u64>,
    pub(crate) cpu_opening_s: Option<f64>,
    pub(crate) cpu_publishing_s: Option<f64>,
    pub(crate) cpu_us_per_delivery: Option<f64>,
    pub(crate) cpu_holding_s: Option<f64>,
}
