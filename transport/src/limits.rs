//! Every bound of this crate, with its default and the reason for it.
//!
//! The configurable ones are fields of [`Limits`] or arguments (`line::Framer::new`); the others are
//! constants, because no deployment has a reason to change them.

/// Bounds on one HTTP request; see each field for what happens at the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Request line and header lines with their ends, in bytes, at most [`HEAD_BYTES_MAX_CEILING`].
    /// Beyond: 431 (HTTP-17).
    pub head_bytes_max: usize,
    /// Header lines, at most [`HEADERS_MAX_CEILING`]. Beyond: 431.
    pub headers_max: usize,
    /// Request body in bytes, after de-chunking, at most [`BODY_BYTES_MAX_CEILING`]. Beyond: 413
    /// (HTTP-17).
    pub body_bytes_max: usize,
    /// Request target in bytes. Beyond: 414.
    pub target_bytes_max: usize,
    /// One chunk-size line with its extensions and line end, in bytes. Beyond: 400.
    pub chunk_line_bytes_max: usize,
    /// The whole trailer section, in bytes. Beyond: 431.
    pub trailer_bytes_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            head_bytes_max: 32 * 1024,
            headers_max: 64,
            body_bytes_max: 4 * 1024 * 1024,
            target_bytes_max: 8 * 1024,
            chunk_line_bytes_max: 256,
            trailer_bytes_max: 4 * 1024,
        }
    }
}

/// The most header lines a configuration can allow: the parser's slots live on the stack.
pub const HEADERS_MAX_CEILING: usize = 128;

/// The largest head a configuration can allow, in bytes: header offsets are 32 bits wide.
pub const HEAD_BYTES_MAX_CEILING: usize = 1 << 30;

/// The largest body a configuration can allow, in bytes: a message is one JSON text in memory.
pub const BODY_BYTES_MAX_CEILING: usize = 1 << 30;

/// The longest method token, in bytes. RFC 9110 registers none above 17. Beyond: 501 (RFC 9112, 3).
pub const METHOD_BYTES_MAX: usize = 32;

/// Empty lines tolerated before a request line (RFC 9112, 2.2). Beyond: 400.
pub const LEADING_EMPTY_LINES_MAX: usize = 4;

/// Chunk-framing bytes tolerated beyond twice the data and [`CHUNK_OVERHEAD_BYTES`] a chunk: a body
/// of tiny chunks with long extensions must not cost many times its size. Beyond: 400.
pub const CHUNK_EXCESS_BYTES_MAX: usize = 16 * 1024;

/// What one chunk's framing may cost without counting as excess, in bytes.
pub const CHUNK_OVERHEAD_BYTES: usize = 16;

/// Answered bytes left at the front of a read buffer before they are dropped although unread
/// requests follow, in bytes: copying is paid once a mebibyte, and offsets stay small.
pub const CONSUMED_BYTES_MAX: usize = 1024 * 1024;

/// Default cap on one line of a line-framed stream, in bytes (STD-09).
pub const LINE_BYTES_MAX: usize = 10 * 1024 * 1024;

const _: () = {
    assert!(HEAD_BYTES_MAX_CEILING + CONSUMED_BYTES_MAX < u32::MAX as usize);
};
