//! One keep-alive connection: keeps its window of requests full and settles every answer.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use monoio::buf::{IoBuf, IoBufMut};
use monoio::io::{CancelableAsyncReadRent, CancelableAsyncWriteRent, Canceller};
use monoio::net::TcpStream;

use crate::answer::Reader;
use crate::fault::{Fault, Kind};
use crate::run::Shared;
use crate::tally::Sent;

/// Free bytes offered to every read.
const READ_BYTES: usize = 16 * 1024;

/// Wait after a connection could not be made: a server that is down is not hammered, and its errors stay countable.
const RETRY: Duration = Duration::from_millis(100);

/// What the run's watchdog sees of a connection.
#[derive(Default)]
pub(crate) struct Seat {
    /// When the oldest step under way began; `None` while nothing is waited for.
    since: Cell<Option<Instant>>,
    /// Ends the read or write under way.
    canceller: RefCell<Canceller>,
    /// The watchdog ended it.
    late: Cell<bool>,
}

impl Seat {
    /// Ends what has taken longer than `timeout`.
    pub(crate) fn watch(&self, now: Instant, timeout: Duration) {
        if self.since.get().is_some_and(|since| now.saturating_duration_since(since) >= timeout) {
            self.late.set(true);
            let fresh = self.canceller.take().cancel();
            self.canceller.replace(fresh);
        }
    }
}

/// One connection of the run.
pub(crate) struct Connection {
    shared: Rc<Shared>,
    seat: Rc<Seat>,
    stream: Option<TcpStream>,
    reader: Reader,
    /// Bytes received; those before `done` are settled.
    received: Vec<u8>,
    done: usize,
    /// Requests about to be written.
    out: Vec<u8>,
    /// Requests without an answer, oldest first.
    waiting: VecDeque<Sent>,
}

/// Opens a socket to the run's server.
///
/// # Errors
/// [`Kind::Connect`].
pub(crate) async fn open(shared: &Shared) -> Result<TcpStream, Fault> {
    let failed = |error: io::Error| Fault::new(Kind::Connect, error);
    let connect = TcpStream::connect_addr(shared.addr);
    let stream = monoio::time::timeout(shared.timeout, connect)
        .await
        .map_err(|_| failed(io::ErrorKind::TimedOut.into()))?
        .map_err(failed)?;
    stream.set_nodelay(true).map_err(failed)?;
    Ok(stream)
}

impl Connection {
    pub(crate) fn new(shared: Rc<Shared>, stream: TcpStream) -> (Self, Rc<Seat>) {
        let seat = Rc::new(Seat::default());
        let connection = Self {
            shared,
            seat: seat.clone(),
            stream: Some(stream),
            reader: Reader::default(),
            received: Vec::with_capacity(READ_BYTES),
            done: 0,
            out: Vec::new(),
            waiting: VecDeque::new(),
        };
        (connection, seat)
    }

    /// Asks and checks until there is nothing more to ask.
    pub(crate) async fn drive(mut self) {
        loop {
            self.fill();
            self.seat.since.set(self.waiting.front().map(|oldest| oldest.at));
            if self.waiting.is_empty() {
                return;
            }
            if let Err(fault) = self.exchange().await {
                self.lose(&fault);
                if fault.kind == Kind::Connect {
                    monoio::time::sleep(RETRY).await;
                }
            }
        }
    }

    /// Tops the window up. All of a top-up leave in one write and share their time of sending.
    fn fill(&mut self) {
        let mut at = None;
        while self.waiting.len() < self.shared.pipeline {
            let Some(turn) = self.shared.pace.take() else { return };
            let bytes = self.shared.template.write(&mut self.out, turn.id);
            let at = *at.get_or_insert_with(Instant::now);
            self.waiting.push_back(Sent {
                id: turn.id,
                measured: turn.measured,
                intended: at,
                at,
                sent_bytes: bytes,
                received_bytes: 0,
                exchanges: 1,
                notifications: 0,
                part: 0,
            });
        }
    }

