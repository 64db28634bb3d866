//! Where the running server sits once it has started: handlers are registered before, so they look here later.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ringmcp::{Counters, Handle};

/// A place for the running server's handle. Cheap to clone; all clones are the same place.
#[derive(Clone, Default)]
pub(crate) struct Seat(Arc<Mutex<Option<Handle>>>);

impl Seat {
    /// Seats the server.
    pub(crate) fn put(&self, handle: Handle) {
        *self.lock() = Some(handle);
    }

    /// Takes the server away, to wait for its end.
    pub(crate) fn take(&self) -> Option<Handle> {
        self.lock().take()
    }

    /// Looks at the server; `None` before its start and at its end.
    pub(crate) fn with<T>(&self, look: impl FnOnce(&Handle) -> T) -> Option<T> {
        self.lock().as_ref().map(look)
    }

    /// What the server counted so far.
    pub(crate) fn counters(&self) -> Option<Counters> {
        self.with(Handle::counters)
    }

    /// Every change of the seat is one assignment, so a panic elsewhere leaves it whole.
    fn lock(&self) -> MutexGuard<'_, Option<Handle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
