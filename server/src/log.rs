//! The log: on standard error, never on standard output.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io;
use std::panic::{self, PanicHookInfo};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::writer::BoxMakeWriter;

use crate::Failure;
use crate::cli::{Args, LogFormat};
use crate::log_queue::LogQueue;

/// Starts logging. Under `--stdio` through the queue that is returned, to be kept to the end.
pub(crate) fn start(args: &Args) -> Result<Option<LogQueue>, Failure> {
    let refused = |error: &dyn std::fmt::Display| {
        Failure::System(format!("the log cannot be started: {error}"))
    };
    let queue = args.stdio.then(LogQueue::start).transpose().map_err(|error| refused(&error))?;
    let filter = EnvFilter::try_new(&args.log).map_err(|error| {
        Failure::Usage(format!(
            "--log {:?}: {error}; write a level, such as info or debug",
            args.log
        ))
    })?;
    let writer = match &queue {
        Some(queue) => BoxMakeWriter::new(queue.lines()),
        None => BoxMakeWriter::new(io::stderr),
    };
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer);
    let started = match args.log_format {
        // Colours only where somebody looks.
        LogFormat::Text => log.with_ansi(io::IsTerminal::is_terminal(&io::stderr())).try_init(),
        LogFormat::Json => log.json().try_init(),
    };
    started.map_err(|error| refused(&error))?;
    panic::set_hook(Box::new(panicked));
    Ok(queue)
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
