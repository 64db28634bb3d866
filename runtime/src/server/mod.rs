//! The public way to a server: describe it, bind it, run it.

mod builder;
mod handle;
mod make;
mod piped;
mod registrations;
mod start;

pub use builder::Builder;
pub use handle::Handle;
pub use piped::Piped;
pub use registrations::{Offer, Registrations};
pub use start::Bound;

/// A server.
pub struct Server;

impl Server {
    /// Starts the description of a server with this name and version.
    pub fn builder(name: impl Into<String>, version: impl Into<String>) -> Builder {
        Builder::new(name.into(), version.into())
    }
}
