//! Bounds the work of one check: a counter the validator's view of the document burns as it is looked at.
//!
//! The validator itself knows no budget. But all it learns of a document it learns through [`tape`](super::tape), so
//! when the fuel is spent the document there turns into `null`s without members or items: nothing is left to descend
//! into, and the walk ends within what [`survey`](super::survey) allows for a single value. Whatever it then says is
//! worthless, and [`Fuel::is_spent`] must be asked before believing it.

use std::cell::Cell;

/// Bytes of text looked at for one step.
const BYTES_PER_STEP: usize = 64;

/// What is left for one check. Lives on the stack of that check.
pub(super) struct Fuel {
    steps: Cell<u64>,
    faults: Cell<u32>,
}

impl Fuel {
    /// `steps` as in [`CHECK_STEPS_MAX`](super::CHECK_STEPS_MAX), `faults` as in
    /// [`FAULTS_COLLECTED_MAX`](super::FAULTS_COLLECTED_MAX).
    pub(super) fn new(steps: u64, faults: u32) -> Self {
        Fuel { steps: Cell::new(steps), faults: Cell::new(faults) }
    }

    /// Burns `steps`; false when there are not as many left, and from then on.
    pub(super) fn burn(&self, steps: u64) -> bool {
        let left = self.steps.get().saturating_sub(steps);
        self.steps.set(left);
        left > 0
    }

    /// Burns what looking at `bytes` of text takes.
    pub(super) fn burn_text(&self, bytes: usize) -> bool {
        self.burn(1 + (bytes / BYTES_PER_STEP) as u64)
    }

    /// Counts one fault; the last one allowed spends everything.
    pub(super) fn count_fault(&self) {
        let left = self.faults.get().saturating_sub(1);
        self.faults.set(left);
        if left == 0 {
            self.steps.set(0);
        }
    }

    pub(super) fn is_spent(&self) -> bool {
        self.steps.get() == 0
    }
}
