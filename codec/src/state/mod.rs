//! `requestState`: what a handler gives the client to bring back on the retry (ledger 16d), and the
//! key ring that seals it. Cursors (cursor.rs) share the ring.
//!
//! A state is bound to its caller, method and arguments and expires; nothing is stored, so any replica
//! that holds the same keys can open it. Reading order: codec.rs (the sealed form), keys.rs, digest.rs.

mod codec;
mod digest;
mod keys;

#[cfg(test)]
mod tests;

pub use codec::{
    Binding, Cause, Codec, Opened, Protection, STATE_BYTES_MAX, SealFault, StateFault, TTL_SECS,
};
pub use digest::digest;
pub use keys::{KEY_BYTES_MIN, KEY_ID_BYTES_MAX, KEYS_MAX, KeyFault, Keys};

pub(crate) use keys::{Purpose, TAG_BYTES};
