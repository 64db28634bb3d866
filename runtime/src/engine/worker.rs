//! The worker threads: start them all or none, run a core on each, drain and end them.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded};

use super::clock::Clock;
use super::core::{Core, CoreConfig, Serve};
use super::counters::{CoreCounters, Counters};
use super::driver::{Chosen, Driver, DriverError, choose};
use super::life::live;
use super::mailbox::{Inbox, Mailbox, mailbox};
use crate::io::{BindError, Bound, Listener};

/// A worker's stack, in bytes. The deepest document that the limits allow, checked against the longest chain of schemas,
/// takes up to 4 MiB of it; untouched pages cost nothing.
const STACK_BYTES: usize = 8 * 1024 * 1024;

/// How the workers run.
#[derive(Clone, Debug)]
pub(crate) struct WorkerConfig {
    /// Threads, each with a core of its own; at least one.
    pub(crate) workers: usize,
    /// Pin each to one of the CPUs this process may use.
    pub(crate) pin: bool,
    pub(crate) driver: Driver,
    pub(crate) core: CoreConfig,
}

/// Why a server could not start. Nothing is left running then.
#[derive(Debug)]
pub(crate) enum StartError {
    /// The address cannot be listened on.
    Bind(BindError),
    /// io_uring was demanded and is not available.
    Driver(DriverError),
    /// A worker could not be set up.
    Worker {
        /// Which one, from 0.
        worker: usize,
        /// What it was doing, and the system's reason.
        source: io::Error,
    },
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bind(e) => e.fmt(f),
            Self::Driver(e) => e.fmt(f),
            Self::Worker { worker, source } => write!(f, "worker {worker} cannot start: {source}"),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Bind(e) => Some(e),
            Self::Driver(e) => Some(e),
            Self::Worker { source, .. } => Some(source),
        }
    }
}

impl From<BindError> for StartError {
    fn from(e: BindError) -> Self {
        Self::Bind(e)
    }
}

/// Running workers. Dropping it leaves them running.
pub(crate) struct Workers<S: Serve> {
    mailboxes: Arc<[Mailbox<S>]>,
    counters: Vec<Arc<CoreCounters>>,
    /// Emptied by whoever waits first.
    threads: Mutex<Vec<JoinHandle<()>>>,
    chosen: Chosen,
    addr: Option<SocketAddr>,
}

impl<S: Serve> Workers<S> {
    /// Where the workers listen, if they do.
    pub(crate) fn addr(&self) -> Option<SocketAddr> {
        self.addr
    }

    pub(crate) fn driver(&self) -> Chosen {
        self.chosen
    }

    /// One per core, in the order of their ids.
    pub(crate) fn mailboxes(&self) -> &Arc<[Mailbox<S>]> {
        &self.mailboxes
    }

    pub(crate) fn counters(&self) -> Counters {
        let mut sum = Counters::default();
        self.counters.iter().for_each(|core| sum.absorb(core));
        sum
    }

    /// Orders every core to drain within so many milliseconds and to end. Returns at once.
    pub(crate) fn drain(&self, within_ms: u64) {
        self.mailboxes.iter().for_each(|mailbox| mailbox.drain(within_ms));
    }

    /// Waits for every worker to end: call [`Workers::drain`] first, or elsewhere.
    ///
    /// # Errors
    /// Names the workers that ended by a panic outside any task.
    pub(crate) fn join(&self) -> Result<(), String> {
        let mut lost = Vec::new();
        // Whoever comes second waits here for the first.
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for (worker, thread) in threads.drain(..).enumerate() {
            if thread.join().is_err() {
                lost.push(worker.to_string());
            }
        }
        if lost.is_empty() {
            Ok(())
        } else {
            Err(format!("worker {} ended by a panic", lost.join(", ")))
        }
    }
}

/// Starts the workers on `bound` (without it they listen nowhere and live on jobs), and returns when all are ready. If one
/// cannot start, the others are ended before the error is returned.
pub(crate) fn start<S: Serve>(
    serve: Arc<S>,
    bound: Option<Bound>,
    config: &WorkerConfig,
) -> Result<Workers<S>, StartError> {
    let (chosen, fallback) = choose(config.driver).map_err(StartError::Driver)?;
    if let Some(reason) = fallback {
        tracing::warn!("running on epoll: {reason}");
    }
    tracing::info!(driver = %chosen, workers = config.workers, "starting");
    let cpus = if config.pin { allowed_cpus() } else { Vec::new() };
    let addr = bound.as_ref().map(|bound| bound.addr);
    let mut sockets = bound.into_iter().flat_map(|bound| bound.sockets);

    let count = config.workers.max(1);
    let (ready, readiness) = bounded(count);
    let mut crew = Crew::default();
    let set_up = (0..count).try_for_each(|id| {
        let cpu = (!cpus.is_empty()).then(|| cpus[id % cpus.len()]);
        crew.enlist(id, cpu, chosen, &serve, sockets.next(), config, ready.clone())
    });
    drop(ready);
    if let Err(e) = set_up.and_then(|()| await_ready(&readiness, count)) {
        crew.dismiss();
        return Err(e);
    }
    for gate in crew.gates {
        let _ = gate.send(());
    }
    Ok(Workers {
        mailboxes: crew.mailboxes.into(),
        counters: crew.counters,
        threads: Mutex::new(crew.threads),
        chosen,
        addr,
    })
}

