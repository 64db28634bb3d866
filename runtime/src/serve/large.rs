//! One large input of a core, lent to whichever request is large next: a core that reads one large body after the other
//! neither asks for memory each time nor copies what has come from room to room.

use std::cell::RefCell;

/// The largest room kept, in bytes: the one that a body of 1 MiB with its head grows to.
pub(super) const KEPT_BYTES_MAX: usize = 2 * 1024 * 1024;

/// An input that has this many bytes, and is not whole, is a large one.
const LARGE_BYTES: usize = 32 * 1024;

/// The input that nobody uses.
#[derive(Default)]
pub(crate) struct LargeInput(RefCell<Vec<u8>>);

impl LargeInput {
    /// Moves a large input that is to grow into the room kept, if that is more. It is memory the core has already:
    /// nothing is asked for because of what a peer declares (SEC-07).
    pub(super) fn lend(&self, buf: &mut Vec<u8>) {
        let mut kept = self.0.borrow_mut();
        if buf.len() >= LARGE_BYTES && kept.capacity() > buf.capacity() {
            let mut room = std::mem::take(&mut *kept);
            room.extend_from_slice(buf);
            *buf = room;
        }
    }

    /// Keeps the larger room, up to the bound.
    pub(super) fn put(&self, mut buf: Vec<u8>) {
        let mut kept = self.0.borrow_mut();
        if (kept.capacity()..=KEPT_BYTES_MAX).contains(&buf.capacity()) {
            buf.clear();
            *kept = buf;
        }
    }

    /// Bytes of the room kept.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.0.borrow().capacity()
    }
}
