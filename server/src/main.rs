//! The reference MCP server: flags, log, handlers, start, signals. Everything else is the library's public interface.

#![deny(unsafe_code)]

#[allow(unsafe_code)]
mod allocator;
mod auth;
mod banner;
mod cli;
mod handlers;
mod log;
mod log_queue;
mod run;
mod signals;

use std::process::ExitCode;

/// Why the server did not start or ended badly: one line with the remedy, sorted by who can help.
enum Failure {
    /// A flag or setting is wrong: exit code 2.
    Usage(String),
    /// The system is in the way: exit code 1.
    System(String),
}

fn main() -> ExitCode {
    allocator::use_small_pages();
    let ended = cli::read().map_err(Failure::Usage).and_then(|args| run::run(&args));
    let (code, text) = match ended {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Failure::System(text)) => (1, text),
        Err(Failure::Usage(text)) => (2, text),
    };
    eprintln!("ringmcp-server: {text}");
    ExitCode::from(code)
}
