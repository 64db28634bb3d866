//! The core's own handle on the newest registry snapshot: a request clones an `Rc`, so cores share no counter.

use std::cell::RefCell;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use crate::registry::{Registry, Snapshot};

pub(crate) struct SnapshotCache {
    newest: RefCell<Rc<Held>>,
}

/// A snapshot as this core's requests share it.
pub(crate) struct Held(Arc<Snapshot>);

impl Deref for Held {
    type Target = Snapshot;

    fn deref(&self) -> &Snapshot {
        &self.0
    }
}

impl SnapshotCache {
    pub(crate) fn new(registry: &Registry) -> Self {
        Self { newest: RefCell::new(Rc::new(Held(registry.snapshot()))) }
    }

    /// The newest snapshot; it stays as it is for as long as the request holds it.
    pub(crate) fn load(&self, registry: &Registry) -> Rc<Held> {
        let newest = &mut *self.newest.borrow_mut();
        if newest.generation != registry.generation() {
            *newest = Rc::new(Held(registry.snapshot()));
        }
        Rc::clone(newest)
    }
}
