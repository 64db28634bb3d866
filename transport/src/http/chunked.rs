//! The chunked body (RFC 9112, 7.1), decoded in place and incrementally.
//!
//! Data moves down over the framing, each byte once; framing that has been read leaves the buffer
//! whenever more bytes are needed, so a body never holds more than its data and one line.

use super::Limits;
use super::reject::{BARE_LINE_END, BODY_TOO_LARGE, Reject};
use crate::limits::{CHUNK_EXCESS_BYTES_MAX, CHUNK_OVERHEAD_BYTES};

/// Decoder of one body. Offsets count in the read buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunked {
    phase: Phase,
    /// One past the decoded data; never beyond `next`.
    out: usize,
    /// First byte not decoded yet.
    next: usize,
    /// Bytes before this hold no end of the line at `next`.
    scanned: usize,
    /// Data bytes so far, kept or not.
    data_bytes: u64,
    /// Framing bytes beyond what the data excuses.
    excess_bytes: usize,
    trailer_bytes: usize,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Size,
    /// Bytes of this chunk still to come.
    Data(u64),
    DataEnd,
    Trailer,
}

impl Chunked {
    /// A decoder for a body that starts at `start`.
    pub(crate) fn new(start: usize) -> Chunked {
        Chunked {
            phase: Phase::Size,
            out: start,
            next: start,
            scanned: start,
            data_bytes: 0,
            excess_bytes: 0,
            trailer_bytes: 0,
        }
    }

    /// One past the decoded data.
    pub(crate) fn data_end(&self) -> usize {
        self.out
    }

    /// One past the last byte read: where the next request starts once the body is complete.
    pub(crate) fn read_end(&self) -> usize {
        self.next
    }

    /// Forgets the data decoded so far, which starts at `start`: nobody will read this body.
    pub(crate) fn drop_data(&mut self, start: usize) {
        self.out = start;
    }

    /// Follows `count` bytes being dropped from the front of the buffer.
    pub(crate) fn shift_down(&mut self, count: usize) {
        self.out -= count;
        self.next -= count;
        self.scanned -= count;
    }

    /// Decodes what has arrived; `true` once the body is complete. Data is dropped unless `keep`.
    pub(crate) fn advance(
        &mut self,
        buf: &mut Vec<u8>,
        limits: &Limits,
        keep: bool,
    ) -> Result<bool, Reject> {
        loop {
            let progress = match self.phase {
                Phase::Size => self.size(buf, limits)?,
                Phase::Data(left) => self.data(buf, left, keep),
                Phase::DataEnd => self.data_end_line(buf)?,
                Phase::Trailer => match self.trailer(buf, limits)? {
                    Trailer::End => return Ok(true),
                    Trailer::Field => true,
                    Trailer::Partial => false,
                },
            };
            if !progress {
                self.close_gap(buf);
                return Ok(false);
            }
        }
    }

    fn size(&mut self, buf: &[u8], limits: &Limits) -> Result<bool, Reject> {
        let too_long = Reject::bad("chunk-size line too long");
        let Some(end) = self.line_end(buf, limits.chunk_line_bytes_max, too_long)? else {
            return Ok(false);
        };
        let size = parse_size(&buf[self.next..end])?;
        if size > (limits.body_bytes_max as u64).saturating_sub(self.data_bytes) {
            return Err(BODY_TOO_LARGE);
        }
        let line_bytes = end + 2 - self.next;
        let excused = CHUNK_OVERHEAD_BYTES + 2 * size as usize;
        self.excess_bytes = (self.excess_bytes + line_bytes).saturating_sub(excused);
        if self.excess_bytes > CHUNK_EXCESS_BYTES_MAX {
            return Err(Reject::bad("too much chunk framing"));
        }
        self.step_over(end + 2);
        self.data_bytes += size;
        self.phase = if size == 0 { Phase::Trailer } else { Phase::Data(size) };
        Ok(true)
    }

    fn data(&mut self, buf: &mut [u8], left: u64, keep: bool) -> bool {
        let here = (buf.len() - self.next).min(usize::try_from(left).unwrap_or(usize::MAX));
        if keep && here > 0 {
            buf.copy_within(self.next..self.next + here, self.out);
            self.out += here;
        }
        self.step_over(self.next + here);
        let left = left - here as u64;
        self.phase = if left == 0 { Phase::DataEnd } else { Phase::Data(left) };
        left == 0
    }

