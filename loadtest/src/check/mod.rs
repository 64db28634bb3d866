//! Is this the right answer to that request?

mod result;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::answer::{Answer, Form};
use crate::fault::{Fault, Kind};
use crate::request::Digits;
use crate::sse;

pub(crate) use result::{Expected, Schema, Shape, Wanted};

/// Checks the answers to one kind of request.
#[derive(Debug)]
pub(crate) struct Checker {
    wanted: Wanted,
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
    pub(crate) fn new(wanted: Wanted) -> Self {
        Self { wanted, proven: None }
    }

    /// Holds an answer against the request with this id. How many notifications came before the response.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn check(&mut self, answer: &Answer<'_>, id: u64) -> Result<u32, Fault> {
        let delivery = Delivery::of(answer)?;
        self.check_response(delivery.response(), id)?;
        Ok(u32::try_from(delivery.notifications().len()).unwrap_or(u32::MAX))
    }

    /// Holds a response against the request with this id.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn check_response(&mut self, message: &[u8], id: u64) -> Result<(), Fault> {
        if self.proven.as_ref().is_some_and(|proven| proven.is(message, id)) {
            return Ok(());
        }
        let response = Response::read(message, id)?;
        self.wanted
            .check(&response.result)
            .map_err(|(kind, detail)| Fault::showing(kind, detail, message))?;
        self.proven = Some(Proven {
            before_id: message[..response.id_at].to_vec(),
            after_id: message[response.id_at + response.id_len..].to_vec(),
        });
        Ok(())
    }
}

/// The messages of one answer: one, or the events of a stream.
#[derive(Debug)]
pub(crate) enum Delivery<'b> {
    One(&'b [u8]),
    /// Notifications, then the response; never empty.
    Stream(Vec<Cow<'b, [u8]>>),
}

impl<'b> Delivery<'b> {
    /// Opens a 200 answer. A stream is notifications, then the response (SSE-06, SSE-07).
    ///
    /// # Errors
    /// Another status, another form, a stream with something else in it.
    pub(crate) fn of(answer: &Answer<'b>) -> Result<Self, Fault> {
        if answer.head.status != 200 {
            return Err(Fault::showing(Kind::Status, answer.head.status, answer.body));
        }
        let wrong = |detail, came: &[u8]| Err(Fault::showing(Kind::Form, detail, came));
        match answer.head.form {
            Form::Json => Ok(Self::One(answer.body)),
            Form::Other => wrong("neither JSON nor an event stream", answer.body),
            Form::Events => {
                let events = sse::events(answer.body);
                let Some((_, before)) = events.split_last() else {
                    return wrong("an event stream without an event", answer.body);
                };
                for event in before {
                    let members = members(event)?;
                    if !members.contains_key("method") || members.contains_key("id") {
                        return wrong("no notification, but before the answer", event);
                    }
                }
                Ok(Self::Stream(events))
            }
        }
    }

    /// The last message.
    pub(crate) fn response(&self) -> &[u8] {
        match self {
            Self::One(message) => message,
            Self::Stream(events) => events.last().map(|event| &**event).unwrap_or_default(),
        }
    }

    /// The messages before it.
    pub(crate) fn notifications(&self) -> &[Cow<'b, [u8]>] {
        match self {
            Self::One(_) => &[],
            Self::Stream(events) => {
                events.split_last().map(|(_, before)| before).unwrap_or_default()
            }
        }
    }
}

/// A JSON-RPC response with a result.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) result: Value,
    /// Where in the message the id is.
    id_at: usize,
    id_len: usize,
}

impl Response {
    /// Reads the response to the request with this id.
    ///
    /// # Errors
    /// No response, another id, an error in place of a result.
    pub(crate) fn read(message: &[u8], id: u64) -> Result<Self, Fault> {
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
        let result =
            serde_json::from_str(result).map_err(|e| Fault::showing(Kind::Message, e, message))?;
        let id_at = came.get().as_ptr().addr() - message.as_ptr().addr();
        Ok(Self { result, id_at, id_len: came.get().len() })
    }
}

/// The members of a message, each as it was sent.
fn members(message: &[u8]) -> Result<BTreeMap<String, &RawValue>, Fault> {
    serde_json::from_slice(message).map_err(|error| {
        Fault::showing(Kind::Message, format!("no JSON object ({error})"), message)
    })
}

#[cfg(test)]
mod tests;
