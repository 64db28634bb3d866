//! Rungs 8 to 12: which era a message belongs to, and whether header and body agree on its version.
//!
//! The body is authoritative (HDR-05): a claim in `params._meta` makes a request modern, however the header reads.

use codec::error::RpcError;
use codec::meta::{self, Claim, RequestMeta};

use super::head::Field;
use super::ladder::{Case, NotificationCase, Surface};

/// The first revision with the per-request envelope. Dates compare as text.
pub const FIRST_MODERN: &str = "2026-07-28";

/// Whether a version string names a revision with the per-request envelope (LEG-04).
#[must_use]
pub fn is_modern(version: &[u8]) -> bool {
    is_date(version) && version >= FIRST_MODERN.as_bytes()
}

fn is_date(version: &[u8]) -> bool {
    version.len() == 10
        && version.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// Rung 8 on a server without the 2025 era: a request without a claim is refused with what would help its sender
/// (ENV-12, LEG-03, LEG-40).
pub(super) fn claim_present<S: Surface + ?Sized>(case: &mut Case<'_, S>) -> Result<(), RpcError> {
    if !matches!(case.meta.claim(), Claim::Absent) {
        return Ok(());
    }
    let header = case.headers.and_then(|headers| headers.version()).map(|field| field.value);
    match header {
        Some(version) if is_modern(version) => {
            if case.request.method == "initialize" {
                return Err(RpcError::header_mismatch(format!(
                    "MCP-Protocol-Version names a revision that has no initialize{}",
                    speaks(case.surface)
                )));
            }
            Err(missing_keys(case, ""))
        }
        Some(version) => {
            Err(unsupported(&String::from_utf8_lossy(version), case.surface.versions()))
        }
        None => match asked_for(case) {
            Some(version) => Err(unsupported(version, case.surface.versions())),
            None => Err(missing_keys(case, &speaks(case.surface))),
        },
    }
}

/// What every refused `initialize` tells its sender (LEG-40).
pub(super) fn speaks<S: Surface + ?Sized>(surface: &S) -> String {
    format!("; this server speaks {}", surface.versions().join(", "))
}

/// The version that a handshake of the 2025 era asks for.
fn asked_for<'a, S: Surface + ?Sized>(case: &Case<'a, S>) -> Option<&'a str> {
    if case.request.method != "initialize" {
        return None;
    }
    case.request.params?.get("protocolVersion")?.as_str()
}

fn missing_keys<S: Surface + ?Sized>(case: &Case<'_, S>, more: &str) -> RpcError {
    let keys = if case.meta.capabilities().is_ok() {
        meta::PROTOCOL_VERSION_KEY.to_owned()
    } else {
        format!("{} and {}", meta::PROTOCOL_VERSION_KEY, meta::CLIENT_CAPABILITIES_KEY)
    };
    RpcError::invalid_params(format!("params._meta lacks {keys}{more}"))
}

fn unsupported(requested: &str, served: &[&str]) -> RpcError {
    RpcError::unsupported_version_of(requested, served)
}

/// Rung 9 (ENV-04).
pub(super) fn claim_is_string<S: Surface + ?Sized>(case: &mut Case<'_, S>) -> Result<(), RpcError> {
    claim_string(&case.meta).map_err(|mut error| {
        if case.request.method == "initialize" {
            error.message.to_mut().push_str(&speaks(case.surface));
        }
        error
    })
}

fn claim_string(meta: &RequestMeta<'_>) -> Result<(), RpcError> {
    match meta.claim() {
        Claim::NotString => Err(RpcError::invalid_params(format!(
            "params._meta[\"{}\"] must be a string",
            meta::PROTOCOL_VERSION_KEY
        ))),
        Claim::Absent | Claim::Version(_) => Ok(()),
    }
}

/// Rung 10 (HDR-02, HDR-19): a header that is there says what the body says.
pub(super) fn header_matches_claim<S: Surface + ?Sized>(
    case: &mut Case<'_, S>,
) -> Result<(), RpcError> {
    let (Some(headers), Claim::Version(claim)) = (case.headers, case.meta.claim()) else {
        return Ok(());
    };
    header_agrees(headers.version(), claim)
}

fn header_agrees(header: Option<Field<'_>>, claim: &str) -> Result<(), RpcError> {
    let fault = match header {
        None => return Ok(()),
        Some(field) if field.repeated => "MCP-Protocol-Version is sent twice",
        Some(field) if field.value == claim.as_bytes() => return Ok(()),
        Some(_) => "MCP-Protocol-Version differs from the version in params._meta",
    };
    Err(RpcError::header_mismatch(fault))
}

/// Rung 11 (HDR-03).
pub(super) fn claim_is_supported<S: Surface + ?Sized>(
    case: &mut Case<'_, S>,
) -> Result<(), RpcError> {
    claim_served(&case.meta, case.surface.versions())
}

fn claim_served(meta: &RequestMeta<'_>, served: &[&str]) -> Result<(), RpcError> {
    match meta.claim() {
        Claim::Version(claim) if !served.contains(&claim) => Err(unsupported(claim, served)),
        _ => Ok(()),
    }
}

/// Rung 12 (HDR-01).
pub(super) fn header_present<S: Surface + ?Sized>(case: &mut Case<'_, S>) -> Result<(), RpcError> {
    match case.headers {
        Some(headers) if headers.version().is_none() => {
            Err(RpcError::header_mismatch("MCP-Protocol-Version is missing"))
        }
        _ => Ok(()),
    }
}

/// Rung 9 of a notification.
pub(super) fn notification_claim(case: &mut NotificationCase<'_>) -> Result<(), RpcError> {
    claim_string(&case.meta)
}

/// Rung 10 of a notification.
pub(super) fn notification_header(case: &mut NotificationCase<'_>) -> Result<(), RpcError> {
    match case.meta.claim() {
        Claim::Version(claim) => header_agrees(case.headers.version(), claim),
        _ => Ok(()),
    }
}

/// Rung 11 of a notification.
pub(super) fn notification_supported(case: &mut NotificationCase<'_>) -> Result<(), RpcError> {
    claim_served(&case.meta, case.versions)
}
