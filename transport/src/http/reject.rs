//! Why a request is refused before anybody looks at its meaning.

use std::fmt;

/// A refusal that ends the connection: answer `status` with `Connection: close`, then close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reject {
    /// HTTP status code: 400, 413, 414, 417, 431, 501 or 505.
    pub status: u16,
    /// What was wrong, for logs and for a plain-text body; never holds input bytes.
    pub reason: &'static str,
}

impl Reject {
    /// A malformed or ambiguous request (RFC 9112, 2.2, 5.1, 6.3).
    pub(crate) const fn bad(reason: &'static str) -> Reject {
        Reject { status: 400, reason }
    }

    /// A refusal with its own status.
    pub(crate) const fn new(status: u16, reason: &'static str) -> Reject {
        Reject { status, reason }
    }
}

impl fmt::Display for Reject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.status, self.reason)
    }
}

impl std::error::Error for Reject {}

/// A line ended by LF alone, or a CR that ends no line: two readers would split it differently.
pub(crate) const BARE_LINE_END: Reject = Reject::bad("bare CR or LF");
/// Declared or received body beyond the limit (HTTP-17).
pub(crate) const BODY_TOO_LARGE: Reject = Reject::new(413, "body too large");
/// Request target beyond the limit.
pub(crate) const TARGET_TOO_LONG: Reject = Reject::new(414, "request target too long");
/// Head beyond the limit (HTTP-17).
pub(crate) const HEAD_TOO_LARGE: Reject = Reject::new(431, "request head too large");
/// The caller answered without reading a body that cannot be skipped.
pub(crate) const BODY_UNREAD: Reject = Reject::bad("request body was refused");
