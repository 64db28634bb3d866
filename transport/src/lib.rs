//! Sans-io state of one peer: HTTP/1.1, server-sent events, line framing, and MCP's HTTP rules.
//!
//! Nothing here does I/O or reads a clock: bytes and time come in as arguments, events and bytes go
//! out. [`http`], [`sse`] and [`mod@line`] know nothing of MCP; [`mcp`] joins them with the codec.

#![forbid(unsafe_code)]

pub mod http;
pub mod limits;
pub mod line;
pub mod mcp;
pub mod sse;
