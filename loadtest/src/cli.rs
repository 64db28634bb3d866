//! The command line.

mod run;
mod values;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

use crate::compare::cli::{self as compare, CompareArgs};
use crate::report::cli::{self as report, ReportArgs};

pub(crate) use run::{Driver, RunArgs, Verify};
pub(crate) use values::{positive_time, time, tool_name};

/// Measures any MCP server (revision 2026-07-28) over HTTP, and checks every answer.
#[derive(Debug, Parser)]
#[command(version, after_help = run::EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Repeats one scenario over many connections and reports rates, latencies and errors.
    #[command(after_help = run::EXAMPLES)]
    Run(Box<RunArgs>),
    /// Runs the same load against several servers in turns, and tells differences from noise.
    #[command(after_help = compare::EXAMPLES)]
    Compare(Box<CompareArgs>),
    /// Shows a saved report again.
    #[command(after_help = report::EXAMPLES)]
    Report(ReportArgs),
}

impl Cli {
    /// What the command line asks for; ends the process where it does not ask right.
    pub(crate) fn read() -> Self {
        let cli = Self::parse();
        let checked = match &cli.command {
            Command::Run(args) => args.check(),
            Command::Compare(args) => args.load.check(),
            Command::Report(_) => Ok(()),
        };
        if let Err(problem) = checked {
            Self::command().error(ErrorKind::ArgumentConflict, problem).exit();
        }
        cli
    }
}
