//! From a histogram to what reports show of it: never an average alone.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Points of the percentile curve each time the rest of the requests halves.
const POINTS_PER_HALVING: u32 = 8;

/// Bars of the histogram for each tenfold latency.
const BARS_PER_DECADE: f64 = 40.0;

/// The latencies shown, in microseconds; all `None` when nothing was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub(crate) struct Latency {
    pub(crate) min: Option<f64>,
    pub(crate) mean: Option<f64>,
    pub(crate) p50: Option<f64>,
    pub(crate) p90: Option<f64>,
    pub(crate) p99: Option<f64>,
    #[serde(rename = "p99.9")]
    pub(crate) p99_9: Option<f64>,
    #[serde(rename = "p99.99")]
    pub(crate) p99_99: Option<f64>,
    pub(crate) max: Option<f64>,
}

impl Latency {
    /// Of a histogram of nanoseconds.
    pub(crate) fn of(histogram: &Histogram<u64>) -> Self {
        if histogram.is_empty() {
            return Self::default();
        }
        let at = |quantile| Some(histogram.value_at_quantile(quantile) as f64 / 1e3);
        Self {
            min: at(0.0),
            mean: Some(histogram.mean() / 1e3),
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p99_9: at(0.999),
            p99_99: at(0.9999),
            max: at(1.0),
        }
    }

    /// The percentiles with their names, in order.
    pub(crate) fn percentiles(&self) -> [(&'static str, Option<f64>); 6] {
        [
            ("p50", self.p50),
            ("p90", self.p90),
            ("p99", self.p99),
            ("p99.9", self.p99_9),
            ("p99.99", self.p99_99),
            ("max", self.max),
        ]
    }
}

/// A point of the percentile curve.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Point {
    /// The share of requests that took no longer, 0 to 1.
    pub(crate) quantile: f64,
    pub(crate) us: f64,
}

/// The percentile curve, dense towards its end.
pub(crate) fn curve(histogram: &Histogram<u64>) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for step in histogram.iter_quantiles(POINTS_PER_HALVING) {
        let us = step.value_iterated_to() as f64 / 1e3;
        points.push(Point { quantile: step.quantile(), us });
    }
    points
}

/// A bar of the histogram.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Bar {
    pub(crate) from_us: f64,
    pub(crate) to_us: f64,
    pub(crate) count: u64,
}

/// Bars of equal width on a logarithmic axis, from the first that is not empty to the last.
pub(crate) fn bars(histogram: &Histogram<u64>) -> Vec<Bar> {
    let edge = |index: i64| 10_f64.powf(index as f64 / BARS_PER_DECADE) / 1e3;
    let mut bars: Vec<Bar> = Vec::new();
    let mut next: Option<i64> = None;
    for value in histogram.iter_recorded() {
        let ns = value.value_iterated_to().max(1) as f64;
        let index = (ns.log10() * BARS_PER_DECADE).floor() as i64;
        let first = *next.get_or_insert(index);
        for empty in first..=index {
            bars.push(Bar { from_us: edge(empty), to_us: edge(empty + 1), count: 0 });
        }
        next = Some(index.max(first - 1) + 1);
        if let Some(bar) = bars.last_mut() {
            bar.count += value.count_since_last_iteration();
        }
    }
    bars
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[u64]) -> Histogram<u64> {
        let mut histogram = Histogram::new_with_max(3_600_000_000_000, 3).unwrap();
        values.iter().for_each(|v| histogram.saturating_record(*v));
        histogram
    }

    /// Every request is in exactly one bar, the bars touch, and none at either end is empty.
    #[test]
    fn bars_hold_everything() {
        let bars = bars(&of(&[90_000, 100_000, 100_100, 5_000_000, 5_000_000, 1]));
        assert_eq!(bars.iter().map(|b| b.count).sum::<u64>(), 6);
        assert!(bars.windows(2).all(|two| (two[0].to_us - two[1].from_us).abs() < 1e-9));
        assert!(bars[0].count == 1 && bars[bars.len() - 1].count == 2);
        assert!(super::bars(&of(&[])).is_empty());
    }

    /// The curve rises to the maximum at the quantile of one.
    #[test]
    fn curve_rises() {
        let values: Vec<u64> = (1..=1000).map(|ms| ms * 1_000_000).collect();
        let curve = curve(&of(&values));
        assert!(
            curve
                .windows(2)
                .all(|two| two[0].quantile <= two[1].quantile && two[0].us <= two[1].us)
        );
        let last = curve[curve.len() - 1];
        assert!(last.quantile == 1.0 && (last.us / 1e6 - 1.0).abs() < 1e-2, "{last:?}");
        let near =
            |a: Option<f64>, b: f64| assert!((a.unwrap() / b - 1.0).abs() < 2e-3, "{a:?} {b}");
        let latency = Latency::of(&of(&values));
        near(latency.p50, 500e3);
        near(latency.p99, 990e3);
        assert_eq!(Latency::of(&of(&[])), Latency::default());
    }
}
