//! The end: a first signal drains the server, a second one ends it at once.

use std::io;
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals as Caught;

use ringmcp::Handle;

use crate::Failure;

/// What a drain may take beyond its deadline before the process ends all the same: a handler that never gives its
/// core back could hold it up for ever.
const GRACE: Duration = Duration::from_secs(2);

/// SIGTERM and SIGINT, caught from now on.
pub(crate) struct Signals(Caught);

impl Signals {
    /// Catches the signals.
    pub(crate) fn catch() -> Result<Self, Failure> {
        Caught::new([SIGTERM, SIGINT])
            .map(Self)
            .map_err(|error| Failure::System(format!("signals cannot be caught: {error}")))
    }

    /// Lets the server finish within `deadline` at the first signal, in a thread of its own.
    pub(crate) fn drain(self, server: Handle, deadline: Duration) -> Result<(), Failure> {
        let spawned = thread::Builder::new().name("signals".to_owned()).spawn(move || {
            self.wait_and_drain(&server, deadline);
        });
        spawned
            .map(drop)
            .map_err(|error| Failure::System(format!("no thread for signals: {error}")))
    }

    fn wait_and_drain(mut self, server: &Handle, deadline: Duration) {
        let signal = self.0.forever().next();
        tracing::info!(signal, ?deadline, "draining; a second signal ends the server at once");
        server.drain(deadline);
        if let Err(error) = self.watch(deadline) {
            tracing::error!(%error, "nobody watches the drain: a handler that holds its core would hold it up");
        }
    }

    /// Ends the process at a second signal, or when the drain does not end by itself.
    fn watch(mut self, deadline: Duration) -> io::Result<()> {
        thread::Builder::new().name("second-signal".to_owned()).spawn(move || {
            if let Some(signal) = self.0.forever().next() {
                exit(128 + signal, "a second signal: running requests were given up");
            }
        })?;
        thread::Builder::new().name("drain-watch".to_owned()).spawn(move || {
            thread::sleep(deadline.saturating_add(GRACE));
            exit(1, "the drain did not end in time: a core is still busy, most likely in a handler that does not give way");
        })?;
        Ok(())
    }
}

fn exit(code: i32, text: &str) -> ! {
    eprintln!("ringmcp-server: {text}");
    std::process::exit(code)
}