    fn data_end_line(&mut self, buf: &[u8]) -> Result<bool, Reject> {
        match &buf[self.next..] {
            [] | [b'\r'] => Ok(false),
            [b'\r', b'\n', ..] => {
                self.step_over(self.next + 2);
                self.phase = Phase::Size;
                Ok(true)
            }
            _ => Err(Reject::bad("chunk is longer than its size")),
        }
    }

    /// Trailer fields are checked and dropped: nothing here may change what the head said.
    fn trailer(&mut self, buf: &[u8], limits: &Limits) -> Result<Trailer, Reject> {
        let too_large = Reject::new(431, "trailer section too large");
        let room = limits.trailer_bytes_max.saturating_sub(self.trailer_bytes);
        // The empty line that ends the section is always allowed.
        let Some(end) = self.line_end(buf, room.max(2), too_large)? else {
            return Ok(Trailer::Partial);
        };
        let line = &buf[self.next..end];
        let empty = line.is_empty();
        if !empty && !is_field_line(line) {
            return Err(Reject::bad("malformed trailer field"));
        }
        self.trailer_bytes += line.len() + 2;
        self.step_over(end + 2);
        Ok(if empty { Trailer::End } else { Trailer::Field })
    }

    /// Where the CR LF of the line at `next` starts, if it has arrived within `max` bytes.
    fn line_end(
        &mut self,
        buf: &[u8],
        max: usize,
        too_long: Reject,
    ) -> Result<Option<usize>, Reject> {
        let limit = buf.len().min(self.next.saturating_add(max));
        match memchr::memchr(b'\n', &buf[self.scanned..limit]) {
            Some(found) => {
                let end = self.scanned + found;
                if end == self.next || buf[end - 1] != b'\r' {
                    return Err(BARE_LINE_END);
                }
                Ok(Some(end - 1))
            }
            None if limit - self.next >= max => Err(too_long),
            None => {
                self.scanned = limit;
                Ok(None)
            }
        }
    }

    fn step_over(&mut self, next: usize) {
        self.next = next;
        self.scanned = next;
    }

    /// Moves the unread tail (less than one line) down to the data.
    fn close_gap(&mut self, buf: &mut Vec<u8>) {
        let gap = self.next - self.out;
        if gap > 0 {
            buf.copy_within(self.next.., self.out);
            buf.truncate(buf.len() - gap);
            self.next -= gap;
            self.scanned -= gap;
        }
    }
}

enum Trailer {
    Partial,
    Field,
    End,
}

/// `1*HEXDIG [chunk-ext]` without its line end. The value is bounded by 64 bits, extensions are not
/// interpreted but hold no control characters, so no reader can find a line end inside them.
fn parse_size(line: &[u8]) -> Result<u64, Reject> {
    let malformed = Reject::bad("malformed chunk size");
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let (digits, rest) = line.split_at(digits);
    if digits.is_empty() || digits.len() > SIZE_DIGITS_MAX {
        return Err(malformed);
    }
    if !rest.is_empty() {
        let legal = rest.iter().all(|byte| is_field_byte(*byte));
        if !legal || rest.trim_ascii_start().first() != Some(&b';') {
            return Err(malformed);
        }
    }
    Ok(digits.iter().fold(0, |sum, digit| sum << 4 | u64::from(hex_value(*digit))))
}

/// Sixteen digits fill 64 bits.
const SIZE_DIGITS_MAX: usize = 16;

fn hex_value(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    }
}

/// `field-name ":" field-value` (RFC 9112, 5) without its line end.
fn is_field_line(line: &[u8]) -> bool {
    let Some(colon) = memchr::memchr(b':', line) else {
        return false;
    };
    let (name, value) = line.split_at(colon);
    !name.is_empty()
        && name.iter().all(|byte| is_token_byte(*byte))
        && value.iter().all(|byte| is_field_byte(*byte))
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn is_field_byte(byte: u8) -> bool {
    byte == b'\t' || (byte >= 0x20 && byte != 0x7f)
}
