//! What a run shows while it goes on: each worker keeps a few numbers up to date that the main thread reads.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// One worker's numbers so far.
#[derive(Debug, Default)]
pub(crate) struct Cell {
    /// Right answers in the measured part.
    pub(crate) ok: AtomicU64,
    /// Errors, of the warm-up too.
    pub(crate) errors: AtomicU64,
    /// The 99th percentile so far, in ns; 0 for none.
    pub(crate) p99_ns: AtomicU64,
}

/// The whole run at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Snapshot {
    /// Right answers in the measured part.
    pub(crate) ok: u64,
    /// Errors so far, of the warm-up too.
    pub(crate) errors: u64,
    /// The 99th percentile so far: of the worst worker, which is what makes the whole's.
    pub(crate) p99: Option<Duration>,
    /// Since the load began, warm-up included.
    pub(crate) since: Duration,
    /// Of it, measured.
    pub(crate) measured: Duration,
}

impl Snapshot {
    /// Sums the workers up.
    pub(crate) fn of(cells: &[std::sync::Arc<Cell>], since: Duration, warmup: Duration) -> Self {
        let sum = |read: fn(&Cell) -> &AtomicU64| -> u64 {
            cells.iter().map(|cell| read(cell).load(Ordering::Relaxed)).sum()
        };
        let worst = cells.iter().map(|cell| cell.p99_ns.load(Ordering::Relaxed)).max();
        Self {
            ok: sum(|cell| &cell.ok),
            errors: sum(|cell| &cell.errors),
            p99: worst.filter(|ns| *ns > 0).map(Duration::from_nanos),
            since,
            measured: since.saturating_sub(warmup),
        }
    }
}
