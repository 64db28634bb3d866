//! One socket and its buffers.

use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use monoio::buf::{IoBuf, IoBufMut};
use monoio::io::{CancelableAsyncReadRent, CancelableAsyncWriteRent};
use monoio::net::TcpStream;

use crate::fault::{Fault, Kind};
use crate::seat::Seat;

/// Free bytes offered to every read.
const READ_BYTES: usize = 16 * 1024;

/// Linux's numbers of the failures that this tool can say more about.
const EMFILE: i32 = 24;
const EADDRNOTAVAIL: i32 = 99;
const ECANCELED: i32 = 125;

/// What ended a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Came {
    Bytes,
    /// The server sends no more.
    End,
    /// Nothing: there may be something to send.
    Nudge,
}

/// A connection's bytes, in and out.
pub(crate) struct Wire {
    seat: Rc<Seat>,
    stream: Option<TcpStream>,
    /// Bytes received; those before `done` are settled.
    pub(crate) received: Vec<u8>,
    pub(crate) done: usize,
    /// Requests about to be written.
    pub(crate) out: Vec<u8>,
}

/// Opens a socket.
///
/// # Errors
/// [`Kind::Connect`].
pub(crate) async fn open(addr: SocketAddr, timeout: Duration) -> Result<TcpStream, Fault> {
    let stream = monoio::time::timeout(timeout, TcpStream::connect_addr(addr))
        .await
        .map_err(|_| refused(&io::ErrorKind::TimedOut.into()))?
        .map_err(|error| refused(&error))?;
    stream.set_nodelay(true).map_err(|error| refused(&error))?;
    Ok(stream)
}

fn refused(error: &io::Error) -> Fault {
    let remedy = match error.raw_os_error() {
        Some(EMFILE) => ": raise the limit of open files (ulimit -n)",
        Some(EADDRNOTAVAIL) => {
            ": this machine has no free port for another connection to that address"
        }
        _ => "",
    };
    Fault::new(Kind::Connect, format!("{error}{remedy}"))
}

impl Wire {
    pub(crate) fn new(seat: Rc<Seat>) -> Self {
        let (received, out) = (Vec::new(), Vec::new());
        Self { seat, stream: None, received, done: 0, out }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.stream.is_some()
    }

    /// Takes a new socket.
    pub(crate) fn put(&mut self, stream: TcpStream) {
        self.stream = Some(stream);
    }

    /// Closes the socket and drops what came from it; what is to be written stays.
    pub(crate) fn close(&mut self) {
        self.stream = None;
        self.received.clear();
        self.done = 0;
    }

    /// What came and is not settled.
    pub(crate) fn unread(&self) -> &[u8] {
        &self.received[self.done..]
    }

    /// Drops what is settled.
    pub(crate) fn compact(&mut self) {
        self.received.drain(..std::mem::take(&mut self.done));
    }

    /// Writes all of `out`.
    ///
    /// # Errors
    /// The socket's, or that it took too long.
    pub(crate) async fn write(&mut self, timeout: Duration) -> Result<(), Fault> {
        let mut done = 0;
        while done < self.out.len() {
            let Some(stream) = &mut self.stream else { return Err(closed()) };
            let rest = std::mem::take(&mut self.out).slice(done..);
            let (result, rest) = stream.cancelable_write(rest, self.seat.write_handle()).await;
            self.out = rest.into_inner();
            match result {
                Ok(0) => return Err(Fault::new(Kind::Io, "nothing could be written")),
                Ok(written) => done += written,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failure(&error, timeout)),
            }
        }
        self.out.clear();
        Ok(())
    }

    /// Reads once, unless there may be something to send.
    ///
    /// # Errors
    /// The socket's, or that it took too long.
    pub(crate) async fn read(&mut self, timeout: Duration) -> Result<Came, Fault> {
        loop {
            if self.seat.take_nudge() {
                return Ok(Came::Nudge);
            }
            let Some(stream) = &mut self.stream else { return Err(closed()) };
            self.received.reserve(READ_BYTES);
            let have = self.received.len();
            let free = std::mem::take(&mut self.received).slice_mut(have..);
            let (result, slice) = stream.cancelable_read(free, self.seat.read_handle()).await;
            self.received = slice.into_inner();
            match result {
                Ok(0) => return Ok(Came::End),
                Ok(_) => return Ok(Came::Bytes),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.raw_os_error() == Some(ECANCELED) && !self.seat.is_late() => {}
                Err(error) => return Err(self.failure(&error, timeout)),
            }
        }
    }

    fn failure(&self, error: &io::Error, timeout: Duration) -> Fault {
        if self.seat.is_late() {
            let why = format!("no whole answer in {timeout:?}");
            return Fault::showing(Kind::Timeout, why, self.unread());
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
}

fn closed() -> Fault {
    Fault::new(Kind::Closed, "the connection is closed")
}
