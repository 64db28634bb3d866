//! Rungs 14 and 15: `Mcp-Method` and `Mcp-Name` repeat what the body says, so that a gateway that routes on the
//! headers and a server that reads the body can never disagree.

use codec::error::RpcError;
use codec::header;

use super::head::Field;
use super::ladder::{Case, NotificationCase, Surface};
use super::method::Method;

const METHOD_HEADER: &str = "Mcp-Method";
const NAME_HEADER: &str = "Mcp-Name";

/// Rung 14 (HDR-10): required, equal byte for byte, never decoded (HDR-17).
pub(super) fn method_header<S: Surface + ?Sized>(case: &mut Case<'_, S>) -> Result<(), RpcError> {
    let Some(headers) = case.headers else { return Ok(()) };
    match headers.method {
        Field::Absent => Err(RpcError::header_mismatch(METHOD_HEADER, "is missing")),
        ref field => method_agrees(field, case.request.method),
    }
}

fn method_agrees(header: &Field<'_>, method: &str) -> Result<(), RpcError> {
    match header {
        Field::Absent => Ok(()),
        Field::One(value) if *value == method.as_bytes() => Ok(()),
        Field::One(_) => {
            Err(RpcError::header_mismatch(METHOD_HEADER, "differs from the method in the body"))
        }
        Field::Repeated(_) => Err(RpcError::header_mismatch(METHOD_HEADER, "is sent twice")),
    }
}

/// Rung 15 (HDR-11, HDR-13, HDR-14): only for the methods that name something, and only when the body names it
/// with a string; otherwise the params rung answers.
pub(super) fn name_header<S: Surface + ?Sized>(case: &mut Case<'_, S>) -> Result<(), RpcError> {
    let Some(headers) = case.headers else { return Ok(()) };
    let Some(member) = Method::from_name(case.request.method).and_then(|m| m.row().named_by) else {
        return Ok(());
    };
    let named = case.request.params.and_then(|params| params.get(member)?.as_str());
    let Some(named) = named else { return Ok(()) };
    match headers.name {
        Field::Absent => Err(RpcError::header_mismatch(NAME_HEADER, "is missing")),
        Field::Repeated(_) => Err(RpcError::header_mismatch(NAME_HEADER, "is sent twice")),
        // The common case is a plain ASCII name: equal bytes need no decoding, unless they look encoded.
        Field::One(value) if value == named.as_bytes() && header::is_plain(value) => Ok(()),
        Field::One(value) => match header::decode(value) {
            Err(fault) => Err(RpcError::header_mismatch(NAME_HEADER, fault.text())),
            Ok(decoded) if decoded == named => Ok(()),
            Ok(_) if member == "uri" => {
                Err(RpcError::header_mismatch(NAME_HEADER, "differs from params.uri"))
            }
            Ok(_) => Err(RpcError::header_mismatch(NAME_HEADER, "differs from params.name")),
        },
    }
}

/// Rung 14 of a notification (HTTP-09).
pub(super) fn notification_method(case: &mut NotificationCase<'_>) -> Result<(), RpcError> {
    method_agrees(&case.headers.method, case.method)
}
