//! Server-sent events, writing side: one frame a call, each ended by an empty line (SSE-04, SSE-10).
//!
//! Streams of the modern era have no `id:` and no `retry:` lines (SSE-05): they are never replayed. Those of a session of
//! the 2025 era have both (LEG-65).

/// Appends `event: message`, one `data:` line with `json`, and the empty line.
///
/// Serialised JSON holds no raw line ends; if some other writer's does, they are white space between
/// tokens and become spaces, so the frame stays one line for clients that read line by line.
pub fn message(out: &mut Vec<u8>, json: &[u8]) {
    out.extend_from_slice(b"event: message\ndata: ");
    one_line(out, json);
    out.extend_from_slice(b"\n\n");
}

/// The same with an `id:` line, for a stream that can be resumed. `id` holds no line ends.
pub fn message_with_id(out: &mut Vec<u8>, id: &str, json: &[u8]) {
    id_line(out, id);
    message(out, json);
}

/// Appends an event without data, which tells a client where the stream begins and how long to wait, in milliseconds,
/// before it comes back.
pub fn priming(out: &mut Vec<u8>, id: &str, retry_ms: u64) {
    id_line(out, id);
    out.extend_from_slice(b"retry: ");
    out.extend_from_slice(itoa::Buffer::new().format(retry_ms).as_bytes());
    out.extend_from_slice(b"\ndata: \n\n");
}

fn id_line(out: &mut Vec<u8>, id: &str) {
    out.extend_from_slice(b"id: ");
    one_line(out, id.as_bytes());
    out.push(b'\n');
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
