//! Leads a run: opens the connections, moves the phases on, watches over time, sums up.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::SIGINT;

use crate::check::Checker;
use crate::cli::RunArgs;
use crate::connection::{self, Connection, Seat};
use crate::cpu;
use crate::fault::Fault;
use crate::outcome::Outcome;
use crate::pace::{Pace, Phase};
use crate::request::Template;
use crate::tally::Tally;
use crate::worker;

/// How exactly phases begin and end.
const TICK: Duration = Duration::from_millis(5);

/// Ticks between looks at connections that may be late.
const WATCH_TICKS: u32 = 20;

/// What all connections of a run share.
pub(crate) struct Shared {
    pub(crate) addr: SocketAddr,
    /// How long an answer or a connection may take.
    pub(crate) timeout: Duration,
    /// Requests a connection keeps unanswered.
    pub(crate) pipeline: usize,
    pub(crate) template: Template,
    pub(crate) pace: Pace,
    pub(crate) checker: RefCell<Checker>,
    pub(crate) tally: RefCell<Tally>,
    /// Connections still at work.
    alive: Cell<u64>,
}

/// Why there is nothing to report.
#[derive(Debug)]
pub(crate) enum Error {
    Resolve(String, io::Error),
    Connect(SocketAddr, Fault),
    Driver(io::Error),
    Interrupt(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Resolve(url, error) => write!(f, "cannot resolve the host of {url}: {error}"),
            Self::Connect(addr, fault) => write!(f, "cannot connect to {addr}: {}", fault.detail),
            Self::Driver(error) => write!(f, "cannot start the worker: {error}"),
            Self::Interrupt(error) => write!(f, "cannot listen for Ctrl-C: {error}"),
        }
    }
}

/// Runs to the end, or to the first Ctrl-C (a second one kills).
///
/// # Errors
/// When nothing could be measured: no address, no first connections, no worker.
pub(crate) fn run(args: &RunArgs) -> Result<Outcome, Error> {
    let addr = args.url.resolve().map_err(|e| Error::Resolve(args.url.to_string(), e))?;
    let interrupted = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register_conditional_default(SIGINT, interrupted.clone())
        .and_then(|_| signal_hook::flag::register(SIGINT, interrupted.clone()))
        .map_err(Error::Interrupt)?;
    let (mut runtime, driver) = worker::runtime(args.driver).map_err(Error::Driver)?;
    let shared = Rc::new(Shared {
        addr,
        timeout: args.timeout,
        pipeline: usize::try_from(args.pipeline).unwrap_or(usize::MAX),
        template: Template::new(args),
        pace: Pace::new(args.requests),
        checker: RefCell::new(Checker::new(args.scenario, args.expect.clone())),
        tally: RefCell::new(Tally::new(false, &[])),
        alive: Cell::new(args.connections),
    });
    let clock = runtime.block_on(async {
        let seats = take_seats(&shared, args.connections).await?;
        Ok(lead(&shared, &seats, args, &interrupted).await)
    })?;
    let tally = shared.tally.replace(Tally::new(false, &[]));
    Ok(Outcome {
        tally,
        warmup: clock.warmup,
        measured: clock.measured,
        cpu: clock.cpu,
        spun: Duration::ZERO,
        workers: 1,
        driver,
        rate: None,
        ramp: None,
        interrupted: interrupted.load(Ordering::Relaxed),
    })
}

/// Opens every connection, then starts them all: connecting is no part of what is measured.
async fn take_seats(shared: &Rc<Shared>, connections: u64) -> Result<Vec<Rc<Seat>>, Error> {
    let mut streams = Vec::new();
    for _ in 0..connections {
        let stream = connection::open(shared).await.map_err(|f| Error::Connect(shared.addr, f))?;
        streams.push(stream);
    }
    let start = |stream| {
        let (connection, seat) = Connection::new(shared.clone(), stream);
        let shared = shared.clone();
        monoio::spawn(async move {
            connection.drive().await;
            shared.alive.set(shared.alive.get() - 1);
        });
        seat
    };
    Ok(streams.into_iter().map(start).collect())
}

/// The times of a run.
struct Clock {
    warmup: Duration,
    measured: Duration,
    /// Of this process, during the measured part.
    cpu: Option<Duration>,
}

/// Moves the phases on until every connection is done.
async fn lead(
    shared: &Shared,
    seats: &[Rc<Seat>],
    args: &RunArgs,
    interrupted: &AtomicBool,
) -> Clock {
    let begun = Instant::now();
    let mut started = (begun, cpu::used());
    if args.warmup().is_zero() {
        shared.pace.start_measuring();
    }
    let mut ticks = 0_u32;
    while shared.alive.get() > 0 {
        monoio::time::sleep(TICK).await;
        let now = Instant::now();
        match shared.pace.phase() {
            _ if interrupted.load(Ordering::Relaxed) => shared.pace.stop(),
            Phase::Warmup if now - begun >= args.warmup() => {
                started = (now, cpu::used());
                shared.pace.start_measuring();
            }
            Phase::Measured if args.duration.is_some_and(|d| now - started.0 >= d) => {
                shared.pace.stop()
            }
            _ => {}
        }
        ticks = ticks.wrapping_add(1);
        if ticks.is_multiple_of(WATCH_TICKS) {
            seats.iter().for_each(|seat| seat.watch(now, args.timeout));
        }
    }
    // Waiting for a late answer that never came is no time of the right ones.
    let ended = shared.pace.over_at().max(shared.tally.borrow().last_ok).unwrap_or(begun);
    Clock {
        warmup: started.0 - begun,
        measured: ended.saturating_duration_since(started.0),
        cpu: cpu::used().zip(started.1).map(|(end, start)| end.saturating_sub(start)),
    }
}
