//! A server that is started for its turn: pinned, awaited, stopped.

use std::fmt;
use std::io::{self, Read};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::plan::Start;

/// Between looks at a server that is starting or stopping.
const LOOK: Duration = Duration::from_millis(10);

/// How long one attempt to connect may take.
const CONNECT: Duration = Duration::from_millis(500);

/// How long a server may take to end after SIGTERM; then it is killed.
const STOP_WITHIN: Duration = Duration::from_secs(5);

/// Of what a server wrote to stderr, this much is kept for the message of its failure.
const LAST_WORDS_BYTES: usize = 2048;

/// Why a server is not there.
#[derive(Debug)]
pub(crate) enum ServerError {
    Taken(SocketAddr),
    Spawn(String, io::Error),
    Pin(Vec<usize>, io::Error),
    /// It ended before it accepted a connection; with the end of its stderr.
    Ended(ExitStatus, String),
    NotReady(SocketAddr, Duration, String),
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken(addr) => write!(
                f,
                "something accepts connections at {addr} already; stop it, or leave out start"
            ),
            Self::Spawn(program, error) => write!(f, "cannot start {program}: {error}"),
            Self::Pin(cores, error) => write!(f, "cannot pin to cores {cores:?}: {error}"),
            Self::Ended(status, words) => {
                write!(f, "it ended before it accepted a connection ({status})")?;
                show_words(f, words)
            }
            Self::NotReady(addr, within, words) => {
                write!(f, "it did not accept a connection at {addr} within {within:?}")?;
                show_words(f, words)
            }
        }
    }
}

fn show_words(f: &mut fmt::Formatter<'_>, words: &str) -> fmt::Result {
    if words.is_empty() { Ok(()) } else { write!(f, "; its last words:\n{words}") }
}

/// A running server. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    last_words: Arc<Mutex<Vec<u8>>>,
}

impl Server {
    /// Starts a server and waits until it accepts connections.
    ///
    /// # Errors
    /// Why it does not, with its own last words.
    pub(crate) fn start(start: &Start, addr: SocketAddr) -> Result<Self, ServerError> {
        // Figures of another program at this address would go under this one's name.
        if TcpStream::connect_timeout(&addr, CONNECT).is_ok() {
            return Err(ServerError::Taken(addr));
        }
        let mut child = spawn(start)?;
        let last_words = Arc::new(Mutex::new(Vec::new()));
        if let Some(stderr) = child.stderr.take() {
            let kept = last_words.clone();
            thread::spawn(move || keep_last_words(stderr, &kept));
        }
        let mut server = Self { child, last_words };
        let begun = Instant::now();
        while TcpStream::connect_timeout(&addr, CONNECT).is_err() {
            if let Ok(Some(status)) = server.child.try_wait() {
                return Err(ServerError::Ended(status, server.last_words()));
            }
            if begun.elapsed() >= start.ready_within {
                return Err(ServerError::NotReady(addr, start.ready_within, server.last_words()));
            }
            thread::sleep(LOOK);
        }
        Ok(server)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    fn last_words(&self) -> String {
        // The reader is given a moment: the end of a process overtakes its words.
        thread::sleep(LOOK);
        let kept = self.last_words.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        String::from_utf8_lossy(&kept).trim().to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // It may have ended by itself; then there is nobody to tell.
            let _ = kill_process(pid, Signal::TERM);
        }
        let asked = Instant::now();
        while asked.elapsed() < STOP_WITHIN {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(LOOK);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Keeps the calling thread, and every thread and process it starts from now on, on these cores.
///
/// # Errors
/// The kernel's: a core that is not there, or is not this process's.
pub(crate) fn pin(cores: &[usize]) -> Result<(), ServerError> {
    if cores.is_empty() {
        return Ok(());
    }
    let failed = |error: io::Error| ServerError::Pin(cores.to_vec(), error);
    let mut set = CpuSet::new();
    for core in cores {
        if *core >= CpuSet::MAX_CPU {
            return Err(failed(io::ErrorKind::InvalidInput.into()));
        }
        set.set(*core);
    }
    sched_setaffinity(None, &set).map_err(|error| failed(error.into()))
}

/// Pins the calling thread for as long as this lives.
#[derive(Debug)]
pub(crate) struct Pinned(Option<CpuSet>);

impl Pinned {
    /// Pins to `cores`; to none of them: leaves things as they are.
    ///
    /// # Errors
    /// As [`pin`].
    pub(crate) fn to(cores: &[usize]) -> Result<Self, ServerError> {
        let before = if cores.is_empty() { None } else { sched_getaffinity(None).ok() };
        pin(cores)?;
        Ok(Self(before))
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // What was allowed before is allowed again.
            let _ = sched_setaffinity(None, before);
        }
    }
}

/// A child inherits the cores of the thread that starts it, so it is started by one that is pinned for that.
fn spawn(start: &Start) -> Result<Child, ServerError> {
    let mut command = Command::new(&start.program);
    command.args(&start.arguments).envs(&start.env);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    // Its own group: Ctrl-C is for this program, which ends the server when it is done with it.
    command.process_group(0);
    if let Some(dir) = &start.dir {
        command.current_dir(dir);
    }
    let run = || {
        pin(&start.cores)?;
        command.spawn().map_err(|error| ServerError::Spawn(start.program.clone(), error))
    };
    thread::scope(|scope| match scope.spawn(run).join() {
        Ok(child) => child,
        Err(_) => Err(ServerError::Spawn(start.program.clone(), io::ErrorKind::Other.into())),
    })
}

/// Reads a server's stderr to its end, so that it never blocks, and keeps the last of it.
fn keep_last_words(mut stderr: ChildStderr, kept: &Mutex<Vec<u8>>) {
    let mut chunk = [0; 1024];
    while let Ok(bytes @ 1..) = stderr.read(&mut chunk) {
        let mut kept = kept.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        kept.extend_from_slice(&chunk[..bytes]);
        let excess = kept.len().saturating_sub(LAST_WORDS_BYTES);
        kept.drain(..excess);
    }
}
