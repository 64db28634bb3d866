//! Clients of the 2025 era on the endpoint that modern clients use: over real sockets, on both drivers, every answer
//! held against the published schema of revision 2025-11-25.

#[path = "../wire/support/mod.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the other test binaries")]
mod support;

mod batches;
mod bounds;
mod choice;
mod client;
mod crowd;
mod embedding;
mod news;
mod resume;
mod schema;
mod sessions;
mod shapes;
mod shim;
mod stateless;
