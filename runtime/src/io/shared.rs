//! Text that many answers share, as a buffer for a write: large lists leave from where the registry keeps them.

use std::ops::Range;
use std::sync::Arc;

use monoio::buf::IoBuf;

/// A stretch of a text that never changes. It keeps the whole text alive.
#[derive(Clone, Debug)]
pub(crate) struct SharedText {
    text: Arc<str>,
    /// Invariant: within `text`.
    range: Range<usize>,
}

impl SharedText {
    /// `text[range]`; `None` where there is no such stretch.
    pub(crate) fn new(text: &Arc<str>, range: Range<usize>) -> Option<Self> {
        text.get(range.clone())?;
        Some(Self { text: Arc::clone(text), range })
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.text.as_bytes()[self.range.clone()]
    }

    /// What is left of it behind its first `count` bytes.
    pub(crate) fn behind(self, count: usize) -> Self {
        let start = self.range.start.saturating_add(count).min(self.range.end);
        Self { range: start..self.range.end, ..self }
    }
}

// SAFETY: the bytes lie in the heap block of `text`, so they stay where they are when `self` moves, and live while `self`
// does. They are initialised and nobody writes them: a shared `str` has no way to be changed, and this type lends its
// `Arc` to nobody.
unsafe impl IoBuf for SharedText {
    fn read_ptr(&self) -> *const u8 {
        self.as_bytes().as_ptr()
    }

    fn bytes_init(&self) -> usize {
        self.range.len()
    }
}
