//! MCP messages to bytes and back, with no I/O and no clock: JSON read onto a tape, the JSON-RPC
//! envelope, wire types, header values, cursors, sealed state. One room a concern; the only unsafe
//! code is in `document/`.
#![deny(unsafe_code)]

pub mod cursor;
mod de;
pub mod document;
pub mod error;
pub mod header;
pub mod id;
pub mod limits;
pub mod message;
pub mod meta;
pub mod meta_key;
pub mod state;
pub mod types;
pub mod uri;
pub mod value;
pub mod write;

#[cfg(test)]
mod testing;

pub use de::DeError;
pub use document::{Document, JsonError, Parser};
pub use error::RpcError;
pub use id::{Id, OwnedId};
pub use message::{Malformed, Message, Notification, Request};
pub use value::{Array, Object, Value};
