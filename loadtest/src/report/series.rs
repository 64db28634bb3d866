//! What happened over time in the measured part.

use serde::{Deserialize, Serialize};

use crate::series::Series;

/// One interval. Answers count in the one in which they came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub(crate) struct Interval {
    /// Since the measured part began, at this interval's start.
    pub(crate) from_s: f64,
    /// The last interval seldom lasts as long as the others.
    pub(crate) length_s: f64,
    pub(crate) ok: u64,
    pub(crate) errors: u64,
    /// Of this interval's right answers; absent without one.
    pub(crate) p50_us: Option<f64>,
    pub(crate) p99_us: Option<f64>,
}

impl Interval {
    /// Right answers a second.
    pub(crate) fn ok_per_s(&self) -> f64 {
        if self.length_s > 0.0 { self.ok as f64 / self.length_s } else { 0.0 }
    }
}

/// The intervals of a measured part that took `measured_s`.
pub(crate) fn of(series: &Series, measured_s: f64) -> Vec<Interval> {
    let width = series.width().as_secs_f64();
    let interval = |(index, counted): (usize, &crate::series::Interval)| {
        let from_s = index as f64 * width;
        let us = |quantile| counted.latency_ns(quantile).map(|ns| ns as f64 / 1e3);
        Interval {
            from_s,
            length_s: (measured_s - from_s).clamp(0.0, width),
            ok: counted.ok,
            errors: counted.errors,
            p50_us: us(0.5),
            p99_us: us(0.99),
        }
    };
    series.intervals().iter().enumerate().map(interval).collect()
}
