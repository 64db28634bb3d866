//! How many subscriptions may be open in the process and for one principal. Touched at open and close only,
//! so a lock shared by the cores costs nothing that matters. LEDGER SUB-17, SEC-02.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The places of one process, shared by its cores. Callers without a principal count for the process only.
#[derive(Debug)]
pub(crate) struct Seats {
    process_max: usize,
    principal_max: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    total: usize,
    principals: HashMap<Arc<str>, usize>,
}

/// One place, given back when dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    seats: Arc<Seats>,
    principal: Option<Arc<str>>,
}

/// Why no place was given. Both are answered alike, before any acknowledgement: `-32603` on HTTP 200 with
/// [`Full::MESSAGE`] (LEDGER D-17).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Full {
    Process,
    Principal,
}

impl Full {
    /// The error message of the protocol's answer.
    pub(crate) const MESSAGE: &'static str = "Subscription limit reached";
}

impl Seats {
    pub(crate) fn new(process_max: usize, principal_max: usize) -> Arc<Seats> {
        Arc::new(Seats { process_max, principal_max, taken: Mutex::default() })
    }

    /// Takes a place for this principal.
    pub(crate) fn take(self: &Arc<Self>, principal: Option<&str>) -> Result<Seat, Full> {
        let mut taken = self.lock();
        if taken.total >= self.process_max {
            return Err(Full::Process);
        }
        let principal: Option<Arc<str>> = principal.map(Arc::from);
        if let Some(name) = &principal {
            let held = taken.principals.get(name).copied().unwrap_or(0);
            if held >= self.principal_max {
                return Err(Full::Principal);
            }
            taken.principals.insert(Arc::clone(name), held + 1);
        }
        taken.total += 1;
        Ok(Seat { seats: Arc::clone(self), principal })
    }

    /// Places taken now, in the whole process.
    #[cfg(test)]
    pub(crate) fn taken(&self) -> usize {
        self.lock().total
    }

    /// Principals that hold a place now.
    #[cfg(test)]
    pub(crate) fn principals(&self) -> usize {
        self.lock().principals.len()
    }

    // The counts are whole at every await-free step, so a panic elsewhere under the lock spoils nothing.
    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut taken = self.seats.lock();
        debug_assert!(taken.total > 0, "a seat is counted from take to drop");
        taken.total -= 1;
        let Some(name) = self.principal.take() else { return };
        if let Entry::Occupied(mut held) = taken.principals.entry(name) {
            *held.get_mut() -= 1;
            if *held.get() == 0 {
                held.remove();
            }
        }
    }
}
