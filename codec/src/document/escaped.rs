//! The source text of strings that hold escapes, saved before the parse unescapes them in place.
//! Ids are repeated byte for byte (ledger RPC-03), so the text a client sent must outlive the
//! parse.

use memchr::{memchr, memchr2, memrchr};

use crate::limits::DOCUMENT_KEEP_ESCAPED_BYTES_MAX;

/// A copy of the stretch of the body from the first string with an escape to the end of the last
/// one.
#[derive(Default)]
pub(super) struct Escaped {
    /// Offset in the buffer of `text[0]`, which is the opening quote of the first string that holds
    /// an escape.
    start: usize,
    /// Empty when the body holds no backslash.
    text: Vec<u8>,
}

impl Escaped {
    /// Saves what the parse of `bytes[body_start..]` will overwrite. Costs one scan where there is
    /// no backslash.
    pub(super) fn save(&mut self, body: &[u8], body_start: usize) {
        self.text.clear();
        let Some(first) = memchr(b'\\', body) else { return };
        // No backslash comes before `first`, so the last quote before it opens its string. Without
        // one the body is not JSON.
        let Some(open) = memrchr(b'"', &body[..first]) else { return };
        let last = memrchr(b'\\', body).unwrap_or(first);
        // The character after the last backslash is part of its escape, or, where the backslash is
        // itself escaped, the closing quote; then the copy runs on to the next quote, which does no
        // harm.
        let tail = (last + 2).min(body.len());
        let end = memchr(b'"', &body[tail..]).map_or(body.len(), |at| tail + at + 1);
        self.start = body_start + open;
        self.text.extend_from_slice(&body[open..end]);
    }

    /// The source text of the string whose content starts at `offset` of the buffer and is `len`
    /// bytes long unescaped; `None` when it had no escapes and so is its own source text.
    pub(super) fn source(&self, offset: usize, len: usize) -> Option<&str> {
        let from = offset.checked_sub(self.start).filter(|from| *from > 0)?;
        let tail = self.text.get(from..)?;
        let mut at = 0;
        let source = loop {
            at += memchr2(b'"', b'\\', tail.get(at..)?)?;
            if tail[at] == b'"' {
                break &tail[..at];
            }
            at += 2;
        };
        // Every escape is longer than what it stands for.
        if source.len() == len { None } else { std::str::from_utf8(source).ok() }
    }

    /// Forgets the text, keeping a bounded room for the next.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        if self.text.capacity() > DOCUMENT_KEEP_ESCAPED_BYTES_MAX {
            self.text = Vec::new();
        }
    }
}
