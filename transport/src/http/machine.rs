//! The order of events on one connection: head, body, answer, next request.

use std::ops::Range;

use super::Limits;
use super::chunked::Chunked;
use super::head::{Framing, Head};
use super::parse::{self, Search};
use super::reject::{BARE_LINE_END, BODY_TOO_LARGE, BODY_UNREAD, Reject};
use crate::limits::{
    BODY_BYTES_MAX_CEILING, CONSUMED_BYTES_MAX, HEAD_BYTES_MAX_CEILING, HEADERS_MAX_CEILING,
    LEADING_EMPTY_LINES_MAX,
};

/// What the bytes so far amount to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Nothing new: append more bytes to the buffer and poll again.
    NeedMore,
    /// [`Machine::head`] is complete. Refuse the request, or call [`Machine::accept_body`].
    Head,
    /// The whole body, de-chunked, as a range of the buffer. Answer, then call [`Machine::finish`].
    Body(Range<usize>),
    /// Not a request we serve: answer with this status and close. Every later poll says the same.
    Reject(Reject),
}

/// What a silent connection is waiting for, to choose its timeout (SEC-06).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// Between requests: no byte of the next one has arrived.
    Idle,
    /// A head has begun.
    Head,
    /// A head is complete and its body is not.
    Body,
    /// Nothing: the request is complete, or the connection is beyond use.
    Nothing,
}

/// HTTP/1.1 state of one connection, server side. It owns no bytes and no clock.
///
/// The caller appends what it reads to one buffer and polls; the machine drops answered bytes from
/// the front of that buffer. Ranges and offsets hold until the next `poll` or `finish`.
#[derive(Debug)]
pub struct Machine {
    limits: Limits,
    state: State,
    head: Head,
    /// Where the current request starts in the buffer; bytes before it are answered.
    start: usize,
    /// Where the body starts, once the head is complete.
    body: usize,
    /// Empty lines skipped before this head.
    leading_lines: usize,
    /// Present once a head was found incomplete.
    search: Option<Search>,
    /// Some byte of the body has arrived.
    body_begun: bool,
    continue_sent: bool,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Waiting for a complete head.
    Head,
    /// Head complete, the caller decides.
    Decide,
    /// Body wanted.
    Length(u64),
    /// Body wanted.
    Chunked(Chunked),
    /// Request complete; it ends here in the buffer.
    Done(usize),
    /// Answered unread: bytes of the body still to drop.
    SkipLength(u64),
    /// Answered unread: the body starts at the front of the buffer and is dropped as it comes.
    SkipChunked(Chunked),
    Rejected(Reject),
}

impl Machine {
    /// A machine for a new connection. Limits beyond the ceilings of [`crate::limits`] are lowered.
    pub fn new(limits: Limits) -> Machine {
        let limits = Limits {
            head_bytes_max: limits.head_bytes_max.min(HEAD_BYTES_MAX_CEILING),
            headers_max: limits.headers_max.min(HEADERS_MAX_CEILING),
            body_bytes_max: limits.body_bytes_max.min(BODY_BYTES_MAX_CEILING),
            ..limits
        };
        Machine {
            limits,
            state: State::Head,
            head: Head::default(),
            start: 0,
            body: 0,
            leading_lines: 0,
            search: None,
            body_begun: false,
            continue_sent: false,
        }
    }

    /// Starts over for another connection, keeping the limits and the header storage.
    pub fn reset(&mut self) {
        self.state = State::Head;
        self.start = 0;
        self.begin_head();
    }

    /// Where unanswered bytes start in the buffer.
    pub fn start(&self) -> usize {
        self.start
    }

    /// The head, complete from [`Event::Head`] until [`Machine::finish`].
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Looks at the bytes that have arrived since the last poll, and only at those.
    pub fn poll(&mut self, buf: &mut Vec<u8>) -> Event {
        let event = self.advance(buf).unwrap_or_else(|reject| {
            self.state = State::Rejected(reject);
            Event::Reject(reject)
        });
        if event == Event::NeedMore && !matches!(self.state, State::Done(_)) {
            self.drop_answered(buf);
        }
        event
    }

