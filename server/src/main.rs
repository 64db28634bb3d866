//! The reference MCP server: flags, log, handlers, start, signals. Everything else is the library's public interface.

mod auth;
mod banner;
mod cli;
mod handlers;
mod log;
mod log_queue;
mod run;
mod signals;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Why the server did not start or ended badly: one line with the remedy, sorted by who can help.
enum Failure {
    /// A flag or setting is wrong: exit code 2.
    Usage(String),
    /// The system is in the way: exit code 1.
    System(String),
}

fn main() -> ExitCode {
    use_small_pages();
    let ended = cli::read().map_err(Failure::Usage).and_then(|args| run::run(&args));
    let (code, text) = match ended {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Failure::System(text)) => (1, text),
        Err(Failure::Usage(text)) => (2, text),
    };
    eprintln!("ringmcp-server: {text}");
    ExitCode::from(code)
}

/// A huge page is resident as a whole once a byte of it is used. The allocator asks for them, which would make a server
/// with ten thousand idle connections twice as large.
fn use_small_pages() {
    // Where the kernel cannot, the server is larger and otherwise the same.
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}
