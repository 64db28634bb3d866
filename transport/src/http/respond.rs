//! Answers as bytes: status line, header lines, chunks. Everything is appended to the caller's buffer.

/// How a client finds the end of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// `Content-Length`, in bytes.
    Known(usize),
    /// `Transfer-Encoding: chunked`; follow with [`chunk`] and [`last_chunk`].
    Chunked,
    /// By closing the connection: the stream of an HTTP/1.0 client.
    UntilClose,
}

impl Length {
    /// The length of an answer that is not known yet: HTTP/1.0 has no chunks (RFC 9112, 6.1).
    pub fn of_stream(minor: u8) -> Length {
        if minor == 0 { Length::UntilClose } else { Length::Chunked }
    }
}

/// What [`head`] needs to know besides the status.
#[derive(Clone, Copy, Debug)]
pub struct ResponseHead<'a> {
    /// Whole header lines, each with its line end, that are the same for all answers of a kind: `Content-Type` above all.
    pub fixed: &'static str,
    /// How the body ends. [`Length::Chunked`] to an HTTP/1.0 client is written as
    /// [`Length::UntilClose`]; do not chunk then (see [`Length::of_stream`]).
    pub length: Length,
    /// Whether the connection lives on; [`Length::UntilClose`] overrules it.
    pub keep_alive: bool,
    /// The request's minor version: HTTP/1.0 is answered in kind (HTTP-21).
    pub minor: u8,
    /// From [`super::date::format`].
    pub date: &'a [u8; 29],
    /// More header lines. Control characters in names or values become spaces.
    pub extra: &'a [(&'a str, &'a str)],
}

/// Appends a status line and header lines with the empty line that ends them.
pub fn head(out: &mut Vec<u8>, status: u16, response: &ResponseHead<'_>) {
    let length = match response.length {
        Length::Chunked => Length::of_stream(response.minor),
        known => known,
    };
    let keep_alive = response.keep_alive && length != Length::UntilClose;

    status_line(out, status, response.minor);
    out.extend_from_slice(b"Date: ");
    out.extend_from_slice(response.date);
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(response.fixed.as_bytes());
    match length {
        // A 1xx or 204 answer has no content and says nothing about its length (RFC 9110, 8.6).
        _ if status < 200 || status == 204 => {}
        Length::Known(bytes) => {
            out.extend_from_slice(b"Content-Length: ");
            out.extend_from_slice(itoa::Buffer::new().format(bytes).as_bytes());
            out.extend_from_slice(b"\r\n");
        }
        Length::Chunked => out.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
        Length::UntilClose => {}
    }
    match (keep_alive, response.minor) {
        (false, _) => out.extend_from_slice(b"Connection: close\r\n"),
        (true, 0) => out.extend_from_slice(b"Connection: keep-alive\r\n"),
        (true, _) => {}
    }
    for (name, value) in response.extra {
        header(out, name, value);
    }
    out.extend_from_slice(b"\r\n");
}

/// Appends the interim answer a client with `Expect: 100-continue` waits for.
pub fn interim_continue(out: &mut Vec<u8>) {
    out.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
}

/// Appends what `write` appends as one chunk, without a second copy: the size is filled in afterwards.
/// Nothing written is no chunk at all, since an empty chunk would end the body.
pub fn chunk(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(b"0000\r\n");
    let data = out.len();
    write(out);
    let mut bytes = out.len() - data;
    if bytes == 0 {
        out.truncate(start);
        return;
    }
    let mut digits_end = start + SIZE_DIGITS;
    if bytes >> (4 * SIZE_DIGITS) > 0 {
        // A frame beyond 64 KiB moves once to make room for the longest size.
        out.splice(start..start, *b"000000000000");
        digits_end += SIZE_DIGITS_MAX - SIZE_DIGITS;
    }
    while bytes > 0 {
        digits_end -= 1;
        out[digits_end] = b"0123456789abcdef"[bytes & 15];
        bytes >>= 4;
    }
    out.extend_from_slice(b"\r\n");
}

/// Appends the chunk that ends a body, without trailers.
pub fn last_chunk(out: &mut Vec<u8>) {
    out.extend_from_slice(b"0\r\n\r\n");
}

/// The reason phrase of a status (RFC 9110, 15), empty for one this server never sends.
pub fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        202 => "Accepted",
        204 => "No Content",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        408 => "Request Timeout",
        409 => "Conflict",
        413 => "Content Too Large",
        414 => "URI Too Long",
        415 => "Unsupported Media Type",
        417 => "Expectation Failed",
        421 => "Misdirected Request",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        _ => "",
    }
}

/// Size digits reserved before a chunk's length is known: enough for 64 KiB less one.
const SIZE_DIGITS: usize = 4;
/// Size digits of a 64-bit length.
const SIZE_DIGITS_MAX: usize = 16;

fn status_line(out: &mut Vec<u8>, status: u16, minor: u8) {
    if (status, minor) == (200, 1) {
        return out.extend_from_slice(b"HTTP/1.1 200 OK\r\n");
    }
    out.extend_from_slice(if minor == 0 { b"HTTP/1.0 " } else { b"HTTP/1.1 " });
    out.extend_from_slice(itoa::Buffer::new().format(status).as_bytes());
    out.push(b' ');
    out.extend_from_slice(reason(status).as_bytes());
    out.extend_from_slice(b"\r\n");
}

fn header(out: &mut Vec<u8>, name: &str, value: &str) {
    text(out, name);
    out.extend_from_slice(b": ");
    text(out, value);
    out.extend_from_slice(b"\r\n");
}

/// Appends text that cannot end a line: a value that came from elsewhere must not add header lines.
fn text(out: &mut Vec<u8>, text: &str) {
    let start = out.len();
    out.extend_from_slice(text.as_bytes());
    // Looked at many bytes at a time; nearly never is there one to replace.
    let controls = text.bytes().fold(false, |found, byte| found | byte.is_ascii_control());
    if controls {
        let bytes = out[start..].iter_mut();
        bytes.filter(|byte| byte.is_ascii_control()).for_each(|byte| *byte = b' ');
    }
}
