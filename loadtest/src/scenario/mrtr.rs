//! Calls that ask for input. One operation is all of its rounds: call, answer the questions, call again.

use serde_json::{Map, Value};

use crate::answer::Answer;
use crate::check::{Delivery, Response, Wanted};
use crate::fault::{Fault, Kind};
use crate::request::{Extra, Template};

use super::{Desk, Next, Op, Scenario, Script};

/// Rounds of one operation at most.
const ROUNDS_MAX: u32 = 16;

/// Calls answered by a scripted client.
pub(super) struct Mrtr {
    pub(super) template: Template,
    /// What the last result must be.
    pub(super) wanted: Wanted,
    pub(super) script: Script,
}

impl Scenario for Mrtr {
    fn begin(&mut self, op: &mut Op, out: &mut Vec<u8>) -> usize {
        self.template.write(out, op.id, Extra::default())
    }

    fn settle(
        &mut self,
        op: &mut Op,
        answer: &Answer<'_>,
        mut desk: Desk<'_>,
    ) -> Result<Next, Fault> {
        let delivery = Delivery::of(answer)?;
        let message = delivery.response();
        let result = Response::read(message, op.id)?.result;
        let wrong = |kind, why: String| Err(Fault::showing(kind, why, message));
        if result["resultType"] != "input_required" {
            if op.step == 0 {
                return wrong(Kind::Rounds, "complete without asking for input".to_owned());
            }
            return match self.wanted.check(&result) {
                Ok(()) => Ok(Next::Done),
                Err((kind, why)) => wrong(kind, why),
            };
        }
        if op.step >= ROUNDS_MAX {
            return wrong(Kind::Rounds, format!("still asking after {ROUNDS_MAX} rounds"));
        }
        let members = match self.reply(&result)? {
            members if members.is_empty() => {
                return wrong(Kind::Rounds, "neither questions nor a state [MR-02]".to_owned());
            }
            members => members,
        };
        let id = desk.next(op);
        let extra = Extra { members: &members, ..Extra::default() };
        op.sent.sent_bytes += self.template.write(desk.out, id, extra);
        Ok(Next::Again)
    }
}

impl Mrtr {
    /// What the next call has besides the first one's params: the answers, and the state as it came [RS-01].
    fn reply(&self, result: &Value) -> Result<String, Fault> {
        let mut members = String::new();
        match result.get("inputRequests") {
            None => {}
            Some(Value::Object(questions)) if !questions.is_empty() => {
                let answers: Map<_, _> = self.script.answer(questions)?;
                members += &format!(r#","inputResponses":{}"#, Value::Object(answers));
            }
            Some(other) => {
                let why = format!("inputRequests is {other}, no object with a question");
                return Err(Fault::new(Kind::Rounds, why));
            }
        }
        match result.get("requestState") {
            None => {}
            Some(state @ Value::String(_)) => members += &format!(r#","requestState":{state}"#),
            Some(other) => {
                let why = format!("requestState is {other}, no string");
                return Err(Fault::new(Kind::Rounds, why));
            }
        }
        Ok(members)
    }
}
