//! The one worker: a monoio runtime on io_uring or epoll.

use std::fmt;
use std::io;

use monoio::time::TimeDriver;
use monoio::{FusionRuntime, IoUringDriver, LegacyDriver, RuntimeBuilder};

use crate::cli::Driver;

/// Entries of the ring, and events taken from epoll at once.
const ENTRIES: u32 = 4096;

/// What was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chosen {
    Uring,
    Epoll,
}

impl fmt::Display for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Uring => "io_uring",
            Self::Epoll => "epoll",
        })
    }
}

/// A runtime with timers, on either driver.
pub(crate) type Runtime = FusionRuntime<TimeDriver<IoUringDriver>, TimeDriver<LegacyDriver>>;

/// Makes the runtime.
///
/// monoio's own fusion builder fails instead of falling back when only the full-size ring is refused, so the choice
/// is made here.
///
/// # Errors
/// The wanted driver's; with `auto`, epoll's.
pub(crate) fn runtime(wanted: Driver) -> io::Result<(Runtime, Chosen)> {
    let ring = || {
        if !monoio::utils::detect_uring() {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "io_uring is not available here",
            ));
        }
        let ring =
            RuntimeBuilder::<IoUringDriver>::new().with_entries(ENTRIES).enable_timer().build()?;
        Ok((FusionRuntime::Uring(ring), Chosen::Uring))
    };
    let epoll = || {
        let epoll =
            RuntimeBuilder::<LegacyDriver>::new().with_entries(ENTRIES).enable_timer().build()?;
        Ok((FusionRuntime::Legacy(epoll), Chosen::Epoll))
    };
    match wanted {
        Driver::Uring => ring(),
        Driver::Epoll => epoll(),
        Driver::Auto => ring().or_else(|_| epoll()),
    }
}
