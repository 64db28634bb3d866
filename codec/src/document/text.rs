//! Strings: where they end, whether they are UTF-8, and what their escapes stand for (RFC 8259, 7).

use super::read::{Fault, FaultKind};
use super::unescaped::Unescaped;

/// Bytes looked at together.
const CHUNK: usize = 16;

/// Reads the string whose content `rest` begins with, and steps behind its closing quote.
#[inline(always)]
pub(super) fn read<'b>(
    rest: &'b [u8],
    unescaped: &mut Unescaped<'b>,
) -> Result<(&'b str, &'b [u8]), Fault> {
    let (len, is_ascii) = plain_len(rest);
    match rest.split_at_checked(len) {
        Some((text, [b'"', behind @ ..])) if is_ascii => Ok((ascii(text), behind)),
        Some((text, [b'"', behind @ ..])) => Ok((utf8(text, rest)?, behind)),
        _ => with_escapes(rest, len, unescaped),
    }
}

/// Bytes before the first that is no plain part of a string: a quote, a backslash, a control
/// character or the end. And whether they are ASCII, which may be denied wrongly.
#[inline(always)]
fn plain_len(rest: &[u8]) -> (usize, bool) {
    if let Some(chunk) = rest.first_chunk::<CHUNK>() {
        let seen = marks(chunk);
        if seen.ends != 0 {
            return (seen.ends.trailing_zeros() as usize, seen.high == 0);
        }
    }
    long_plain_len(rest)
}

/// As [`plain_len`], where there are many, or where the body ends soon.
#[inline(never)]
fn long_plain_len(rest: &[u8]) -> (usize, bool) {
    let mut len = 0;
    let mut high = 0;
    while let Some(chunk) = rest[len..].first_chunk::<CHUNK>() {
        let seen = marks(chunk);
        high |= seen.high;
        if seen.ends != 0 {
            return (len + seen.ends.trailing_zeros() as usize, high == 0);
        }
        len += CHUNK;
    }
    while let Some(byte) = rest.get(len)
        && !ends_plain(*byte)
    {
        high |= u32::from(byte & 0x80);
        len += 1;
    }
    (len, high == 0)
}

fn ends_plain(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// Of each byte of a chunk a bit, the first byte's the lowest.
struct Marks {
    /// A quote, a backslash or a control character.
    ends: u32,
    /// No ASCII.
    high: u32,
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn marks(chunk: &[u8; CHUNK]) -> Marks {
    use std::arch::x86_64::*;

    // SAFETY: the load reads sixteen bytes from a reference to sixteen, of any alignment. It and all others belong to SSE2,
    // which every x86-64 processor has.
    unsafe {
        let bytes = _mm_loadu_si128(chunk.as_ptr().cast());
        // With this bit turned the quote takes the place of the space, next to the controls.
        let turned = _mm_xor_si128(bytes, _mm_set1_epi8(2));
        let quote_or_control = _mm_cmpeq_epi8(_mm_min_epu8(turned, _mm_set1_epi8(0x20)), turned);
        let backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'\\' as i8));
        let ends = _mm_or_si128(quote_or_control, backslash);
        Marks {
            ends: _mm_movemask_epi8(ends).cast_unsigned(),
            high: _mm_movemask_epi8(bytes).cast_unsigned(),
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn marks(chunk: &[u8; CHUNK]) -> Marks {
    let bits = |is: fn(u8) -> bool| {
        chunk.iter().rev().fold(0, |bits, byte| (bits << 1) | u32::from(is(*byte)))
    };
    Marks { ends: bits(ends_plain), high: bits(|byte| !byte.is_ascii()) }
}

/// Text that was seen to be ASCII.
#[inline(always)]
fn ascii(text: &[u8]) -> &str {
    debug_assert!(text.is_ascii());
    // SAFETY: `plain_len` saw no byte of it with its top bit set, so it is ASCII, and that is UTF-8.
    unsafe { std::str::from_utf8_unchecked(text) }
}

/// Text that may be UTF-8; it begins where `rest` does, or stands for what does.
#[inline(never)]
fn utf8<'b>(text: &'b [u8], rest: &[u8]) -> Result<&'b str, Fault> {
    std::str::from_utf8(text).map_err(|_| Fault { kind: FaultKind::NotUtf8, left: rest.len() })
}

/// As [`read`], where something that is no plain part of a string comes behind `plain` bytes.
#[cold]
fn with_escapes<'b>(
    rest: &'b [u8],
    mut plain: usize,
    unescaped: &mut Unescaped<'b>,
) -> Result<(&'b str, &'b [u8]), Fault> {
    let fault = || Fault::syntax(rest);
    let room = unescaped.room(rest.len());
    let mut len = 0;
    let mut ahead = rest;
    let behind = loop {
        let (run, after) = ahead.split_at_checked(plain).ok_or_else(fault)?;
        room.get_mut(len..len + plain).ok_or_else(fault)?.copy_from_slice(run);
        len += plain;
        match after {
            [b'"', behind @ ..] => break behind,
            [b'\\', escaped @ ..] => {
                let char;
                (char, ahead) = escape(escaped).ok_or_else(fault)?;
                let width = char.len_utf8();
                char.encode_utf8(room.get_mut(len..len + width).ok_or_else(fault)?);
                len += width;
            }
            _ => return Err(fault()),
        }
        plain = plain_len(ahead).0;
    };
    // An escape stands for whole characters, so the text is UTF-8 exactly if what stands between the
    // escapes is.
    Ok((utf8(unescaped.take(rest.len(), len), rest)?, behind))
}

/// The character that an escape stands for, of which `rest` has what comes behind the backslash; and
/// what comes behind it.
fn escape(rest: &[u8]) -> Option<(char, &[u8])> {
    let (kind, behind) = rest.split_first()?;
    let char = match kind {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode(behind),
        _ => return None,
    };
    Some((char, behind))
}

/// As [`escape`], behind the `u`. Two escapes that are one character's surrogates are one; a surrogate
/// alone is no character.
fn unicode(rest: &[u8]) -> Option<(char, &[u8])> {
    let (first, behind) = hex(rest)?;
    if let Some(char) = char::from_u32(first.into()) {
        return Some((char, behind));
    }
    let (second, behind) = hex(behind.strip_prefix(b"\\u")?)?;
    Some((char::decode_utf16([first, second]).next()?.ok()?, behind))
}

/// A number of four hexadecimal digits.
fn hex(rest: &[u8]) -> Option<(u16, &[u8])> {
    let (digits, behind) = rest.split_first_chunk::<4>()?;
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let number = digits.iter().try_fold(0, |sum, byte| Some(sum << 4 | digit(*byte)? as u16))?;
    Some((number, behind))
}