/// The workers while they are set up: each waits at its gate until all are ready.
struct Crew<S: Serve> {
    mailboxes: Vec<Mailbox<S>>,
    counters: Vec<Arc<CoreCounters>>,
    threads: Vec<JoinHandle<()>>,
    gates: Vec<Sender<()>>,
}

impl<S: Serve> Default for Crew<S> {
    fn default() -> Self {
        Self { mailboxes: Vec::new(), counters: Vec::new(), threads: Vec::new(), gates: Vec::new() }
    }
}

impl<S: Serve> Crew<S> {
    #[allow(clippy::too_many_arguments)] // one call, all of them distinct types
    fn enlist(
        &mut self,
        id: usize,
        cpu: Option<usize>,
        chosen: Chosen,
        serve: &Arc<S>,
        socket: Option<std::net::TcpListener>,
        config: &WorkerConfig,
        ready: Sender<Result<(), StartError>>,
    ) -> Result<(), StartError> {
        let fail = |source| StartError::Worker { worker: id, source };
        let (mailbox, inbox) = mailbox(config.core.mailbox_depth).map_err(fail)?;
        let (gate, go) = bounded(1);
        let counters = Arc::new(CoreCounters::default());
        let seed = Seed {
            id,
            cpu,
            chosen,
            config: config.core.clone(),
            serve: serve.clone(),
            socket,
            inbox,
            counters: counters.clone(),
        };
        let thread = std::thread::Builder::new()
            .name(format!("ringmcp-{id}"))
            .stack_size(STACK_BYTES)
            .spawn(move || seed.run(ready, &go))
            .map_err(fail)?;
        self.mailboxes.push(mailbox);
        self.counters.push(counters);
        self.threads.push(thread);
        self.gates.push(gate);
        Ok(())
    }

    /// Ends what was started: a worker whose gate is dropped leaves.
    fn dismiss(self) {
        drop(self.gates);
        for thread in self.threads {
            // One that panicked is the reason we are here.
            let _ = thread.join();
        }
    }
}

/// One report per worker. A worker that panics drops its sender unheard.
fn await_ready(
    readiness: &Receiver<Result<(), StartError>>,
    count: usize,
) -> Result<(), StartError> {
    for worker in 0..count {
        match readiness.recv() {
            Ok(report) => report?,
            Err(_) => {
                let source = io::Error::other("a worker panicked while it was set up");
                return Err(StartError::Worker { worker, source });
            }
        }
    }
    Ok(())
}

/// What a worker thread is born with.
struct Seed<S: Serve> {
    id: usize,
    cpu: Option<usize>,
    chosen: Chosen,
    config: CoreConfig,
    serve: Arc<S>,
    socket: Option<std::net::TcpListener>,
    inbox: Inbox<S>,
    counters: Arc<CoreCounters>,
}

impl<S: Serve> Seed<S> {
    /// The whole life of a worker thread: set up, report, wait for the others, serve, drain.
    fn run(self, ready: Sender<Result<(), StartError>>, go: &Receiver<()>) {
        if let Some(cpu) = self.cpu
            && let Err(e) = monoio::utils::bind_to_cpu_set([cpu])
        {
            tracing::warn!(worker = self.id, cpu, "cannot pin this worker: {e}");
        }
        let worker = self.id;
        let fail = |source| StartError::Worker { worker, source };
        let mut runtime = match self.chosen.runtime() {
            Ok(runtime) => runtime,
            Err(e) => {
                let _ = ready.send(Err(fail(e)));
                return;
            }
        };
        runtime.block_on(async {
            let nonblocking = self.chosen.nonblocking();
            let listener = self.socket.map(|socket| Listener::adopt(socket, nonblocking));
            let listener = match listener.transpose() {
                Ok(listener) => listener,
                Err(e) => {
                    let _ = ready.send(Err(fail(e)));
                    return;
                }
            };
            let clock = Clock::system(self.config.date);
            let core =
                Core::new(self.id, self.serve, &self.config, clock, self.counters, &self.inbox);
            let _ = ready.send(Ok(()));
            drop(ready);
            if go.recv().is_ok() {
                live(&core, self.inbox, listener, nonblocking).await;
            }
            core.wakes.close();
        });
    }
}

/// The CPUs this thread may run on; none if the system does not say.
fn allowed_cpus() -> Vec<usize> {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    parse_cpus(list.unwrap_or_default().trim())
}

/// Reads the kernel's list form, as `0-3,8`.
pub(super) fn parse_cpus(list: &str) -> Vec<usize> {
    let mut cpus = Vec::new();
    for part in list.split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(from), Ok(to)) = (from.parse::<usize>(), to.parse::<usize>()) {
            cpus.extend(from..=to);
        }
    }
    cpus
}
