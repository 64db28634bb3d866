//! One thread's streams: opens its share over the ramp, reads them all, closes them when the run says so.

use std::cell::{Cell, OnceCell, RefCell};
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use monoio::buf::IoBufMut;
use monoio::io::{AsyncWriteRentExt, CancelableAsyncReadRent, Canceller};
use monoio::net::TcpStream;

use super::filter::Filter;
use super::judge::{Judge, Rules, Verdict};
use super::request;
use super::stage::Stage;
use super::tally::{Tally, record};
use super::wire::Wire;
use crate::fault::{Fault, Kind};
use crate::url::Url;

/// Streams of one thread that are being opened at once: a server's backlog is not overrun.
const OPENING_MAX: u64 = 128;

/// How often a thread looks whether it should go on.
const TICK: Duration = Duration::from_millis(1);

/// Ticks between updates of the progress line's numbers.
const SHOW_TICKS: u32 = 100;

/// What all threads do.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) addr: SocketAddr,
    pub(crate) url: Url,
    pub(crate) filter: Arc<Filter>,
    pub(crate) streams: u64,
    /// Streams opened a second, by all threads together.
    pub(crate) open_rate: u64,
    pub(crate) timeout: Duration,
    pub(crate) stage: Stage,
}

/// What the streams of one thread share.
struct Desk {
    task: Arc<Task>,
    rules: Rules,
    tally: RefCell<Tally>,
    /// Ends every read under way.
    canceller: RefCell<Canceller>,
    opening: Cell<u64>,
    alive: Cell<u64>,
}

/// Opens every `step`th stream from `first` on, and serves them until the stage closes.
pub(crate) async fn run(task: Arc<Task>, first: u64, step: u64) -> Tally {
    let desk = Rc::new(Desk {
        rules: Rules { filter: task.filter.clone(), honoured: OnceCell::new() },
        task,
        tally: RefCell::new(Tally::new()),
        canceller: RefCell::default(),
        opening: Cell::new(0),
        alive: Cell::new(0),
    });
    open_all(&desk, first, step).await;
    let mut ticks = 0_u32;
    while !desk.task.stage.is_closing() {
        if ticks.is_multiple_of(SHOW_TICKS) {
            desk.show(first - 1);
        }
        ticks = ticks.wrapping_add(1);
        monoio::time::sleep(TICK).await;
    }
    while desk.alive.get() > 0 {
        let fresh = desk.canceller.take().cancel();
        desk.canceller.replace(fresh);
        monoio::time::sleep(TICK).await;
    }
    let mut tally = desk.tally.replace(Tally::new());
    tally.honoured = desk.rules.honoured.get().map(|(_, honoured)| honoured.clone());
    tally
}

/// Starts each stream when it is due: stream `id` at `(id - 1) / open_rate` seconds.
async fn open_all(desk: &Rc<Desk>, first: u64, step: u64) {
    let task = &desk.task;
    let mut id = first;
    while id <= task.streams && !task.stage.is_closing() {
        let due = Duration::from_secs_f64((id - 1) as f64 / task.open_rate as f64);
        if desk.opening.get() >= OPENING_MAX || task.stage.base().elapsed() < due {
            monoio::time::sleep(TICK).await;
            continue;
        }
        desk.opening.set(desk.opening.get() + 1);
        desk.alive.set(desk.alive.get() + 1);
        let desk = desk.clone();
        monoio::spawn(async move {
            live(&desk, id).await;
            desk.alive.set(desk.alive.get() - 1);
        });
        id += step;
    }
}

/// One stream, from its connection to its end.
async fn live(desk: &Desk, id: u64) {
    let begun = Instant::now();
    let task = &desk.task;
    let mut stream =
        Stream { desk, id, wire: Wire::default(), judge: Judge::new(id, &task.filter) };
    // Boxed: what opening needs is given back while the stream waits for events.
    let opened = monoio::time::timeout(task.timeout, Box::pin(stream.open())).await;
    desk.opening.set(desk.opening.get() - 1);
    let mut socket = match opened {
        Ok(Ok(socket)) => socket,
        Ok(Err(fault)) => return stream.fail(&fault),
        Err(_) => {
            let reason = format!("no acknowledgement in {:?}", task.timeout);
            return stream.fail(&Fault::new(Kind::Timeout, reason));
        }
    };
    record(&mut desk.tally.borrow_mut().to_ack, begun.elapsed());
    task.stage.note_opened();
    loop {
        if let Err(fault) = stream.step(&mut socket).await {
            return stream.end(&fault);
        }
    }
}

