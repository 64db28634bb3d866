//! Percent-encoding (RFC 3986 section 2.1) and the character classes that both URI rooms share.

use std::borrow::Cow;

/// `text` with every triplet replaced by its byte, exactly once: `%2541` gives `%41`. `None` for a
/// `%` without two hex digits and for bytes that are not UTF-8 after decoding.
pub(super) fn decode(text: &str) -> Option<Cow<'_, str>> {
    let Some(first) = memchr::memchr(b'%', text.as_bytes()) else {
        return Some(Cow::Borrowed(text));
    };
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    decoded.extend_from_slice(&bytes[..first]);
    let mut at = first;
    while at < bytes.len() {
        if bytes[at] == b'%' {
            decoded.push(triplet(&bytes[at..])?);
            at += 3;
        } else {
            decoded.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8(decoded).ok().map(Cow::Owned)
}

/// Appends `text`, escaping every byte that `keep` refuses (RFC 6570 section 3.2.1).
pub(super) fn encode(text: &str, keep: Keep, out: &mut String) {
    let bytes = text.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        let literal = is_unreserved(byte)
            || (keep == Keep::Reserved
                && (is_reserved(byte) || (byte == b'%' && triplet(&bytes[at..]).is_some())));
        if literal {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
}

/// Which bytes stay as they are when a value is expanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// Unreserved ones only.
    Unreserved,
    /// Reserved ones and existing triplets too: `{+var}`, `{#var}` and template literals.
    Reserved,
}

/// The byte that a leading `%XX` stands for.
pub(super) fn triplet(bytes: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = bytes else { return None };
    let high = char::from(*high).to_digit(16)?;
    let low = char::from(*low).to_digit(16)?;
    u8::try_from(high * 16 + low).ok()
}

/// RFC 3986 section 2.3.
pub(super) fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// RFC 3986 section 2.2, `sub-delims`.
pub(super) fn is_sub_delim(byte: u8) -> bool {
    b"!$&'()*+,;=".contains(&byte)
}

/// RFC 3986 section 2.2, `gen-delims / sub-delims`.
pub(super) fn is_reserved(byte: u8) -> bool {
    is_sub_delim(byte) || b":/?#[]@".contains(&byte)
}

const HEX: &[u8; 16] = b"0123456789ABCDEF";
