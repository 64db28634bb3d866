//! The core's own handle on the newest registry snapshot: a request clones an `Rc`, so cores share no counter.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use crate::registry::{Registry, Snapshot};

pub(crate) struct SnapshotCache {
    newest: RefCell<Rc<Arc<Snapshot>>>,
}

impl SnapshotCache {
    pub(crate) fn new(registry: &Registry) -> Self {
        Self { newest: RefCell::new(Rc::new(registry.snapshot())) }
    }

    /// The newest snapshot; it stays as it is for as long as the request holds it.
    pub(crate) fn load(&self, registry: &Registry) -> Rc<Arc<Snapshot>> {
        let newest = &mut *self.newest.borrow_mut();
        if newest.generation != registry.generation() {
            *newest = Rc::new(registry.snapshot());
        }
        Rc::clone(newest)
    }
}
