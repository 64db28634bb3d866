//! Era choice, per message: the claim in the body decides, then the header, never the method alone (LEG-01 to LEG-06).

use codec::document::{Document, Parser};
use codec::message::{self, Message, Notification, Request};
use codec::meta::{Claim, RequestMeta};
use codec::value::Value;

use super::version::Version;
use crate::mcp::era::is_modern;

/// Which rules a message is served by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// Revision 2026-07-28 and its like: an envelope in every request.
    Modern,
    /// Revisions up to 2025-11-25: a handshake, then plain requests.
    Legacy,
}

/// The era of a request; `header` is `MCP-Protocol-Version`.
#[must_use]
pub fn of_request(request: &Request<'_>, header: Option<&[u8]>) -> Era {
    let handshake = request.method == "initialize";
    let legacy = match RequestMeta::from_message(request.meta).claim() {
        // LEG-03, ENV-12: a modern header announces an envelope, which is missing then.
        Claim::Absent => !header.is_some_and(is_modern),
        // LEG-02: a handshake inside an envelope that makes no sense is a handshake.
        Claim::NotString => handshake,
        Claim::Version(version) => handshake && Version::parse(version.as_bytes()).is_some(),
    };
    if legacy { Era::Legacy } else { Era::Modern }
}

/// The era of a notification (LEG-06).
#[must_use]
pub fn of_notification(notification: &Notification<'_>, header: Option<&[u8]>) -> Era {
    match RequestMeta::from_message(notification.meta).claim() {
        Claim::Absent if !header.is_some_and(is_modern) => Era::Legacy,
        _ => Era::Modern,
    }
}

/// The era of a body that is no single request or notification: of an array and a response, which the modern era does
/// not know, only the header tells.
#[must_use]
pub fn of_body(root: Value<'_>, header: Option<&[u8]>) -> Era {
    let foreign = super::message::is_foreign(root);
    if foreign && !header.is_some_and(is_modern) { Era::Legacy } else { Era::Modern }
}

/// Whether the body of a POST belongs to the 2025 era, for hosts that send such traffic to another service (LEG-42).
/// `version` is the value of `MCP-Protocol-Version`. What is no JSON belongs to no era and is not legacy.
#[must_use]
pub fn is_legacy(version: Option<&[u8]>, body: &[u8]) -> bool {
    let mut document = Document::new();
    let (bytes, whole) = (body.to_vec(), 0..body.len());
    if document.parse(&mut Parser::default(), bytes, whole).is_err() {
        return false;
    }
    let era = match message::read(&document) {
        Ok(Message::Request(request)) => of_request(&request, version),
        Ok(Message::Notification(notification)) => of_notification(&notification, version),
        Err(_) => of_body(document.root(), version),
    };
    era == Era::Legacy
}
