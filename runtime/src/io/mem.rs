//! A [`Link`] in memory, for tests, simulation and serving without a socket. Plain futures and wakers on one thread:
//! it needs no runtime at all.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use super::link::{Ends, How, Link, Peer, Shutdown};
use super::shared::SharedText;

/// A connected pair: the server's link and the peer that drives it. `capacity` bounds the bytes on their way in each
/// direction, as a socket buffer does; at least 1.
pub(crate) fn pair(capacity: usize) -> (MemLink, MemPeer) {
    let wire = Rc::new(Wire {
        inbound: Pipe::new(capacity),
        outbound: Pipe::new(capacity),
        faults: RefCell::new(None),
        interrupted: Cell::new(false),
    });
    (MemLink { wire: wire.clone() }, MemPeer { wire })
}

/// The moment a fault may shorten: see [`MemPeer::set_faults`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// The link reads; `available` bytes could be given.
    Read,
    /// The link writes; `available` bytes could be taken.
    Write,
}

/// Decides how many of `available` bytes (at least 1) one operation moves: clamped to `1..=available`.
pub(crate) type Faults = Box<dyn FnMut(Moment, usize) -> usize>;

struct Wire {
    /// Peer to link.
    inbound: Pipe,
    /// Link to peer.
    outbound: Pipe,
    faults: RefCell<Option<Faults>>,
    /// A patient read is to come back.
    interrupted: Cell<bool>,
}

/// One direction: a bounded byte queue with a waker at each end.
struct Pipe {
    bytes: RefCell<VecDeque<u8>>,
    capacity: usize,
    /// The writer has said its last byte.
    ended: Cell<bool>,
    /// Nobody will read any more: writes fail, and what was queued is lost.
    broken: Cell<bool>,
    /// Accepts nothing for the moment, whatever its room.
    stalled: Cell<bool>,
    reader: Cell<Option<Waker>>,
    writer: Cell<Option<Waker>>,
}

impl Pipe {
    fn new(capacity: usize) -> Self {
        Self {
            bytes: RefCell::new(VecDeque::new()),
            capacity: capacity.max(1),
            ended: Cell::new(false),
            broken: Cell::new(false),
            stalled: Cell::new(false),
            reader: Cell::new(None),
            writer: Cell::new(None),
        }
    }

    fn room(&self) -> usize {
        if self.stalled.get() { 0 } else { self.capacity - self.bytes.borrow().len() }
    }

    fn push(&self, bytes: &[u8]) {
        self.bytes.borrow_mut().extend(bytes);
        wake(&self.reader);
    }

    fn take(&self, max: usize, into: &mut Vec<u8>) -> usize {
        let mut bytes = self.bytes.borrow_mut();
        let n = max.min(bytes.len());
        let (front, back) = bytes.as_slices();
        into.extend_from_slice(&front[..n.min(front.len())]);
        into.extend_from_slice(&back[..n - n.min(front.len())]);
        bytes.drain(..n);
        drop(bytes);
        wake(&self.writer);
        n
    }

    fn end(&self) {
        self.ended.set(true);
        wake(&self.reader);
    }

    fn break_off(&self) {
        self.broken.set(true);
        self.ended.set(true);
        self.bytes.borrow_mut().clear();
        wake(&self.reader);
        wake(&self.writer);
    }

    fn state(&self) -> Option<Peer> {
        if !self.bytes.borrow().is_empty() {
            Some(Peer::Bytes)
        } else if self.ended.get() {
            Some(Peer::Gone)
        } else {
            None
        }
    }
}

fn wake(slot: &Cell<Option<Waker>>) {
    if let Some(waker) = slot.take() {
        waker.wake();
    }
}

fn park(slot: &Cell<Option<Waker>>, cx: &Context<'_>) {
    slot.set(Some(cx.waker().clone()));
}

/// The server's end.
pub(crate) struct MemLink {
    wire: Rc<Wire>,
}

impl MemLink {
    fn allowed(&self, moment: Moment, available: usize) -> usize {
        match &mut *self.wire.faults.borrow_mut() {
            Some(faults) => faults(moment, available).clamp(1, available),
            None => available,
        }
    }

    async fn read_until(
        &self,
        mut buf: Vec<u8>,
        interrupted: impl Fn() -> bool,
    ) -> (io::Result<usize>, Vec<u8>) {
        let spare = buf.capacity() - buf.len();
        if spare == 0 {
            return (Err(io::ErrorKind::InvalidInput.into()), buf);
        }
        let pipe = &self.wire.inbound;
        let result = poll_fn(|cx| {
            if pipe.broken.get() {
                return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
            }
            match pipe.state() {
                Some(Peer::Bytes) => {
                    let available = pipe.bytes.borrow().len().min(spare);
                    Poll::Ready(Ok(pipe.take(self.allowed(Moment::Read, available), &mut buf)))
                }
                Some(Peer::Gone) => Poll::Ready(Ok(0)),
                None if interrupted() => Poll::Ready(Err(io::ErrorKind::Interrupted.into())),
                None => {
                    park(&pipe.reader, cx);
                    Poll::Pending
                }
            }
        })
        .await;
        (result, buf)
    }

    fn poll_write(&self, cx: &Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.write_now(bytes) {
            Ok(0) => {
                park(&self.wire.outbound.writer, cx);
                Poll::Pending
            }
            done => Poll::Ready(done),
        }
    }

