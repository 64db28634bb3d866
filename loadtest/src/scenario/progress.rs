//! A call with a progress token: its notifications come before the response, all of them, in order.

use serde_json::Value;

use crate::answer::Answer;
use crate::check::{Checker, Delivery};
use crate::fault::{Fault, Kind};
use crate::request::{Extra, Template};

use super::{Desk, Next, Op, Scenario};

/// Calls whose progress is watched.
pub(super) struct Progress {
    /// With the id as its progress token.
    pub(super) template: Template,
    pub(super) checker: Checker,
    /// How many progress notifications every call must send; `None`: at least one.
    pub(super) wanted: Option<u32>,
}

impl Scenario for Progress {
    fn begin(&mut self, op: &mut Op, out: &mut Vec<u8>) -> usize {
        self.template.write(out, op.id, Extra::default())
    }

    fn settle(&mut self, op: &mut Op, answer: &Answer<'_>, _: Desk<'_>) -> Result<Next, Fault> {
        let delivery = Delivery::of(answer)?;
        self.checker.check_response(delivery.response(), op.id)?;
        let mut watch = Watch { token: op.id, last: None, count: 0 };
        for event in delivery.notifications() {
            watch.see(event).map_err(|why| Fault::showing(Kind::Progress, why, event))?;
        }
        let enough = match self.wanted {
            None => watch.count > 0,
            Some(wanted) => watch.count == wanted,
        };
        if !enough {
            let wanted = self.wanted.map_or("at least 1".to_owned(), |wanted| wanted.to_string());
            let why = format!("{} progress notifications, not {wanted}", watch.count);
            return Err(Fault::showing(Kind::Progress, why, answer.body));
        }
        op.sent.notifications += watch.count;
        Ok(Next::Done)
    }
}

/// The progress of one request.
struct Watch {
    token: u64,
    last: Option<f64>,
    count: u32,
}

impl Watch {
    /// [PRG-02] The token is the request's own, and progress only grows. Log messages may stand between.
    fn see(&mut self, event: &[u8]) -> Result<(), String> {
        let event: Value = serde_json::from_slice(event).map_err(|e| e.to_string())?;
        match event["method"].as_str() {
            Some("notifications/progress") => {}
            Some("notifications/message") => return Ok(()),
            other => return Err(format!("a notification {other:?} on a response's stream")),
        }
        let params = &event["params"];
        if params["progressToken"] != self.token {
            return Err(format!("progress of {}, not of {}", params["progressToken"], self.token));
        }
        let Some(progress) = params["progress"].as_f64() else {
            return Err("progress without a number".to_owned());
        };
        if self.last.is_some_and(|last| progress <= last) {
            return Err("progress that does not grow".to_owned());
        }
        self.last = Some(progress);
        self.count += 1;
        Ok(())
    }
}
