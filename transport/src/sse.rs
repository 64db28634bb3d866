//! Server-sent events, writing side: one frame a call, each ended by an empty line (SSE-04, SSE-10).
//!
//! There are no `id:` and no `retry:` lines (SSE-05): streams are never replayed.

/// Appends `event: message`, one `data:` line with `json`, and the empty line.
///
/// Serialised JSON holds no raw line ends; if some other writer's does, they are white space between
/// tokens and become spaces, so the frame stays one line for clients that read line by line.
pub fn message(out: &mut Vec<u8>, json: &[u8]) {
    out.extend_from_slice(b"event: message\ndata: ");
    one_line(out, json);
    out.extend_from_slice(b"\n\n");
}

/// Appends a comment, which clients ignore: a sign of life on a silent stream (SSE-10).
pub fn comment(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(b": ");
    one_line(out, text.as_bytes());
    out.extend_from_slice(b"\n\n");
}

fn one_line(out: &mut Vec<u8>, text: &[u8]) {
    let start = out.len();
    out.extend_from_slice(text);
    let mut at = start;
    while let Some(found) = memchr::memchr2(b'\n', b'\r', &out[at..]) {
        at += found;
        out[at] = b' ';
    }
}

#[cfg(test)]
mod tests;