/// One stream of the desk.
struct Stream<'d> {
    desk: &'d Desk,
    id: u64,
    wire: Wire,
    judge: Judge,
}

impl Stream<'_> {
    /// Connects, asks, and reads up to the acknowledgement.
    async fn open(&mut self) -> Result<TcpStream, Fault> {
        let task = &self.desk.task;
        let failed = |error: io::Error| Fault::new(Kind::Connect, error);
        let mut socket = TcpStream::connect_addr(task.addr).await.map_err(failed)?;
        socket.set_nodelay(true).map_err(failed)?;
        let bytes = request::listen(&task.url, self.id, task.filter.asked());
        socket.write_all(bytes).await.0.map_err(|error| Fault::new(Kind::Io, error))?;
        while !self.judge.is_acknowledged() {
            self.step(&mut socket).await?;
        }
        Ok(socket)
    }

    /// Reads once, and judges every event that is whole.
    async fn step(&mut self, socket: &mut TcpStream) -> Result<(), Fault> {
        let buffer = self.wire.take();
        let have = buffer.len();
        let handle = self.desk.canceller.borrow().handle();
        let (result, slice) = socket.cancelable_read(buffer.slice_mut(have..), handle).await;
        self.wire.put(slice.into_inner());
        let at = Instant::now();
        let bytes = match result {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                return Err(Fault::new(Kind::Truncated, error));
            }
            Err(error) => return Err(Fault::new(Kind::Io, error)),
        };
        let (desk, id, judge) = (self.desk, self.id, &mut self.judge);
        desk.tally.borrow_mut().received_bytes += bytes as u64;
        self.wire.read(bytes == 0, |event| {
            let verdict = judge.take(event, desk.task.stage.current(), &desk.rules);
            desk.enter(id, verdict, at);
        })
    }

    /// It was never opened.
    fn fail(&self, fault: &Fault) {
        self.desk.task.stage.note_failed();
        self.note(fault);
    }

    /// It was open and is not any more.
    fn end(&self, fault: &Fault) {
        if !self.desk.task.stage.is_closing() {
            self.desk.task.stage.note_broken(|publish| self.judge.has(publish));
        }
        self.note(fault);
    }

    fn note(&self, fault: &Fault) {
        // The closing result has been counted, and the end after it is as it should be.
        let counted = fault.kind == Kind::Ended && self.judge.is_closed();
        if !counted && !self.desk.task.stage.is_closing() {
            self.desk.tally.borrow_mut().wrong("stream", self.id, fault);
        }
    }
}

impl Desk {
    /// Brings the progress line's numbers up to date.
    fn show(&self, worker: u64) {
        let Some(cell) = self.task.stage.cells().get(worker as usize) else { return };
        let tally = self.tally.borrow();
        let errors: u64 = tally.errors.values().map(|errors| errors.count).sum();
        if tally.arrived != cell.ok.swap(tally.arrived, Ordering::Relaxed) {
            cell.p99_ns.store(tally.to_arrival.value_at_quantile(0.99), Ordering::Relaxed);
        }
        cell.errors.store(errors + tally.duplicates + tally.late, Ordering::Relaxed);
    }

    /// Counts what a message of stream `id` was.
    fn enter(&self, id: u64, verdict: Verdict, at: Instant) {
        let mut tally = self.tally.borrow_mut();
        match verdict {
            Verdict::Acknowledged => {}
            Verdict::Arrived { publish, in_order } => {
                if tally.arrived == 0 {
                    tally.series.start(self.task.stage.sent_at(1));
                }
                tally.arrived += 1;
                tally.out_of_order += u64::from(!in_order);
                let took = self.task.stage.note_arrived(publish, at);
                record(&mut tally.to_arrival, took);
                tally.series.right(at, u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
            }
            Verdict::Duplicate => tally.duplicates += 1,
            Verdict::Late => tally.late += 1,
            Verdict::Closed => {
                tally.wrong("stream", id, &Fault::new(Kind::Ended, "the server's closing result"));
            }
            Verdict::Wrong(fault) => tally.wrong("stream", id, &fault),
        }
    }
}
