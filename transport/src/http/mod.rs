//! HTTP/1.1 of one connection, server side, without I/O: RFC 9112 framing, RFC 9110 semantics.
//!
//! [`Machine`] turns the bytes of a read buffer into heads and bodies; [`respond`] writes answers.
//! The job is split by part: `parse` (head), `rules` (what the head's lines mean together), `target`
//! (request target and authority), `chunked` (body), `machine` (order of events).
//! What this room refuses it refuses with 400 to 505 and a closed connection: every refusal is a
//! request whose end a proxy in front might see elsewhere.

pub mod date;
pub mod respond;

mod chunked;
mod head;
mod machine;
mod parse;
mod reject;
mod rules;
mod target;

pub use crate::limits::Limits;
pub(crate) use head::is_named;
pub use head::{Framing, Head, HeadView, HeaderSpan, Span};
pub use machine::{Event, Machine, Waiting};
pub use reject::Reject;
pub(crate) use target::split_authority;

#[cfg(test)]
mod tests;
