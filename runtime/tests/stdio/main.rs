//! One client on a pair of streams: over Unix sockets and pipes, on both drivers, one message a line each way.

#![allow(clippy::unwrap_used, reason = "a test's helpers fail as the test does: at the line")]

#[path = "../wire/support/mod.rs"]
#[allow(dead_code, unreachable_pub, unused_imports, reason = "shared with the other test binaries")]
mod support;

mod bounds;
mod messages;
mod peer;
