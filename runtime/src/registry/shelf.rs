//! The entries of one kind while they are being edited: disabled ones too, and where the next one goes.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::error::{RegistrationError, RegistrationFault as Fault};
use super::listing::{Entry, Listing};

/// All entries of one kind.
#[derive(Clone)]
pub(crate) struct Shelf<E> {
    by_sequence: BTreeMap<u64, Arc<E>>,
    by_key: HashMap<String, u64>,
    /// Goes to the next entry; never comes back, so that a cursor never points into the past (PAG-04).
    next_sequence: u64,
    /// Counts changes, so that an untouched kind keeps its listing.
    revision: u64,
    limit: usize,
}

impl<E: Entry> Shelf<E> {
    /// At most `limit` entries.
    pub(super) fn new(limit: usize) -> Self {
        Shelf {
            by_sequence: BTreeMap::new(),
            by_key: HashMap::new(),
            next_sequence: 1,
            revision: 0,
            limit,
        }
    }

    /// Adds `entry` at the end.
    ///
    /// # Errors
    /// Its key is taken (TOOL-09), or the limit is reached.
    pub(crate) fn add(&mut self, mut entry: E) -> Result<(), RegistrationError> {
        if self.by_key.contains_key(entry.key()) {
            return Err(refuse::<E>(entry.key(), Fault::Duplicate));
        }
        if self.by_sequence.len() >= self.limit {
            return Err(refuse::<E>(entry.key(), Fault::Full { limit: self.limit }));
        }
        let sequence = self.next_sequence;
        let enabled = entry.is_enabled();
        entry.place(sequence, enabled);
        self.next_sequence += 1;
        self.by_key.insert(entry.key().to_owned(), sequence);
        self.by_sequence.insert(sequence, Arc::new(entry));
        self.revision += 1;
        Ok(())
    }

    /// Puts `entry` in the place of the one with its key, enabled or disabled as that was.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn update(&mut self, mut entry: E) -> Result<(), RegistrationError> {
        let old = self.slot(entry.key())?;
        entry.place(old.sequence(), old.is_enabled());
        *old = Arc::new(entry);
        self.revision += 1;
        Ok(())
    }

    /// Takes the entry with `key` away.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn remove(&mut self, key: &str) -> Result<Arc<E>, RegistrationError> {
        let sequence = self.by_key.remove(key).ok_or_else(|| refuse::<E>(key, Fault::Unknown))?;
        self.revision += 1;
        self.by_sequence.remove(&sequence).ok_or_else(|| refuse::<E>(key, Fault::Unknown))
    }

    /// Shows or hides the entry with `key`; hidden, it answers like one that does not exist (CALL-02).
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn set_enabled(
        &mut self,
        key: &str,
        enabled: bool,
    ) -> Result<(), RegistrationError> {
        let slot = self.slot(key)?;
        if slot.is_enabled() == enabled {
            return Ok(());
        }
        let sequence = slot.sequence();
        Arc::make_mut(slot).place(sequence, enabled);
        self.revision += 1;
        Ok(())
    }

    /// The entry with `key`, hidden or not.
    pub(crate) fn get(&self, key: &str) -> Option<&Arc<E>> {
        self.by_sequence.get(self.by_key.get(key)?)
    }

    /// Changes the entry with `key`, but for its key and its place.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn change(
        &mut self,
        key: &str,
        change: impl FnOnce(&mut E),
    ) -> Result<(), RegistrationError> {
        change(Arc::make_mut(self.slot(key)?));
        self.revision += 1;
        Ok(())
    }

    /// All entries in registration order, hidden ones too.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<E>> {
        self.by_sequence.values()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_sequence.is_empty()
    }

    /// `now` if nothing changed since `before`, else a new listing.
    pub(super) fn listing(&self, before: &Self, now: &Arc<Listing<E>>) -> Arc<Listing<E>> {
        if self.revision == before.revision {
            now.clone()
        } else {
            Arc::new(Listing::new(self.iter()))
        }
    }

    fn slot(&mut self, key: &str) -> Result<&mut Arc<E>, RegistrationError> {
        let unknown = || refuse::<E>(key, Fault::Unknown);
        let sequence = self.by_key.get(key).ok_or_else(unknown)?;
        self.by_sequence.get_mut(sequence).ok_or_else(unknown)
    }
}

fn refuse<E: Entry>(key: &str, fault: Fault) -> RegistrationError {
    RegistrationError::new(E::THING, key, fault)
}
