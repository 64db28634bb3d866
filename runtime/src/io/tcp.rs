//! [`Link`] over a monoio TCP stream; the same code runs on the ring and on epoll.

use std::cell::RefCell;
use std::future::Future;
use std::io;
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use monoio::buf::{IoBuf, IoBufMut};
use monoio::io::{AsyncReadRent, AsyncWriteRent, CancelableAsyncReadRent, Canceller};
use monoio::net::TcpStream;
use std::os::fd::AsRawFd;

use super::link::{Ends, How, Link, Peer, Shutdown, Sock};
use super::shared::SharedText;

/// How long a closing link waits for the peer to take the last answer and close as well.
pub(crate) const LINGER: Duration = Duration::from_secs(2);

/// How many unread bytes a closing link throws away before it gives up on a graceful end.
pub(crate) const LINGER_BYTES_MAX: usize = 1024 * 1024;

/// Bytes thrown away per system call while lingering.
const DISCARD_STEP_BYTES: usize = 4096;

/// One TCP connection on its core. Small, since it moves from future to future.
pub(crate) struct TcpLink {
    stream: Box<TcpStream>,
    shared: Rc<Shared>,
}

/// What the link and its [`Shutdown`] handles share.
struct Shared {
    sock: Sock,
    /// Cancels the patient reads; there is none before the first of them and after one was cancelled. monoio answers such
    /// a read with what it received or with "cancelled", never both.
    canceller: RefCell<Option<Canceller>>,
}

impl Ends for Shared {
    fn end(&self, how: How) {
        match how {
            How::Both => self.sock.shutdown(std::net::Shutdown::Both),
            How::Read => self.sock.shutdown(std::net::Shutdown::Read),
            How::Interrupt => drop(self.canceller.take().map(Canceller::cancel)),
        }
    }
}

impl TcpLink {
    /// Takes a connected stream: sets `TCP_NODELAY` and close-on-exec, which accepting through the ring leaves unset.
    /// Looks up the peer's address while it is there: the stream has room to remember it.
    pub(crate) fn new(stream: TcpStream) -> io::Result<Self> {
        let _ = stream.peer_addr();
        let shared =
            Rc::new(Shared { sock: Sock::new(stream.as_raw_fd()), canceller: RefCell::default() });
        let link = Self { stream: Box::new(stream), shared };
        link.shared
            .sock
            .with(|sock| {
                sock.set_tcp_nodelay(true)?;
                sock.set_cloexec(true)
            })
            .unwrap_or(Ok(()))?;
        Ok(link)
    }

    /// Writes what the socket takes at once and throws away what the peer already sent: for answers to connections
    /// that are turned away, where nothing may be waited for.
    pub(crate) fn refuse(self, answer: &[u8]) {
        let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
        self.shared.sock.with(|sock| {
            let _ = sock.send_with_flags(answer, flags);
            let _ = sock.shutdown(std::net::Shutdown::Write);
        });
        self.discard(DISCARD_STEP_BYTES);
    }

    /// Looks at the receive queue without taking from it. `None`: empty, and the peer is still there.
    fn peek(&self) -> Option<Peer> {
        let mut byte = [MaybeUninit::uninit()];
        let flags = libc::MSG_PEEK | libc::MSG_DONTWAIT;
        match self.shared.sock.with(|sock| sock.recv_with_flags(&mut byte, flags)) {
            Some(Ok(1..)) => Some(Peer::Bytes),
            Some(Err(e)) if is_transient(&e) => None,
            Some(Ok(0) | Err(_)) | None => Some(Peer::Gone),
        }
    }

