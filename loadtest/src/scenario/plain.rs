//! One request, one answer: tools-call, tools-list, discover, resources-read, large and churn.

use crate::answer::Answer;
use crate::check::Checker;
use crate::fault::{Fault, Kind};
use crate::request::{Extra, Template};

use super::{Desk, Manner, Next, Op, Scenario};

/// The same request every time.
pub(super) struct Plain {
    pub(super) template: Template,
    /// `None` with `--verify none`: any 200 will do.
    pub(super) checker: Option<Checker>,
    pub(super) manner: Manner,
}

impl Scenario for Plain {
    fn begin(&mut self, op: &mut Op, out: &mut Vec<u8>) -> usize {
        self.template.write(out, op.id, Extra::default())
    }

    fn settle(&mut self, op: &mut Op, answer: &Answer<'_>, _: Desk<'_>) -> Result<Next, Fault> {
        check(self.checker.as_mut(), op, answer)
    }

    fn manner(&self) -> Manner {
        self.manner
    }
}

/// Holds the only answer of an operation against what was wanted.
pub(super) fn check(
    checker: Option<&mut Checker>,
    op: &mut Op,
    answer: &Answer<'_>,
) -> Result<Next, Fault> {
    match checker {
        Some(checker) => op.sent.notifications += checker.check(answer, op.id)?,
        None if answer.head.status != 200 => {
            return Err(Fault::showing(Kind::Status, answer.head.status, answer.body));
        }
        None => {}
    }
    Ok(Next::Done)
}
