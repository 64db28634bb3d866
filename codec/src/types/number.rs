//! `Num`: a JSON number that keeps its kind, so that an integer stays an integer on the wire (PRG-03).

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};
use serde_json::Number;

/// Largest magnitude below which every integral `f64` is exact: 2^53.
const EXACT_F64_MAX: f64 = 9_007_199_254_740_992.0;

/// A JSON number as the protocol's `number` fields hold it (progress, priority, temperature, bounds).
///
/// `Num::from(50)` and `Num::from(50.0)` both write `50`; a number that was read is written as it
/// came. A float that JSON cannot carry is brought into range: NaN becomes 0, infinities `f64::MAX`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Num(pub Number);

impl Num {
    /// The nearest `f64`.
    pub fn as_f64(&self) -> f64 {
        // `as_f64` is None only for numbers no serde_json without arbitrary_precision can hold.
        self.0.as_f64().unwrap_or(0.0)
    }

    /// Whether the value is a whole number, `1.0` included (the JSON Schema sense).
    pub fn is_integer(&self) -> bool {
        self.exact().is_some() || self.as_f64().fract() == 0.0
    }

    /// Whether `0 <= self <= 1`.
    pub(crate) fn is_unit_range(&self) -> bool {
        (0.0..=1.0).contains(&self.as_f64())
    }

    fn exact(&self) -> Option<i128> {
        self.0.as_i64().map(i128::from).or_else(|| self.0.as_u64().map(i128::from))
    }
}

impl PartialOrd for Num {
    /// By value: integers exactly, anything else as `f64`.
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self.exact(), other.exact()) {
            (Some(a), Some(b)) => Some(a.cmp(&b)),
            _ => self.as_f64().partial_cmp(&other.as_f64()),
        }
    }
}

impl std::fmt::Display for Num {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl From<Number> for Num {
    fn from(number: Number) -> Num {
        Num(number)
    }
}

macro_rules! from_integer {
    ($($int:ty),+) => { $(
        impl From<$int> for Num {
            fn from(value: $int) -> Num {
                Num(Number::from(value))
            }
        }
    )+ };
}
from_integer!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

impl From<f64> for Num {
    fn from(value: f64) -> Num {
        if value.fract() == 0.0 && value.abs() <= EXACT_F64_MAX {
            // Exact: the magnitude is at most 2^53.
            return Num::from(value as i64);
        }
        // Infinities are clamped to what JSON can carry; NaN survives the clamp and becomes 0.
        let finite = value.clamp(f64::MIN, f64::MAX);
        Num(Number::from_f64(finite).unwrap_or_else(|| Number::from(0)))
    }
}

impl From<f32> for Num {
    fn from(value: f32) -> Num {
        Num::from(f64::from(value))
    }
}
