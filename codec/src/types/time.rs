//! Shapes of dates and times in text: RFC 3339, with the calendar checked. Nothing here reads a clock.

/// `YYYY-MM-DD`, a day that exists.
pub(crate) fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return false;
    }
    let (Some(year), Some(month), Some(day)) =
        (digits(&bytes[..4]), digits(&bytes[5..7]), digits(&bytes[8..]))
    else {
        return false;
    };
    (1..=12).contains(&month) && (1..=days_in(month, year)).contains(&day)
}

/// An RFC 3339 date-time: date, `T`, time with optional fraction, `Z` or a numeric offset.
pub(crate) fn is_date_time(text: &str) -> bool {
    let Some((date, rest)) = text.split_at_checked(10) else { return false };
    let bytes = rest.as_bytes();
    if !is_date(date) || !matches!(bytes.first(), Some(b'T' | b't')) {
        return false;
    }
    let Some(zone_at) = bytes.iter().skip(1).position(|b| matches!(b, b'Z' | b'z' | b'+' | b'-'))
    else {
        return false;
    };
    let (time, zone) = bytes[1..].split_at(zone_at);
    is_time(time) && is_zone(zone)
}

/// A date or a date and time.
pub(crate) fn is_iso_8601(text: &str) -> bool {
    is_date(text) || is_date_time(text)
}

fn is_time(time: &[u8]) -> bool {
    let (clock, fraction) = match time.iter().position(|b| *b == b'.') {
        Some(at) => (&time[..at], Some(&time[at + 1..])),
        None => (time, None),
    };
    let [h1, h2, b':', m1, m2, b':', s1, s2] = *clock else { return false };
    // 60 is a leap second.
    digits(&[h1, h2]).is_some_and(|hour| hour < 24)
        && digits(&[m1, m2]).is_some_and(|minute| minute < 60)
        && digits(&[s1, s2]).is_some_and(|second| second <= 60)
        && fraction.is_none_or(|f| !f.is_empty() && f.iter().all(u8::is_ascii_digit))
}

fn is_zone(zone: &[u8]) -> bool {
    match *zone {
        [b'Z' | b'z'] => true,
        [b'+' | b'-', h1, h2, b':', m1, m2] => {
            digits(&[h1, h2]).is_some_and(|hour| hour < 24)
                && digits(&[m1, m2]).is_some_and(|minute| minute < 60)
        }
        _ => false,
    }
}

/// The value of a few ASCII digits, at most four.
fn digits(bytes: &[u8]) -> Option<u32> {
    bytes.iter().try_fold(0, |value, byte| match byte {
        b'0'..=b'9' => Some(value * 10 + u32::from(byte - b'0')),
        _ => None,
    })
}

fn days_in(month: u32, year: u32) -> u32 {
    let leap = (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}
