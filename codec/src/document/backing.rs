//! The bytes and the tape that points into them, kept in one struct whose fields nobody else can
//! reach. The only unsafe code of the crate: the tape's lifetime is erased here and given back
//! bound to the borrow of the owner.

use std::mem::{self, ManuallyDrop};
use std::ops::Range;

use simd_json::{Buffers, INPUT_PADDING, Node, Tape, fill_tape_padded};

use crate::limits::PARSER_KEEP_NODES_MAX;

/// Owned bytes and the nodes that borrow from them.
#[derive(Default)]
pub(super) struct Backing {
    /// The caller's buffer, then padding up to `INPUT_PADDING` bytes after the body. Invariant:
    /// while `nodes` holds anything, this vector is neither written, resized, replaced nor dropped;
    /// shared reads are fine.
    bytes: Vec<u8>,
    /// Bytes of `bytes` the caller handed over; the rest is padding.
    len: usize,
    /// Invariant: the `'static` is a fiction. Every `&str` inside points into the heap block of
    /// `bytes`, and leaves this module only with the lifetime of a borrow of `self`.
    nodes: Vec<Node<'static>>,
}

impl Backing {
    /// Takes the buffer and parses `bytes[body]` in place. On error the buffer is still owned and
    /// there are no nodes.
    pub(super) fn fill(
        &mut self,
        buffers: &mut Buffers,
        bytes: Vec<u8>,
        body: Range<usize>,
    ) -> Result<(), simd_json::Error> {
        // The old nodes go first: nothing may point into the buffer that is replaced.
        self.nodes.clear();
        self.len = bytes.len();
        self.bytes = bytes;
        let padded_len = body.end + INPUT_PADDING;
        if self.bytes.len() < padded_len {
            self.bytes.resize(padded_len, 0);
        }
        // The empty vector shortens its lifetime by covariance and keeps its allocation.
        let mut tape: Tape<'_> = Tape(mem::take(&mut self.nodes));
        let parsed =
            fill_tape_padded(&mut self.bytes[body.start..], body.len(), buffers, &mut tape);
        if parsed.is_err() {
            tape.0.clear();
        }
        // SAFETY: the nodes borrow from the heap block of `self.bytes`, which stays where it is
        // when `self` moves. The field invariants hold from here on: the only functions that take
        // `&mut self` are this one, `adopt` and `release`, and all clear `nodes` before they touch
        // `bytes`; `nodes()` hands them out no longer than a shared borrow of `self`.
        self.nodes = unsafe { erase(tape.0) };
        parsed
    }

    /// The tape, empty before the first parse, after a failed one and after `release`.
    pub(super) fn nodes(&self) -> &[Node<'_>] {
        &self.nodes
    }

    /// The caller's buffer; the body is no longer its original text where strings had escapes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Nodes the tape has room for.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.nodes.capacity()
    }

    /// Uses the room of `spare` for the next tape, where that is more.
    pub(super) fn adopt(&mut self, spare: &mut Spare) {
        self.nodes.clear();
        if spare.0.capacity() > self.nodes.capacity() {
            self.nodes = mem::take(&mut spare.0);
        }
    }

    /// Gives the buffer back at its original length, and drops the nodes, keeping at most `keep` of
    /// their room; `spare` gets what is more.
    pub(super) fn release(&mut self, keep: usize, spare: &mut Spare) -> Vec<u8> {
        self.nodes.clear();
        if self.nodes.capacity() > keep {
            spare.offer(mem::take(&mut self.nodes));
        }
        self.bytes.truncate(self.len);
        self.len = 0;
        mem::take(&mut self.bytes)
    }
}

/// Room for a large tape, without nodes.
#[derive(Default)]
pub(super) struct Spare(Vec<Node<'static>>);

impl Spare {
    /// Keeps the larger room, up to the bound.
    fn offer(&mut self, nodes: Vec<Node<'static>>) {
        debug_assert!(nodes.is_empty());
        let kept = self.0.capacity()..=PARSER_KEEP_NODES_MAX;
        if kept.contains(&nodes.capacity()) {
            self.0 = nodes;
        }
    }

    /// Nodes there is room for.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.0.capacity()
    }
}

/// Forgets what the nodes borrow from.
///
/// # Safety
/// The caller keeps the borrowed bytes alive, unmoved and unwritten for as long as the result holds
/// any node, and lends the nodes out for no longer than that.
unsafe fn erase(nodes: Vec<Node<'_>>) -> Vec<Node<'static>> {
    let mut nodes = ManuallyDrop::new(nodes);
    let (ptr, len, capacity) = (nodes.as_mut_ptr(), nodes.len(), nodes.capacity());
    // SAFETY: the parts come from a vector that is never dropped, of a type that differs in a
    // lifetime alone and so has the same size and alignment; that the lifetime holds is the
    // caller's promise.
    unsafe { Vec::from_raw_parts(ptr.cast::<Node<'static>>(), len, capacity) }
}
