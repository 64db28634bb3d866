//! From a document to one JSON-RPC request or notification: rung 7 of the ladder (ledger section
//! 1a, RPC-01 to RPC-14 and RPC-19). What is inside `_meta` is `meta`; whether the method exists is
//! none of this room's business.

#[cfg(test)]
mod tests;

use crate::document::Document;
use crate::id::Id;
use crate::value::{Object, Value, parse_empty_object};

/// A message a client may send.
#[derive(Clone, Copy, Debug)]
pub enum Message<'a> {
    /// Wants an answer.
    Request(Request<'a>),
    /// Is never answered (ledger RPC-06).
    Notification(Notification<'a>),
}

impl<'a> Message<'a> {
    /// The method.
    pub fn method(&self) -> &'a str {
        match self {
            Message::Request(request) => request.method,
            Message::Notification(notification) => notification.method,
        }
    }

    /// `params._meta` as it was sent, of whatever type.
    pub fn meta(&self) -> Option<Value<'a>> {
        match self {
            Message::Request(request) => request.meta,
            Message::Notification(notification) => notification.meta,
        }
    }

    /// The parameters.
    pub fn params(&self) -> Option<Object<'a>> {
        match self {
            Message::Request(request) => request.params,
            Message::Notification(notification) => notification.params,
        }
    }

    /// The id of a request.
    pub fn id(&self) -> Option<Id<'a>> {
        match self {
            Message::Request(request) => Some(request.id),
            Message::Notification(_) => None,
        }
    }
}

/// A request.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Repeated in the answer, byte for byte.
    pub id: Id<'a>,
    /// Any string; unknown methods are the dispatcher's to refuse.
    pub method: &'a str,
    /// The parameters, if there are any.
    pub params: Option<Object<'a>>,
    /// `params._meta` as it was sent, of whatever type.
    pub meta: Option<Value<'a>>,
}

impl<'a> Request<'a> {
    /// The parameters as a value to deserialise; `{}` where there are none.
    pub fn params_value(&self) -> Value<'a> {
        self.params.map_or(parse_empty_object(), Object::as_value)
    }
}

/// A notification.
#[derive(Clone, Copy, Debug)]
pub struct Notification<'a> {
    /// Any string.
    pub method: &'a str,
    /// The parameters, if there are any.
    pub params: Option<Object<'a>>,
    /// `params._meta` as it was sent, of whatever type.
    pub meta: Option<Value<'a>>,
}

/// JSON, but not a request or notification: -32600.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed<'a> {
    /// The id to repeat, where the message has exactly one and it is legal (ledger RPC-11).
    pub id: Option<Id<'a>>,
    /// What is wrong and where, as one short sentence.
    pub reason: &'static str,
}

/// Reads the one message of a parsed document.
pub fn read(doc: &Document) -> Result<Message<'_>, Malformed<'_>> {
    read_value(doc, doc.root())
}

/// Reads a message that stands at `root` in the document: where several of them came in one.
pub fn read_value<'a>(doc: &'a Document, root: Value<'a>) -> Result<Message<'a>, Malformed<'a>> {
    let Some(object) = root.as_object() else {
        let reason = match root.as_array() {
            Some(_) => "the message is an array: batches ended with revision 2025-03-26",
            None => "the message is not an object",
        };
        return Err(Malformed { id: None, reason });
    };
    let members = Top::collect(object);
    let refuse = |id, reason| Err(Malformed { id, reason });
    if members.answers && members.method.is_none() {
        return refuse(None, "the message is a response: a server takes no responses");
    }
    let id = match members.id {
        None => None,
        Some(_) if members.id_repeated => return refuse(None, "the message has more than one id"),
        Some(value) => match Id::from_value(value) {
            Some(id) => Some(id.with_source(id.as_str().and_then(|text| doc.source_of(text)))),
            None => return refuse(None, "id is not a string or an integer"),
        },
    };
    if members.repeats || (members.has_others && object.has_duplicate_keys()) {
        return refuse(id, "the message repeats a member name");
    }
    if members.jsonrpc.and_then(Value::as_str) != Some("2.0") {
        return refuse(id, "jsonrpc is not \"2.0\"");
    }
    let Some(method) = members.method else { return refuse(id, "method is missing") };
    let Some(method) = method.as_str() else { return refuse(id, "method is not a string") };
    let params = match members.params.map(Value::as_object) {
        None => None,
        Some(Some(params)) => Some(params),
        Some(None) => return refuse(id, "params is not an object"),
    };
    let meta = match params {
        None => None,
        Some(params) if params.has_duplicate_keys() => {
            return refuse(id, "params repeats a member name");
        }
        Some(params) => params.get("_meta"),
    };
    if meta.and_then(Value::as_object).is_some_and(Object::has_duplicate_keys) {
        return refuse(id, "params._meta repeats a member name");
    }
    Ok(match id {
        Some(id) => Message::Request(Request { id, method, params, meta }),
        None => Message::Notification(Notification { method, params, meta }),
    })
}

/// The top-level members that mean something, collected in one pass.
#[derive(Default)]
struct Top<'a> {
    jsonrpc: Option<Value<'a>>,
    id: Option<Value<'a>>,
    id_repeated: bool,
    method: Option<Value<'a>>,
    params: Option<Value<'a>>,
    /// Has `result` or `error`.
    answers: bool,
    /// One of the members above is there twice.
    repeats: bool,
    /// Has other members.
    has_others: bool,
}

impl<'a> Top<'a> {
    fn collect(object: Object<'a>) -> Top<'a> {
        let mut top = Top::default();
        for (name, value) in object.iter() {
            let place = match name {
                "jsonrpc" => &mut top.jsonrpc,
                "id" => &mut top.id,
                "method" => &mut top.method,
                "params" => &mut top.params,
                _ => {
                    top.has_others = true;
                    top.answers |= matches!(name, "result" | "error");
                    continue;
                }
            };
            match place {
                Some(_) => {
                    top.repeats = true;
                    top.id_repeated |= name == "id";
                }
                None => *place = Some(value),
            }
        }
        top
    }
}
