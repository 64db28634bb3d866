//! What the kernel says of a process: memory, CPU time, threads, open files. Linux's procfs; elsewhere there is none
//! and every look fails.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Ticks a second in `/proc/PID/stat`: USER_HZ, which is 100 on every architecture Linux runs io_uring on.
const TICKS_PER_SECOND: u64 = 100;

/// Where fields 14, 15, 20 and 22 of proc(5)'s stat are, counted behind the name in field 2, which may hold anything.
const USER_TICKS: usize = 11;
const KERNEL_TICKS: usize = 12;
const THREADS: usize = 17;
const STARTED: usize = 19;

/// A process, told from another one that gets its number later.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    directory: PathBuf,
    /// Ticks from the machine's start to the process's.
    started: u64,
}

/// One look at a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Resident memory. What the kernel holds for its sockets is not part of it.
    pub(crate) rss_bytes: u64,
    /// The highest [`rss_bytes`](Self::rss_bytes) since it started.
    pub(crate) peak_rss_bytes: u64,
    /// User and kernel time since it started, to 10 ms.
    pub(crate) cpu: Duration,
    pub(crate) threads: u64,
    /// Open descriptors; `None` for a process of another user.
    pub(crate) files: Option<u64>,
}

impl Process {
    /// The running process with this id.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] when there is none, or no procfs.
    pub(crate) fn find(pid: u32) -> io::Result<Self> {
        Self::at(format!("/proc/{pid}").into())
    }

    /// This process.
    ///
    /// # Errors
    /// When there is no procfs.
    pub(crate) fn own() -> io::Result<Self> {
        Self::at("/proc/self".into())
    }

    fn at(directory: PathBuf) -> io::Result<Self> {
        let stat = Stat::parse(&fs::read_to_string(directory.join("stat"))?)?;
        Ok(Self { directory, started: stat.started })
    }

    /// What it uses now.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] when it has ended, also when another one has its id by now.
    pub(crate) fn usage(&self) -> io::Result<Usage> {
        let stat = Stat::parse(&fs::read_to_string(self.directory.join("stat"))?)?;
        if stat.started != self.started {
            return Err(io::Error::new(io::ErrorKind::NotFound, "the process has ended"));
        }
        let status = fs::read_to_string(self.directory.join("status"))?;
        let kib = |name| status_kib(&status, name).ok_or_else(|| unreadable("status"));
        Ok(Usage {
            rss_bytes: kib("VmRSS:")? * 1024,
            peak_rss_bytes: kib("VmHWM:")? * 1024,
            cpu: stat.cpu,
            threads: stat.threads,
            files: fs::read_dir(self.directory.join("fd")).ok().map(|files| files.count() as u64),
        })
    }

    /// How many files it may have open; `None` where that is unlimited or secret.
    pub(crate) fn files_max(&self) -> Option<u64> {
        soft_limit(&fs::read_to_string(self.directory.join("limits")).ok()?, "Max open files")
    }
}

struct Stat {
    cpu: Duration,
    threads: u64,
    started: u64,
}

impl Stat {
    fn parse(text: &str) -> io::Result<Self> {
        let fields: Vec<&str> =
            text.rsplit_once(')').unwrap_or_default().1.split_ascii_whitespace().collect();
        let number = |at: usize| {
            fields.get(at).and_then(|field| field.parse().ok()).ok_or_else(|| unreadable("stat"))
        };
        let ticks: u64 = number(USER_TICKS)? + number(KERNEL_TICKS)?;
        Ok(Self {
            cpu: Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND),
            threads: number(THREADS)?,
            started: number(STARTED)?,
        })
    }
}

/// A line such as `VmRSS:    1234 kB`; absent for a process that has ended and not been waited for.
fn status_kib(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// A line such as `Max open files    1024    4096    files`.
fn soft_limit(limits: &str, name: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

fn unreadable(file: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("/proc says something else in {file}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name with spaces and brackets shifts nothing; too few fields are told.
    #[test]
    fn stat() {
        let text = "7 (a) b) R 1 2 3 4 5 6 7 8 9 10 150 25 0 0 20 0 6 0 99 1000";
        let stat = Stat::parse(text).unwrap();
        assert_eq!((stat.cpu.as_millis(), stat.threads, stat.started), (1750, 6, 99));
        assert!(Stat::parse("7 (a) R 1").is_err());
        assert!(Stat::parse("").is_err());
    }

    /// Lines are found by their names, and what is no number is none.
    #[test]
    fn lines() {
        let status = "Name:\tVmRSS:\nVmHWM:\t    2000 kB\nVmRSS:\t    1234 kB\n";
        assert_eq!(status_kib(status, "VmRSS:"), Some(1234));
        assert_eq!(status_kib(status, "VmSwap:"), None);
        let limits = "Limit  Soft Limit  Hard Limit\nMax open files            1024                 4096                 files\n";
        assert_eq!(soft_limit(limits, "Max open files"), Some(1024));
        assert_eq!(soft_limit("Max open files  unlimited unlimited files", "Max open files"), None);
    }

    /// This process has memory, threads and files, opening one more shows, and nobody has the highest id there could be.
    #[test]
    fn own() {
        let Ok(own) = Process::own() else {
            return eprintln!("SKIPPED: there is no procfs here");
        };
        let before = own.usage().unwrap();
        assert!(before.rss_bytes > 0 && before.peak_rss_bytes >= before.rss_bytes);
        assert!(before.threads >= 1 && before.files.is_some_and(|files| files >= 1));
        assert!(own.files_max().is_none_or(|max| max >= before.files.unwrap()));
        assert_eq!(Process::find(u32::MAX).unwrap_err().kind(), io::ErrorKind::NotFound);
        let other = Process { started: own.started + 1, ..own };
        assert_eq!(other.usage().unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
