//! One stream's bytes, read as they come: the HTTP head, chunks, events.

use crate::answer::{Form, Framing, Head, Reader, next_chunks};
use crate::fault::{Fault, Kind};
use crate::sse;

/// Free bytes offered to a read: an event or two. Thousands of streams wait with such a buffer each.
const READ_BYTES: usize = 1024;

/// Bytes of an event, or of a chunk, at most.
const EVENT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// What the bytes so far are.
#[derive(Debug, Default)]
enum State {
    #[default]
    Head,
    /// The next chunk starts at the first unread byte.
    Chunked,
    UntilClose,
    /// The last chunk was there.
    Over,
}

/// The reading side of one stream.
#[derive(Debug, Default)]
pub(crate) struct Wire {
    /// Bytes received and not yet framed.
    received: Vec<u8>,
    /// Framed bytes of an event that is not whole.
    content: Vec<u8>,
    /// Frames the head, and all of an answer that is no event stream.
    reader: Reader,
    state: State,
}

impl Wire {
    /// The buffer, with room at its end, for the next read; it comes back by [`put`](Self::put).
    pub(crate) fn take(&mut self) -> Vec<u8> {
        let mut buffer = std::mem::take(&mut self.received);
        if buffer.is_empty() && buffer.capacity() > 4 * READ_BYTES {
            buffer = Vec::new();
        }
        buffer.reserve(READ_BYTES);
        buffer
    }

    /// Gives the buffer back, filled or not.
    pub(crate) fn put(&mut self, buffer: Vec<u8>) {
        self.received = buffer;
    }

    /// Hands the data of every event that is whole to `each`; `ended`: no more bytes will come.
    ///
    /// # Errors
    /// An answer that is no event stream, or a stream that is cut off. The stream is of no more use then.
    pub(crate) fn read(&mut self, ended: bool, mut each: impl FnMut(&[u8])) -> Result<(), Fault> {
        if matches!(self.state, State::Head) {
            self.read_head(ended)?;
        }
        self.unframe()?;
        let whole = sse::whole(&self.content);
        sse::events(&self.content[..whole]).iter().for_each(|event| each(event));
        if whole == self.content.len() {
            self.content = Vec::new();
        } else {
            self.content.drain(..whole);
        }
        if self.received.len().max(self.content.len()) > EVENT_BYTES_MAX {
            let shown = if self.content.is_empty() { &self.received } else { &self.content };
            let reason = format!("an event of more than {EVENT_BYTES_MAX} bytes");
            return Err(Fault::showing(Kind::Http, reason, shown));
        }
        let cut = !self.received.is_empty() || !self.content.is_empty();
        match self.state {
            State::Over if cut => Err(Fault::showing(
                Kind::Truncated,
                "the stream ends inside an event",
                &self.content,
            )),
            State::Over => Err(Fault::new(Kind::Ended, "the server ended the stream")),
            State::Chunked if ended => {
                let reason = "the connection ended inside the stream";
                Err(Fault::showing(Kind::Truncated, reason, &self.received))
            }
            State::UntilClose if ended && cut => Err(Fault::showing(
                Kind::Truncated,
                "the stream ends inside an event",
                &self.content,
            )),
            State::UntilClose if ended => {
                Err(Fault::new(Kind::Ended, "the server ended the stream"))
            }
            _ => Ok(()),
        }
    }

    fn read_head(&mut self, ended: bool) -> Result<(), Fault> {
        let at = match self.reader.head(&self.received)? {
            Some((Head { status: 200, form: Form::Events, .. }, Framing::Chunked { at })) => {
                self.state = State::Chunked;
                at
            }
            Some((Head { status: 200, form: Form::Events, .. }, Framing::UntilClose { at })) => {
                self.state = State::UntilClose;
                at
            }
            _ => return self.refused(ended),
        };
        self.received.drain(..at);
        Ok(())
    }

