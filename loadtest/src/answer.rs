//! HTTP/1.1 answers, client side: where one ends and the next begins.
//!
//! [`Reader`] is given the bytes from the start of an answer, again with more of them until the answer is whole;
//! what it has framed it does not look at twice.

use std::mem::MaybeUninit;

use httparse::{ParserConfig, Response, Status, parse_chunk_size};

use crate::fault::{Fault, Kind};

/// Header lines of an answer at most.
const HEADERS_MAX: usize = 100;

/// Bytes of an answer's head at most.
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// Bytes of an answer's body at most: this tool shares its machine with the server.
const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Bytes of a chunk's size line, and of the trailers, at most.
const CHUNK_LINE_BYTES_MAX: usize = 4096;

/// What a body is announced as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Json,
    Events,
    Other,
}

/// What the head says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) form: Form,
    /// Whether another answer may follow on this connection.
    pub(crate) keep_alive: bool,
}

/// One whole answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer<'b> {
    pub(crate) head: Head,
    /// Without chunk framing.
    pub(crate) body: &'b [u8],
    /// `Mcp-Session-Id`
    pub(crate) session: Option<&'b str>,
    /// Bytes of the whole answer on the wire.
    pub(crate) len: usize,
}

/// How a body is framed, and where it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    Length,
    Chunked { at: usize },
    UntilClose { at: usize },
}

/// Frames the answers of one connection.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    state: State,
    /// The content of the chunks so far.
    chunks: Vec<u8>,
    /// Of the answer that is framed.
    session: Option<String>,
    known: Option<Known>,
}

/// The last head with a length, to know it again: a server repeats itself byte for byte within a second.
#[derive(Debug)]
struct Known {
    bytes: Vec<u8>,
    head: Head,
    body_bytes: usize,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Nothing framed yet but interim answers, which end here.
    Head {
        from: usize,
    },
    Length {
        head: Head,
        body: usize,
        end: usize,
    },
    /// The next chunk's size line starts at `at`.
    Chunked {
        head: Head,
        at: usize,
    },
    UntilClose {
        head: Head,
        body: usize,
    },
}

impl Default for State {
    fn default() -> Self {
        Self::Head { from: 0 }
    }
}

impl Reader {
    /// The answer at the start of `bytes` if it is whole; `ended`: no more bytes will come.
    ///
    /// # Errors
    /// [`Kind::Http`] for what cannot be framed, [`Kind::Truncated`] or [`Kind::Closed`] for an end too early. The
    /// connection is of no more use then.
    pub(crate) fn read<'b>(
        &'b mut self,
        bytes: &'b [u8],
        ended: bool,
    ) -> Result<Option<Answer<'b>>, Fault> {
        if matches!(self.state, State::Head { .. }) {
            self.read_head(bytes)?;
        }
        let whole = match &mut self.state {
            State::Head { .. } => None,
            State::Length { head, body, end } => {
                (bytes.len() >= *end).then_some((*head, *body, *end))
            }
            State::Chunked { head, at } => {
                let done = next_chunks(bytes, at, &mut self.chunks)?;
                let (head, end) = (*head, *at);
                if done {
                    self.state = State::default();
                    let session = self.session.as_deref();
                    return Ok(Some(Answer { head, body: &self.chunks, session, len: end }));
                }
                None
            }
            State::UntilClose { body, .. } if bytes.len() - *body > BODY_BYTES_MAX => {
                return Err(too_long());
            }
            State::UntilClose { head, body } => ended.then_some((*head, *body, bytes.len())),
        };
        match whole {
            Some((head, body, end)) => {
                self.state = State::default();
                let session = self.session.as_deref();
                Ok(Some(Answer { head, body: &bytes[body..end], session, len: end }))
            }
            None if !ended => Ok(None),
            None if bytes.is_empty() => Err(Fault::new(
                Kind::Closed,
                "the server closed the connection instead of answering",
            )),
            None => Err(Fault::showing(
                Kind::Truncated,
                "the connection ended inside the answer",
                bytes,
            )),
        }
    }

    /// The head at the start of `bytes` if it is whole, and the body's framing, for a body that is read as it comes.
    ///
    /// # Errors
    /// [`Kind::Http`] for what cannot be framed.
    pub(crate) fn head(&mut self, bytes: &[u8]) -> Result<Option<(Head, Framing)>, Fault> {
        self.read_head(bytes)?;
        Ok(match self.state {
            State::Head { .. } => None,
            State::Length { head, .. } => Some((head, Framing::Length)),
            State::Chunked { head, at } => Some((head, Framing::Chunked { at })),
            State::UntilClose { head, body } => Some((head, Framing::UntilClose { at: body })),
        })
    }

    /// Frames the head, if it is whole.
    fn read_head(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        if let (State::Head { from: 0 }, Some(known)) = (&self.state, &self.known)
            && bytes.starts_with(&known.bytes)
        {
            let body = known.bytes.len();
            self.state = State::Length { head: known.head, body, end: body + known.body_bytes };
            self.session = None;
            return Ok(());
        }
        while let State::Head { from } = self.state {
            let rest = &bytes[from..];
            let mut headers = [const { MaybeUninit::uninit() }; HEADERS_MAX];
            let mut response = Response::new(&mut []);
            let config = ParserConfig::default();
            let parsed =
                config.parse_response_with_uninit_headers(&mut response, rest, &mut headers);
            let length = match parsed {
                Ok(Status::Complete(length)) => length,
                Ok(Status::Partial) if rest.len() > HEAD_BYTES_MAX => {
                    return Err(Fault::showing(Kind::Http, "the head is too long", rest));
                }
                Ok(Status::Partial) => return Ok(()),
                Err(error) => return Err(Fault::showing(Kind::Http, error, rest)),
            };
            self.state = framing(&response, from + length)
                .map_err(|reason| Fault::showing(Kind::Http, reason, &rest[..length]))?;
            self.chunks.clear();
            self.session = session(&response);
            self.known = match (from, self.state) {
                (0, State::Length { head, body, end }) if self.session.is_none() => {
                    let bytes = rest[..length].to_vec();
                    Some(Known { bytes, head, body_bytes: end - body })
                }
                _ => None,
            };
        }
        Ok(())
    }
}

