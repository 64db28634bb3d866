//! The log: on standard error, never on standard output.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io;
use std::panic::{self, PanicHookInfo};

use tracing_subscriber::EnvFilter;

use crate::Failure;
use crate::cli::{Args, LogFormat};

/// Starts logging.
pub(crate) fn start(args: &Args) -> Result<(), Failure> {
    let filter = EnvFilter::try_new(&args.log).map_err(|error| {
        Failure::Usage(format!(
            "--log {:?}: {error}; write a level, such as info or debug",
            args.log
        ))
    })?;
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    let started = match args.log_format {
        // Colours only where somebody looks.
        LogFormat::Text => log.with_ansi(io::IsTerminal::is_terminal(&io::stderr())).try_init(),
        LogFormat::Json => log.json().try_init(),
    };
    started.map_err(|error| Failure::System(format!("the log cannot be started: {error}")))?;
    panic::set_hook(Box::new(panicked));
    Ok(())
}

/// Panics are events like all others: a log of JSON lines stays one.
fn panicked(panic: &PanicHookInfo<'_>) {
    let location = panic.location().map(ToString::to_string);
    let text = panic.payload_as_str().unwrap_or("no text");
    let backtrace = Backtrace::capture();
    if backtrace.status() == BacktraceStatus::Captured {
        tracing::error!(location, text, %backtrace, "panicked");
    } else {
        tracing::error!(location, text, "panicked");
    }
}
