//! A load generator for MCP servers over HTTP, revision 2026-07-28. It checks every answer: a wrong one is an
//! error with a sample, never a fast success.
//!
//! It shares no code with any server. A request passes these rooms: `request` (bytes out), `connection` (one
//! socket), `answer` and `sse` (bytes in), `check` (is it right?), `tally` and `report` (what was measured);
//! `run` leads them, `pace` says who may send when.
#![forbid(unsafe_code)]

mod answer;
mod check;
mod cli;
mod compare;
mod connection;
mod cpu;
mod fail_if;
mod fault;
mod live;
mod outcome;
mod pace;
mod report;
mod request;
mod run;
mod series;
mod sse;
mod tally;
mod url;
mod worker;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command, RunArgs};
use report::Report;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Some answer was wrong, or nothing could be measured. (Wrong options exit with clap's 2.)
const FAILED: u8 = 1;

fn main() -> ExitCode {
    let exit = match Cli::parse().command {
        Command::Run(args) => measure(&args),
        Command::Compare(args) => compare::compare(&args)
            .and_then(|comparison| report::finish(comparison.into(), &args.load.output)),
        Command::Report(args) => report::show(&args.file, &args.output),
    };
    match exit {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(FAILED)
        }
    }
}

/// Runs, prints the summary, writes the files; what to exit with.
fn measure(args: &RunArgs) -> Result<u8, String> {
    let outcome = run::run(args).map_err(|error| error.to_string())?;
    report::finish(Report::new(args, &outcome).into(), &args.output)
}
