//! One worker: a thread with its own runtime (on io_uring or epoll), connections, schedule and tally.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

use monoio::net::TcpStream;
use monoio::time::TimeDriver;
use monoio::{FusionRuntime, IoUringDriver, LegacyDriver, RuntimeBuilder};

use crate::cli::Driver;
use crate::connection::Connection;
use crate::fault::Fault;
use crate::lead::{Clock, Lead, Plan};
use crate::live;
use crate::pace::{Kept, Pace, Place, Schedule};
use crate::run::{Error, Load};
use crate::scenario::{self, Manner, Scenario};
use crate::seat::{Idle, Seat};
use crate::tally::Tally;
use crate::wire;

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
        // Kernels before 6.0 do not know these: completions that interrupt nobody, a ring of one thread.
        let mut newer = io_uring::IoUring::builder();
        newer.setup_coop_taskrun().setup_taskrun_flag().setup_single_issuer();
        let build = |ring| {
            let builder = RuntimeBuilder::<IoUringDriver>::new().with_entries(ENTRIES);
            builder.uring_builder(ring).enable_timer().build()
        };
        let ring = build(newer).or_else(|_| build(io_uring::IoUring::builder()))?;
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

/// What all connections of a worker share.
pub(crate) struct Shared {
    addr: SocketAddr,
    /// How long an answer or a connection may take.
    pub(crate) timeout: Duration,
    /// Operations a connection keeps under way.
    pub(crate) pipeline: usize,
    pub(crate) scenario: RefCell<Box<dyn Scenario>>,
    pub(crate) manner: Manner,
    /// Whether a new connection has something to say first.
    pub(crate) greets: bool,
    pub(crate) pace: Pace,
    pub(crate) tally: RefCell<Tally>,
    /// Connections that could send at once.
    pub(crate) idle: Idle,
    /// Connections still at work.
    pub(crate) alive: Cell<u64>,
    /// Who needs a timer to fire soon.
    pub(crate) timers: Cell<u32>,
    /// Changes whenever something is sent or has come.
    pub(crate) activity: Cell<u64>,
}

impl Shared {
    /// Opens a socket to the run's server.
    ///
    /// # Errors
    /// [`crate::fault::Kind::Connect`].
    pub(crate) async fn open(&self) -> Result<TcpStream, Fault> {
        self.timers.set(self.timers.get() + 1);
        let opened = wire::open(self.addr, self.timeout).await;
        self.timers.set(self.timers.get() - 1);
        opened
    }
}

/// What a worker is given.
pub(crate) struct Post {
    pub(crate) load: Load,
    pub(crate) place: Place,
    /// Of this worker.
    pub(crate) connections: u64,
    /// Measured operations left, for all workers.
    pub(crate) left: Option<Arc<AtomicU64>>,
    pub(crate) live: Arc<live::Cell>,
    pub(crate) interrupted: Arc<AtomicBool>,
    /// Told when the connections are there.
    pub(crate) ready: Sender<Result<(), Error>>,
    /// Says when the load begins; closed: it will not.
    pub(crate) go: Receiver<Instant>,
}

/// What a worker comes back with.
pub(crate) struct Done {
    pub(crate) tally: Tally,
    pub(crate) clock: Clock,
    pub(crate) driver: Chosen,
    /// At a fixed rate.
    pub(crate) kept: Option<Kept>,
}

/// Does a worker's share of a run; `None` when the run is given up before it begins.
pub(crate) fn work(post: Post) -> Option<Done> {
    let (mut runtime, driver) = match runtime(post.load.driver) {
        Ok(made) => made,
        Err(error) => {
            // Whoever is not there to hear it has given up already.
            let _ = post.ready.send(Err(Error::Driver(error)));
            return None;
        }
    };
    let shared = Rc::new(shared(&post));
    let clock = runtime.block_on(async {
        let connections = match take_seats(&shared, post.connections).await {
            Ok(connections) => connections,
            Err(error) => {
                let _ = post.ready.send(Err(error));
                return None;
            }
        };
        post.ready.send(Ok(())).ok()?;
        let begun = post.go.recv().ok()?;
        let seats = start(&shared, connections);
        let (warmup, duration) = (post.load.warmup, post.load.duration);
        let plan = Plan { begun, warmup, duration };
        let (live, interrupted) = (&*post.live, &*post.interrupted);
        Some(Lead { shared: &shared, seats: &seats, plan, live, interrupted }.run().await)
    })?;
    let kept = shared.pace.schedule().map(Schedule::kept);
    let tally = shared.tally.replace(Tally::new(false, &[]));
    Some(Done { tally, clock, driver, kept })
}

fn shared(post: &Post) -> Shared {
    let load = &post.load;
    let pace = match load.rate {
        None => Pace::closed(post.place, post.left.clone()),
        Some(rate) => {
            let (duration, requests) = (load.duration, load.requests);
            let schedule = Schedule::new(post.place, rate, load.warmup, duration, requests);
            Pace::open(post.place, schedule)
        }
    };
    let scenario = scenario::build(&load.ask, &load.url, load.verify);
    Shared {
        addr: load.addr,
        timeout: load.timeout,
        pipeline: load.pipeline,
        manner: scenario.manner(),
        greets: scenario.greets(),
        scenario: RefCell::new(scenario),
        pace,
        tally: RefCell::new(Tally::new(load.rate.is_some(), &load.ask.parts())),
        idle: Idle::default(),
        alive: Cell::new(post.connections),
        timers: Cell::new(0),
        activity: Cell::new(0),
    }
}

type Seated = (Connection, Rc<Seat>);

/// Opens every connection and lets it say its first words: that is no part of what is measured. Where every
/// operation has a connection of its own, one is opened to see that there is a server.
async fn take_seats(shared: &Rc<Shared>, connections: u64) -> Result<Vec<Seated>, Error> {
    let failed = |fault| Error::Connect(shared.addr, fault);
    let mut seated = Vec::new();
    for _ in 0..connections {
        let (mut connection, seat) = Connection::new(shared.clone());
        if shared.manner == Manner::Keep {
            connection.meet().await.map_err(failed)?;
        } else if seated.is_empty() {
            shared.open().await.map_err(failed)?;
        }
        seated.push((connection, seat));
    }
    Ok(seated)
}

/// Sets them all to work.
fn start(shared: &Rc<Shared>, connections: Vec<Seated>) -> Vec<Rc<Seat>> {
    let start = |(connection, seat): Seated| {
        let shared = shared.clone();
        monoio::spawn(async move {
            connection.drive().await;
            shared.alive.set(shared.alive.get() - 1);
        });
        seat
    };
    connections.into_iter().map(start).collect()
}
