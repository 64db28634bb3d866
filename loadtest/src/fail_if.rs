//! `--fail-if`: conditions on the figures that make a run fail, for CI.

use std::fmt;
use std::str::FromStr;

use crate::report::Report;

/// What a run exits with when a condition held.
pub(crate) const HELD: u8 = 3;

macro_rules! metrics {
    ($($metric:ident $name:literal $unit:ident;)+) => {
        /// What a condition is about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum Metric { $($metric),+ }

        /// Every metric with its name and unit.
        const METRICS: &[(&str, Metric, Unit)] = &[$(($name, Metric::$metric, Unit::$unit)),+];
    };
}

metrics! {
    P50 "p50" Time;
    P90 "p90" Time;
    P99 "p99" Time;
    P999 "p99.9" Time;
    P9999 "p99.99" Time;
    Max "max" Time;
    Errors "errors" Count;
    ErrorRate "error-rate" Percent;
    Rate "rate" Count;
    Requests "requests" Count;
    Reconnects "reconnects" Count;
    Lost "lost" Count;
    Duplicates "duplicates" Count;
    OutOfOrder "out-of-order" Count;
    TargetCpu "cpu-per-request" Time;
    TargetMemory "memory" Bytes;
}

/// What the number of a condition counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Time,
    Count,
    Percent,
    Bytes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Above,
    AtLeast,
    Below,
    AtMost,
    Is,
    IsNot,
}

/// The longer ones first: `>` would read `>=` as far as its half.
const OPERATORS: [(&str, Operator); 6] = [
    (">=", Operator::AtLeast),
    ("<=", Operator::AtMost),
    ("==", Operator::Is),
    ("!=", Operator::IsNot),
    (">", Operator::Above),
    ("<", Operator::Below),
];

/// A condition that makes a run fail, such as `p99>5ms`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Condition {
    /// As it was given.
    text: String,
    /// The target of a comparison that it is about; `None`: every one.
    target: Option<String>,
    metric: Metric,
    operator: Operator,
    /// In µs, bytes, percent or units.
    bound: f64,
}

impl Condition {
    /// Whether it speaks of errors, and so decides what becomes of them.
    pub(crate) fn is_about_errors(&self) -> bool {
        matches!(self.metric, Metric::Errors | Metric::ErrorRate)
    }

    /// The target it names.
    pub(crate) fn target(&self) -> Option<&str> {
        self.target.as_deref()
    }

    /// How it holds of `report`; `None` when it does not. A figure that is missing fails too: nothing shows that the
    /// objective was met.
    pub(crate) fn held_by(&self, report: &Report) -> Option<String> {
        let Some(value) = self.metric.of(report) else {
            return Some(format!("{}: there is no such figure in this run", self.text));
        };
        let holds = match self.operator {
            Operator::Above => value > self.bound,
            Operator::AtLeast => value >= self.bound,
            Operator::Below => value < self.bound,
            Operator::AtMost => value <= self.bound,
            Operator::Is => value == self.bound,
            Operator::IsNot => value != self.bound,
        };
        holds.then(|| format!("{}: it is {}", self.text, self.metric.show(value)))
    }
}

impl Metric {
    fn of(self, report: &Report) -> Option<f64> {
        let latency = &report.latency_us;
        let count = |number: u64| Some(number as f64);
        let events = report.subscribe.as_ref();
        match self {
            Self::P50 => latency.p50,
            Self::P90 => latency.p90,
            Self::P99 => latency.p99,
            Self::P999 => latency.p99_9,
            Self::P9999 => latency.p99_99,
            Self::Max => latency.max,
            Self::Errors => count(report.errors + report.warmup_errors + report.unasked),
            Self::ErrorRate => Some(report.error_percent()),
            Self::Rate => Some(report.ok_per_s),
            Self::Requests => count(report.requests),
            Self::Reconnects => count(report.reconnects),
            Self::Lost => events.and_then(|events| count(events.lost)),
            Self::Duplicates => events.and_then(|events| count(events.duplicates)),
            Self::OutOfOrder => events.and_then(|events| count(events.out_of_order?)),
            Self::TargetCpu => report.target.as_ref()?.cpu_us_per_request,
            Self::TargetMemory => report.target.as_ref()?.rss_bytes.map(|bytes| bytes as f64),
        }
    }

