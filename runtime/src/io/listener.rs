//! Listening: one check that the address is really free, then one `SO_REUSEPORT` socket per worker, and the accept
//! loop each worker runs on its own.

use std::cell::Cell;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::rc::Rc;
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};

use super::link::Sock;
use super::tcp::TcpLink;

/// How long accepting rests after an error that will not go away by itself at once (no descriptors left, no memory).
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Connections taken in one turn before the core's other tasks run.
const ACCEPTS_PER_TURN: u32 = 64;

/// What a connection beyond the limit is told before it is closed (RFC 9110 section 15.6.4).
pub(crate) const REFUSAL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// Why an address cannot be listened on. Its text names the address and the remedy, its source is the system's
/// [`io::Error`].
#[derive(Debug)]
pub(crate) struct BindError {
    addr: SocketAddr,
    source: io::Error,
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { addr, source } = self;
        write!(f, "cannot listen on {addr}: ")?;
        match source.kind() {
            io::ErrorKind::AddrInUse => f.write_str(
                "the address is already in use; stop the server that listens there or choose another port (port 0 \
                 lets the kernel choose)",
            ),
            io::ErrorKind::AddrNotAvailable => f.write_str(
                "this machine has no such address; use one of its own, 127.0.0.1 for local clients only, or 0.0.0.0 \
                 or [::] for all",
            ),
            io::ErrorKind::PermissionDenied => f.write_str(
                "permission denied; ports below 1024 need CAP_NET_BIND_SERVICE, or choose a higher port",
            ),
            _ => write!(f, "{source}"),
        }
    }
}

impl std::error::Error for BindError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// One listening socket per worker, all on the same address.
#[derive(Debug)]
pub(crate) struct Bound {
    /// The address as bound: a requested port 0 is resolved here.
    pub(crate) addr: SocketAddr,
    /// As many as there are workers.
    pub(crate) sockets: Vec<std::net::TcpListener>,
}

/// Binds `workers` sockets to `addr`, each with a queue of `backlog` connections not yet accepted.
///
/// `SO_REUSEPORT` lets a second server of the same user join silently and take half of the connections, so the address
/// is first bound once without it, which fails while anybody listens there.
pub(crate) fn bind(addr: SocketAddr, backlog: u32, workers: usize) -> Result<Bound, BindError> {
    let fail = |source| BindError { addr, source };
    if addr.port() != 0 {
        drop(socket(addr, false).map_err(fail)?);
    }
    let backlog = i32::try_from(backlog).unwrap_or(i32::MAX);
    let mut bound = Bound { addr, sockets: Vec::with_capacity(workers) };
    for _ in 0..workers {
        // The first socket resolves a requested port 0: the kernel never chooses a port that is shared already.
        let socket = socket(bound.addr, true).map_err(fail)?;
        socket.listen(backlog).map_err(fail)?;
        let listener = std::net::TcpListener::from(socket);
        bound.addr = listener.local_addr().map_err(fail)?;
        bound.sockets.push(listener);
    }
    Ok(bound)
}

fn socket(addr: SocketAddr, shared: bool) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(addr), Type::STREAM, Some(Protocol::TCP))?;
    // A restart need not wait for the old connections to leave TIME_WAIT.
    socket.set_reuse_address(true)?;
    if shared {
        socket.set_reuse_port(true)?;
    }
    socket.bind(&addr.into())?;
    Ok(socket)
}

/// One worker's accept loop.
pub(crate) struct Listener {
    inner: monoio::net::TcpListener,
    stop: ListenerStop,
}

/// Ends a [`Listener`]'s loop from another task of its core.
#[derive(Clone)]
pub(crate) struct ListenerStop {
    sock: Rc<Sock>,
    stopped: Rc<Cell<bool>>,
}

impl ListenerStop {
    /// Stops listening: the accept in flight finishes with an error, connections not yet accepted are reset.
    ///
    /// shutdown(2) on a listening socket wakes its waiters on both drivers; a pending accept is never dropped, since
    /// that would leak the connection it had taken.
    pub(crate) fn stop(&self) {
        self.stopped.set(true);
        self.sock.shutdown(std::net::Shutdown::Both);
    }
}

impl Listener {
    /// Hands a bound socket to the driver of this thread. Epoll needs it `nonblocking`; the ring needs it blocking,
    /// else operations answer "would block" instead of waiting.
    pub(crate) fn adopt(socket: std::net::TcpListener, nonblocking: bool) -> io::Result<Self> {
        socket.set_nonblocking(nonblocking)?;
        let sock = Rc::new(Sock::new(socket.as_raw_fd()));
        let inner = monoio::net::TcpListener::from_std(socket)?;
        Ok(Self { inner, stop: ListenerStop { sock, stopped: Rc::new(Cell::new(false)) } })
    }

    pub(crate) fn stop_handle(&self) -> ListenerStop {
        self.stop.clone()
    }

    /// Accepts until stopped. `accepted` gets every connection; `failed` every error, after which accepting pauses if
    /// the error is one that lasts.
    pub(crate) async fn run(
        self,
        mut accepted: impl FnMut(TcpLink),
        mut failed: impl FnMut(&io::Error),
    ) {
        let mut turn = 0;
        while !self.stop.stopped.get() {
            match self.inner.accept().await {
                Ok((stream, _)) => {
                    // An error here is the peer's reset before we looked: nobody is left to answer.
                    if let Ok(link) = TcpLink::new(stream) {
                        accepted(link);
                    }
                    turn += 1;
                    if turn == ACCEPTS_PER_TURN {
                        turn = 0;
                        super::step_aside().await;
                    }
                }
                Err(_) if self.stop.stopped.get() => break,
                Err(e) => {
                    failed(&e);
                    if !is_passing(&e) {
                        monoio::time::sleep(ACCEPT_PAUSE).await;
                    }
                }
            }
        }
    }
}

/// Errors of one connection, not of the listener (accept(2): treat them like a retry).
fn is_passing(e: &io::Error) -> bool {
    matches!(
        e.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
            | io::ErrorKind::WouldBlock
    ) || e.raw_os_error() == Some(libc::EPROTO)
}

impl Drop for Listener {
    /// Before the socket field is dropped: see [`Sock`].
    fn drop(&mut self) {
        self.stop.sock.release();
    }
}
