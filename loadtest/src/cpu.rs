//! CPU time of this process: a generator that is busy all the time measures itself.

use std::time::Duration;

/// Ticks a second in `/proc/self/stat`: USER_HZ, which is 100 on every architecture Linux runs io_uring on.
const TICKS_PER_SECOND: u64 = 100;

/// User and kernel time so far, to 10 ms; `None` where there is no procfs.
pub(crate) fn used() -> Option<Duration> {
    parse(&std::fs::read_to_string("/proc/self/stat").ok()?)
}

/// Fields 14 and 15 of proc(5)'s stat; the name in field 2 may hold anything, so they are counted behind it.
fn parse(stat: &str) -> Option<Duration> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut ticks = after_name.split_ascii_whitespace().skip(11).map(str::parse::<u64>);
    let (user, kernel) = (ticks.next()?.ok()?, ticks.next()?.ok()?);
    Some(Duration::from_millis((user + kernel) * 1000 / TICKS_PER_SECOND))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name with spaces and brackets shifts nothing.
    #[test]
    fn fields() {
        let stat = "7 (a) b) R 1 2 3 4 5 6 7 8 9 10 150 25 0 0 20 0";
        assert_eq!(parse(stat), Some(Duration::from_millis(1750)));
        assert_eq!(parse("7 (a) R 1"), None);
    }
}
