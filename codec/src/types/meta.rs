//! `_meta` objects: the open map of results, notifications and definitions, and the typed one of
//! requests.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    ClientCapabilities, Implementation, JsonObject, LoggingLevel, ProgressToken, RequestId,
};
use crate::meta::{SERVER_INFO_KEY, SUBSCRIPTION_ID_KEY};
use crate::meta_key::{self, MetaKeyError};

/// An open `_meta` object. [`Meta::set`] checks keys; the public map does not, so that foreign
/// metadata can be relayed as it came.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Meta(pub JsonObject);

impl Meta {
    /// An empty object.
    pub fn new() -> Self {
        Meta::default()
    }

    /// Sets a key of the server's own, refusing malformed and reserved ones (ENV-11).
    pub fn set(&mut self, key: &str, value: impl Into<Value>) -> Result<(), MetaKeyError> {
        meta_key::check_settable(key)?;
        self.0.insert(key.to_owned(), value.into());
        Ok(())
    }

    /// As [`Meta::set`], for chaining.
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Result<Self, MetaKeyError> {
        self.set(key, value)?;
        Ok(self)
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Stamps the server's self-description on a result (ENV-09); a value already there stays.
    pub fn stamp_server_info(&mut self, info: &Implementation) {
        if !self.0.contains_key(SERVER_INFO_KEY) {
            self.0.insert(SERVER_INFO_KEY.to_owned(), json_of(info));
        }
    }

    /// The server's self-description on a result, if it is one.
    pub fn server_info(&self) -> Option<Implementation> {
        Implementation::deserialize(self.0.get(SERVER_INFO_KEY)?).ok()
    }

    /// Tags a message of a subscription with the id of its listen request (SUB-03, SUB-04).
    pub fn stamp_subscription_id(&mut self, id: &RequestId) {
        self.0.insert(SUBSCRIPTION_ID_KEY.to_owned(), json_of(id));
    }

    /// The listen request this message belongs to.
    pub fn subscription_id(&self) -> Option<RequestId> {
        RequestId::deserialize(self.0.get(SUBSCRIPTION_ID_KEY)?).ok()
    }
}

impl From<JsonObject> for Meta {
    fn from(map: JsonObject) -> Meta {
        Meta(map)
    }
}

/// The `_meta` of a request: what the client declares with every call (ENV-01). Unknown keys are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequestMeta {
    /// Protocol revision the request speaks.
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    pub protocol_version: String,
    /// What the client can do for this request.
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    pub client_capabilities: ClientCapabilities,
    /// The client's unverified self-description (ENV-08).
    #[serde(
        rename = "io.modelcontextprotocol/clientInfo",
        skip_serializing_if = "Option::is_none"
    )]
    pub client_info: Option<Implementation>,
    /// Lowest level of log messages wanted; absent means none (LOG-01).
    #[serde(rename = "io.modelcontextprotocol/logLevel", skip_serializing_if = "Option::is_none")]
    pub log_level: Option<LoggingLevel>,
    /// Token under which progress is wanted (PRG-01).
    #[serde(rename = "progressToken", skip_serializing_if = "Option::is_none")]
    pub progress_token: Option<ProgressToken>,
    /// W3C trace parent (TRC-01).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
    /// W3C trace state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tracestate: Option<String>,
    /// W3C baggage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baggage: Option<String>,
    /// Every other key.
    #[serde(flatten)]
    pub extra: JsonObject,
}

impl RequestMeta {
    /// The two required keys.
    pub fn new(protocol_version: impl Into<String>, capabilities: ClientCapabilities) -> Self {
        RequestMeta {
            protocol_version: protocol_version.into(),
            client_capabilities: capabilities,
            client_info: None,
            log_level: None,
            progress_token: None,
            traceparent: None,
            tracestate: None,
            baggage: None,
            extra: JsonObject::new(),
        }
    }
}

fn json_of<T: Serialize>(value: &T) -> Value {
    serde_json::to_value(value).expect("wire structs have string keys and no failing fields")
}
