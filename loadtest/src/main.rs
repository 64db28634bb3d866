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
mod connection;
mod cpu;
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

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Some answer was wrong, or nothing could be measured. (Wrong options exit with clap's 2.)
const FAILED: u8 = 1;

fn main() -> ExitCode {
    let Command::Run(args) = Cli::parse().command;
    match measure(&args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(FAILED),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(FAILED)
        }
    }
}

/// Runs, prints the summary, writes the file. Whether every answer was right.
fn measure(args: &RunArgs) -> Result<bool, run::Error> {
    let report = run::run(args)?;
    println!("{report}");
    if let Some(path) = &args.json {
        let text = format!("{:#}\n", report.to_json());
        std::fs::write(path, text).map_err(|e| run::Error::Json(path.clone(), e))?;
    }
    Ok(report.clean())
}
