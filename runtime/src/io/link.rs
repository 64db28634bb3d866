//! The byte stream of one connection, as the engine sees it.

use std::cell::Cell;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;

use super::shared::SharedText;

/// One connected peer. Static dispatch; the futures stay on the core that owns the link.
///
/// A pending [`read`](Link::read) or [`write_paced`](Link::write_paced) must be polled to its end: with io_uring the
/// kernel owns the buffer meanwhile, and bytes already received would be lost with the future. To end one early,
/// use the [`Shutdown`] handle: the operation then finishes by itself.
pub(crate) trait Link {
    /// Appends what the peer sent to the spare capacity of `buf`, at least one byte; `Ok(0)` is the end of the stream.
    ///
    /// The caller reserves the room. A buffer without spare capacity is refused with `InvalidInput`, since a read of
    /// zero bytes could not be told from the end of the stream.
    fn read(&mut self, buf: Vec<u8>) -> impl Future<Output = (io::Result<usize>, Vec<u8>)>;

    /// As [`read`](Link::read), but [`How::Interrupt`] ends it with an error of kind `Interrupted`. No byte is lost by
    /// that: for reads that may wait long, so that their buffer can be given back and [`watch`](Link::watch) used instead.
    fn read_patiently(
        &mut self,
        buf: Vec<u8>,
    ) -> impl Future<Output = (io::Result<usize>, Vec<u8>)>;

    /// Waits without a buffer, then reads what has come into the one that `room` makes. Like [`watch`](Link::watch) it may
    /// be dropped while it waits.
    fn read_late(
        &mut self,
        room: impl Fn() -> Vec<u8>,
    ) -> impl Future<Output = (io::Result<usize>, Vec<u8>)>;

    /// [`write_paced`](Link::write_paced) at whatever pace.
    #[cfg(test)]
    fn write_all(&mut self, buf: Vec<u8>) -> impl Future<Output = (io::Result<()>, Vec<u8>)> {
        self.write_paced(buf, |_| {})
    }

    /// Writes the whole of `buf`, which comes back unchanged, and calls `progress` with the bytes each partial write moved,
    /// so that a write deadline can measure silence instead of total time.
    fn write_paced(
        &mut self,
        buf: Vec<u8>,
        progress: impl FnMut(usize),
    ) -> impl Future<Output = (io::Result<()>, Vec<u8>)>;

    /// As [`write_paced`](Link::write_paced), from memory that others read at the same time.
    fn write_shared(
        &mut self,
        text: SharedText,
        progress: impl FnMut(usize),
    ) -> impl Future<Output = io::Result<()>>;

    /// Hands over what there is room for at once, and returns how many bytes that was: 0 when there is none. It may be
    /// called while [`watch`](Link::watch) waits, but not while another write does.
    ///
    /// # Errors
    /// The connection is lost.
    fn write_now(&self, bytes: &[u8]) -> io::Result<usize>;

    /// As [`write_now`](Link::write_now), of parts that follow each other.
    fn write_parts_now(&self, parts: [&[u8]; 3]) -> io::Result<usize>;

    /// Resolves when the peer has closed or reset, or has sent bytes that are still unread. Consumes nothing.
    ///
    /// Dropping the pending future is allowed: it holds no data.
    fn watch(&self) -> impl Future<Output = Peer>;

    /// A handle that ends whatever is in flight on this link.
    fn shutdown_handle(&self) -> Shutdown;

    /// Where the peer is, if it has an address.
    fn peer_addr(&self) -> Option<SocketAddr>;

    /// Graceful end: no more writes, then a bounded wait for the peer, so that the last answer is not lost to a reset.
    fn close(self) -> impl Future<Output = ()>;
}

/// What [`Link::watch`] saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    /// Unread bytes are waiting.
    Bytes,
    /// The peer sent its end of stream, or the connection was reset or shut down.
    Gone,
}

/// Which direction a [`Shutdown`] ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// Both directions: pending reads see the end of the stream, pending writes fail.
    Both,
    /// Neither: only a [`Link::read_patiently`] that is waiting comes back.
    Interrupt,
    /// Only reading: an answer can still be written.
    Read,
}

/// Ends the operations in flight on a link without owning it, so that they finish instead of being dropped.
///
/// It cannot act on a socket that was opened later under the same descriptor number: it shares a cell with its link,
/// and the link empties that cell before it lets go of the descriptor. Both live on one thread, so there is no moment
/// at which the cell names a descriptor the link does not hold.
#[derive(Clone)]
pub(crate) struct Shutdown(Rc<dyn Ends>);

/// What can be shut down from beside its owner.
pub(crate) trait Ends {
    fn end(&self, how: How);
}

impl Shutdown {
    pub(crate) fn new(target: Rc<dyn Ends>) -> Self {
        Self(target)
    }

    /// Ends the named direction. Harmless when repeated and after the link is gone.
    pub(crate) fn end(&self, how: How) {
        self.0.end(how);
    }
}

/// A descriptor number that is `None` once its owner has let go of it.
pub(crate) struct Sock(Cell<Option<std::os::fd::RawFd>>);

impl Sock {
    /// `fd` must stay open until [`Sock::release`] is called.
    pub(super) fn new(fd: std::os::fd::RawFd) -> Self {
        Self(Cell::new(Some(fd)))
    }

    /// Called by the owner before it closes the descriptor.
    pub(super) fn release(&self) {
        self.0.set(None);
    }

    /// Runs `f` on the socket, or returns `None` after the owner let go.
    pub(super) fn with<R>(&self, f: impl FnOnce(socket2::SockRef<'_>) -> R) -> Option<R> {
        use std::os::fd::BorrowedFd;
        let fd = self.0.get()?;
        // SAFETY: the owner keeps `fd` open until it has called `release` (contract of `new`, kept by `TcpLink` and
        // `Listener`, whose drop releases before their socket field is dropped). This type is !Send and !Sync, `f` runs
        // to its end here, and the borrow cannot outlive it, so the descriptor is open for the whole of the borrow.
        let fd = unsafe { BorrowedFd::borrow_raw(fd) };
        Some(f(socket2::SockRef::from(&fd)))
    }
}

impl Sock {
    /// shutdown(2), which wakes whatever waits on the socket.
    pub(super) fn shutdown(&self, how: std::net::Shutdown) {
        // ENOTCONN: the peer was faster. Nothing is left to end then.
        self.with(|sock| sock.shutdown(how).ok());
    }
}
