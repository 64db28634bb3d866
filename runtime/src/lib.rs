//! A server core for MCP, the Model Context Protocol: thread per core, io_uring, typed handlers.
//!
//! The smallest server is `examples/calculator.rs`.
//!
//! Start at [`Server::builder`]; `examples/tour.rs` shows most of what a server can do. Codes such as TOOL-07 name rules of
//! the protocol, listed with their tests in `docs/ledger.md`.
//!
//! A request passes these rooms, in this order: `io` and `engine` (bytes, cores, time),
//! `serve` (one connection), `dispatch` (one method each), `handler` and `context` (your code), `render` (the answer).

/// The README's example, compiled as a test.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

mod app;
mod context;
mod dispatch;
mod engine;
mod error;
mod handler;
mod hooks;
mod hub;
mod in_process;
mod io;
mod legacy;
mod limits;
mod notifier;
mod offload;
mod registry;
mod render;
mod schema;
mod serve;
mod server;
mod state;
mod stdio;

// The public names, hand-picked. Whatever is not listed here is not public.
pub use app::ResponseMode;
pub use context::{Amount, Ask, CancelToken, Context, Progress};
pub use engine::counters::Counters;
pub use engine::driver::Driver;
pub use error::{Error, HandlerError, Interrupt, ToolError};
pub use handler::{
    CacheHint, Completion, Completions, NoArgs, PromptOutput, ResourceOutput, Structured,
    ToolOutput,
};
pub use hooks::{Answered, Denied, Observed, Principal, RequestHead};
pub use hub::{Bus, Event, ExtensionField, LocalBus, Payload, Sink, Topic};
pub use in_process::{InProcess, InProcessConnection};
pub use legacy::LegacyMode;
pub use limits::Limits;
pub use notifier::Notifier;
#[cfg(feature = "tokio")]
pub use offload::OnTokio;
pub use offload::{OffloadError, Offloaded};
pub use registry::{RegistrationError, RegistrationFault, Thing};
pub use schema::SchemaError;
pub use server::{Bound, Builder, Handle, Offer, Piped, Registrations, Server};
pub use state::ReplayStore;

/// Whether the body of a POST belongs to the 2025 era (LEG-42); see [`LegacyMode`].
pub use transport::mcp::legacy::is_legacy;

/// The protocol's own types: tools, prompts, resources, content, input requests, errors.
pub mod types {
    pub use codec::error::RpcError;
    pub use codec::meta::{Capability, ClientInfo, LoggingLevel};
    pub use codec::types::*;
    pub use codec::value::{Array, Object, Value};
}
