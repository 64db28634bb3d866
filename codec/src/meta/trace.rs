//! W3C trace context in `_meta` (ledger TRC-01 to TRC-03). What is not well-formed is ignored,
//! never an error.

use crate::limits::{BAGGAGE_BYTES_MAX, TRACESTATE_BYTES_MAX};

/// A well-formed `traceparent` of version 00.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceParent<'a> {
    /// The whole header value.
    pub text: &'a str,
    /// 32 lower-case hexadecimal digits, not all zero.
    pub trace_id: &'a str,
    /// 16 lower-case hexadecimal digits, not all zero.
    pub parent_id: &'a str,
    /// Bit 0: the caller records this trace.
    pub flags: u8,
}

impl<'a> TraceParent<'a> {
    /// Parses `00-<32 hex>-<16 hex>-<2 hex>` (W3C Trace Context 3.2.2); `None` for anything else.
    pub fn parse(text: &'a str) -> Option<TraceParent<'a>> {
        let mut parts = text.split('-');
        let (version, trace_id, parent_id, flags) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let is_id = |id: &str, len| is_hex(id, len) && id.bytes().any(|digit| digit != b'0');
        let well_formed = parts.next().is_none()
            && version == "00"
            && is_id(trace_id, 32)
            && is_id(parent_id, 16)
            && is_hex(flags, 2);
        let flags = u8::from_str_radix(flags, 16).ok()?;
        well_formed.then_some(TraceParent { text, trace_id, parent_id, flags })
    }

    /// Whether the caller records this trace.
    pub fn is_sampled(&self) -> bool {
        self.flags & 1 == 1
    }
}

fn is_hex(text: &str, len: usize) -> bool {
    text.len() == len && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Printable ASCII, spaces and tabs, within the size limit.
pub(super) fn is_tracestate(text: &str) -> bool {
    text.len() <= TRACESTATE_BYTES_MAX && is_header_text(text)
}

/// Printable ASCII, spaces and tabs, within the size limit.
pub(super) fn is_baggage(text: &str) -> bool {
    text.len() <= BAGGAGE_BYTES_MAX && is_header_text(text)
}

fn is_header_text(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~'))
}
