//! Rungs 14 and 15: `Mcp-Method` and `Mcp-Name` repeat what the body says, so that a gateway that routes on the
//! headers and a server that reads the body can never disagree.

use codec::error::RpcError;
use codec::header;

use super::head::Field;
use super::ladder::{Case, NotificationCase, Surface};

/// Rung 14 (HDR-10): required, equal byte for byte, never decoded (HDR-17).
pub(super) fn method_header<S: Surface + ?Sized>(case: &mut Case<'_, S>) -> Result<(), RpcError> {
    match case.headers.map(|headers| headers.method()) {
        None => Ok(()),
        Some(None) => Err(RpcError::header_mismatch("Mcp-Method is missing")),
        Some(field) => method_agrees(field, case.request.method),
    }
}

fn method_agrees(header: Option<Field<'_>>, method: &str) -> Result<(), RpcError> {
    let fault = match header {
        None => return Ok(()),
        Some(field) if field.repeated => "Mcp-Method is sent twice",
        Some(field) if field.value == method.as_bytes() => return Ok(()),
        Some(_) => "Mcp-Method differs from the method in the body",
    };
    Err(RpcError::header_mismatch(fault))
}

/// Rung 15 (HDR-11, HDR-13, HDR-14): only for the methods that name something, and only when the body names it
/// with a string; otherwise the params rung answers.
pub(super) fn name_header<S: Surface + ?Sized>(case: &mut Case<'_, S>) -> Result<(), RpcError> {
    let Some(headers) = case.headers else { return Ok(()) };
    let Some(member) = case.method().and_then(|method| method.row().named_by) else {
        return Ok(());
    };
    let named = case.request.params.and_then(|params| params.get(member)?.as_str());
    match (named, headers.name()) {
        (None, _) => Ok(()),
        (Some(_), None) => Err(RpcError::header_mismatch("Mcp-Name is missing")),
        (Some(_), Some(field)) if field.repeated => {
            Err(RpcError::header_mismatch("Mcp-Name is sent twice"))
        }
        (Some(named), Some(field)) => name_agrees(field.value, named, member),
    }
}

/// The name may be Base64 behind a sentinel (PAR-01 to PAR-05).
fn name_agrees(value: &[u8], named: &str, member: &str) -> Result<(), RpcError> {
    match header::decode(value) {
        Ok(decoded) if decoded == named => Ok(()),
        Ok(_) => Err(RpcError::header_mismatch(format!("Mcp-Name differs from params.{member}"))),
        Err(fault) => Err(RpcError::header_mismatch(format!("Mcp-Name: {fault}"))),
    }
}

/// Rung 14 of a notification (HTTP-09).
pub(super) fn notification_method(case: &mut NotificationCase<'_>) -> Result<(), RpcError> {
    method_agrees(case.headers.method(), case.method)
}
