//! What the server offers, method by method, over real sockets: every test names the ledger rules it checks in square
//! brackets, and every answer is held against the published schema.

#[path = "../wire/support/mod.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the other test binaries")]
mod support;

mod caching;
mod common;
mod completion;
mod discover;
mod embedding;
mod envelope;
mod hooks;
mod logging;
mod paging;
mod progress;
mod prompts;
mod registration;
mod registry;
mod resources;
mod rounds;
mod scopes;
mod states;
mod structured;
mod tools;
mod trace;
