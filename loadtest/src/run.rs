//! One run, from the options to the outcome: workers are started together, watched, and their counts summed up.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use signal_hook::consts::SIGINT;

use crate::cli::{Driver, RunArgs};
use crate::fault::Fault;
use crate::live::{self, Snapshot};
use crate::outcome::{Outcome, Rate, per_second};
use crate::pace::{Kept, Place};
use crate::ramp;
use crate::scenario::Ask;
use crate::tally::Tally;
use crate::url::Url;
use crate::worker::{self, Done, Post};

/// Files this program has open besides its connections: the drivers', the report's, standard ones.
const OWN_FILES: u64 = 64;

/// Between two looks at a run that goes on.
const LOOK: Duration = Duration::from_millis(100);

/// Everything that makes the load.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    pub(crate) url: Url,
    pub(crate) addr: SocketAddr,
    pub(crate) ask: Ask,
    /// Whether answers are checked.
    pub(crate) verify: bool,
    /// Over all workers.
    pub(crate) connections: u64,
    pub(crate) workers: u64,
    pub(crate) pipeline: usize,
    /// Operations a second; `None`: a closed loop.
    pub(crate) rate: Option<f64>,
    pub(crate) warmup: Duration,
    pub(crate) duration: Option<Duration>,
    pub(crate) requests: Option<u64>,
    pub(crate) timeout: Duration,
    pub(crate) driver: Driver,
}

/// Why there is nothing to report.
#[derive(Debug)]
pub(crate) enum Error {
    Resolve(String, io::Error),
    Connect(SocketAddr, Fault),
    Driver(io::Error),
    Interrupt(io::Error),
    /// A worker ended without its counts: a fault of this program.
    Worker,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Resolve(url, error) => write!(f, "cannot resolve the host of {url}: {error}"),
            Self::Connect(addr, fault) => {
                let kind = fault.kind.name();
                write!(f, "cannot connect to {addr}: {kind}: {}", fault.detail)
            }
            Self::Driver(error) => write!(f, "cannot start a worker: {error}"),
            Self::Interrupt(error) => write!(f, "cannot listen for Ctrl-C: {error}"),
            Self::Worker => write!(f, "a worker failed"),
        }
    }
}

/// Runs to the end, or to the first Ctrl-C (a second one kills), and shows `watch` how it goes ten times a second.
/// With `--ramp`, runs every step.
///
/// # Errors
/// When nothing could be measured: no address, no first connections, no worker.
pub(crate) fn watched(args: &RunArgs, watch: &mut dyn FnMut(&Snapshot)) -> Result<Outcome, Error> {
    let addr = args.url.resolve().map_err(|e| Error::Resolve(args.url.to_string(), e))?;
    let load = args.load(addr);
    match &args.ramp() {
        None => once(&load, watch),
        Some(plan) => ramp::climb(plan, &load, watch),
    }
}

/// The flag that Ctrl-C sets.
pub(crate) fn interrupted() -> Result<Arc<AtomicBool>, Error> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    if let Some(flag) = FLAG.get() {
        return Ok(flag.clone());
    }
    let flag = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register_conditional_default(SIGINT, flag.clone())
        .and_then(|_| signal_hook::flag::register(SIGINT, flag.clone()))
        .map_err(Error::Interrupt)?;
    Ok(FLAG.get_or_init(|| flag).clone())
}

/// A worker, from outside.
struct Hand {
    thread: JoinHandle<Option<Done>>,
    go: Sender<Instant>,
}