    /// Writes what is to be written, reads once, settles what is whole.
    async fn exchange(&mut self) -> Result<(), Fault> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => {
                let stream = open(&self.shared).await?;
                self.shared.tally.borrow_mut().reconnects += 1;
                stream
            }
        };
        self.write(&mut stream).await?;
        let ended = self.read(&mut stream).await?;
        if self.settle(ended)? && !ended {
            self.stream = Some(stream);
            return Ok(());
        }
        if self.waiting.is_empty() {
            return Ok(());
        }
        Err(Fault::new(Kind::Closed, "the server closed the connection after an earlier answer"))
    }

    async fn write(&mut self, stream: &mut TcpStream) -> Result<(), Fault> {
        let mut done = 0;
        while done < self.out.len() {
            let handle = self.seat.canceller.borrow().handle();
            let rest = std::mem::take(&mut self.out).slice(done..);
            let (result, rest) = stream.cancelable_write(rest, handle).await;
            self.out = rest.into_inner();
            match result {
                Ok(0) => return Err(Fault::new(Kind::Io, "nothing could be written")),
                Ok(written) => done += written,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failure(&error)),
            }
        }
        self.out.clear();
        Ok(())
    }

    /// Reads once; whether the server has ended the stream.
    async fn read(&mut self, stream: &mut TcpStream) -> Result<bool, Fault> {
        loop {
            self.received.reserve(READ_BYTES);
            let have = self.received.len();
            let handle = self.seat.canceller.borrow().handle();
            let free = std::mem::take(&mut self.received).slice_mut(have..);
            let (result, slice) = stream.cancelable_read(free, handle).await;
            self.received = slice.into_inner();
            match result {
                Ok(bytes) => return Ok(bytes == 0),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failure(&error)),
            }
        }
    }

    fn failure(&self, error: &io::Error) -> Fault {
        if self.seat.late.get() {
            let timeout = self.shared.timeout;
            return Fault::showing(
                Kind::Timeout,
                format!("no whole answer in {timeout:?}"),
                self.unread(),
            );
        }
        // A reset is a close that overtook its bytes.
        match (error.kind(), self.unread().is_empty()) {
            (io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe, true) => {
                Fault::new(Kind::Closed, error)
            }
            (io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe, false) => {
                Fault::showing(Kind::Truncated, error, self.unread())
            }
            _ => Fault::new(Kind::Io, error),
        }
    }

    fn unread(&self) -> &[u8] {
        &self.received[self.done..]
    }

    /// Checks every whole answer. Whether the connection goes on.
    fn settle(&mut self, ended: bool) -> Result<bool, Fault> {
        let now = Instant::now();
        let shared = self.shared.clone();
        let (mut checker, mut tally) = (shared.checker.borrow_mut(), shared.tally.borrow_mut());
        while let Some(sent) = self.waiting.front_mut() {
            let Some(answer) = self.reader.read(&self.received[self.done..], ended)? else { break };
            match checker.check(&answer, sent.id) {
                Ok(()) => {
                    sent.received_bytes += answer.len;
                    tally.right(sent, now)
                }
                Err(fault) => tally.wrong(sent, &fault, now),
            }
            self.waiting.pop_front();
            self.done += answer.len;
            if !answer.head.keep_alive {
                self.forget();
                return Ok(false);
            }
        }
        if self.waiting.is_empty() && self.done < self.received.len() {
            let extra = Fault::showing(Kind::Http, "bytes nobody asked for", self.unread());
            // The next request would be read against them.
            tally.unasked(&extra);
            self.forget();
            return Ok(false);
        }
        self.received.drain(..std::mem::take(&mut self.done));
        Ok(true)
    }

    /// The connection is lost, and with it every request without an answer.
    fn lose(&mut self, fault: &Fault) {
        let mut tally = self.shared.tally.borrow_mut();
        for sent in self.waiting.drain(..) {
            tally.wrong(&sent, fault, Instant::now());
        }
        drop(tally);
        self.forget();
        self.seat.late.set(false);
    }

    fn forget(&mut self) {
        self.stream = None;
        self.reader = Reader::default();
        self.received.clear();
        self.done = 0;
        self.out.clear();
    }
}
