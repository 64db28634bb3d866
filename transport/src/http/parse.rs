//! From bytes to a [`Head`]: httparse splits the lines, this room checks what it lets pass.

use std::mem::MaybeUninit;

use super::head::{Head, HeaderSpan, Span};
use super::reject::{BARE_LINE_END, HEAD_TOO_LARGE, Reject, TARGET_TOO_LONG};
use super::{Limits, rules, target};
use crate::limits::{HEADERS_MAX_CEILING, METHOD_BYTES_MAX};

/// Parses a head at the front of `window`, which lies `base` bytes into the read buffer.
///
/// `Ok(Some(n))`: `head` is filled and takes `n` bytes. `Ok(None)`: more bytes are needed.
pub(crate) fn parse(
    window: &[u8],
    base: usize,
    limits: &Limits,
    head: &mut Head,
) -> Result<Option<usize>, Reject> {
    head.clear();
    let mut slots = [const { MaybeUninit::uninit() }; HEADERS_MAX_CEILING];
    let slots = &mut slots[..limits.headers_max.min(HEADERS_MAX_CEILING)];
    let mut request = httparse::Request::new(&mut []);
    let length = match request.parse_with_uninit_headers(window, slots) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(error) => return Err(refusal(error, window)),
    };
    let (Some(method), Some(path), Some(minor)) = (request.method, request.path, request.version)
    else {
        return Err(Reject::bad("malformed request line"));
    };
    if method.len() > METHOD_BYTES_MAX {
        return Err(Reject::new(501, "method too long"));
    }
    if path.len() > limits.target_bytes_max {
        return Err(TARGET_TOO_LONG);
    }
    head.method = Span::of(window, method.as_bytes(), base);
    head.target = Span::of(window, path.as_bytes(), base);
    head.minor = minor;

    let line_end = head.target.end as usize - base + VERSION_BYTES;
    if window.get(line_end) != Some(&b'\r') || !window[..length].ends_with(b"\r\n\r\n") {
        return Err(BARE_LINE_END);
    }
    for header in request.headers.iter() {
        let name = Span::of(window, header.name.as_bytes(), base);
        let value = Span::of(window, header.value, base);
        if !ends_with_cr(window, value.end as usize - base) {
            return Err(BARE_LINE_END);
        }
        head.headers.push(HeaderSpan { name, value });
    }
    target::resolve(head, method, path)?;
    rules::apply(head, window, base)?;
    Ok(Some(length))
}

/// ` HTTP/1.x` behind the target.
const VERSION_BYTES: usize = 9;

/// Whether the line whose value ends at `at` ends with CR LF: httparse also takes LF alone, but has
/// checked that an LF follows a CR.
fn ends_with_cr(window: &[u8], at: usize) -> bool {
    let rest = window.get(at..).unwrap_or_default();
    rest.iter().find(|byte| !matches!(byte, b' ' | b'\t')) == Some(&b'\r')
}

fn refusal(error: httparse::Error, window: &[u8]) -> Reject {
    match error {
        httparse::Error::TooManyHeaders => Reject::new(431, "too many header lines"),
        httparse::Error::Version if names_other_version(window) => {
            Reject::new(505, "HTTP version not supported")
        }
        httparse::Error::Version | httparse::Error::Token | httparse::Error::Status => {
            Reject::bad("malformed request line")
        }
        httparse::Error::HeaderName => Reject::bad("malformed header name"),
        httparse::Error::HeaderValue => Reject::bad("malformed header value"),
        httparse::Error::NewLine => BARE_LINE_END,
    }
}

/// Whether a request line is well formed but for a version that is neither 1.0 nor 1.1, such as the
/// HTTP/2 preface `PRI * HTTP/2.0` (HTTP-21).
fn names_other_version(window: &[u8]) -> bool {
    let Some(version) = window.splitn(3, |byte| *byte == b' ').nth(2) else {
        return false;
    };
    let Some([major, rest @ ..]) = version.strip_prefix(b"HTTP/") else {
        return false;
    };
    // A version known to be wrong may have arrived in part.
    match rest {
        [] | [b'.'] => major.is_ascii_digit(),
        [b'.', minor] | [b'.', minor, b'\r', ..] => {
            let known = *major == b'1' && matches!(minor, b'0' | b'1');
            !known && major.is_ascii_digit() && minor.is_ascii_digit()
        }
        _ => false,
    }
}

/// Where the search for the end of an incomplete head stands. A head that arrives byte by byte costs
/// one pass in all: each byte is looked at once, and the lines are parsed when the last one is there.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Search {
    /// Bytes of the head already searched.
    scanned: usize,
    /// Where the current line starts, counted from the head's start.
    line: usize,
}

impl Search {
    /// Looks further for the empty line that ends the head. `window` starts at the head and holds at most
    /// `limits.head_bytes_max` bytes.
    pub(crate) fn advance(&mut self, window: &[u8], limits: &Limits) -> Result<bool, Reject> {
        while let Some(found) = memchr::memchr(b'\n', &window[self.scanned..]) {
            let at = self.scanned + found;
            if at == self.line || window[at - 1] != b'\r' {
                return Err(BARE_LINE_END);
            }
            self.scanned = at + 1;
            if at - 1 == self.line {
                return Ok(true);
            }
            self.line = at + 1;
        }
        self.scanned = window.len();
        let in_request_line = self.line == 0;
        if in_request_line && window.len() > limits.target_bytes_max + METHOD_BYTES_MAX + 12 {
            return Err(TARGET_TOO_LONG);
        }
        if window.len() >= limits.head_bytes_max {
            return Err(HEAD_TOO_LARGE);
        }
        Ok(false)
    }
}
