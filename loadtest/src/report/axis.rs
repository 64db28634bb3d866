//! Scales: from values to places on a chart, with the ticks that people expect.

/// About as many ticks as a chart has room for.
const TICKS: f64 = 6.0;

/// How values are laid out from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scale {
    Linear { from: f64, to: f64 },
    Log { from: f64, to: f64 },
}

impl Scale {
    /// From zero to just above `most`, at a round number.
    pub(crate) fn from_zero(most: f64) -> Self {
        let most = if most > 0.0 { most } else { 1.0 };
        let step = round_step(most / TICKS);
        Self::Linear { from: 0.0, to: (most / step).ceil().max(1.0) * step }
    }

    /// From zero to exactly `most`.
    pub(crate) fn up_to(most: f64) -> Self {
        Self::Linear { from: 0.0, to: if most > 0.0 { most } else { 1.0 } }
    }

    /// Around every positive value: to the next 1, 2 or 5 at both ends.
    pub(crate) fn log_around(values: impl Iterator<Item = f64>) -> Self {
        let positive = values.filter(|v| v.is_finite() && *v > 0.0);
        let (least, most) = positive.fold((f64::MAX, 0.0_f64), |(l, m), v| (l.min(v), m.max(v)));
        if most == 0.0 {
            return Self::Log { from: 1.0, to: 10.0 };
        }
        let from = steps_of_125(least / 10.0).take_while(|v| *v <= least * 1.000_001).last();
        let to = steps_of_125(most).find(|v| *v >= most);
        let (from, to) = (from.unwrap_or(least), to.unwrap_or(most));
        Self::Log { from, to: if to > from { to } else { from * 10.0 } }
    }

    /// Where a value is; values outside are at the ends.
    pub(crate) fn place(self, value: f64) -> f64 {
        let place = match self {
            Self::Linear { from, to } => (value - from) / (to - from),
            Self::Log { from, to } => (value.max(f64::MIN_POSITIVE) / from).ln() / (to / from).ln(),
        };
        if place.is_finite() { place.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Round values to mark, from low to high.
    pub(crate) fn ticks(self) -> Vec<f64> {
        match self {
            Self::Linear { from, to } => {
                let step = round_step((to - from) / TICKS);
                let first = (from / step).ceil() as i64;
                let last = (to / step * 1.000_001).floor() as i64;
                (first..=last).map(|n| n as f64 * step).collect()
            }
            Self::Log { from, to } => {
                let inside = |v: &f64| *v <= to * 1.000_001;
                let all: Vec<f64> = steps_of_125(from)
                    .take_while(inside)
                    .filter(|v| *v >= from * 0.999_999)
                    .collect();
                if all.len() as f64 <= TICKS * 1.5 {
                    return all;
                }
                all.into_iter().filter(|v| (v.log10() - v.log10().round()).abs() < 1e-6).collect()
            }
        }
    }
}

/// 1, 2, 5, 10, 20, … from the power of ten at or below `least` on.
fn steps_of_125(least: f64) -> impl Iterator<Item = f64> {
    let start = least.log10().floor() as i32;
    (start..start + 40).flat_map(|power| [1.0, 2.0, 5.0].map(|n| n * 10_f64.powi(power)))
}

/// The least of 1, 2, 5, 10, … that is not below `step`.
fn round_step(step: f64) -> f64 {
    steps_of_125(step).find(|round| *round >= step * 0.999_999).unwrap_or(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ticks are round, inside the scale, and about as many as there is room for.
    #[test]
    fn ticks() {
        let Scale::Linear { to, .. } = Scale::from_zero(48_000.0) else { panic!("not linear") };
        assert_eq!(to, 50_000.0);
        assert_eq!(Scale::from_zero(48_000.0).ticks().len(), 6);
        assert_eq!(Scale::up_to(10.0).ticks(), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        let log = Scale::log_around([130.0, 0.0, f64::NAN, 4100.0].into_iter());
        assert_eq!(log, Scale::Log { from: 100.0, to: 5000.0 });
        assert_eq!(log.ticks(), [100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0]);
        let wide = Scale::log_around([1.0, 1e7].into_iter());
        assert_eq!(wide.ticks().len(), 8);
    }

    /// No value leaves the chart, not even one that is no number.
    #[test]
    fn places() {
        for scale in [
            Scale::from_zero(0.0),
            Scale::up_to(5.0),
            Scale::log_around([].into_iter()),
            Scale::log_around([7.0].into_iter()),
        ] {
            for value in [0.0, -1.0, 3.0, 1e300, f64::NAN, f64::INFINITY] {
                assert!((0.0..=1.0).contains(&scale.place(value)), "{scale:?} {value}");
            }
            assert!(scale.ticks().len() < 20, "{scale:?}");
        }
        assert_eq!(Scale::Log { from: 10.0, to: 1000.0 }.place(100.0), 0.5);
    }
}
