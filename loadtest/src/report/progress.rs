//! The line that shows a run while it goes on. Nothing where the terminal is none.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::units::{count, rate, some_time};
use crate::live::Snapshot;

/// Redrawn at most this often a second: a terminal that is slow must not slow the load down.
const DRAWN_PER_S: u8 = 5;

/// How much there is of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Amount {
    /// This long, warm-up excluded.
    Time(Duration),
    /// This many right answers.
    Answers(u64),
}

/// A bar on stderr.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    amount: Amount,
    /// The last two moments a rate was taken from.
    last: Snapshot,
    per_s: f64,
}

impl Progress {
    /// `title` says what runs; hidden when stderr is no terminal.
    pub(crate) fn new(title: &str, amount: Amount) -> Self {
        let length = match amount {
            Amount::Time(time) => u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
            Amount::Answers(answers) => answers,
        };
        let target = ProgressDrawTarget::stderr_with_hz(DRAWN_PER_S);
        let bar = ProgressBar::with_draw_target(Some(length.max(1)), target);
        let style =
            ProgressStyle::with_template("{prefix} {bar:28.cyan/blue} {percent:>3} %  {msg}")
                .expect("the template is a constant");
        bar.set_style(style.progress_chars("█▉▊▋▌▍▎▏ "));
        bar.set_prefix(title.to_owned());
        Self { bar, amount, last: Snapshot::default(), per_s: 0.0 }
    }

    /// Shows where the run is.
    pub(crate) fn show(&mut self, now: &Snapshot) {
        if self.bar.is_hidden() {
            return;
        }
        let between = now.since.saturating_sub(self.last.since).as_secs_f64();
        if between >= 0.5 {
            self.per_s = now.ok.saturating_sub(self.last.ok) as f64 / between;
            self.last = *now;
        }
        self.bar.set_position(match self.amount {
            Amount::Time(_) => u64::try_from(now.measured.as_millis()).unwrap_or(u64::MAX),
            Amount::Answers(_) => now.ok,
        });
        self.bar.set_message(message(now, self.per_s));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn message(now: &Snapshot, per_s: f64) -> String {
    if now.measured.is_zero() {
        return format!("warming up, {} errors", count(now.errors));
    }
    let p99 = some_time(now.p99.map(|p99| p99.as_secs_f64() * 1e6));
    format!("{}/s  errors {}  p99 {p99}", rate(per_s), count(now.errors))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The live line has the rate, the errors and p99.
    #[test]
    fn messages() {
        let now = Snapshot {
            ok: 1000,
            errors: 3,
            p99: Some(Duration::from_micros(1500)),
            since: Duration::from_secs(2),
            measured: Duration::from_secs(1),
        };
        assert_eq!(message(&now, 12_345.6), "12,346/s  errors 3  p99 1.50 ms");
        let warm = Snapshot { measured: Duration::ZERO, ..now };
        assert_eq!(message(&warm, 0.0), "warming up, 3 errors");
    }
}
