//! A JSON document parsed in place: the buffer it arrived in, and the tape of its values. Reading
//! values is `value/`; what a message is, is `message`.

#[allow(unsafe_code)]
mod backing;
mod error;
mod escaped;
#[cfg(test)]
mod tests;

use std::ops::Range;

use simd_json::Buffers;

use crate::limits::{
    DEPTH_MAX_CEILING, DOCUMENT_KEEP_NODES_MAX, LARGE_BODY_BYTES, PARSER_KEEP_BODY_BYTES_MAX,
    PARSER_START_BYTES,
};
use crate::value::Value;
use backing::{Backing, Spare};
use escaped::Escaped;

pub use error::JsonError;

/// The UTF-8 byte order mark, of which one is tolerated before the document (ledger RPC-19b).
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The parser's working memory: one per core, used synchronously, reused for every document.
pub struct Parser {
    buffers: Buffers,
    /// For whichever document is large next.
    spare: Spare,
    depth_max: usize,
}

impl Parser {
    /// A parser that refuses documents nested deeper than `depth_max` arrays and objects (ledger
    /// RPC-20). Values above [`DEPTH_MAX_CEILING`] are lowered to it, zero is raised to one.
    pub fn new(depth_max: usize) -> Parser {
        let depth_max = depth_max.clamp(1, DEPTH_MAX_CEILING);
        let buffers = Buffers::with_max_depth(PARSER_START_BYTES, depth_max);
        Parser { buffers, spare: Spare::default(), depth_max }
    }
}

impl Default for Parser {
    /// The documented depth, [`DEPTH_MAX_DEFAULT`](crate::limits::DEPTH_MAX_DEFAULT).
    fn default() -> Self {
        Parser::new(crate::limits::DEPTH_MAX_DEFAULT)
    }
}

/// A buffer and the JSON document inside it. Pooled: a document that is parsed into again reuses
/// its allocations.
#[derive(Default)]
pub struct Document {
    backing: Backing,
    escaped: Escaped,
}

impl Document {
    /// An empty document, whose root is `null`.
    pub fn new() -> Self {
        Document::default()
    }

    /// Parses `bytes[body]` in place. Bytes outside `body` are unchanged: a request head before it,
    /// a pipelined request after it. The buffer is grown by up to 64 bytes of padding where fewer
    /// follow the body, and is given back at its old length. One leading byte order mark is
    /// skipped. On error the document still owns the buffer, and its root is `null`.
    pub fn parse(
        &mut self,
        parser: &mut Parser,
        bytes: Vec<u8>,
        body: Range<usize>,
    ) -> Result<(), JsonError> {
        debug_assert!(body.start <= body.end && body.end <= bytes.len());
        let end = body.end.min(bytes.len());
        let mut start = body.start.min(end);
        if bytes[start..end].starts_with(BYTE_ORDER_MARK) {
            start += BYTE_ORDER_MARK.len();
        }
        self.escaped.save(&bytes[start..end], start);
        if end - start > LARGE_BODY_BYTES {
            self.backing.adopt(&mut parser.spare);
        }
        let parsed = self.backing.fill(&mut parser.buffers, bytes, start..end);
        if end - start > PARSER_KEEP_BODY_BYTES_MAX {
            parser.buffers = Buffers::with_max_depth(PARSER_START_BYTES, parser.depth_max);
        }
        parsed.map_err(|error| JsonError::new(&error, &self.bytes()[start..end]))
    }

    /// The document's value; `null` unless the last [`parse`](Self::parse) succeeded.
    pub fn root(&self) -> Value<'_> {
        Value::over(self.backing.nodes())
    }

    /// The whole buffer. Inside the body the text of strings with escapes is no longer what
    /// arrived.
    pub fn bytes(&self) -> &[u8] {
        self.backing.bytes()
    }

    /// Gives the buffer back at its original length and forgets the document, keeping its tape's
    /// allocation up to a bound.
    pub fn release(&mut self) -> Vec<u8> {
        self.escaped.clear();
        self.backing.release(DOCUMENT_KEEP_NODES_MAX, &mut Spare::default())
    }

    /// As [`release`](Self::release), but a tape beyond that bound goes to `parser`, up to one of
    /// its own, for the next large document.
    pub fn release_to(&mut self, parser: &mut Parser) -> Vec<u8> {
        self.escaped.clear();
        self.backing.release(DOCUMENT_KEEP_NODES_MAX, &mut parser.spare)
    }

    /// The text between the quotes as it arrived, for a string of this document whose escapes the
    /// parse has resolved; `None` for a string that had none, which is its own source, and for
    /// strings from elsewhere.
    pub fn source_of(&self, text: &str) -> Option<&str> {
        let base = self.bytes().as_ptr().addr();
        let offset = text.as_ptr().addr().checked_sub(base)?;
        if offset >= self.bytes().len() {
            return None;
        }
        self.escaped.source(offset, text.len())
    }
}

impl std::fmt::Debug for Document {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Document").field("bytes", &self.bytes().len()).finish_non_exhaustive()
    }
}