fn session(response: &Response<'_, '_>) -> Option<String> {
    let named = |h: &&httparse::Header<'_>| h.name.eq_ignore_ascii_case("mcp-session-id");
    let value = response.headers.iter().find(named)?.value;
    Some(String::from_utf8_lossy(value.trim_ascii()).into_owned())
}

/// What follows a head that ends at `body` (RFC 9112, 6.3).
fn framing(response: &Response<'_, '_>, body: usize) -> Result<State, &'static str> {
    let status = response.code.unwrap_or_default();
    if (100..200).contains(&status) && status != 101 {
        return Ok(State::Head { from: body });
    }
    let all = |name: &'static str| {
        response.headers.iter().filter(move |h| h.name.eq_ignore_ascii_case(name)).map(|h| h.value)
    };
    let says = |name, token: &str| {
        all(name)
            .flat_map(|v| v.split(|b| *b == b','))
            .any(|t| t.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
    };
    let keep_alive = match response.version {
        Some(0) => says("connection", "keep-alive"),
        _ => !says("connection", "close"),
    };
    let form = all("content-type").next().map_or(Form::Other, form_of);
    let head = Head { status, form, keep_alive };
    let mut lengths = all("content-length");
    let length = lengths.next();
    if lengths.next().is_some() {
        return Err("more than one Content-Length");
    }
    match (says("transfer-encoding", "chunked"), length) {
        _ if status == 204 || status == 304 => Ok(State::Length { head, body, end: body }),
        (true, Some(_)) => Err("both Content-Length and Transfer-Encoding"),
        (true, None) => Ok(State::Chunked { head, at: body }),
        (false, _) if all("transfer-encoding").next().is_some() => {
            Err("a Transfer-Encoding other than chunked")
        }
        (false, Some(digits)) => {
            let end =
                body + decimal(digits).ok_or("a Content-Length that is no number, or too much")?;
            Ok(State::Length { head, body, end })
        }
        (false, None) => Ok(State::UntilClose { head: Head { keep_alive: false, ..head }, body }),
    }
}

fn form_of(content_type: &[u8]) -> Form {
    let essence = content_type.split(|b| *b == b';').next().unwrap_or_default().trim_ascii();
    if essence.eq_ignore_ascii_case(b"application/json") {
        Form::Json
    } else if essence.eq_ignore_ascii_case(b"text/event-stream") {
        Form::Events
    } else {
        Form::Other
    }
}

fn decimal(digits: &[u8]) -> Option<usize> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number: usize = std::str::from_utf8(digits).ok()?.parse().ok()?;
    (number <= BODY_BYTES_MAX).then_some(number)
}

/// Takes the whole chunks from `at` on; true when the last one and its trailers are among them.
pub(crate) fn next_chunks(
    bytes: &[u8],
    at: &mut usize,
    content: &mut Vec<u8>,
) -> Result<bool, Fault> {
    loop {
        let rest = &bytes[*at..];
        let wrong = |reason: &str| Fault::showing(Kind::Http, reason, rest);
        let (line, size) = match parse_chunk_size(rest) {
            Ok(Status::Complete(found)) => found,
            Ok(Status::Partial) if rest.len() > CHUNK_LINE_BYTES_MAX => {
                return Err(wrong("endless chunk size"));
            }
            Ok(Status::Partial) => return Ok(false),
            Err(_) => return Err(wrong("not a chunk size")),
        };
        if size == 0 {
            return match trailers_end(&rest[line..]) {
                Some(end) => {
                    *at += line + end;
                    Ok(true)
                }
                None if rest.len() > CHUNK_LINE_BYTES_MAX => Err(wrong("endless trailers")),
                None => Ok(false),
            };
        }
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        if size > BODY_BYTES_MAX - content.len().min(BODY_BYTES_MAX) {
            return Err(too_long());
        }
        let Some(chunk) = rest.get(line..line + size + 2) else { return Ok(false) };
        if !chunk.ends_with(b"\r\n") {
            return Err(wrong("a chunk longer than its size"));
        }
        content.extend_from_slice(&chunk[..size]);
        *at += line + size + 2;
    }
}

/// Where the trailer lines and the empty line after them end.
fn trailers_end(bytes: &[u8]) -> Option<usize> {
    if bytes.starts_with(b"\r\n") {
        return Some(2);
    }
    bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4)
}

fn too_long() -> Fault {
    Fault::new(Kind::Http, format!("a body of more than {BODY_BYTES_MAX} bytes"))
}

#[cfg(test)]
mod tests;
