//! What only the revisions up to 2025-11-25 have: the handshake and a few parameters (LEDGER 20).

use serde::{Deserialize, Serialize};

use super::{ClientCapabilities, Implementation, LoggingLevel, Meta, ServerCapabilities};

/// Parameters of `initialize`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InitializeParams {
    /// Revision the client would like.
    pub protocol_version: String,
    /// What it can do; `tasks` and other members of that era are in `extra`.
    pub capabilities: ClientCapabilities,
    /// Its self-description.
    pub client_info: Implementation,
    /// Free metadata.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// Result of `initialize`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InitializeResult {
    /// Revision the server chose.
    pub protocol_version: String,
    /// What is offered.
    pub capabilities: ServerCapabilities,
    /// The server's self-description.
    pub server_info: Implementation,
    /// How to use the server, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Free metadata.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// Parameters of `logging/setLevel`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SetLevelParams {
    /// Lowest level wanted from now on.
    pub level: LoggingLevel,
}

/// Parameters of `resources/subscribe` and `resources/unsubscribe`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubscribeParams {
    /// Which resource.
    pub uri: String,
}