    /// Asks for the body after [`Event::Head`]; the next poll says whether it is there. A declared
    /// length beyond the limit makes the next poll a 413, whether or not the bytes came (HTTP-17).
    pub fn accept_body(&mut self) {
        if !matches!(self.state, State::Decide) {
            return;
        }
        self.state = match self.head.framing {
            Framing::Empty => State::Length(0),
            Framing::Length(length) if length > self.limits.body_bytes_max as u64 => {
                State::Rejected(BODY_TOO_LARGE)
            }
            Framing::Length(length) => State::Length(length),
            Framing::Chunked => State::Chunked(Chunked::new(self.body)),
        };
    }

    /// Whether the client waits for `100 Continue`: body accepted, none of it here (RFC 9110, 10.1.1).
    /// Write it with `respond::interim_continue`, then call [`Machine::continue_sent`].
    pub fn wants_continue(&self) -> bool {
        self.head.expect_continue
            && !self.continue_sent
            && !self.body_begun
            && matches!(self.state, State::Length(_) | State::Chunked(_))
    }

    /// Notes that `100 Continue` was written for this request.
    pub fn continue_sent(&mut self) {
        self.continue_sent = true;
    }

    /// Whether the connection can carry another request after the answer to this one: the client
    /// wants it, and the rest of an unread body can be told from the next request.
    pub fn keeps_alive(&self) -> bool {
        match self.state {
            State::Done(_) => self.head.keep_alive,
            State::Decide | State::Length(_) | State::Chunked(_) => {
                self.head.keep_alive && self.can_skip()
            }
            _ => false,
        }
    }

    /// The request is answered: drops its bytes and starts on the next request, whose bytes may
    /// already be in the buffer. Costs nothing per byte: the buffer is compacted when it runs dry.
    ///
    /// A body that was not read is skipped as it arrives, if [`Machine::keeps_alive`] said so;
    /// otherwise the connection is beyond use.
    pub fn finish(&mut self, buf: &mut Vec<u8>) {
        match self.state {
            State::Done(end) => self.begin_request(buf, end),
            State::Decide | State::Length(_) | State::Chunked(_) if !self.can_skip() => {
                self.state = State::Rejected(BODY_UNREAD);
            }
            State::Decide | State::Length(_) => match self.head.framing {
                Framing::Empty => self.begin_request(buf, self.body),
                Framing::Length(length) => self.skip(buf, State::SkipLength(length)),
                Framing::Chunked => self.skip(buf, State::SkipChunked(Chunked::new(0))),
            },
            State::Chunked(mut chunked) => {
                chunked.drop_data(self.body);
                chunked.shift_down(self.body);
                self.skip(buf, State::SkipChunked(chunked));
            }
            State::Head | State::SkipLength(_) | State::SkipChunked(_) | State::Rejected(_) => {}
        }
    }

    /// What the connection waits for while `poll` says [`Event::NeedMore`].
    pub fn waiting(&self, buf: &[u8]) -> Waiting {
        match self.state {
            State::Head if buf.len() <= self.start => Waiting::Idle,
            State::Head => Waiting::Head,
            State::Length(_) | State::Chunked(_) => Waiting::Body,
            State::SkipLength(_) | State::SkipChunked(_) => Waiting::Body,
            State::Decide | State::Done(_) | State::Rejected(_) => Waiting::Nothing,
        }
    }

    fn advance(&mut self, buf: &mut Vec<u8>) -> Result<Event, Reject> {
        self.body_begun |= buf.len() > self.body;
        match &mut self.state {
            State::Rejected(reject) => Err(*reject),
            State::Decide => Ok(Event::Head),
            State::Done(_) => Ok(Event::NeedMore),
            State::Head => self.advance_head(buf),
            State::Length(length) => {
                // accept_body has checked the length against a usize limit.
                let end = self.body + *length as usize;
                if buf.len() < end {
                    return Ok(Event::NeedMore);
                }
                self.state = State::Done(end);
                Ok(Event::Body(self.body..end))
            }
            State::Chunked(chunked) => {
                if !chunked.advance(buf, &self.limits, true)? {
                    return Ok(Event::NeedMore);
                }
                let data = self.body..chunked.data_end();
                self.state = State::Done(chunked.read_end());
                Ok(Event::Body(data))
            }
            State::SkipLength(left) => {
                let here = buf.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= here as u64;
                if *left > 0 {
                    buf.clear();
                    return Ok(Event::NeedMore);
                }
                self.begin_request(buf, here);
                self.advance_head(buf)
            }
            State::SkipChunked(chunked) => {
                if !chunked.advance(buf, &self.limits, false)? {
                    return Ok(Event::NeedMore);
                }
                let end = chunked.read_end();
                self.begin_request(buf, end);
                self.advance_head(buf)
            }
        }
    }

