//! Giving memory back after a peak: tables that have grown for thousands of connections, and what was kept for the next of
//! them. A core notices by how many deadlines it has, since whatever waits on it has one.

use std::cell::Cell;
use std::rc::Rc;

use super::core::{Core, Serve};
use crate::io;

/// Fewer deadlines than this are no peak: what they leave behind is not worth a look.
const PEAK_MIN: usize = 64;

/// From the first sign of an ebb until memory is given back: much more of the same is freed within it.
const SETTLE_MS: u64 = 1000;

/// How full the core was, and whether it is time to give back.
#[derive(Default)]
pub(crate) struct Ebb {
    /// The most deadlines at once since the last ebb.
    peak: Cell<usize>,
    due_ms: Cell<Option<u64>>,
}

impl Ebb {
    /// Whether memory is to be given back now, at `in_use` deadlines: at most once in [`SETTLE_MS`], and once for each time
    /// that a quarter of them has gone.
    fn is_due(&self, in_use: usize, now_ms: u64) -> bool {
        let peak = self.peak.get().max(in_use);
        let ebbs = peak >= PEAK_MIN && in_use < peak - peak / 4;
        self.peak.set(if ebbs { in_use } else { peak });
        if ebbs && self.due_ms.get().is_none() {
            self.due_ms.set(Some(now_ms + SETTLE_MS));
        }
        let due = self.due_ms.get().is_some_and(|due_ms| due_ms <= now_ms);
        if due {
            self.due_ms.set(None);
        }
        due
    }
}

/// Looks whether there is something to give back, and does.
pub(crate) fn tick<S: Serve>(core: &Rc<Core<S>>) {
    if !core.ebb.is_due(core.deadlines.len(), core.clock.now_ms()) {
        return;
    }
    // First: it has deadlines and wakers.
    S::shed(core);
    core.deadlines.shrink();
    core.links.shrink();
    core.wakes.shrink();
    core.buffers.shed();
    io::shed_blocks();
    S::ebbed(core);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ebb is noticed at each quarter that goes, memory is given back once things have settled, and small numbers are
    /// left alone.
    #[test]
    fn an_ebb_settles_first() {
        let ebb = Ebb::default();
        assert!(!ebb.is_due(9000, 0) && !ebb.is_due(7000, 50), "no ebb yet");
        assert!(!ebb.is_due(6000, 100) && !ebb.is_due(3, 1000), "it has begun");
        assert!(ebb.is_due(3, 1100) && !ebb.is_due(3, 1150), "once");
        assert!(!ebb.is_due(PEAK_MIN - 1, 2000) && !ebb.is_due(0, 2050) && !ebb.is_due(0, 9000));
    }
}
