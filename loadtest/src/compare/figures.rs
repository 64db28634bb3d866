//! Medians, spread and ratios of rounds, and whether a difference is more than noise.

use serde::{Deserialize, Serialize};

use super::model::Compared;
use crate::report::Report;
use crate::report::units;

/// With fewer rounds, agreement between them says nothing.
const ROUNDS_TO_TELL: usize = 3;

/// A difference below this is no difference, however steady.
const LEAST_DIFFERENCE: f64 = 0.01;

/// What is compared.
const METRICS: [Metric; 10] = [
    Metric {
        name: "rate",
        title: "rate, answers/s",
        more_is_better: true,
        of: |r| Some(r.ok_per_s),
        show: units::rate,
    },
    Metric {
        name: "p50_us",
        title: "p50",
        more_is_better: false,
        of: |r| r.latency_us.p50,
        show: units::time,
    },
    Metric {
        name: "p99_us",
        title: "p99",
        more_is_better: false,
        of: |r| r.latency_us.p99,
        show: units::time,
    },
    Metric {
        name: "p99.9_us",
        title: "p99.9",
        more_is_better: false,
        of: |r| r.latency_us.p99_9,
        show: units::time,
    },
    Metric {
        name: "max_us",
        title: "max",
        more_is_better: false,
        of: |r| r.latency_us.max,
        show: units::time,
    },
    Metric {
        name: "cpu_us_per_request",
        title: "CPU a request",
        more_is_better: false,
        of: |r| r.target.as_ref()?.cpu_us_per_request,
        show: units::time,
    },
    Metric {
        name: "rss_bytes",
        title: "memory",
        more_is_better: false,
        of: |r| Some(r.target.as_ref()?.rss_bytes? as f64),
        show: |b| units::bytes(b as u64),
    },
    Metric {
        name: "bytes_per_stream",
        title: "memory a stream",
        more_is_better: false,
        of: |r| r.subscribe.as_ref()?.target.as_ref()?.bytes_per_stream,
        show: |b| units::bytes(b as u64),
    },
    Metric {
        name: "lost",
        title: "events lost",
        more_is_better: false,
        of: |r| Some(r.subscribe.as_ref()?.lost as f64),
        show: units::rate,
    },
    Metric {
        name: "errors",
        title: "errors",
        more_is_better: false,
        of: |r| Some((r.errors + r.warmup_errors + r.unasked) as f64),
        show: |n| units::count(n as u64),
    },
];

struct Metric {
    name: &'static str,
    title: &'static str,
    more_is_better: bool,
    of: fn(&Report) -> Option<f64>,
    show: fn(f64) -> String,
}

/// One metric over all targets.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Figure {
    pub(crate) metric: String,
    pub(crate) more_is_better: bool,
    /// In the order of the targets; `None` for one that does not have it.
    pub(crate) targets: Vec<Option<Median>>,
}

/// A metric of one target.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Median {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
    /// Against the first target; `None` for that itself, and where that is nothing.
    pub(crate) ratio: Option<Ratio>,
}

/// A target's metric divided by the first target's, round by round: what drifts between rounds cancels out.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Ratio {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) verdict: Verdict,
}

/// What a ratio is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    /// Every round says the same, by more than a hundredth in the median.
    Clear,
    /// The rounds disagree about which is more, or differ by next to nothing.
    Noise,
    /// Too few rounds to tell.
    FewRounds,
}

impl Figure {
    /// How the metric is called in a table.
    pub(crate) fn title(&self) -> &str {
        self.known().map_or(&self.metric, |metric| metric.title)
    }

    /// A value of the metric as people read it.
    pub(crate) fn show(&self, value: f64) -> String {
        self.known().map_or_else(|| value.to_string(), |metric| (metric.show)(value))
    }

    fn known(&self) -> Option<&'static Metric> {
        METRICS.iter().find(|metric| metric.name == self.metric)
    }
}

