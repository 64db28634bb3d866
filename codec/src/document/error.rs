//! Why a body is not a document. Flat, static text: nothing of the input is repeated.

use crate::error::code;

/// Why the parse failed (ledger RPC-01, RPC-20).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JsonError {
    /// The text is not UTF-8.
    NotUtf8,
    /// The text is not JSON. `at` is a byte offset in the document: of the fault, or of the string
    /// that it is in.
    Syntax {
        /// Offset in bytes from the start of the document, after a byte order mark.
        at: usize,
    },
    /// More arrays and objects inside one another than the parser was told to accept.
    TooDeep,
    /// A number that no double can hold, such as `1e400`. The text may be JSON, but not a message
    /// (ledger RPC-04, RPC-20).
    NumberRange {
        /// Offset in bytes of the number from the start of the document.
        at: usize,
    },
}

impl JsonError {
    /// The JSON-RPC code that answers this fault.
    pub fn code(self) -> i32 {
        match self {
            JsonError::NumberRange { .. } => code::INVALID_REQUEST,
            _ => code::PARSE_ERROR,
        }
    }

    /// The fault as one short sentence.
    pub fn text(self) -> &'static str {
        match self {
            JsonError::NotUtf8 => "the message is not UTF-8",
            JsonError::Syntax { .. } => "the message is not JSON",
            JsonError::TooDeep => "the message is nested too deeply",
            JsonError::NumberRange { .. } => "the message holds a number out of range",
        }
    }
}

impl std::fmt::Display for JsonError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.text())
    }
}

impl std::error::Error for JsonError {}
