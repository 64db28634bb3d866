//! Line framing: one message a line, as on stdio (STD-01, STD-09, STD-10, STD-12).

use std::ops::Range;

/// What the bytes so far amount to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Nothing new: append more bytes to the buffer and poll again.
    NeedMore,
    /// One line without its end, not blank, as a range of the buffer.
    Line(Range<usize>),
    /// A line beyond the cap was dropped up to its end; the stream goes on. `bytes` is its length
    /// without the line end.
    TooLong {
        /// Length of the line in bytes.
        bytes: u64,
    },
}

/// Splits a byte stream into lines. It owns no bytes: the caller appends what it reads to one buffer
/// and polls; the framer drops what is done from the front. Ranges hold until the next poll.
#[derive(Debug)]
pub struct Framer {
    line_bytes_max: usize,
    /// Where the current line starts in the buffer.
    start: usize,
    /// Bytes before this hold no end of the current line.
    scanned: usize,
    /// Bytes of an over-long line dropped so far.
    dropped: u64,
    /// No byte of the stream has been taken yet: a byte order mark may come.
    at_front: bool,
}

impl Framer {
    /// A framer for a new stream; `line_bytes_max` counts without the line end.
    /// The default of servers is [`crate::limits::LINE_BYTES_MAX`].
    pub fn new(line_bytes_max: usize) -> Framer {
        Framer { line_bytes_max, start: 0, scanned: 0, dropped: 0, at_front: true }
    }

    /// Takes the next line out of the bytes that have arrived. Each byte is looked at once.
    pub fn poll(&mut self, buf: &mut Vec<u8>) -> Event {
        loop {
            let from = self.scanned.min(buf.len());
            let Some(found) = memchr::memchr(b'\n', &buf[from..]) else {
                self.wait(buf);
                return Event::NeedMore;
            };
            let end = from + found;
            let line = self.start..end;
            self.start = end + 1;
            self.scanned = end + 1;
            if let Some(event) = self.take(buf, line) {
                return event;
            }
        }
    }

    /// The stream has ended: what an unended last line amounts to, if anything.
    pub fn finish(&mut self, buf: &[u8]) -> Option<Event> {
        let line = self.start.min(buf.len())..buf.len();
        self.start = buf.len();
        self.scanned = buf.len();
        self.take(buf, line)
    }

    /// Judges a line that is complete but for CR and byte order mark; `None` if it is blank.
    fn take(&mut self, buf: &[u8], mut line: Range<usize>) -> Option<Event> {
        let dropped = std::mem::take(&mut self.dropped);
        if std::mem::take(&mut self.at_front) && buf[line.clone()].starts_with(BYTE_ORDER_MARK) {
            line.start += BYTE_ORDER_MARK.len();
        }
        if buf[line.clone()].ends_with(b"\r") {
            line.end -= 1;
        }
        let bytes = dropped + line.len() as u64;
        if bytes > self.line_bytes_max as u64 {
            return Some(Event::TooLong { bytes });
        }
        let blank = buf[line.clone()].iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
        (!blank).then_some(Event::Line(line))
    }

    /// Drops finished lines from the front, and an unfinished one that is over the cap already.
    fn wait(&mut self, buf: &mut Vec<u8>) {
        buf.drain(..self.start.min(buf.len()));
        self.start = 0;
        self.scanned = buf.len();
        // A byte order mark and a CR do not count, so they are allowed on top until the line ends.
        let room = self.line_bytes_max.saturating_add(BYTE_ORDER_MARK.len() + 1);
        if self.dropped > 0 || buf.len() > room {
            self.discard(buf);
        }
    }

    /// Forgets an over-long line so far. The last byte stays if it may be the CR of the line end.
    fn discard(&mut self, buf: &mut Vec<u8>) {
        if std::mem::take(&mut self.at_front) && buf.starts_with(BYTE_ORDER_MARK) {
            buf.drain(..BYTE_ORDER_MARK.len());
        }
        let keep = usize::from(buf.ends_with(b"\r"));
        self.dropped += (buf.len() - keep) as u64;
        buf.drain(..buf.len() - keep);
        self.scanned = keep;
    }
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

#[cfg(test)]
mod tests;
