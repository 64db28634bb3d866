//! A connection between requests: it writes what is due and waits for more. While it rests it is a link and a deadline.

use std::io;
use std::rc::Rc;

use super::connection::write;
use crate::app::App;
use crate::engine::core::Core;
use crate::engine::deadline::{Deadline, Kind};
use crate::io::{Link, PooledFuture};

/// Room for a first read, in bytes: most requests fit.
pub(super) const ROOM_BYTES_MIN: u32 = 1024;

/// Room that a connection's reads grow to, in bytes, each read that fills its room doubling the next: as many pipelined
/// requests as are waiting come in one read, and their answers leave in one write.
pub(super) const ROOM_BYTES_MAX: usize = 64 * 1024;

/// A connection is lively while its requests come within so many milliseconds of each other. Only then does it wait with
/// a read in flight, which pins a buffer and saves a system call.
pub(super) const LIVELY_MS: u64 = 500;

/// What a connection has between two requests.
pub(super) struct Kept<L> {
    /// Away while requests are served.
    pub(super) link: Option<L>,
    /// Ends the link's operations: head, body, idle and write timeouts.
    pub(super) deadline: Deadline,
    /// Bytes read and not yet answered.
    pub(super) buf: Vec<u8>,
    /// Answers not yet written.
    pub(super) out: Vec<u8>,
    pub(super) reading: Reading,
}

/// Why a kept connection no longer waits.
pub(super) enum Heard {
    /// There are bytes in the buffer.
    Bytes,
    /// Nothing more will come, and what is due may still be written.
    Silence,
    /// The peer is gone, or takes nothing.
    Gone,
}

impl<L: Link> Kept<L> {
    pub(super) fn new(core: &Core<App>, link: L) -> Self {
        let deadline = core.deadline(Some(link.shutdown_handle()));
        let (buf, out) = (Vec::new(), Vec::new());
        Self { link: Some(link), deadline, buf, out, reading: Reading::default() }
    }

    /// Writes what is due, then waits for bytes.
    #[expect(clippy::manual_async_fn, reason = "an async function would keep each argument twice")]
    pub(super) fn hear<'k>(
        &'k mut self,
        core: &'k Rc<Core<App>>,
    ) -> impl Future<Output = Heard> + 'k {
        async move {
            if !self.flush(core).await {
                return Heard::Gone;
            }
            if core.draining.get() {
                return Heard::Silence;
            }
            let now_ms = core.clock.now_ms();
            let ends_ms = now_ms + core.serve.limits.idle_timeout.as_millis() as u64;
            if self.reading.lively && now_ms + LIVELY_MS < ends_ms {
                match self.read_lively(now_ms).await {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => self.shed(core),
                    read => return self.heard(core, &read),
                }
                if core.draining.get() {
                    return Heard::Silence;
                }
            }
            self.shed(core);
            self.deadline.arm(Kind::Idle, ends_ms);
            let Some(link) = &mut self.link else { return Heard::Gone };
            let (read, buf) = link.read_late(|| core.buffers.get()).await;
            self.buf = buf;
            self.reading.heard_at(core.clock.now_ms());
            self.heard(core, &read)
        }
    }

    /// With a buffer at hand, until the connection has been silent for too long to be lively.
    async fn read_lively(&mut self, now_ms: u64) -> io::Result<usize> {
        self.deadline.arm(Kind::Quiet, now_ms + LIVELY_MS);
        let mut buf = std::mem::take(&mut self.buf);
        self.reading.make_room(&mut buf);
        let Some(link) = &mut self.link else { return Ok(0) };
        let (read, buf) = PooledFuture::new(link.read_patiently(buf)).await;
        self.buf = buf;
        read
    }

    fn heard(&mut self, core: &Core<App>, read: &io::Result<usize>) -> Heard {
        match (read, self.deadline.fired()) {
            (Ok(1..), _) => {
                self.reading.learn(&self.buf);
                Heard::Bytes
            }
            (_, Some(Kind::Idle)) => {
                // A drain ends the wait as well.
                core.counters.idle_timeouts.add(u64::from(!core.draining.get()));
                Heard::Silence
            }
            _ => Heard::Gone,
        }
    }

    /// Gives back what only a lively connection has.
    fn shed(&mut self, core: &Core<App>) {
        self.reading =
            Reading { lively_until_ms: self.reading.lively_until_ms, ..Reading::default() };
        core.buffers.put(std::mem::take(&mut self.buf));
    }

    /// Writes what is due. False: the peer takes nothing more.
    async fn flush(&mut self, core: &Rc<Core<App>>) -> bool {
        let out = std::mem::take(&mut self.out);
        if out.is_empty() {
            core.buffers.put(out);
            return true;
        }
        let Some(link) = &mut self.link else { return false };
        let write = write(link, out, core, &self.deadline);
        let (written, out) = PooledFuture::new(write).await;
        core.buffers.put(out);
        written
    }

    /// Leaves nothing behind: the link has become a subscription's.
    pub(super) fn part(mut self, core: &Core<App>) {
        self.shed(core);
    }

    /// Writes what is due and takes leave of the peer.
    pub(super) async fn close(mut self, core: &Rc<Core<App>>) {
        if self.flush(core).await
            && let Some(link) = self.link.take()
        {
            let limit = core.serve.limits.write_timeout.as_millis() as u64;
            self.deadline.arm(Kind::Write, core.clock.now_ms() + limit);
            link.close().await;
        }
    }
}

/// How a connection reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    /// Room for the next read.
    bytes: u32,
    /// Its last two requests came shortly after each other.
    lively: bool,
    /// Another request before this time makes it lively.
    lively_until_ms: u64,
}

impl Default for Reading {
    fn default() -> Self {
        Self { bytes: ROOM_BYTES_MIN, lively: false, lively_until_ms: 0 }
    }
}

impl Reading {
    /// Makes room for a read. It grows with what has arrived, never with what was declared (SEC-07).
    pub(super) fn make_room(self, buf: &mut Vec<u8>) {
        let bytes = self.bytes as usize;
        if buf.is_empty() || buf.capacity() - buf.len() < bytes / 4 {
            buf.reserve(bytes.max(buf.len()));
        }
    }

    /// The first bytes after a rest have come.
    fn heard_at(&mut self, now_ms: u64) {
        self.lively = now_ms < self.lively_until_ms;
        self.lively_until_ms = now_ms + LIVELY_MS;
    }

    /// A read that left no room free had perhaps more to read.
    pub(super) fn learn(&mut self, buf: &Vec<u8>) {
        if buf.len() == buf.capacity() {
            self.bytes = (self.bytes * 2).min(ROOM_BYTES_MAX as u32);
        }
    }
}