    /// Appends what was received to the spare capacity of `buf`, without waiting.
    fn take(&self, buf: &mut Vec<u8>) -> io::Result<usize> {
        let receive = |sock: socket2::SockRef<'_>| {
            sock.recv_with_flags(buf.spare_capacity_mut(), libc::MSG_DONTWAIT)
        };
        let taken = self.shared.sock.with(receive).unwrap_or(Ok(0))?;
        // SAFETY: recv(2) has written as many bytes to the beginning of the spare capacity as it returns.
        unsafe { buf.set_len(buf.len() + taken) };
        Ok(taken)
    }

    /// Throws away up to `max` received bytes without waiting. True when the peer has ended the stream.
    fn discard(&self, max: usize) -> bool {
        let mut taken = 0;
        while taken < max {
            let mut scrap = [MaybeUninit::uninit(); DISCARD_STEP_BYTES];
            match self.shared.sock.with(|sock| sock.recv_with_flags(&mut scrap, libc::MSG_DONTWAIT))
            {
                Some(Ok(n @ 1..)) => taken += n,
                Some(Err(e)) if is_transient(&e) => return false,
                Some(Ok(0) | Err(_)) | None => return true,
            }
        }
        false
    }

    /// Sends without waiting. A full socket takes 0 bytes.
    fn send_now(
        &self,
        send: impl FnOnce(socket2::SockRef<'_>, i32) -> io::Result<usize>,
    ) -> io::Result<usize> {
        match self.shared.sock.with(|sock| send(sock, libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL)) {
            Some(Err(e)) if is_transient(&e) => Ok(0),
            Some(sent) => sent,
            None => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    async fn write_whole<B: IoBuf>(
        &mut self,
        mut buf: B,
        mut progress: impl FnMut(usize),
    ) -> (io::Result<()>, B) {
        let mut done = 0;
        while done < buf.bytes_init() {
            let (result, slice) = self.stream.write(buf.slice(done..)).await;
            buf = slice.into_inner();
            match result {
                Ok(0) => return (Err(io::ErrorKind::WriteZero.into()), buf),
                Ok(n) => {
                    done += n;
                    progress(n);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return (Err(e), buf),
            }
        }
        (Ok(()), buf)
    }
}

fn is_transient(e: &io::Error) -> bool {
    matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

impl Link for TcpLink {
    async fn read(&mut self, mut buf: Vec<u8>) -> (io::Result<usize>, Vec<u8>) {
        let have = buf.len();
        if buf.capacity() == have {
            return (Err(io::ErrorKind::InvalidInput.into()), buf);
        }
        loop {
            let (result, slice) = self.stream.read(buf.slice_mut(have..)).await;
            buf = slice.into_inner();
            match result {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                result => return (result, buf),
            }
        }
    }

    async fn read_patiently(&mut self, mut buf: Vec<u8>) -> (io::Result<usize>, Vec<u8>) {
        let have = buf.len();
        if buf.capacity() == have {
            return (Err(io::ErrorKind::InvalidInput.into()), buf);
        }
        loop {
            let handle = self.shared.canceller.borrow_mut().get_or_insert_default().handle();
            let (result, slice) = self.stream.cancelable_read(buf.slice_mut(have..), handle).await;
            buf = slice.into_inner();
            match result {
                Err(e) if e.raw_os_error() == Some(libc::ECANCELED) => {
                    return (Err(io::ErrorKind::Interrupted.into()), buf);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                result => return (result, buf),
            }
        }
    }

    #[expect(clippy::manual_async_fn, reason = "an async function would keep each argument twice")]
    fn read_late(
        &mut self,
        room: impl Fn() -> Vec<u8>,
    ) -> impl Future<Output = (io::Result<usize>, Vec<u8>)> {
        async move {
            loop {
                // Not relaxed: see `watch`.
                if let Err(error) = self.stream.readable(false).await {
                    return (Err(error), Vec::new());
                }
                let mut buf = room();
                match self.take(&mut buf) {
                    Err(error) if is_transient(&error) => {}
                    taken => return (taken, buf),
                }
            }
        }
    }

    async fn write_paced(
        &mut self,
        buf: Vec<u8>,
        progress: impl FnMut(usize),
    ) -> (io::Result<()>, Vec<u8>) {
        self.write_whole(buf, progress).await
    }

    async fn write_shared(
        &mut self,
        text: SharedText,
        progress: impl FnMut(usize),
    ) -> io::Result<()> {
        self.write_whole(text, progress).await.0
    }

    fn write_now(&self, bytes: &[u8]) -> io::Result<usize> {
        self.send_now(|sock, flags| sock.send_with_flags(bytes, flags))
    }

    fn write_parts_now(&self, parts: [&[u8]; 3]) -> io::Result<usize> {
        let parts = parts.map(io::IoSlice::new);
        self.send_now(|sock, flags| sock.send_vectored_with_flags(&parts, flags))
    }

    async fn watch(&self) -> Peer {
        loop {
            // Not relaxed: on epoll the relaxed form trusts readiness left over from the last read and would return at
            // once for ever; on the ring both forms are the same poll operation.
            if self.stream.readable(false).await.is_err() {
                return Peer::Gone;
            }
            if let Some(peer) = self.peek() {
                return peer;
            }
        }
    }

    fn shutdown_handle(&self) -> Shutdown {
        Shutdown::new(self.shared.clone())
    }

    fn peer_addr(&self) -> Option<SocketAddr> {
        self.stream.peer_addr().ok()
    }

    /// Ends the writing side, then waits at most [`LINGER`] for the peer to end its own, throwing away at most
    /// [`LINGER_BYTES_MAX`]: closing a socket with unread bytes sends a reset, which may overtake the last answer.
    async fn close(self) {
        self.shared.sock.with(|sock| sock.shutdown(std::net::Shutdown::Write).ok());
        if self.discard(LINGER_BYTES_MAX) {
            return;
        }
        // Only `watch` and the timer race, and both may be dropped; the bytes are taken without waiting.
        let mut late = pin!(monoio::time::sleep(LINGER));
        let mut left = LINGER_BYTES_MAX;
        while left > 0 {
            let peer = {
                let mut watch = pin!(self.watch());
                std::future::poll_fn(|cx| {
                    if late.as_mut().poll(cx).is_ready() {
                        return Poll::Ready(Peer::Gone);
                    }
                    watch.as_mut().poll(cx)
                })
                .await
            };
            if peer == Peer::Gone || self.discard(DISCARD_STEP_BYTES) {
                break;
            }
            left = left.saturating_sub(DISCARD_STEP_BYTES);
        }
    }
}

impl Drop for TcpLink {
    /// Before the stream field is dropped, so that no [`Shutdown`] can reach a descriptor that was reused.
    fn drop(&mut self) {
        self.shared.sock.release();
    }
}
