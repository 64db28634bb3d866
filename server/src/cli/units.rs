//! Values of flags with their units: sizes in bytes, spans of time, plain counts.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A number of bytes: `65536`, `64KiB`, `4MiB`, `1GiB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) usize);

/// A span of time: `500ms`, `10s`, `2m`, `1h`, or `0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span(pub(crate) Duration);

/// A number of things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Count(pub(crate) usize);

/// Binary multiples, largest first.
const SIZES: [(&str, usize); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];

/// Milliseconds of each unit, largest first.
const SPANS: [(&str, u64); 4] = [("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fault = || format!("{text:?} is no size; write bytes, or 64KiB, 4MiB, 1GiB");
        let (digits, unit) = split(text);
        let factor = match unit {
            "" | "B" => 1,
            _ => SIZES.into_iter().find(|(name, _)| *name == unit).ok_or_else(fault)?.1,
        };
        let count: usize = digits.parse().map_err(|_| fault())?;
        count.checked_mul(factor).map(Self).ok_or_else(fault)
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fault = || format!("{text:?} is no span of time; write 500ms, 10s, 2m, 1h or 0");
        let (digits, unit) = split(text);
        let count: u64 = digits.parse().map_err(|_| fault())?;
        let factor = match unit {
            "" if count == 0 => 1,
            _ => SPANS.into_iter().find(|(name, _)| *name == unit).ok_or_else(fault)?.1,
        };
        count.checked_mul(factor).map(|ms| Self(Duration::from_millis(ms))).ok_or_else(fault)
    }
}

impl FromStr for Count {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse().map(Self).map_err(|_| format!("{text:?} is no whole number"))
    }
}

fn split(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits = |(_, factor): &(&str, usize)| self.0 != 0 && self.0.is_multiple_of(*factor);
        match SIZES.into_iter().find(fits) {
            Some((unit, factor)) => write!(f, "{}{unit}", self.0 / factor),
            None => write!(f, "{}", self.0),
        }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX);
        // Seconds up to two minutes: 120s reads as easily as 2m, 90s better.
        let fits = |(unit, factor): &(&str, u64)| {
            ms != 0 && ms.is_multiple_of(*factor) && (ms > 120_000 || matches!(*unit, "s" | "ms"))
        };
        match SPANS.into_iter().find(fits) {
            Some((unit, factor)) => write!(f, "{}{unit}", ms / factor),
            None => f.write_str("0"),
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<usize> for Size {
    fn from(bytes: usize) -> Self {
        Self(bytes)
    }
}

impl From<usize> for Count {
    fn from(count: usize) -> Self {
        Self(count)
    }
}

impl From<Duration> for Span {
    fn from(span: Duration) -> Self {
        Self(span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_shown() {
        for (text, bytes, shown) in [
            ("0", 0, "0"),
            ("1000", 1_000, "1000"),
            ("12B", 12, "12"),
            ("65536", 65_536, "64KiB"),
            ("64KiB", 65_536, "64KiB"),
            ("4MiB", 4_194_304, "4MiB"),
            ("1536KiB", 1_572_864, "1536KiB"),
            ("1GiB", 1_073_741_824, "1GiB"),
        ] {
            let size: Size = text.parse().unwrap();
            assert_eq!((size.0, size.to_string().as_str()), (bytes, shown), "{text}");
        }
        for text in [
            "",
            "KiB",
            "4mb",
            "4 MiB",
            "-1",
            "1.5MiB",
            "99999999999999999999",
            "18446744073709551615KiB",
        ] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }

    #[test]
    fn spans_are_read_and_shown() {
        for (text, ms, shown) in [
            ("0", 0, "0"),
            ("0s", 0, "0"),
            ("500ms", 500, "500ms"),
            ("1500ms", 1_500, "1500ms"),
            ("10s", 10_000, "10s"),
            ("2m", 120_000, "120s"),
            ("10m", 600_000, "10m"),
            ("1h", 3_600_000, "1h"),
        ] {
            let span: Span = text.parse().unwrap();
            assert_eq!(
                (span.0, span.to_string().as_str()),
                (Duration::from_millis(ms), shown),
                "{text}"
            );
        }
        for text in [
            "",
            "5",
            "s",
            "1.5s",
            "-1s",
            "5 s",
            "5min",
            "99999999999999999999s",
            "18446744073709551615h",
        ] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }
}