    /// Waits for the whole of an answer that opens no stream, to show it.
    fn refused(&mut self, ended: bool) -> Result<(), Fault> {
        let Some(answer) = self.reader.read(&self.received, ended)? else { return Ok(()) };
        Err(match answer.head {
            Head { status: 200, form: Form::Events, .. } => {
                Fault::showing(Kind::Form, "a stream of a length known before", answer.body)
            }
            Head { status: 200, .. } => {
                Fault::showing(Kind::Form, "an answer instead of a stream", answer.body)
            }
            Head { status, .. } => Fault::showing(Kind::Status, status, answer.body),
        })
    }

    /// Moves received bytes to the content.
    fn unframe(&mut self) -> Result<(), Fault> {
        match self.state {
            State::Head | State::Over => {}
            State::Chunked => {
                let mut at = 0;
                if next_chunks(&self.received, &mut at, &mut self.content)? {
                    self.state = State::Over;
                }
                self.received.drain(..at);
            }
            State::UntilClose => self.content.append(&mut self.received),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";

    /// The events of `bytes` when they arrive in pieces of `size`, then how it ended.
    fn read(bytes: &str, size: usize) -> (Vec<String>, Option<Kind>) {
        let (mut wire, mut events) = (Wire::default(), Vec::new());
        for (piece, last) in pieces(bytes.as_bytes(), size) {
            let mut buffer = wire.take();
            buffer.extend_from_slice(piece);
            wire.put(buffer);
            let each = |event: &[u8]| events.push(String::from_utf8(event.to_vec()).unwrap());
            if let Err(fault) = wire.read(last, each) {
                return (events, Some(fault.kind));
            }
        }
        (events, None)
    }

    /// `bytes` in pieces, and the end of the connection.
    fn pieces(bytes: &[u8], size: usize) -> impl Iterator<Item = (&[u8], bool)> {
        bytes.chunks(size).map(|piece| (piece, false)).chain([(&b""[..], true)])
    }

    /// [SSE-02] [SSE-04] Both framings, cut anywhere, and every way of ending.
    #[test]
    fn streams() {
        let chunked = format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n");
        let event = "9\r\ndata: a\n\n\r\n4\r\n: c\n\r\n7\r\n\ndata: \r\n3\r\nb\n\n\r\n";
        let cases = [
            (format!("{chunked}{event}0\r\n\r\n"), &["a", "b"][..], Kind::Ended),
            (format!("{chunked}{event}"), &["a", "b"], Kind::Truncated),
            (format!("{chunked}{event}5\r\nda"), &["a", "b"], Kind::Truncated),
            (format!("{chunked}4\r\ndata\r\n0\r\n\r\n"), &[], Kind::Truncated),
            (format!("{HEAD}\r\ndata: a\n\ndata: b\n\n"), &["a", "b"], Kind::Ended),
            (format!("{HEAD}\r\ndata: a\n\ndata: b"), &["a"], Kind::Truncated),
            (format!("{HEAD}Content-Length: 9\r\n\r\ndata: a\n\n"), &[], Kind::Form),
            (format!("{chunked}x\r\n"), &[], Kind::Http),
            ("HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\n{}".to_owned(), &[], Kind::Status),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}".to_owned(), &[], Kind::Form),
            (HEAD.to_owned(), &[], Kind::Truncated),
            (String::new(), &[], Kind::Closed),
        ];
        for (bytes, events, kind) in cases {
            for size in 1..=bytes.len() + 1 {
                let (found, ended) = read(&bytes, size);
                assert_eq!(found, events, "{bytes:?} by {size}");
                assert_eq!(ended, Some(kind), "{bytes:?} by {size}");
            }
        }
    }

    /// An event without an end does not fill the memory.
    #[test]
    fn endless() {
        let (mut wire, mut kept) = (Wire::default(), Ok(()));
        wire.put(format!("{HEAD}\r\n").into_bytes());
        for _ in 0..EVENT_BYTES_MAX / (1024 * 1024) + 1 {
            let mut buffer = wire.take();
            buffer.extend_from_slice(&[b'x'; 1024 * 1024]);
            wire.put(buffer);
            kept = wire.read(false, |_| {});
        }
        assert_eq!(kept.unwrap_err().kind, Kind::Http);
    }
}
