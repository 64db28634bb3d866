//! Read and write buffers of one core, kept for the next connection.

use std::cell::RefCell;

/// A pooled buffer that has grown beyond this many times the size is given back to the allocator instead: one large
/// request must not pin its memory for good.
const GROWTH_KEPT: usize = 16;

/// Empty vectors of one size, at most a bounded number of them.
pub(crate) struct BufferPool {
    free: RefCell<Vec<Vec<u8>>>,
    bytes: usize,
    kept_max: usize,
}

impl BufferPool {
    /// Buffers of `bytes` capacity, at most `kept_max` of them idle.
    pub(crate) fn new(bytes: usize, kept_max: usize) -> Self {
        Self { free: RefCell::default(), bytes, kept_max }
    }

    /// An empty buffer with at least the pool's capacity.
    pub(crate) fn get(&self) -> Vec<u8> {
        self.free.borrow_mut().pop().unwrap_or_else(|| Vec::with_capacity(self.bytes))
    }

    /// Buffers that nobody uses.
    #[cfg(test)]
    pub(crate) fn idle(&self) -> usize {
        self.free.borrow().len()
    }

    /// Gives all idle buffers back to the allocator.
    pub(crate) fn shed(&self) {
        self.free.take();
    }

    /// Takes a buffer back, if it is worth keeping.
    pub(crate) fn put(&self, mut buf: Vec<u8>) {
        let mut free = self.free.borrow_mut();
        let kept = self.bytes..=self.bytes * GROWTH_KEPT;
        if free.len() < self.kept_max && kept.contains(&buf.capacity()) {
            buf.clear();
            free.push(buf);
        }
    }
}
