//! The command line.

mod args;
mod key;
mod limits;
mod units;

use clap::Parser;
use clap::error::ErrorKind;

pub(crate) use args::{Args, LogFormat};

/// Reads the command line.
///
/// # Errors
/// One line that says what is wrong and what to do.
pub(crate) fn read() -> Result<Args, String> {
    Args::try_parse().map_err(|error| match error.kind() {
        // Not errors: the text goes to standard output, and that was all.
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => error.exit(),
        _ => one_line(&error.to_string()),
    })
}

/// clap's text up to the usage, on one line.
fn one_line(text: &str) -> String {
    let mut parts: Vec<&str> = text
        .lines()
        .map(str::trim)
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"))
        .filter(|line| !line.is_empty())
        .collect();
    parts.push("--help lists all flags");
    parts.join("; ").trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_flags_are_consistent_and_every_default_is_valid() {
        Args::command().debug_assert();
        let args = Args::try_parse_from(["ringmcp-server"]).unwrap();
        assert_eq!(ringmcp::Limits::from(&args.limits), ringmcp::Limits::default());
    }

    #[test]
    fn every_limit_has_a_flag_of_its_name() {
        let text = format!("{:?}", ringmcp::Limits::default());
        let fields = text.split(['{', ',', '}']).filter_map(|part| part.split_once(':'));
        let command = Args::command();
        let mut count = 0;
        for (field, _) in fields {
            let flag = field.trim().replace('_', "-");
            assert!(command.get_arguments().any(|arg| arg.get_long() == Some(&flag)), "{flag}");
            count += 1;
        }
        assert_eq!(count, 37);
    }

    #[test]
    fn limits_arrive_where_they_belong() {
        let args =
            ["ringmcp-server", "--body-bytes", "1MiB", "--headers", "7", "--keep-alive", "0"];
        let limits = ringmcp::Limits::from(&Args::try_parse_from(args).unwrap().limits);
        assert_eq!((limits.body_bytes, limits.headers), (1 << 20, 7));
        assert!(limits.keep_alive.is_zero());
    }
}
