//! The options about what becomes of the figures, and the arguments of `report`.

use std::path::PathBuf;

use clap::Args;

use crate::fail_if::Condition;

/// Where the figures go, for `run`, `compare` and `report` alike.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct OutputArgs {
    /// Writes the figures to this file as JSON (loadtest/REPORT.md documents it).
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Writes one self-contained page with charts to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Exits with 3 when this holds, such as 'p99>5ms' or 'errors>0'; may be repeated.
    #[arg(long, value_name = "CONDITION")]
    pub(crate) fail_if: Vec<Condition>,
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  Print the summary of a saved run again:
    ringmcp-loadtest report run.json
  Make a page of it that can be mailed:
    ringmcp-loadtest report run.json --html run.html
  Hold it to an objective, in CI:
    ringmcp-loadtest report run.json --fail-if 'p99>5ms' --fail-if 'errors>0'

Exit status: 0, 1 when the file cannot be read or written, 2 for wrong options, 3 when a --fail-if condition held.";

/// Arguments of `report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// What `run --json` or `compare --json` wrote.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
