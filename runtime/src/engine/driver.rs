//! Which kernel interface carries the I/O: io_uring where it is allowed, epoll elsewhere. When the ring is refused the
//! operator is told why and what to do.
//!
//! monoio's `FusionDriver` cannot be told which driver to take and decides on a ring of two entries, so a limit that only
//! the real ring meets would fail the start instead of falling back. The choice is therefore made here, once per process,
//! and monoio's `FusionRuntime` only carries it.

use std::fmt;
use std::io;

use monoio::time::TimeDriver;
use monoio::{FusionRuntime, IoUringDriver, LegacyDriver, RuntimeBuilder};

/// Submission entries of each core's ring; the completion queue has twice as many. A turn with more operations than this
/// submits early, a burst of completions beyond it is kept by the kernel.
const RING_ENTRIES: u32 = 4096;

/// Events taken from epoll in one call.
const EPOLL_EVENTS: u32 = 1024;

const DISABLED_SYSCTL: &str = "/proc/sys/kernel/io_uring_disabled";

/// The driver an operator asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Driver {
    /// io_uring if this process may use it, else epoll.
    #[default]
    Auto,
    /// epoll, on every Linux.
    Epoll,
    /// io_uring or a failed start.
    Uring,
}

impl std::str::FromStr for Driver {
    type Err = String;

    /// The names of the `--driver` flag: `auto`, `epoll`, `uring`.
    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "auto" => Ok(Self::Auto),
            "epoll" => Ok(Self::Epoll),
            "uring" => Ok(Self::Uring),
            _ => Err(format!("unknown driver {name:?}: expected auto, epoll or uring")),
        }
    }
}

/// io_uring was asked for and this process may not use it. The text says why and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DriverError {
    cause: String,
    remedy: &'static str,
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "io_uring is not available: {}; {}", self.cause, self.remedy)
    }
}

impl std::error::Error for DriverError {}

/// The driver every core of this process runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chosen {
    Epoll,
    Uring,
}

/// A core's runtime, timers on.
pub(crate) type CoreRuntime = FusionRuntime<TimeDriver<IoUringDriver>, TimeDriver<LegacyDriver>>;

/// Settles the driver: the choice, and for a fallback the reason to log.
pub(crate) fn choose(wanted: Driver) -> Result<(Chosen, Option<DriverError>), DriverError> {
    if wanted == Driver::Epoll {
        return Ok((Chosen::Epoll, None));
    }
    match (probe(), wanted) {
        (Ok(()), _) => Ok((Chosen::Uring, None)),
        (Err(refusal), Driver::Uring) => Err(refusal),
        (Err(refusal), _) => Ok((Chosen::Epoll, Some(refusal))),
    }
}

impl Chosen {
    /// Sockets of this driver must be non-blocking: epoll retries, the ring waits by itself.
    pub(crate) fn nonblocking(self) -> bool {
        self == Self::Epoll
    }

    /// Builds the runtime of the calling thread's core.
    pub(crate) fn runtime(self) -> io::Result<CoreRuntime> {
        Ok(match self {
            // A plain ring: with deferred task work a task that keeps itself busy would starve the core's I/O.
            Self::Uring => FusionRuntime::Uring(
                RuntimeBuilder::<IoUringDriver>::new()
                    .with_entries(RING_ENTRIES)
                    .enable_timer()
                    .build()?,
            ),
            Self::Epoll => FusionRuntime::Legacy(
                RuntimeBuilder::<LegacyDriver>::new()
                    .with_entries(EPOLL_EVENTS)
                    .enable_timer()
                    .build()?,
            ),
        })
    }
}

impl From<Chosen> for Driver {
    /// Demands this very driver.
    fn from(chosen: Chosen) -> Self {
        match chosen {
            Chosen::Epoll => Self::Epoll,
            Chosen::Uring => Self::Uring,
        }
    }
}

impl fmt::Display for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Epoll => "epoll",
            Self::Uring => "io_uring",
        })
    }
}

/// Makes a ring of the size the cores use and throws it away.
fn probe() -> Result<(), DriverError> {
    match io_uring::IoUring::new(RING_ENTRIES) {
        Ok(_) if monoio::utils::detect_uring() => Ok(()),
        Ok(_) => Err(DriverError {
            cause: "this kernel lacks operations the engine needs".into(),
            remedy: "run Linux 5.6 or newer, or use the epoll driver",
        }),
        Err(e) => Err(explain(&e, std::fs::read_to_string(DISABLED_SYSCTL).ok().as_deref())),
    }
}

/// The likely reason for a refused ring: the error of io_uring_setup(2) and the sysctl's value tell seccomp, sysctl,
/// memory limit and kernel age apart.
pub(super) fn explain(error: &io::Error, disabled: Option<&str>) -> DriverError {
    let (cause, remedy) = match (error.raw_os_error(), disabled.map(str::trim)) {
        (Some(libc::ENOSYS), None) => (
            "the kernel does not know io_uring".to_owned(),
            "run Linux 5.6 or newer, or use the epoll driver",
        ),
        // The sysctl's file shows a kernel that knows the ring: something answers in its place.
        (Some(libc::ENOSYS | libc::EPERM), Some("0")) | (Some(libc::EPERM), None) => (
            "a seccomp profile forbids it, as container runtimes do by default".to_owned(),
            "run with a profile that allows io_uring_setup, io_uring_enter and io_uring_register, or use the epoll \
             driver",
        ),
        (Some(libc::EPERM | libc::ENOSYS), Some(value)) => (
            format!("the sysctl kernel.io_uring_disabled is {value}"),
            "set it to 0 (value 1 allows the group in kernel.io_uring_group, or CAP_SYS_ADMIN), or use the epoll driver",
        ),
        (Some(libc::ENOMEM), _) => (
            "the limit on locked memory is too low for the ring".to_owned(),
            "raise it (ulimit -l, LimitMEMLOCK=, or --ulimit memlock=), or use the epoll driver",
        ),
        (Some(libc::EMFILE | libc::ENFILE), _) => (
            "no file descriptors are left".to_owned(),
            "raise the limit on open files (ulimit -n, LimitNOFILE=), or use the epoll driver",
        ),
        _ => (error.to_string(), "use the epoll driver"),
    };
    DriverError { cause, remedy }
}
