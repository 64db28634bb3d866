//! Streams, cancellation, limits and the end of a server, over real sockets on both drivers.
//!
//! One binary, one room a file; [`tools`] holds the handlers that the tests call.

#[path = "../wire/support/mod.rs"]
#[allow(dead_code, unreachable_pub, unused_imports, reason = "shared with the other test binaries")]
mod support;

mod cancel;
mod drain;
mod limits;
mod sse;
mod subscriptions;
mod timeouts;
mod tools;
