//! The `Date` header's format (RFC 9110, 5.6.7: IMF-fixdate), from seconds given by the caller.

/// Formats seconds since the Unix epoch as `Sun, 06 Nov 1994 08:49:37 GMT`.
/// Times beyond the year 9999 are shown as its last second.
pub fn format(unix_secs: u64) -> [u8; 29] {
    let secs = unix_secs.min(LAST_SECOND);
    let (days, second) = (secs / 86_400, secs % 86_400);
    let (year, month, day) = civil(days);

    let mut out = *b"Thu, 01 Jan 1970 00:00:00 GMT";
    let weekday = (days % 7) as usize * 3;
    out[..3].copy_from_slice(&WEEKDAYS[weekday..weekday + 3]);
    let month = (month as usize - 1) * 3;
    out[8..11].copy_from_slice(&MONTHS[month..month + 3]);
    two_digits(&mut out, 5, day);
    two_digits(&mut out, 12, year / 100);
    two_digits(&mut out, 14, year % 100);
    two_digits(&mut out, 17, second / 3600);
    two_digits(&mut out, 20, second / 60 % 60);
    two_digits(&mut out, 23, second % 60);
    out
}

/// 31 December 9999, 23:59:59: the format has four digits for the year.
const LAST_SECOND: u64 = 253_402_300_799;

/// Day 0 of the Unix epoch was a Thursday.
const WEEKDAYS: &[u8; 21] = b"ThuFriSatSunMonTueWed";
const MONTHS: &[u8; 36] = b"JanFebMarAprMayJunJulAugSepOctNovDec";

fn two_digits(out: &mut [u8; 29], at: usize, value: u64) {
    out[at] = b'0' + (value / 10 % 10) as u8;
    out[at + 1] = b'0' + (value % 10) as u8;
}

/// Year, month (1..=12) and day (1..=31) of a day count since 1970, in the proleptic Gregorian
/// calendar. Years are counted from March, so that the leap day is the last of its year.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}
