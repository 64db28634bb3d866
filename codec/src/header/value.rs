//! One field value: optional whitespace, legal characters, and the Base64 sentinel
//! `=?base64?...?=` that carries what a field value cannot (ledger 3c and 3d).

use std::borrow::Cow;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Why a field value cannot be compared with the body; every one answers 400 `-32020`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderFault {
    /// A byte outside 0x20..=0x7E and 0x09, raw UTF-8 included (HDR-18, PAR-11).
    IllegalCharacter,
    /// A sentinel whose payload is not strict padded RFC 4648 section 4 Base64 (PAR-03, PAR-04).
    BadBase64,
    /// A sentinel whose decoded payload is not UTF-8 (PAR-03).
    NotUtf8,
    /// A parameter value above [`PARAM_BYTES_MAX`](super::PARAM_BYTES_MAX) (SEC-02).
    TooLong,
}

impl fmt::Display for HeaderFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HeaderFault::IllegalCharacter => "illegal character in header value",
            HeaderFault::BadBase64 => "malformed Base64 in header value",
            HeaderFault::NotUtf8 => "Base64 header value is not UTF-8",
            HeaderFault::TooLong => "header value too long",
        })
    }
}

impl std::error::Error for HeaderFault {}

/// The text that a field value stands for: surrounding spaces and tabs stripped (HDR-16), characters
/// checked (HDR-18), a sentinel decoded exactly once (HDR-17, PAR-01..05). A literal is borrowed.
///
/// For `Mcp-Name` and `Mcp-Param-*` only: `MCP-Protocol-Version` and `Mcp-Method` are compared
/// undecoded, see [`trim`] and [`legal`]. The length is bounded by the caller's head limit.
///
/// # Errors
/// [`HeaderFault`], never [`HeaderFault::TooLong`].
pub fn decode(value: &[u8]) -> Result<Cow<'_, str>, HeaderFault> {
    let value = trim(value);
    if !legal(value) {
        return Err(HeaderFault::IllegalCharacter);
    }
    let Some(payload) = sentinel_payload(value) else {
        // Legal bytes are ASCII, so this cannot fail; the error keeps the function total.
        let literal = std::str::from_utf8(value).map_err(|_| HeaderFault::IllegalCharacter)?;
        return Ok(Cow::Borrowed(literal));
    };
    // STANDARD wants canonical padding and zero trailing bits: each text has one encoding (PAR-04).
    let bytes = STANDARD.decode(payload).map_err(|_| HeaderFault::BadBase64)?;
    String::from_utf8(bytes).map(Cow::Owned).map_err(|_| HeaderFault::NotUtf8)
}

/// The field value that a conforming client sends for `text`: literal where that is unambiguous,
/// else the sentinel. `decode(encode(text).as_bytes())` gives `text` back for every string.
#[must_use]
pub fn encode(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    // A tab inside is legal but some intermediaries fold it to a space, so it travels encoded.
    let plain = bytes.iter().all(|byte| matches!(byte, 0x20..=0x7E))
        && bytes.first() != Some(&b' ')
        && bytes.last() != Some(&b' ')
        && sentinel_payload(bytes).is_none();
    if plain {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{PREFIX}{}{SUFFIX}", STANDARD.encode(text)))
}

/// Whether every byte may stand in a field value: 0x20..=0x7E and 0x09 (HDR-18). Empty is legal.
#[must_use]
pub fn legal(value: &[u8]) -> bool {
    value.iter().all(|byte| matches!(byte, 0x20..=0x7E | b'\t'))
}

/// `value` without leading and trailing spaces and tabs (HDR-16, RFC 9110 OWS).
#[must_use]
pub fn trim(value: &[u8]) -> &[u8] {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let start = value.iter().position(|byte| !blank(byte)).unwrap_or(value.len());
    let end = value.iter().rposition(|byte| !blank(byte)).map_or(start, |last| last + 1);
    &value[start..end]
}

/// Whether `text` is an RFC 9110 section 5.6.2 token: non-empty, of `!#$%&'*+-.^_|~`, the backtick,
/// digits and letters (XH-01).
#[must_use]
pub fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(is_token_byte)
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// The Base64 between the markers, or `None` when the value is a literal (PAR-02). Stripping the two
/// markers one after the other is the overlap guard: `=?base64?=` has no suffix left to strip.
fn sentinel_payload(value: &[u8]) -> Option<&[u8]> {
    value.strip_prefix(PREFIX.as_bytes())?.strip_suffix(SUFFIX.as_bytes())
}

const PREFIX: &str = "=?base64?";
const SUFFIX: &str = "?=";
