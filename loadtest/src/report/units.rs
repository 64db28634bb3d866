//! Numbers as people read them.

/// A time in microseconds with three digits and the unit that suits it.
pub(crate) fn time(us: f64) -> String {
    let (value, unit) = match us {
        us if us < 1.0 => (us * 1e3, "ns"),
        us if us < 1e3 => (us, "µs"),
        us if us < 1e6 => (us / 1e3, "ms"),
        us => (us / 1e6, "s"),
    };
    format!("{} {unit}", three_digits(value))
}

/// A time that may not be known.
pub(crate) fn some_time(us: Option<f64>) -> String {
    us.map_or_else(|| "–".to_owned(), time)
}

/// A whole number, its thousands apart.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A rate: whole from a hundred on, else with its decimals.
pub(crate) fn rate(per_s: f64) -> String {
    if per_s >= 100.0 { count(per_s.round() as u64) } else { three_digits(per_s) }
}

/// Bytes in powers of a thousand.
pub(crate) fn bytes(number: u64) -> String {
    let value = number as f64;
    match value {
        v if v < 1e3 => format!("{number} B"),
        v if v < 1e6 => format!("{} kB", three_digits(v / 1e3)),
        v if v < 1e9 => format!("{} MB", three_digits(v / 1e6)),
        v => format!("{} GB", three_digits(v / 1e9)),
    }
}

/// A short number for an axis: 1500 is `1.5k`.
pub(crate) fn short(number: f64) -> String {
    let (value, unit) = match number.abs() {
        n if n >= 1e9 => (number / 1e9, "G"),
        n if n >= 1e6 => (number / 1e6, "M"),
        n if n >= 1e3 => (number / 1e3, "k"),
        _ => (number, ""),
    };
    let text = format!("{value:.2}");
    format!("{}{unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// A time for an axis: no digits that say nothing.
pub(crate) fn short_time(us: f64) -> String {
    let text = time(us);
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => text,
    }
}

/// A moment in UTC, `2026-11-30 12:00:00 UTC`.
pub(crate) fn moment(unix_s: u64) -> String {
    let (days, rest) = (unix_s / 86_400, unix_s % 86_400);
    // Years of 365.2425 days from a first of March: the leap day is a year's last.
    let since = days + 719_468;
    let (era, day_of_era) = (since / 146_097, since % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

fn three_digits(value: f64) -> String {
    match value {
        v if v >= 99.95 => format!("{v:.0}"),
        v if v >= 9.995 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Units change where the digits would run out.
    #[test]
    fn numbers() {
        let times = [0.5, 1.0, 12.34, 850.4, 1500.0, 2.5e6].map(time);
        assert_eq!(times, ["500 ns", "1.00 µs", "12.3 µs", "850 µs", "1.50 ms", "2.50 s"]);
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([3.456, 99_999.6].map(rate), ["3.46", "100,000"]);
        assert_eq!([512, 12_345, 5_000_000].map(bytes), ["512 B", "12.3 kB", "5.00 MB"]);
        assert_eq!([0.0, 1500.0, 2e6, 0.5].map(short), ["0", "1.5k", "2M", "0.5"]);
        assert_eq!([100.0, 2000.0].map(short_time), ["100 µs", "2 ms"]);
    }

    /// The epoch, both sides of a leap day, and a century that has one.
    #[test]
    fn moments() {
        assert_eq!(moment(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(moment(951_782_400), "2000-02-29 00:00:00 UTC");
        assert_eq!(moment(1_709_251_199), "2024-02-29 23:59:59 UTC");
        assert_eq!(moment(1_709_251_200), "2024-03-01 00:00:00 UTC");
    }
}