/// One load, start to end.
///
/// # Errors
/// As [`watched`].
pub(crate) fn once(load: &Load, watch: &mut dyn FnMut(&Snapshot)) -> Result<Outcome, Error> {
    let interrupted = interrupted()?;
    allow_files(load.connections);
    let workers = load.workers.min(load.connections).max(1);
    let left = load.requests.filter(|_| load.rate.is_none());
    let left = left.map(|requests| Arc::new(AtomicU64::new(requests)));
    let cells: Vec<_> = (0..workers).map(|_| Arc::new(live::Cell::default())).collect();
    let (ready, readied) = mpsc::channel();
    let hire = |index: u64| {
        let (go, begins) = mpsc::channel();
        let place = Place { index, count: workers };
        let post = Post {
            load: load.clone(),
            place,
            connections: load.connections / workers + u64::from(index < load.connections % workers),
            left: left.clone(),
            live: cells[index as usize].clone(),
            interrupted: interrupted.clone(),
            ready: ready.clone(),
            go: begins,
        };
        let name = format!("worker {index}");
        let thread = thread::Builder::new().name(name).spawn(move || worker::work(post));
        Ok(Hand { thread: thread.map_err(Error::Driver)?, go })
    };
    let hands = (0..workers).map(hire).collect::<Result<Vec<_>, _>>()?;
    drop(ready);
    for _ in &hands {
        readied.recv().map_err(|_| Error::Worker)??;
    }
    let begun = Instant::now();
    for hand in &hands {
        hand.go.send(begun).map_err(|_| Error::Worker)?;
    }
    look(&readied, || watch(&Snapshot::of(&cells, begun.elapsed(), load.warmup)));
    let join = |hand: Hand| hand.thread.join().ok().flatten().ok_or(Error::Worker);
    let done = hands.into_iter().map(join).collect::<Result<Vec<_>, _>>()?;
    watch(&Snapshot::of(&cells, begun.elapsed(), load.warmup));
    Ok(sum(load, begun, done, interrupted.load(Ordering::Relaxed)))
}

/// Lets this process have so many connections, as far as its hard limit goes; beyond, connecting says the remedy.
fn allow_files(connections: u64) {
    let limit = getrlimit(Resource::Nofile);
    let needed = connections + OWN_FILES;
    if limit.current.is_some_and(|soft| soft < needed) {
        let current = limit.maximum.map_or(needed, |hard| hard.min(needed));
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(current), ..limit });
    }
}

/// Looks again and again until every worker has hung up.
fn look(workers: &Receiver<Result<(), Error>>, mut look: impl FnMut()) {
    while let Err(RecvTimeoutError::Timeout) = workers.recv_timeout(LOOK) {
        look();
    }
}

/// Makes one outcome of all workers'.
fn sum(load: &Load, begun: Instant, done: Vec<Done>, interrupted: bool) -> Outcome {
    let workers = done.len() as u64;
    let started = done.iter().map(|done| done.clock.started).min().unwrap_or(begun);
    let ended = done.iter().map(|done| done.clock.ended).max().unwrap_or(begun);
    // Every worker reads the same clock of the whole process.
    let cpu = done.iter().map(|done| done.clock.cpu).max().flatten();
    let spun = done.iter().map(|done| done.clock.spun).sum();
    let driver = done.first().map_or(worker::Chosen::Epoll, |done| done.driver);
    let measured = ended.saturating_duration_since(started);
    let rate = load.rate.map(|asked| {
        let all = |of: fn(&Kept) -> u64| done.iter().filter_map(|d| d.kept.as_ref()).map(of).sum();
        let sending = load.duration.filter(|_| !interrupted).unwrap_or(measured);
        Rate {
            asked,
            sent: per_second(all(|kept| kept.started), sending),
            waited: all(|kept| kept.waited),
            tardy: all(|kept| kept.tardy),
            unsent: all(|kept| kept.unsent),
        }
    });
    let mut tally = Tally::new(load.rate.is_some(), &load.ask.parts());
    done.into_iter().for_each(|done| tally.merge(done.tally));
    Outcome {
        tally,
        warmup: started.saturating_duration_since(begun),
        measured,
        cpu: cpu.map(|cpu: Duration| cpu.saturating_sub(spun)),
        spun,
        workers,
        driver,
        rate,
        ramp: None,
        interrupted,
    }
}
