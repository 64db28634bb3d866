//! JSON-RPC errors: the codes of the protocol (ledger section 1b) and the object that carries them.
//! Text of a peer is clipped and its control characters escaped before it is repeated (SEC-13).

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::limits::ECHO_CHARS_MAX;
use crate::message::Malformed;
use crate::meta::{Capability, MetaFault, SUPPORTED, required_json};

/// The error codes a modern server may emit, and no others of their ranges (ledger ERR-01 to
/// ERR-03).
pub mod code {
    /// Not JSON or not UTF-8.
    pub const PARSE_ERROR: i32 = -32700;
    /// JSON, but not one request or notification.
    pub const INVALID_REQUEST: i32 = -32600;
    /// No such method here.
    pub const METHOD_NOT_FOUND: i32 = -32601;
    /// Parameters or envelope missing, ill-typed, or naming something unknown.
    pub const INVALID_PARAMS: i32 = -32602;
    /// The server's own fault.
    pub const INTERNAL_ERROR: i32 = -32603;
    /// A header that is missing, malformed, or disagrees with the body.
    pub const HEADER_MISMATCH: i32 = -32020;
    /// The request did not declare a capability the work needs.
    pub const MISSING_CLIENT_CAPABILITY: i32 = -32021;
    /// The claimed revision is not served.
    pub const UNSUPPORTED_VERSION: i32 = -32022;
}

/// Whether a code belongs to the protocol and so is closed to applications: -32768 to -32000
/// (ledger ERR-04).
pub fn is_reserved(code: i32) -> bool {
    (-32768..=-32000).contains(&code)
}

/// The `error` member of a response.
#[derive(Clone, Debug)]
pub struct RpcError {
    /// What kind of error; see [`code`].
    pub code: i32,
    /// One short sentence.
    pub message: Cow<'static, str>,
    /// Any JSON, or left out.
    pub data: Option<Box<RawValue>>,
}

impl RpcError {
    /// An error without data.
    pub fn new(code: i32, message: impl Into<Cow<'static, str>>) -> RpcError {
        RpcError { code, message: message.into(), data: None }
    }

    /// The same error with `data`. Data that cannot be serialised (a map whose keys are no strings)
    /// is left out.
    #[must_use]
    pub fn with_data<T: Serialize + ?Sized>(mut self, data: &T) -> RpcError {
        self.data = to_raw_value(data).ok();
        self
    }

    /// -32700: not JSON.
    pub fn parse_error(reason: &'static str) -> RpcError {
        RpcError::new(code::PARSE_ERROR, reason)
    }

    /// -32600: JSON, but not one request or notification.
    pub fn invalid_request(reason: &'static str) -> RpcError {
        RpcError::new(code::INVALID_REQUEST, reason)
    }

    /// -32601: no such method here.
    pub fn method_not_found(method: &str) -> RpcError {
        RpcError::new(code::METHOD_NOT_FOUND, format!("Method not found: {}", clip(method)))
    }

    /// -32602: parameters that do not fit.
    pub fn invalid_params(message: impl Into<Cow<'static, str>>) -> RpcError {
        RpcError::new(code::INVALID_PARAMS, message)
    }

    /// -32603, without internals (ledger ERR-10).
    pub fn internal() -> RpcError {
        RpcError::new(code::INTERNAL_ERROR, "Internal error")
    }

    /// -32020: a header that is missing, malformed, or disagrees with the body.
    pub fn header_mismatch(message: impl Into<Cow<'static, str>>) -> RpcError {
        RpcError::new(code::HEADER_MISMATCH, message)
    }

    /// -32021 with the missing capabilities (ledger ERR-05).
    pub fn missing_capability(missing: &[Capability<'_>]) -> RpcError {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Data {
            required_capabilities: serde_json::Value,
        }
        let names: Vec<String> = missing.iter().map(ToString::to_string).collect();
        RpcError::new(
            code::MISSING_CLIENT_CAPABILITY,
            format!(
                "The request does not declare the client capability this needs: {}",
                clip(&names.join(", "))
            ),
        )
        .with_data(&Data { required_capabilities: required_json(missing) })
    }

    /// -32022 with the revisions of [`SUPPORTED`] (ledger ERR-06).
    pub fn unsupported_version(requested: &str) -> RpcError {
        RpcError::unsupported_version_of(requested, SUPPORTED)
    }

    /// -32022 with the revisions an endpoint serves.
    pub fn unsupported_version_of(requested: &str, supported: &[&str]) -> RpcError {
        #[derive(Serialize)]
        struct Data<'a> {
            supported: &'a [&'a str],
            requested: &'a str,
        }
        RpcError::new(code::UNSUPPORTED_VERSION, "Unsupported protocol version")
            .with_data(&Data { supported, requested })
    }

    /// -32602 with the URI that names no resource here.
    pub fn resource_not_found(uri: &str) -> RpcError {
        #[derive(Serialize)]
        struct Data<'a> {
            uri: &'a str,
        }
        RpcError::new(code::INVALID_PARAMS, format!("Resource not found: {}", clip(uri)))
            .with_data(&Data { uri })
    }

    /// -32603: nothing is wrong with the request, and it was not begun.
    pub fn busy() -> RpcError {
        RpcError::new(code::INTERNAL_ERROR, "The server is busy: try again")
    }

    /// -32602: no such tool.
    pub fn unknown_tool(name: &str) -> RpcError {
        RpcError::new(code::INVALID_PARAMS, format!("Unknown tool: {}", clip(name)))
    }

    /// -32602: no such prompt.
    pub fn unknown_prompt(name: &str) -> RpcError {
        RpcError::new(code::INVALID_PARAMS, format!("Unknown prompt: {}", clip(name)))
    }

    /// -32602: no such task.
    pub fn unknown_task(task_id: &str) -> RpcError {
        RpcError::new(code::INVALID_PARAMS, format!("Unknown task: {}", clip(task_id)))
    }
}

impl From<crate::document::JsonError> for RpcError {
    fn from(error: crate::document::JsonError) -> Self {
        RpcError::new(error.code(), error.text())
    }
}

impl From<Malformed<'_>> for RpcError {
    fn from(malformed: Malformed<'_>) -> Self {
        RpcError::invalid_request(malformed.reason)
    }
}

impl From<MetaFault> for RpcError {
    fn from(fault: MetaFault) -> Self {
        RpcError::invalid_params(fault.to_string())
    }
}

impl std::fmt::Display for RpcError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for RpcError {}

/// A peer's text, fit to be shown: at most [`ECHO_CHARS_MAX`] characters, control characters
/// escaped.
pub fn clip(text: &str) -> Clipped<'_> {
    Clipped(text)
}

/// See [`clip`].
#[derive(Clone, Copy, Debug)]
pub struct Clipped<'a>(&'a str);

impl std::fmt::Display for Clipped<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        use std::fmt::Write;
        let shown = clip_chars(self.0);
        for character in shown.chars() {
            if character.is_control() {
                write!(f, "{}", character.escape_default())?;
            } else {
                f.write_char(character)?;
            }
        }
        if shown.len() < self.0.len() { f.write_str("...") } else { Ok(()) }
    }
}

/// The first [`ECHO_CHARS_MAX`] characters.
fn clip_chars(text: &str) -> &str {
    match text.char_indices().nth(ECHO_CHARS_MAX) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}