impl Median {
    /// Half the distance between the extremes, of the median, in percent.
    pub(crate) fn spread_percent(&self) -> f64 {
        if self.median == 0.0 { 0.0 } else { (self.max - self.min) / 2.0 / self.median * 100.0 }
    }
}

impl Ratio {
    /// Whether it is clear and in favour of the target; `None` when it is not clear.
    pub(crate) fn is_better(&self, more_is_better: bool) -> Option<bool> {
        (self.verdict == Verdict::Clear).then_some((self.median > 1.0) == more_is_better)
    }
}

/// Every metric that some target has.
pub(crate) fn of(targets: &[Compared]) -> Vec<Figure> {
    let figure = |metric: &Metric| {
        let values: Vec<Vec<Option<f64>>> =
            targets.iter().map(|target| target.rounds.iter().map(metric.of).collect()).collect();
        let first = values.first()?;
        let medians: Vec<Option<Median>> = values
            .iter()
            .enumerate()
            .map(|(index, own)| {
                let [min, median, max] = spread(own.iter().flatten().copied())?;
                let ratio = if index == 0 { None } else { ratio(own, first) };
                Some(Median { median, min, max, ratio })
            })
            .collect();
        medians.iter().any(Option::is_some).then(|| Figure {
            metric: metric.name.to_owned(),
            more_is_better: metric.more_is_better,
            targets: medians,
        })
    };
    METRICS.iter().filter_map(figure).collect()
}

fn ratio(own: &[Option<f64>], first: &[Option<f64>]) -> Option<Ratio> {
    let pairs = own.iter().zip(first).filter_map(|(own, first)| (*own).zip(*first));
    let ratios: Vec<f64> =
        pairs.filter(|(_, first)| *first > 0.0).map(|(own, first)| own / first).collect();
    let [min, median, max] = spread(ratios.iter().copied())?;
    let agree = min > 1.0 || max < 1.0;
    let verdict = match ratios.len() {
        ..ROUNDS_TO_TELL => Verdict::FewRounds,
        _ if agree && (median - 1.0).abs() >= LEAST_DIFFERENCE => Verdict::Clear,
        _ => Verdict::Noise,
    };
    Some(Ratio { median, min, max, verdict })
}

/// Least, median and most; `None` of nothing.
fn spread(values: impl Iterator<Item = f64>) -> Option<[f64; 3]> {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    let (first, last) = (*sorted.first()?, *sorted.last()?);
    let middle = sorted.len() / 2;
    let median = match sorted.len() % 2 {
        1 => sorted[middle],
        _ => (sorted[middle - 1] + sorted[middle]) / 2.0,
    };
    Some([first, median, last])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The median is the middle one, or between the two.
    #[test]
    fn medians() {
        assert_eq!(spread([3.0, 1.0, 2.0].into_iter()), Some([1.0, 2.0, 3.0]));
        assert_eq!(spread([4.0, 1.0, 2.0, 3.0].into_iter()), Some([1.0, 2.5, 4.0]));
        assert_eq!(spread([].into_iter()), None);
    }

    /// Rounds are compared in pairs: a drift that meets both is no noise, a disagreement is.
    #[test]
    fn verdicts() {
        let verdict = |own: &[f64], first: &[f64]| {
            let some = |values: &[f64]| values.iter().copied().map(Some).collect::<Vec<_>>();
            ratio(&some(own), &some(first)).map(|r| (r.median, r.verdict))
        };
        assert_eq!(verdict(&[2.0, 4.0, 8.0], &[1.0, 2.0, 4.0]), Some((2.0, Verdict::Clear)));
        assert_eq!(verdict(&[1.1, 0.9, 1.0], &[1.0, 1.0, 1.0]), Some((1.0, Verdict::Noise)));
        assert_eq!(verdict(&[1.005; 5], &[1.0; 5]), Some((1.005, Verdict::Noise)));
        assert_eq!(verdict(&[2.0, 2.0], &[1.0, 1.0]), Some((2.0, Verdict::FewRounds)));
        assert_eq!(verdict(&[2.0], &[0.0]), None);
    }
}
