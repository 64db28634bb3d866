//! The log: on standard error, never on standard output.

use std::io;

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
    started.map_err(|error| Failure::System(format!("the log cannot be started: {error}")))
}
