//! A small JSON writer into a byte vector: the frames of responses and notifications and the
//! scalars inside them. Nothing here allocates beyond the vector it writes to.

#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::error::RpcError;
use crate::id::Id;

/// Appends a string with its quotes; quotes, backslashes and control characters are escaped,
/// everything else is copied.
pub fn string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    escaped(out, text);
    out.push(b'"');
}

/// Appends what [`string`] puts between the quotes.
pub fn escaped(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    let mut start = 0;
    while let Some(run) = plain_run(&bytes[start..]) {
        let at = start + run;
        out.extend_from_slice(&bytes[start..at]);
        escape(out, bytes[at]);
        start = at + 1;
    }
    out.extend_from_slice(&bytes[start..]);
}

/// Appends `"name":`.
pub fn key(out: &mut Vec<u8>, name: &str) {
    string(out, name);
    out.push(b':');
}

/// Appends `true` or `false`.
pub fn bool(out: &mut Vec<u8>, flag: bool) {
    out.extend_from_slice(if flag { b"true" } else { b"false" });
}

/// Appends an integer.
pub fn int(out: &mut Vec<u8>, number: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Appends an integer.
pub fn uint(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Appends a number in its shortest form: `50`, not `50.0`, where it is a whole number that a
/// double holds exactly. What is no JSON number (infinite, not a number) becomes `null`.
pub fn float(out: &mut Vec<u8>, number: f64) {
    if number.fract() == 0.0 && number.abs() <= WHOLE_MAX {
        int(out, number as i64);
    } else {
        double(out, number);
    }
}

/// The largest double below which every whole number has a double of its own: 2^53.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// Appends a number as a double: `50.0` stays `50.0`. What is no JSON number becomes `null`.
pub fn double(out: &mut Vec<u8>, number: f64) {
    serialize(out, &number);
}

/// Appends any serialisable value as compact JSON, `null` if its type cannot be JSON (a map whose
/// keys are no strings). Returns whether it could.
pub fn serialize<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> bool {
    let start = out.len();
    match serde_json::to_writer(&mut *out, value) {
        Ok(()) => true,
        Err(_) => {
            out.truncate(start);
            out.extend_from_slice(b"null");
            false
        }
    }
}

/// Appends `{"jsonrpc":"2.0","id":ID,"result":`; the result and [`end`] follow.
pub fn response_start(out: &mut Vec<u8>, id: &Id<'_>) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    id.write(out);
    out.extend_from_slice(br#","result":"#);
}

/// Appends a whole response whose result is already JSON.
pub fn response(out: &mut Vec<u8>, id: &Id<'_>, result: &[u8]) {
    response_start(out, id);
    out.extend_from_slice(result);
    end(out);
}

/// Appends `{"jsonrpc":"2.0","method":METHOD,"params":`; the parameters and [`end`] follow.
pub fn notification_start(out: &mut Vec<u8>, method: &str) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","method":"#);
    string(out, method);
    out.extend_from_slice(br#","params":"#);
}

/// Appends a whole notification whose parameters are already JSON.
pub fn notification(out: &mut Vec<u8>, method: &str, params: &[u8]) {
    notification_start(out, method);
    out.extend_from_slice(params);
    end(out);
}

/// Closes a response or a notification.
pub fn end(out: &mut Vec<u8>) {
    out.push(b'}');
}

/// Appends a whole error response. Without an id the member is left out, never `null` (ledger
/// RPC-10).
pub fn error_response(out: &mut Vec<u8>, id: Option<&Id<'_>>, error: &RpcError) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","#);
    if let Some(id) = id {
        out.extend_from_slice(br#""id":"#);
        id.write(out);
        out.push(b',');
    }
    out.extend_from_slice(br#""error":"#);
    error_object(out, error);
    end(out);
}

/// Appends the `error` member's value: `{"code":CODE,"message":TEXT,"data":DATA}`.
pub fn error_object(out: &mut Vec<u8>, error: &RpcError) {
    out.extend_from_slice(br#"{"code":"#);
    int(out, error.code.into());
    out.extend_from_slice(br#","message":"#);
    string(out, &error.message);
    if let Some(data) = &error.data {
        out.extend_from_slice(br#","data":"#);
        out.extend_from_slice(data.get().as_bytes());
    }
    out.push(b'}');
}

/// Bytes before the first that needs an escape; `None` if none does. Eight bytes at a time.
fn plain_run(bytes: &[u8]) -> Option<usize> {
    let (words, rest) = bytes.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        let marks = needs_escape_mask(u64::from_le_bytes(*word));
        if marks != 0 {
            return Some(at * 8 + marks.trailing_zeros() as usize / 8);
        }
    }
    let at = rest.iter().position(|byte| needs_escape(*byte))?;
    Some(words.len() * 8 + at)
}

fn needs_escape(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// The top bit of every byte that needs an escape. A borrow can mark bytes above a true one, so
/// only the lowest mark is exact.
fn needs_escape_mask(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x8080_8080_8080_8080;
    let is_zero = |word: u64| word.wrapping_sub(ONES) & !word;
    let quote = is_zero(word ^ (ONES * b'"' as u64));
    let backslash = is_zero(word ^ (ONES * b'\\' as u64));
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    (quote | backslash | control) & TOPS
}

fn escape(out: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' => b'"',
        b'\\' => b'\\',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            let (high, low) = (HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]);
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}
