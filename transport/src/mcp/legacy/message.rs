//! What a client of the 2025 era may send beside requests and notifications: responses to requests of the server, and,
//! up to 2025-03-26, several messages in an array (LEG-14, LEG-22).

use codec::document::Document;
use codec::error::RpcError;
use codec::id::Id;
use codec::message::{self, Malformed, Message, Notification, Request};
use codec::meta::{Claim, RequestMeta};
use codec::value::Value;

/// One message of a client.
#[derive(Clone, Copy, Debug)]
pub enum Incoming<'a> {
    /// Wants an answer.
    Request(Request<'a>),
    /// Is never answered.
    Notification(Notification<'a>),
    /// Answers a request that the server sent.
    Response(Response<'a>),
}

/// The answer to a request of the server.
#[derive(Clone, Copy, Debug)]
pub struct Response<'a> {
    /// The id of the server's request; `None` where it is no legal id.
    pub id: Option<Id<'a>>,
    /// The result, or the error object.
    pub outcome: Result<Value<'a>, Value<'a>>,
}

/// Reads one message: the document's root, or an element of a batch.
///
/// # Errors
/// It is none.
pub fn read<'a>(document: &'a Document, value: Value<'a>) -> Result<Incoming<'a>, Malformed<'a>> {
    if let Some(response) = response(value) {
        return Ok(Incoming::Response(response));
    }
    Ok(match message::read_value(document, value)? {
        Message::Request(request) => Incoming::Request(request),
        Message::Notification(notification) => Incoming::Notification(notification),
    })
}

/// Reads the messages of an array of at most `most`, each in its place; malformed ones are answered one by one.
///
/// # Errors
/// `-32600`: the array is empty or too long, or holds what may not be in one, a handshake or a modern message.
pub fn read_batch<'a>(
    document: &'a Document,
    elements: codec::value::Array<'a>,
    most: usize,
) -> Result<Vec<Result<Incoming<'a>, Malformed<'a>>>, RpcError> {
    if elements.is_empty() {
        return Err(RpcError::invalid_request("the batch is empty"));
    }
    if elements.len() > most {
        return Err(RpcError::invalid_request("the batch has too many messages"));
    }
    let messages: Vec<_> = elements.iter().map(|value| read(document, value)).collect();
    for incoming in messages.iter().flatten() {
        let (method, meta) = match incoming {
            Incoming::Request(request) => (request.method, request.meta),
            Incoming::Notification(notification) => (notification.method, notification.meta),
            Incoming::Response(_) => continue,
        };
        if method == "initialize" {
            return Err(RpcError::invalid_request("initialize must not be part of a batch"));
        }
        if RequestMeta::from_message(meta).claim() != Claim::Absent {
            let text = "a message of a batch claims a version that has no batches";
            return Err(RpcError::invalid_request(text));
        }
    }
    Ok(messages)
}

/// Whether the root is something that only this era knows.
pub(super) fn is_foreign(root: Value<'_>) -> bool {
    root.as_array().is_some() || response(root).is_some()
}

fn response(value: Value<'_>) -> Option<Response<'_>> {
    let object = value.as_object()?;
    if object.get("method").is_some() || object.get("jsonrpc")?.as_str() != Some("2.0") {
        return None;
    }
    let outcome = match (object.get("result"), object.get("error")) {
        (Some(result), None) => Ok(result),
        (None, Some(error)) => Err(error),
        _ => return None,
    };
    Some(Response { id: object.get("id").and_then(Id::from_value), outcome })
}
