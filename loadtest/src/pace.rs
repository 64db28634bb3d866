//! Who may send when. The loop is closed: a connection that got an answer may ask again.
//!
//! Another discipline (a fixed rate, say) is another way of answering [`Pace::take`].

use std::cell::Cell;
use std::time::Instant;

/// The parts of a run, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Load that is checked and not counted.
    Warmup,
    /// Load that counts.
    Measured,
    /// Nothing more is sent.
    Over,
}

/// The run's allowance of requests.
#[derive(Debug)]
pub(crate) struct Pace {
    phase: Cell<Phase>,
    /// Measured requests still to be sent.
    left: Cell<u64>,
    next_id: Cell<u64>,
    /// When [`Phase::Over`] began.
    over_at: Cell<Option<Instant>>,
}

/// Permission to send one request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    /// The request's id, no other's in this run.
    pub(crate) id: u64,
    /// Whether it counts: settled when it is sent, so that no answer falls between two phases.
    pub(crate) measured: bool,
}

impl Pace {
    /// `requests`: how many count, `None` for as many as fit the time.
    pub(crate) fn new(requests: Option<u64>) -> Self {
        Self {
            phase: Cell::new(Phase::Warmup),
            left: Cell::new(requests.unwrap_or(u64::MAX)),
            next_id: Cell::new(1),
            over_at: Cell::new(None),
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        self.phase.get()
    }

    /// The warm-up is over.
    pub(crate) fn start_measuring(&self) {
        self.phase.set(Phase::Measured);
    }

    /// No more requests.
    pub(crate) fn stop(&self) {
        if self.phase.replace(Phase::Over) != Phase::Over {
            self.over_at.set(Some(Instant::now()));
        }
    }

    /// When sending stopped.
    pub(crate) fn over_at(&self) -> Option<Instant> {
        self.over_at.get()
    }

    /// The next request, if there is to be one. Taking the last ends the run.
    pub(crate) fn take(&self) -> Option<Turn> {
        let measured = match self.phase.get() {
            Phase::Over => return None,
            phase => phase == Phase::Measured,
        };
        if measured {
            self.left.set(self.left.get() - 1);
            if self.left.get() == 0 {
                self.stop();
            }
        }
        let id = self.next_id.replace(self.next_id.get() + 1);
        Some(Turn { id, measured })
    }
}
