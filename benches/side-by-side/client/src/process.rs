//! What the server under test spends, by the kernel's account of its process.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use nix::sys::resource::{setrlimit, Resource};
use nix::time::clock_getcpuclockid;
use nix::unistd::Pid;

use crate::Outcome;

/// Descriptors of ours: one a connection, and a few.
const FILES: u64 = 20_000;

/// A server in another process.
#[derive(Clone, Copy)]
pub struct Process(i32);

impl Process {
    pub fn new(pid: i32) -> Self {
        Self(pid)
    }

    /// CPU time of all its threads, in nanoseconds.
    pub fn cpu_ns(self) -> Outcome<i64> {
        let spent = clock_getcpuclockid(Pid::from_raw(self.0))?.now()?;
        Ok(spent.tv_sec() * 1_000_000_000 + spent.tv_nsec())
    }

    /// Resident memory, in bytes.
    pub fn rss(self) -> Outcome<i64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0))?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .ok_or("the server has ended")?;
        let kib: i64 = line.trim().trim_end_matches(" kB").parse()?;
        Ok(kib * 1024)
    }

    /// Resident memory once it has stayed the same for half a second; what it is after ten seconds otherwise.
    pub fn settled_rss(self) -> Outcome<i64> {
        let mut last = self.rss()?;
        for _ in 0..20 {
            sleep(Duration::from_millis(500));
            let now = self.rss()?;
            if now == last {
                break;
            }
            last = now;
        }
        Ok(last)
    }
}

/// Lets this process open as many connections as the measurements need.
pub fn allow_files() -> Outcome<()> {
    setrlimit(Resource::RLIMIT_NOFILE, FILES, FILES).map_err(|error| {
        format!("{FILES} open files are not allowed here ({error}): raise ulimit -n").into()
    })
}
