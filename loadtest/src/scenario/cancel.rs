//! Slow calls whose connections are closed before they are answered. That the server went on is proven by a
//! discover over a new connection; its latency is the operation's.

use std::time::Duration;

use crate::answer::Answer;
use crate::check::Checker;
use crate::fault::Fault;
use crate::request::{Extra, Template};

use super::{Desk, Manner, Next, Op, Scenario, plain};

/// Calls that are given up.
pub(super) struct Cancel {
    pub(super) slow: Template,
    /// How long a call runs.
    pub(super) after: Duration,
    pub(super) probe: Template,
    pub(super) checker: Checker,
}

impl Scenario for Cancel {
    fn begin(&mut self, op: &mut Op, out: &mut Vec<u8>) -> usize {
        self.slow.write(out, op.id, Extra::default())
    }

    fn settle(&mut self, op: &mut Op, answer: &Answer<'_>, _: Desk<'_>) -> Result<Next, Fault> {
        plain::check(Some(&mut self.checker), op, answer)
    }

    fn manner(&self) -> Manner {
        Manner::Abandon(self.after)
    }

    fn resume(&mut self, op: &mut Op, mut desk: Desk<'_>) {
        let id = desk.next(op);
        op.sent.sent_bytes += self.probe.write(desk.out, id, Extra::default());
    }
}