    fn advance_head(&mut self, buf: &mut Vec<u8>) -> Result<Event, Reject> {
        if self.start > CONSUMED_BYTES_MAX {
            self.drop_answered(buf);
        }
        if self.search.is_none() && !self.skip_empty_lines(buf)? {
            return Ok(Event::NeedMore);
        }
        let rest = &buf[self.start..];
        let window = &rest[..rest.len().min(self.limits.head_bytes_max)];
        // The usual head is complete at first sight; only one that is not is searched for its end.
        let parsed = match &mut self.search {
            None => parse::parse(window, self.start, &self.limits, &mut self.head)?,
            Some(_) => None,
        };
        let length = match parsed {
            Some(length) => length,
            None if self.search.get_or_insert_default().advance(window, &self.limits)? => {
                parse::parse(window, self.start, &self.limits, &mut self.head)?
                    .ok_or(BARE_LINE_END)?
            }
            None => return Ok(Event::NeedMore),
        };
        self.body = self.start + length;
        self.body_begun = buf.len() > self.body;
        self.state = State::Decide;
        Ok(Event::Head)
    }

    /// Steps over empty lines before a request (RFC 9112, 2.2); `false` if nothing else is here.
    fn skip_empty_lines(&mut self, buf: &[u8]) -> Result<bool, Reject> {
        loop {
            match &buf[self.start..] {
                [] | [b'\r'] => return Ok(false),
                [b'\r', b'\n', ..] if self.leading_lines < LEADING_EMPTY_LINES_MAX => {
                    self.start += 2;
                    self.leading_lines += 1;
                }
                [b'\r' | b'\n', ..] => return Err(Reject::bad("empty request line")),
                _ => return Ok(true),
            }
        }
    }

    /// Whether an unread body ends where we can find it. A client that waits for `100 Continue` may
    /// or may not send the body after a refusal, so what follows is ambiguous (RFC 9110, 10.1.1).
    fn can_skip(&self) -> bool {
        let waits = self.head.expect_continue && !self.continue_sent;
        match self.head.framing {
            Framing::Empty => true,
            Framing::Length(length) => !waits && length <= self.limits.body_bytes_max as u64,
            Framing::Chunked => !waits,
        }
    }

    /// Leaves the body, so far unread, at the front of the buffer.
    fn skip(&mut self, buf: &mut Vec<u8>, state: State) {
        buf.drain(..self.body.min(buf.len()));
        self.start = 0;
        self.state = state;
    }

    fn begin_request(&mut self, buf: &mut Vec<u8>, start: usize) {
        self.start = start;
        if self.start >= buf.len() {
            buf.clear();
            self.start = 0;
        }
        self.state = State::Head;
        self.begin_head();
    }

    fn begin_head(&mut self) {
        self.head.clear();
        self.body = 0;
        self.leading_lines = 0;
        self.search = None;
        self.body_begun = false;
        self.continue_sent = false;
    }

    /// Drops answered bytes from the front; every offset follows.
    fn drop_answered(&mut self, buf: &mut Vec<u8>) {
        let count = std::mem::take(&mut self.start);
        if count == 0 {
            return;
        }
        buf.drain(..count.min(buf.len()));
        match &mut self.state {
            State::Length(_) => {}
            State::Chunked(chunked) => chunked.shift_down(count),
            _ => return,
        }
        self.body -= count;
        self.head.shift_down(count as u32);
    }
}
