//! The command line.

use std::time::Duration;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use serde_json::Value;

use crate::compare::cli::{self as compare, CompareArgs};
use crate::report::cli::{self as report, OutputArgs, ReportArgs};
use crate::request::Scenario;
use crate::url::Url;

/// Connections of one run at most: the usual ceiling of open files less a margin for everything else.
const CONNECTIONS_MAX: u64 = 60_000;

/// Requests a connection may have unanswered at most.
const PIPELINE_MAX: u64 = 1024;

/// The default of `--warmup` with `--duration`; with `--requests` there is none.
const WARMUP: Duration = Duration::from_secs(1);

const EXAMPLES: &str = "\
Examples:
  Call a tool for ten seconds over 16 connections, and hold every answer to its text:
    ringmcp-loadtest run --url http://127.0.0.1:8080/mcp --scenario tools-call \\
        --tool echo --args '{\"text\":\"hello\"}' --expect hello --connections 16 --duration 10s
  List the tools exactly 100000 times, 16 requests in flight on each connection:
    ringmcp-loadtest run --url http://127.0.0.1:8080/mcp --scenario tools-list \\
        --connections 4 --pipeline 16 --requests 100000
  Ask for the server's capabilities, and keep the figures:
    ringmcp-loadtest run --url http://127.0.0.1:8080/mcp --scenario discover \\
        --connections 1 --duration 5s --json discover.json

Exit status: 0 when every answer was right, 1 when one was not or nothing could be measured, 2 for wrong options.";

/// Measures any MCP server (revision 2026-07-28) over HTTP, and checks every answer.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Sends one kind of request over keep-alive connections and reports rates and latencies.
    #[command(after_help = EXAMPLES)]
    Run(Box<RunArgs>),
    /// Runs the same load against several servers in turns, and tells differences from noise.
    #[command(after_help = compare::EXAMPLES)]
    Compare(Box<CompareArgs>),
    /// Shows a saved report again.
    #[command(after_help = report::EXAMPLES)]
    Report(ReportArgs),
}

/// Options of `run`.
#[derive(Clone, Debug, Args)]
#[command(group = ArgGroup::new("amount").required(true).args(["duration", "requests"]))]
pub(crate) struct RunArgs {
    /// The server's endpoint; plain http only.
    #[arg(long, value_name = "URL")]
    pub(crate) url: Url,
    /// What to ask.
    #[arg(long, value_enum)]
    pub(crate) scenario: Scenario,
    /// The tool of scenario tools-call: 1 to 128 of A-Z a-z 0-9 _ - .
    #[arg(long, value_name = "NAME", default_value = "echo", value_parser = tool_name)]
    pub(crate) tool: String,
    /// The tool's arguments, a JSON object.
    #[arg(long, value_name = "JSON", default_value = r#"{"text":"hello"}"#, value_parser = json_object)]
    pub(crate) args: Value,
    /// What every answer must show: tools-call, in a text content; tools-list, a tool's name; discover, the
    /// server's name.
    #[arg(long, value_name = "TEXT")]
    pub(crate) expect: Option<String>,
    /// Connections, all open from the start.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u64).range(1..=CONNECTIONS_MAX))]
    pub(crate) connections: u64,
    /// How long to measure: a number with ms, s or m.
    #[arg(long, value_name = "TIME", value_parser = positive_time)]
    pub(crate) duration: Option<Duration>,
    /// How many requests to measure, exactly.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) requests: Option<u64>,
    /// Requests each connection keeps unanswered.
    #[arg(long, value_name = "D", default_value = "1", value_parser = clap::value_parser!(u64).range(1..=PIPELINE_MAX))]
    pub(crate) pipeline: u64,
    /// Load before the measured part: checked, not counted. Default: 1s with --duration, none with --requests.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) warmup: Option<Duration>,
    /// How long an answer or a connection may take before it counts as an error.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = positive_time)]
    pub(crate) timeout: Duration,
    /// The kernel interface this generator uses.
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) driver: Driver,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl RunArgs {
    /// The warm-up to run.
    pub(crate) fn warmup(&self) -> Duration {
        self.warmup.unwrap_or(if self.requests.is_some() { Duration::ZERO } else { WARMUP })
    }
}

/// The choice of `--driver`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Driver {
    /// io_uring where it works, epoll elsewhere.
    Auto,
    /// io_uring or nothing.
    Uring,
    /// epoll.
    Epoll,
}

/// A time as options and files write it.
///
/// # Errors
/// What is allowed.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let unit_at = text.find(|c: char| c != '.' && !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let seconds = match unit {
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        _ => return Err("use a number with ms, s or m, such as 500ms, 10s or 2m".into()),
    };
    let number: f64 = number.parse().map_err(|_| format!("{number:?} is not a number"))?;
    Duration::try_from_secs_f64(number * seconds).map_err(|e| e.to_string())
}

fn positive_time(text: &str) -> Result<Duration, String> {
    match time(text)? {
        Duration::ZERO => Err("must be more than nothing".into()),
        positive => Ok(positive),
    }
}

/// The names the protocol asks of tools (TOOL-09); one that a header line can carry as it is.
fn tool_name(text: &str) -> Result<String, String> {
    let legal = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    if (1..=128).contains(&text.len()) && text.chars().all(legal) {
        return Ok(text.to_owned());
    }
    Err("a tool's name is 1 to 128 of A-Z a-z 0-9 _ - .".into())
}

fn json_object(text: &str) -> Result<Value, String> {
    match serde_json::from_str(text) {
        Ok(object @ Value::Object(_)) => Ok(object),
        Ok(_) => Err("arguments are a JSON object, such as {\"text\":\"hello\"}".into()),
        Err(error) => Err(format!("not JSON: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Durations read as written, and nothing else is taken for one.
    #[test]
    fn times() {
        assert_eq!(time("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(time("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(time("2m"), Ok(Duration::from_secs(120)));
        for wrong in ["", "10", "s", "1h", "-1s", "1..2s", "99999999999999999999999m"] {
            assert!(time(wrong).is_err(), "{wrong:?}");
        }
        assert!(positive_time("0s").is_err());
    }

    /// [TOOL-09] A name that needs encoding in a header is refused at the door.
    #[test]
    fn names() {
        assert!(tool_name("get_weather-2.0").is_ok());
        for wrong in ["", "a b", "a\r\nX: y", "ü", &"a".repeat(129)] {
            assert!(tool_name(wrong).is_err(), "{wrong:?}");
        }
    }
}
