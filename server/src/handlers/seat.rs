//! Where the running server sits once it has started: handlers are registered before, so they look here later.

use std::sync::{Arc, OnceLock};

use ringmcp::Handle;

/// A place for the running server's handle. Cheap to clone; all clones are the same place.
#[derive(Clone, Default)]
pub(crate) struct Seat(Arc<OnceLock<Handle>>);

impl Seat {
    /// Seats the server, once.
    pub(crate) fn put(&self, handle: Handle) {
        let first = self.0.set(handle).is_ok();
        debug_assert!(first, "one server a process");
    }

    /// The server; `None` before its start.
    pub(crate) fn get(&self) -> Option<&Handle> {
        self.0.get()
    }
}
