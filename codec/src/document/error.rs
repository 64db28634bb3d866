//! Why a body is not a document. Flat, static text: nothing of the input is repeated.

use simd_json::ErrorType;

use crate::error::code;

/// Why the parse failed (ledger RPC-01, RPC-20).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JsonError {
    /// The text is not UTF-8.
    NotUtf8,
    /// The text is not JSON. `at` is a byte offset in the document near the fault, 0 where the
    /// parser does not know one.
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

    pub(super) fn new(error: &simd_json::Error, body: &[u8]) -> JsonError {
        match error.error() {
            ErrorType::InvalidUtf8 => JsonError::NotUtf8,
            ErrorType::DepthLimitExceeded => JsonError::TooDeep,
            ErrorType::InvalidNumber if starts_number(body, error.index()) => {
                JsonError::NumberRange { at: error.index() }
            }
            // These count from the start of their string, not of the document.
            ErrorType::InvalidEscape | ErrorType::InvalidUnicodeCodepoint => {
                JsonError::Syntax { at: 0 }
            }
            _ => JsonError::Syntax { at: error.index() },
        }
    }
}

/// Whether a number starts at `at`. The parser reports a malformed number at the character that
/// breaks it, and one out of range at its first character.
fn starts_number(body: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| body.get(before));
    let here = body.get(at).is_some_and(|byte| byte.is_ascii_digit() || *byte == b'-');
    here && before
        .is_none_or(|byte| matches!(byte, b'[' | b',' | b':' | b' ' | b'\t' | b'\n' | b'\r'))
}

impl std::fmt::Display for JsonError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.text())
    }
}

impl std::error::Error for JsonError {}
