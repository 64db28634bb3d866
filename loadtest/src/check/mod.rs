//! Is this the right answer to that request?

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::answer::{Answer, Form};
use crate::fault::{Fault, Kind};
use crate::request::{Digits, Scenario, VERSION};
use crate::sse;

/// Checks the answers of one scenario.
#[derive(Debug)]
pub(crate) struct Checker {
    scenario: Scenario,
    expect: Option<String>,
    /// The last response that passed every check: one that differs from it in nothing but the id passes as well.
    proven: Option<Proven>,
}

/// A response around its id.
#[derive(Debug)]
struct Proven {
    before_id: Vec<u8>,
    after_id: Vec<u8>,
}

impl Proven {
    /// Whether `message` is this response with that id.
    fn is(&self, message: &[u8], id: u64) -> bool {
        message
            .strip_prefix(&*self.before_id)
            .and_then(|rest| rest.strip_suffix(&*self.after_id))
            .is_some_and(|between| between == Digits::default().of(id))
    }
}

impl Checker {
    pub(crate) fn new(scenario: Scenario, expect: Option<String>) -> Self {
        Self { scenario, expect, proven: None }
    }

    /// Holds an answer against the request with this id.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn check(&mut self, answer: &Answer<'_>, id: u64) -> Result<(), Fault> {
        if answer.head.status != 200 {
            return Err(Fault::showing(Kind::Status, answer.head.status, answer.body));
        }
        match answer.head.form {
            Form::Json => self.check_message(answer.body, id),
            Form::Events => self.check_events(answer.body, id),
            Form::Other => {
                Err(Fault::showing(Kind::Form, "neither JSON nor an event stream", answer.body))
            }
        }
    }

    /// A stream is notifications, then the response (SSE-03).
    fn check_events(&mut self, stream: &[u8], id: u64) -> Result<(), Fault> {
        let events = sse::events(stream);
        let Some((response, before)) = events.split_last() else {
            return Err(Fault::showing(Kind::Form, "an event stream without an event", stream));
        };
        for event in before {
            let members = members(event)?;
            if !members.contains_key("method") || members.contains_key("id") {
                return Err(Fault::showing(
                    Kind::Form,
                    "no notification, but before the answer",
                    event,
                ));
            }
        }
        self.check_message(response, id)
    }

    fn check_message(&mut self, message: &[u8], id: u64) -> Result<(), Fault> {
        if self.proven.as_ref().is_some_and(|proven| proven.is(message, id)) {
            return Ok(());
        }
        let members = members(message)?;
        let raw = |name| members.get(name).map(|raw| raw.get());
        let wrong = |kind, detail: &str| Err(Fault::showing(kind, detail, message));
        if raw("jsonrpc") != Some(r#""2.0""#) || members.contains_key("method") {
            return wrong(Kind::Message, "not a JSON-RPC 2.0 response");
        }
        if members.contains_key("error") {
            return wrong(Kind::Error, "an error");
        }
        let Some(came) = members.get("id").copied() else { return wrong(Kind::Id, "no id") };
        if came.get().as_bytes() != Digits::default().of(id) {
            return wrong(Kind::Id, &format!("the id is not {id}"));
        }
        let Some(result) = raw("result") else { return wrong(Kind::Message, "no result") };
        let result: Value =
            serde_json::from_str(result).map_err(|e| Fault::showing(Kind::Message, e, message))?;
        if let Err((kind, detail)) = self.check_result(&result) {
            return wrong(kind, &detail);
        }
        let id_at = came.get().as_ptr().addr() - message.as_ptr().addr();
        self.proven = Some(Proven {
            before_id: message[..id_at].to_vec(),
            after_id: message[id_at + came.get().len()..].to_vec(),
        });
        Ok(())
    }

    /// [RPC-07] and the shape the method returns.
    fn check_result(&self, result: &Value) -> Result<(), (Kind, String)> {
        let wrong = |detail: &str| Err((Kind::Result, detail.to_owned()));
        match &result["resultType"] {
            Value::String(complete) if complete == "complete" => {}
            other => return wrong(&format!("resultType is {other}, not \"complete\"")),
        }
        match self.scenario {
            Scenario::ToolsCall if result["isError"] == true => {
                return Err((Kind::Tool, "the tool reports a failure".into()));
            }
            Scenario::ToolsCall if !result["content"].is_array() => {
                return wrong("no content array");
            }
            Scenario::ToolsList if !result["tools"].is_array() => return wrong("no tools array"),
            Scenario::Discover if !strings(&result["supportedVersions"]).any(|v| v == VERSION) => {
                return wrong("supportedVersions lacks the version spoken");
            }
            _ => {}
        }
        match &self.expect {
            Some(text) if !self.shows(result, text) => {
                Err((Kind::Expect, format!("{text:?} is not to be seen")))
            }
            _ => Ok(()),
        }
    }

    /// Whether the result shows the text of `--expect`.
    fn shows(&self, result: &Value, text: &str) -> bool {
        let items = |list: &'static str| result[list].as_array().into_iter().flatten();
        match self.scenario {
            Scenario::ToolsCall => items("content")
                .any(|c| c["text"].as_str().is_some_and(|shown| shown.contains(text))),
            Scenario::ToolsList => items("tools").any(|tool| tool["name"] == text),
            Scenario::Discover => {
                result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == text
            }
        }
    }
}

fn strings(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// The members of a message, each as it was sent.
fn members(message: &[u8]) -> Result<BTreeMap<String, &RawValue>, Fault> {
    serde_json::from_slice(message).map_err(|error| {
        Fault::showing(Kind::Message, format!("no JSON object ({error})"), message)
    })
}

#[cfg(test)]
mod tests;