    fn unit(self) -> Unit {
        METRICS
            .iter()
            .find(|(_, metric, _)| *metric == self)
            .map_or(Unit::Count, |(.., unit)| *unit)
    }

    fn show(self, value: f64) -> String {
        use crate::report::units;
        match self.unit() {
            Unit::Time => units::time(value),
            Unit::Count => units::rate(value),
            Unit::Percent => format!("{value:.3} %"),
            Unit::Bytes => units::bytes(value as u64),
        }
    }
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = OPERATORS.iter().find_map(|(sign, operator)| {
            text.split_once(sign).map(|(left, right)| (left.trim(), *operator, right.trim()))
        });
        let (left, operator, right) =
            found.ok_or("a condition is METRIC OPERATOR VALUE, such as 'p99>5ms' or 'errors>0'; the operators are > >= < <= == !=")?;
        // `ours.p99.9`: a metric may hold a dot, so what is none is tried as a target's name.
        let (target, name) = match METRICS.iter().any(|(name, ..)| *name == left) {
            true => (None, left),
            false => left.split_once('.').map_or((None, left), |(t, n)| (Some(t.to_owned()), n)),
        };
        let Some((_, metric, unit)) = METRICS.iter().find(|(known, ..)| *known == name) else {
            let names: Vec<&str> = METRICS.iter().map(|(name, ..)| *name).collect();
            return Err(format!("{name:?} is no metric; there are {}", names.join(", ")));
        };
        let bound = unit.read(right)?;
        Ok(Self { text: text.to_owned(), target, metric: *metric, operator, bound })
    }
}

impl Unit {
    fn read(self, text: &str) -> Result<f64, String> {
        let at = text.find(|c: char| c != '.' && !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(at);
        let factor = match (self, unit.trim_start()) {
            (Self::Time, "ns") => 1e-3,
            (Self::Time, "us" | "µs") => 1.0,
            (Self::Time, "ms") => 1e3,
            (Self::Time, "s") => 1e6,
            (Self::Time, _) => {
                return Err(format!("{text:?} is no time: use a number with ns, us, ms or s"));
            }
            (Self::Count, "") | (Self::Bytes, "" | "B") | (Self::Percent, "%") => 1.0,
            (Self::Count | Self::Bytes, "k" | "kB") => 1e3,
            (Self::Bytes, "MB") => 1e6,
            (Self::Bytes, "GB") => 1e9,
            (Self::Count, _) => return Err(format!("{text:?} is no count: use a plain number")),
            (Self::Percent, _) => return Err(format!("{text:?} is no share: use a number with %")),
            (Self::Bytes, _) => {
                return Err(format!("{text:?} is no size: use a number with B, kB, MB or GB"));
            }
        };
        number.parse::<f64>().map(|n| n * factor).map_err(|_| format!("{number:?} is not a number"))
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Conditions read as written, with their unit; everything else names what is allowed.
    #[test]
    fn reading() {
        let read = |text: &str| text.parse::<Condition>().map(|c| (c.target, c.operator, c.bound));
        assert_eq!(read("p99>5ms"), Ok((None, Operator::Above, 5000.0)));
        assert_eq!(read("p99.9 >= 1.5s"), Ok((None, Operator::AtLeast, 1.5e6)));
        assert_eq!(read("ours.p99.9<20us"), Ok((Some("ours".into()), Operator::Below, 20.0)));
        assert_eq!(read("errors!=0"), Ok((None, Operator::IsNot, 0.0)));
        assert_eq!(read("error-rate>0.1%"), Ok((None, Operator::Above, 0.1)));
        assert_eq!(read("memory>64MB"), Ok((None, Operator::Above, 64e6)));
        for (wrong, told) in [
            ("p99", "METRIC OPERATOR VALUE"),
            ("p98>1ms", "p50, p90, p99, p99.9"),
            ("p99>5", "ns, us, ms or s"),
            ("p99>1.2.3ms", "not a number"),
            ("p99>ms", "not a number"),
            ("errors>1ms", "plain number"),
            ("error-rate>1", "%"),
            ("memory>1TB", "MB or GB"),
        ] {
            let error = read(wrong).unwrap_err();
            assert!(error.contains(told), "{wrong}: {error}");
        }
    }
}
