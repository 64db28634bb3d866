//! What the server offers: tools, prompts, resources and resource templates, and how that changes while it runs.
//!
//! - [`entry`]: one registered thing, checked and compiled
//! - [`listing`]: an immutable list with its JSON ready, and its pages
//! - [`snapshot`]: all lists at one moment; what a request works on
//! - [`shelf`]: the entries of one kind while they are edited
//! - [`Registry`] (here): publishes snapshots
//!
//! Readers never lock: they load the current snapshot. Editors take turns, and an edit is whole or not at all.
//! Invariant: no request can reach the edit lock.

mod entry;
mod error;
mod listing;
mod shelf;
mod snapshot;

#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arc_swap::ArcSwap;

pub(crate) use entry::{Completers, Names, PromptEntry, ResourceEntry, TemplateEntry, ToolEntry};
pub use error::{RegistrationError, RegistrationFault, Thing};
pub(crate) use listing::{Entry, Listing};
pub(crate) use shelf::Shelf;
pub(crate) use snapshot::{ResourceMatch, Serves, Snapshot};

/// Which lists read differently after an edit: whose `list_changed` is due (TOOL-14, SUB-20).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Changed {
    pub(crate) tools: bool,
    pub(crate) prompts: bool,
    /// Resources or templates: they share a topic.
    pub(crate) resources: bool,
}

impl Changed {
    /// Whether no list reads differently.
    pub(crate) fn is_none(self) -> bool {
        self == Changed::default()
    }
}

/// Everything registered, in the state an edit works on.
#[derive(Clone)]
pub(crate) struct Draft {
    pub(crate) tools: Shelf<ToolEntry>,
    pub(crate) prompts: Shelf<PromptEntry>,
    pub(crate) resources: Shelf<ResourceEntry>,
    pub(crate) templates: Shelf<TemplateEntry>,
    /// May be set to promise a capability before its first entry (TOOL-01); never cleared.
    pub(crate) serves: Serves,
}

type Listener = Box<dyn Fn(Changed) + Send + Sync>;

/// The current snapshot and the one way to the next.
pub(crate) struct Registry {
    current: ArcSwap<Snapshot>,
    generation: AtomicU64,
    draft: Mutex<Draft>,
    listener: OnceLock<Listener>,
}

impl Registry {
    /// An empty registry for at most `entries_max` things of each kind.
    pub(crate) fn new(entries_max: usize) -> Self {
        let draft = Draft {
            tools: Shelf::new(entries_max),
            prompts: Shelf::new(entries_max),
            resources: Shelf::new(entries_max),
            templates: Shelf::new(entries_max),
            serves: Serves::default(),
        };
        Registry {
            current: ArcSwap::from_pointee(Snapshot::empty()),
            generation: AtomicU64::new(0),
            draft: Mutex::new(draft),
            listener: OnceLock::new(),
        }
    }

    /// The number of the newest snapshot: one load, for readers that keep a snapshot of their own.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// The current snapshot, to keep while a request runs. Never blocks.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// Who learns of changed lists, after the snapshot that shows them is in place and the edit lock is free.
    /// False if somebody was set before: then nothing changes.
    pub(crate) fn on_change(&self, listener: Listener) -> bool {
        self.listener.set(listener).is_ok()
    }

    /// Applies `change` and publishes what comes of it, all of it or, on error, nothing. From any thread; editors wait
    /// for each other. One edit costs time linear in the kinds it touches, so register many things in one.
    ///
    /// # Errors
    /// Those of `change`.
    pub(crate) fn edit<R>(
        &self,
        change: impl FnOnce(&mut Draft) -> Result<R, RegistrationError>,
    ) -> Result<(R, Changed), RegistrationError> {
        let (outcome, changed) = {
            // A panic in `change` leaves the draft as it was: only whole drafts are stored.
            let mut draft = self.draft.lock().unwrap_or_else(PoisonError::into_inner);
            let mut next = draft.clone();
            let outcome = change(&mut next)?;
            next.settle_serves(draft.serves);
            let old = self.current.load();
            let new = old.next(&draft, &next);
            let changed = old.difference(&new);
            let generation = new.generation;
            self.current.store(Arc::new(new));
            self.generation.store(generation, Ordering::Release);
            *draft = next;
            (outcome, changed)
        };
        if let (false, Some(listener)) = (changed.is_none(), self.listener.get()) {
            listener(changed);
        }
        Ok((outcome, changed))
    }
}

impl Draft {
    /// Adds to what was promised before what there is now.
    fn settle_serves(&mut self, before: Serves) {
        let completions = self.prompts.iter().any(|entry| !entry.completers.is_empty())
            || self.templates.iter().any(|entry| !entry.completers.is_empty());
        self.serves.tools |= before.tools || !self.tools.is_empty();
        self.serves.prompts |= before.prompts || !self.prompts.is_empty();
        self.serves.resources |=
            before.resources || !self.resources.is_empty() || !self.templates.is_empty();
        self.serves.completions |= before.completions || completions;
    }
}
