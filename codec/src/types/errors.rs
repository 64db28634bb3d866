//! Error frames and the typed `data` of the errors that have one.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ClientCapabilities;
use super::envelope::{JsonRpc, RequestId, present};

/// An error frame; the id is left out when it could not be read (RPC-10).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorResponse {
    /// Always `"2.0"`.
    pub jsonrpc: JsonRpc,
    /// The id of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<RequestId>,
    /// What went wrong.
    pub error: ErrorObject,
}

/// The `error` member (RPC-09).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorObject {
    /// Kind of failure.
    pub code: i64,
    /// One short sentence.
    pub message: String,
    /// Details, any JSON.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// `data` of -32021: what the client would have had to declare (ERR-05).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MissingCapabilityData {
    /// Nested down to the missing leaf.
    pub required_capabilities: ClientCapabilities,
}

/// `data` of -32022 (ERR-06).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnsupportedVersionData {
    /// Revisions served.
    pub supported: Vec<String>,
    /// The revision that was claimed.
    pub requested: String,
}

/// `data` of the -32602 that answers an unknown resource (RES-05).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceNotFoundData {
    /// The URI asked for.
    pub uri: String,
}

impl ErrorObject {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        ErrorObject { code, message: message.into(), data: None }
    }

    /// Adds details.
    pub fn data(mut self, data: impl Into<Value>) -> Self {
        self.data = Some(data.into());
        self
    }
}

impl ErrorResponse {
    /// An error frame.
    pub fn new(id: Option<RequestId>, error: ErrorObject) -> Self {
        ErrorResponse { jsonrpc: JsonRpc, id, error }
    }
}
