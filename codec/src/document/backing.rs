//! The bytes and the tape that points into them, kept in one struct whose fields nobody else can
//! reach: the tape's lifetime is erased here and given back bound to the borrow of the owner.

use std::mem::{self, ManuallyDrop};
use std::ops::Range;

use super::JsonError;
use super::node::Node;
use super::read;
use super::unescaped::{self, Unescaped};
use crate::limits::{DOCUMENT_KEEP_ESCAPED_BYTES_MAX, PARSER_KEEP_NODES_MAX};

/// Owned bytes and the nodes that borrow from them.
#[derive(Default)]
pub(super) struct Backing {
    /// The caller's buffer. Invariant: while `nodes` holds anything, this vector and `unescaped`
    /// are neither written, resized, replaced nor dropped; shared reads are fine.
    bytes: Vec<u8>,
    /// Where in it the document is.
    body: Range<usize>,
    /// The strings that have escapes, without them.
    unescaped: Vec<u8>,
    /// Invariant: the `'static` is a fiction. Every `&str` inside points into the heap block of
    /// `bytes` or `unescaped`, and leaves this module only with the lifetime of a borrow of `self`.
    nodes: Vec<Node<'static>>,
}

impl Backing {
    /// Takes the buffer and reads `bytes[body]`. On error the buffer is still owned and there are
    /// no nodes.
    pub(super) fn fill(
        &mut self,
        depth_max: usize,
        bytes: Vec<u8>,
        body: Range<usize>,
    ) -> Result<(), JsonError> {
        // The old nodes go first: nothing may point into the buffers that are replaced.
        self.nodes.clear();
        self.unescaped.clear();
        self.bytes = bytes;
        self.body = body;
        // The empty vector shortens its lifetime by covariance and keeps its allocation.
        let mut nodes: Vec<Node<'_>> = mem::take(&mut self.nodes);
        let body = &self.bytes[self.body.clone()];
        let mut unescaped = Unescaped::into(&mut self.unescaped, body.len());
        let read = read::read(body, depth_max, &mut unescaped, &mut nodes);
        if read.is_err() {
            nodes.clear();
        }
        // SAFETY: the nodes borrow from the heap blocks of `self.bytes` and `self.unescaped`, which
        // stay where they are when `self` moves. The field invariants hold from here on: the only
        // functions that take `&mut self` are this one, `adopt` and `release`, and all clear
        // `nodes` before they touch either; `nodes()` hands them out no longer than a shared borrow
        // of `self`.
        self.nodes = unsafe { erase(nodes) };
        read
    }

    /// The tape, empty before the first parse, after a failed one and after `release`.
    pub(super) fn nodes(&self) -> &[Node<'_>] {
        &self.nodes
    }

    /// The caller's buffer, as it came.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What a string of this document looked like, if it had escapes.
    pub(super) fn source_of(&self, text: &str) -> Option<&str> {
        unescaped::source(&self.unescaped, text, &self.bytes[self.body.clone()])
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

    /// Gives the buffer back, and drops the nodes, keeping at most `keep` of their room; `spare`
    /// gets what is more.
    pub(super) fn release(&mut self, keep: usize, spare: &mut Spare) -> Vec<u8> {
        self.nodes.clear();
        if self.nodes.capacity() > keep {
            spare.offer(mem::take(&mut self.nodes));
        }
        self.unescaped.clear();
        if self.unescaped.capacity() > DOCUMENT_KEEP_ESCAPED_BYTES_MAX {
            self.unescaped = Vec::new();
        }
        self.body = 0..0;
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
