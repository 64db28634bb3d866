//! A JSON document: the buffer it arrived in, which stays as it is, and the tape of its values that
//! points into it. Looking at values is `value/`; what a message is, is `message`.

#[allow(unsafe_code)]
mod backing;
mod error;
mod node;
mod number;
mod read;
#[cfg(test)]
mod tests;
#[allow(unsafe_code)]
mod text;
mod unescaped;

use std::ops::Range;

use crate::limits::{DEPTH_MAX_CEILING, DOCUMENT_KEEP_NODES_MAX, LARGE_BODY_BYTES};
use crate::value::Value;
use backing::{Backing, Spare};

pub use error::JsonError;
pub(crate) use node::Node;

/// The UTF-8 byte order mark, of which one is tolerated before the document (ledger RPC-19b).
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// What documents are read by: one per core, used synchronously, reused for every document.
pub struct Parser {
    /// For whichever document is large next.
    spare: Spare,
    depth_max: usize,
}

impl Parser {
    /// A parser that refuses documents nested deeper than `depth_max` arrays and objects (ledger
    /// RPC-20). Values above [`DEPTH_MAX_CEILING`] are lowered to it, zero is raised to one.
    pub fn new(depth_max: usize) -> Parser {
        Parser { spare: Spare::default(), depth_max: depth_max.clamp(1, DEPTH_MAX_CEILING) }
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
}

impl Document {
    /// An empty document, whose root is `null`.
    pub fn new() -> Self {
        Document::default()
    }

    /// Parses `bytes[body]`. The buffer is not changed. One leading byte order mark is skipped. On
    /// error the document still owns the buffer, and its root is `null`.
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
        if end - start > LARGE_BODY_BYTES {
            self.backing.adopt(&mut parser.spare);
        }
        self.backing.fill(parser.depth_max, bytes, start..end)
    }

    /// The document's value; `null` unless the last [`parse`](Self::parse) succeeded.
    pub fn root(&self) -> Value<'_> {
        Value::over(self.backing.nodes())
    }

    /// The whole buffer, as it arrived.
    pub fn bytes(&self) -> &[u8] {
        self.backing.bytes()
    }

    /// Gives the buffer back and forgets the document, keeping its tape's allocation up to a bound.
    pub fn release(&mut self) -> Vec<u8> {
        self.backing.release(DOCUMENT_KEEP_NODES_MAX, &mut Spare::default())
    }

    /// As [`release`](Self::release), but a tape beyond that bound goes to `parser`, up to one of
    /// its own, for the next large document.
    pub fn release_to(&mut self, parser: &mut Parser) -> Vec<u8> {
        self.backing.release(DOCUMENT_KEEP_NODES_MAX, &mut parser.spare)
    }

    /// The text between the quotes as it arrived, for a string of this document that had escapes;
    /// `None` for a string that had none, which is its own source, and for strings from elsewhere.
    pub fn source_of(&self, text: &str) -> Option<&str> {
        self.backing.source_of(text)
    }
}

impl std::fmt::Debug for Document {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Document").field("bytes", &self.bytes().len()).finish_non_exhaustive()
    }
}
