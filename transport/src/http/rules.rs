//! What the header lines mean together: framing, host, persistence, expectation.
//!
//! Every refusal here closes a way to make two readers of one connection disagree about where a
//! request ends (request smuggling: RFC 9112, 6.1, 6.3, 11.2).

use super::head::{Framing, Head, is_named};
use super::reject::Reject;
use super::target;

/// Applies the rules to a head whose lines are known. `window` lies `base` bytes into the buffer.
pub(crate) fn apply(head: &mut Head, window: &[u8], base: usize) -> Result<(), Reject> {
    let mut seen = Seen::default();
    for header in &head.headers {
        let at = |span: super::Span| &window[span.start as usize - base..span.end as usize - base];
        let name = at(header.name);
        match name.len() {
            4 if is_named(name, b"host") => {
                seen.host(at(header.value))?;
                head.host = head.host.or(Some(header.value));
            }
            6 if is_named(name, b"expect") => seen.expect(at(header.value))?,
            10 if is_named(name, b"connection") => seen.connection(at(header.value)),
            14 if is_named(name, b"content-length") => seen.length(at(header.value))?,
            17 if is_named(name, b"transfer-encoding") => seen.coding(at(header.value))?,
            _ => {}
        }
    }
    head.framing = seen.framing(head.minor)?;
    if head.minor == 1 && !seen.host {
        return Err(Reject::bad("Host is missing"));
    }
    head.keep_alive = !seen.close && (head.minor == 1 || seen.keep_alive);
    // An HTTP/1.0 client cannot read a 100 (RFC 9110, 10.1.1).
    head.expect_continue = seen.expect && head.minor == 1 && head.framing != Framing::Empty;
    Ok(())
}

#[derive(Default)]
struct Seen {
    host: bool,
    expect: bool,
    close: bool,
    keep_alive: bool,
    chunked: bool,
    length: Option<u64>,
}

impl Seen {
    fn host(&mut self, value: &[u8]) -> Result<(), Reject> {
        if std::mem::replace(&mut self.host, true) {
            return Err(Reject::bad("several Host lines"));
        }
        let text = std::str::from_utf8(value).map_err(|_| Reject::bad("malformed host"))?;
        target::check_authority(text)
    }

    fn expect(&mut self, value: &[u8]) -> Result<(), Reject> {
        self.expect = value.eq_ignore_ascii_case(b"100-continue");
        if self.expect { Ok(()) } else { Err(Reject::new(417, "unknown expectation")) }
    }

    fn connection(&mut self, value: &[u8]) {
        for option in value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    /// One line of digits, once: even identical repeats are refused, since somebody joined them.
    fn length(&mut self, value: &[u8]) -> Result<(), Reject> {
        if self.length.is_some() {
            return Err(Reject::bad("several Content-Length lines"));
        }
        if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
            return Err(Reject::bad("malformed Content-Length"));
        }
        self.length = Some(value.iter().fold(0u64, |sum, digit| {
            sum.saturating_mul(10).saturating_add(u64::from(digit - b'0'))
        }));
        Ok(())
    }

    /// Exactly `chunked`, once. Other codings are not implemented (RFC 9112, 6.1: 501).
    fn coding(&mut self, value: &[u8]) -> Result<(), Reject> {
        if std::mem::replace(&mut self.chunked, true) {
            return Err(Reject::bad("several Transfer-Encoding lines"));
        }
        if value.eq_ignore_ascii_case(b"chunked") {
            return Ok(());
        }
        Err(Reject::new(501, "transfer coding not implemented"))
    }

    fn framing(&self, minor: u8) -> Result<Framing, Reject> {
        match (self.chunked, self.length) {
            (true, Some(_)) => Err(Reject::bad("Content-Length with Transfer-Encoding")),
            (true, None) if minor == 0 => Err(Reject::bad("Transfer-Encoding in HTTP/1.0")),
            (true, None) => Ok(Framing::Chunked),
            (false, None | Some(0)) => Ok(Framing::Empty),
            (false, Some(length)) => Ok(Framing::Length(length)),
        }
    }
}
