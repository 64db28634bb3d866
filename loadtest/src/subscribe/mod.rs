//! Scenario subscribe: opens many subscription streams, publishes, and holds every arrival to its publish.
//!
//! `streams` are opened and read by worker threads, each message judged by a `judge`; the main thread is in the
//! `lead`: it publishes (`publisher`), waits on the `stage` that all threads share, looks at the `target`'s memory.

pub(crate) mod cli;
mod figures;
mod filter;
mod found;
mod judge;
mod lead;
mod limits;
mod publisher;
mod request;
mod stage;
mod streams;
mod tally;
mod target;
mod wire;

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crate::cli::Driver;
use crate::run;
use crate::url::Url;
use crate::worker::{self, Chosen};
use cli::SubscribeArgs;
pub(crate) use figures::Figures;
use filter::{Filter, NUMBER};
pub(crate) use found::Found;
use found::Setting;
use lead::Lead;
use request::Publish;
use stage::Stage;
use streams::Task;
use tally::Tally;
use target::Target;

/// A run to be.
pub(crate) struct Job<'j> {
    pub(crate) url: &'j Url,
    pub(crate) args: &'j SubscribeArgs,
    pub(crate) driver: Driver,
    /// Threads that the streams are spread over.
    pub(crate) workers: u64,
    /// How long a stream may take to open, an answer to come, an event to arrive.
    pub(crate) timeout: Duration,
    /// The target's process, to be looked at.
    pub(crate) pid: Option<u32>,
}

/// Why there is nothing to report.
#[derive(Debug)]
pub(crate) enum Error {
    Option(String),
    Files(String),
    Resolve(String, io::Error),
    Target(u32, io::Error),
    Driver(io::Error),
    Run(run::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Option(text) | Self::Files(text) => f.write_str(text),
            Self::Resolve(url, error) => write!(f, "cannot resolve the host of {url}: {error}"),
            Self::Target(pid, error) => write!(f, "cannot look at process {pid}: {error}"),
            Self::Driver(error) => write!(f, "cannot start a worker: {error}"),
            Self::Run(error) => error.fmt(f),
        }
    }
}

/// Runs to the end, or to the first Ctrl-C (a second one kills).
///
/// # Errors
/// When nothing could be measured: options that do not fit, too few open files, no address, no worker.
pub(crate) fn run(job: &Job<'_>) -> Result<Found, Error> {
    let args = job.args;
    let publish = publish_of(args)?;
    let addr = job.url.resolve().map_err(|e| Error::Resolve(job.url.to_string(), e))?;
    let target =
        job.pid.map(|pid| Target::find(pid).map_err(|e| Error::Target(pid, e))).transpose()?;
    limits::provide(args.streams).map_err(Error::Files)?;
    if let Some(target) = &target {
        limits::check_target(target.process(), args.streams).map_err(Error::Files)?;
    }
    let interrupted = run::interrupted().map_err(Error::Run)?;
    let task = Arc::new(task_of(job, addr, publish.as_ref())?);
    let (threads, driver) = start(&task, job.workers, job.driver).map_err(Error::Driver)?;
    let mut lead = Lead::new(job, &task, &interrupted, target);
    let (publishes, mut tally) = lead.all(publish.as_ref());
    let closing = Instant::now();
    for thread in threads {
        tally.add(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
    }
    lead.times.closing = closing.elapsed();
    lead.look_after();
    Ok(Found {
        setting: Setting {
            driver,
            workers: job.workers,
            streams: args.streams,
            open_rate: args.open_rate,
            publish: publish.as_ref().map(Publish::summary),
            filter: args.filter.clone(),
            numbered: task.filter.is_numbered(),
        },
        times: lead.times,
        target: lead.target,
        opened: task.stage.opened(),
        broken: task.stage.broken(),
        publishes,
        tally,
        interrupted: interrupted.load(Ordering::Relaxed),
    })
}

/// What the threads do.
fn task_of(job: &Job<'_>, addr: SocketAddr, publish: Option<&Publish>) -> Result<Task, Error> {
    let args = job.args;
    let filter = Filter::new(&args.filter, args.events).map_err(Error::Option)?;
    if filter.is_numbered() && !publish.is_none_or(Publish::is_numbered) {
        let text =
            format!("--filter has a URI with {NUMBER}, so --publish-request must say {NUMBER} too");
        return Err(Error::Option(text));
    }
    Ok(Task {
        addr,
        url: job.url.clone(),
        filter: Arc::new(filter),
        streams: args.streams,
        open_rate: args.open_rate,
        timeout: job.timeout,
        stage: Stage::new(args.events, job.workers),
    })
}

/// What publishes; nothing when no events are wanted.
fn publish_of(args: &SubscribeArgs) -> Result<Option<Publish>, Error> {
    if args.events == 0 {
        return Ok(None);
    }
    match &args.publish_request {
        None => Ok(Some(Publish::tool(&args.publish_tool))),
        Some(path) => match Publish::read(path) {
            Ok(publish) => Ok(Some(publish)),
            Err(error) => {
                Err(Error::Option(format!("--publish-request {}: {error}", path.display())))
            }
        },
    }
}

/// Starts the threads that the streams are spread over. All of them have a driver when this returns.
fn start(
    task: &Arc<Task>,
    workers: u64,
    wanted: Driver,
) -> io::Result<(Vec<JoinHandle<Tally>>, Chosen)> {
    let (sender, chosen) = mpsc::channel();
    let mut threads = Vec::new();
    for first in 1..=workers {
        let (task, sender) = (task.clone(), sender.clone());
        let body = move || match worker::runtime(wanted) {
            Ok((mut runtime, driver)) => {
                let _ = sender.send(Ok(driver));
                drop(sender);
                runtime.block_on(streams::run(task, first, workers))
            }
            Err(error) => {
                let _ = sender.send(Err(error));
                Tally::new()
            }
        };
        threads.push(Builder::new().name(format!("streams-{first}")).spawn(body)?);
    }
    drop(sender);
    let mut driver = Err(io::Error::other("no worker"));
    for one in chosen {
        driver = Ok(one.inspect_err(|_| task.stage.close())?);
    }
    Ok((threads, driver?))
}
