//! A load generator for MCP servers over HTTP, revision 2026-07-28. It checks every answer: a wrong one is an
//! error with a sample, never a fast success.
//!
//! It shares no code with any server. An operation passes these rooms: `scenario` (what it is) and `request` (bytes
//! out), `connection` (its rounds) on a `wire` (one socket), `answer` and `sse` (bytes in), `check` (is it right?),
//! `tally` and `report` (what was measured). `run` starts the workers (one `worker` a thread) and sums them up;
//! `lead` leads one's connections, `pace` says who may send when, `ramp` repeats runs in search of a rate.
#![forbid(unsafe_code)]

mod answer;
mod check;
mod cli;
mod compare;
mod connection;
mod cpu;
mod fail_if;
mod fault;
mod lead;
mod live;
mod measure;
mod outcome;
mod pace;
mod proc;
mod ramp;
mod report;
mod request;
mod run;
mod scenario;
mod seat;
mod series;
mod sse;
mod subscribe;
mod tally;
mod url;
mod watch;
mod wire;
mod worker;

use std::process::ExitCode;

use cli::{Cli, Command};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Some answer was wrong, or nothing could be measured. (Wrong options exit with clap's 2.)
const FAILED: u8 = 1;

fn main() -> ExitCode {
    let exit = match Cli::read().command {
        Command::Run(args) => measure::measure(&args, args.scenario.as_str())
            .and_then(|report| report::finish(report.into(), &args.output)),
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
