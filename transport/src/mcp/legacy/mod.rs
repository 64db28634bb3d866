//! The 2025 era on the same endpoint: which messages belong to it, its versions, its sessions' names. Rules only; what
//! lives as long as a session is the server's (ledger section 20).

mod era;
mod event_id;
mod message;
mod session_id;
mod version;

pub use era::{Era, is_legacy, of_body, of_notification, of_request};
pub use event_id::EventId;
pub use message::{Incoming, Response, read, read_batch};
pub use session_id::{SECRET_BYTES, SessionId};
pub use version::Version;

#[cfg(test)]
mod tests;