    async fn write_whole(&self, bytes: &[u8], mut progress: impl FnMut(usize)) -> io::Result<()> {
        let mut done = 0;
        while done < bytes.len() {
            let n = poll_fn(|cx| self.poll_write(cx, &bytes[done..])).await?;
            done += n;
            progress(n);
        }
        Ok(())
    }
}

impl Link for MemLink {
    async fn read(&mut self, buf: Vec<u8>) -> (io::Result<usize>, Vec<u8>) {
        self.read_until(buf, || false).await
    }

    async fn read_patiently(&mut self, buf: Vec<u8>) -> (io::Result<usize>, Vec<u8>) {
        self.wire.interrupted.set(false);
        self.read_until(buf, || self.wire.interrupted.get()).await
    }

    async fn read_late(&mut self, room: impl Fn() -> Vec<u8>) -> (io::Result<usize>, Vec<u8>) {
        self.watch().await;
        self.read_until(room(), || false).await
    }

    async fn write_paced(
        &mut self,
        buf: Vec<u8>,
        progress: impl FnMut(usize),
    ) -> (io::Result<()>, Vec<u8>) {
        (self.write_whole(&buf, progress).await, buf)
    }

    async fn write_shared(
        &mut self,
        text: SharedText,
        progress: impl FnMut(usize),
    ) -> io::Result<()> {
        self.write_whole(text.as_bytes(), progress).await
    }

    fn write_parts_now(&self, parts: [&[u8]; 3]) -> io::Result<usize> {
        self.write_now(&parts.concat())
    }

    fn write_now(&self, bytes: &[u8]) -> io::Result<usize> {
        let pipe = &self.wire.outbound;
        if pipe.broken.get() || pipe.ended.get() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let room = pipe.room().min(bytes.len());
        if room == 0 {
            return Ok(0);
        }
        let n = self.allowed(Moment::Write, room);
        pipe.push(&bytes[..n]);
        Ok(n)
    }

    async fn watch(&self) -> Peer {
        let pipe = &self.wire.inbound;
        poll_fn(|cx| match pipe.state() {
            Some(peer) => Poll::Ready(peer),
            None => {
                park(&pipe.reader, cx);
                Poll::Pending
            }
        })
        .await
    }

    fn shutdown_handle(&self) -> Shutdown {
        Shutdown::new(self.wire.clone())
    }

    fn peer_addr(&self) -> Option<SocketAddr> {
        None
    }

    async fn close(self) {}
}

impl Ends for Wire {
    /// As shutdown(2): what was already received may still be read, then the stream ends.
    fn end(&self, how: How) {
        match how {
            How::Both => {
                self.inbound.end();
                self.outbound.end();
                wake(&self.outbound.writer);
            }
            How::Interrupt => {
                self.interrupted.set(true);
                wake(&self.inbound.reader);
            }
            How::Read => self.inbound.end(),
        }
    }
}

impl Drop for MemLink {
    /// The peer may still read what was written; what it sends from now on is refused.
    fn drop(&mut self) {
        self.wire.outbound.end();
        self.wire.inbound.break_off();
    }
}

/// The other end, driven by a test or by an in-process client.
pub(crate) struct MemPeer {
    wire: Rc<Wire>,
}

impl MemPeer {
    /// Queues as much of `bytes` as there is room for, without waiting.
    ///
    /// # Errors
    /// `BrokenPipe` once the link is gone or this end was closed.
    pub(crate) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        let pipe = &self.wire.inbound;
        if pipe.broken.get() || pipe.ended.get() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let n = pipe.room().min(bytes.len());
        pipe.push(&bytes[..n]);
        Ok(n)
    }

    /// Takes everything the link has written so far, without waiting.
    pub(crate) fn take(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.wire.outbound.take(usize::MAX, &mut out);
        out
    }

    /// True once the link has ended its stream (bytes may still be unread).
    pub(crate) fn link_ended(&self) -> bool {
        self.wire.outbound.ended.get()
    }

    /// Leaves without reading any more: the link's writes fail, its reads end after what was sent.
    pub(crate) fn close(&self) {
        self.wire.inbound.end();
        self.wire.outbound.break_off();
    }
}

/// What only a test does to a link.
#[cfg(test)]
impl MemPeer {
    /// Waits for bytes from the link; an empty vector is the end of its stream.
    pub(crate) async fn read(&self) -> Vec<u8> {
        let pipe = &self.wire.outbound;
        poll_fn(|cx| {
            if pipe.state().is_none() {
                park(&pipe.reader, cx);
                return Poll::Pending;
            }
            Poll::Ready(self.take())
        })
        .await
    }

    /// Ends this end's stream; answers can still be read.
    pub(crate) fn half_close(&self) {
        self.wire.inbound.end();
    }

    /// Breaks the connection: both directions fail at once and lose what was on its way.
    pub(crate) fn reset(&self) {
        self.wire.inbound.break_off();
        self.wire.outbound.break_off();
    }

    /// While true, the link's writes make no progress.
    pub(crate) fn stall(&self, on: bool) {
        self.wire.outbound.stalled.set(on);
        if !on {
            wake(&self.wire.outbound.writer);
        }
    }

    /// Installs a fault injector for short reads and short writes of the link.
    pub(crate) fn set_faults(&self, faults: Faults) {
        *self.wire.faults.borrow_mut() = Some(faults);
    }
}

impl Drop for MemPeer {
    fn drop(&mut self) {
        self.close();
    }
}
