//! The parameters of `notifications/message` (deprecated by the protocol, still live).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Meta;
pub use crate::meta::LoggingLevel;

/// Parameters of `notifications/message` (LOG-05).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoggingMessageParams {
    /// Free metadata.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Severity.
    pub level: LoggingLevel,
    /// Name of the part of the server that speaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logger: Option<String>,
    /// What happened: any JSON. Never secrets, personal data or internals (LOG-07).
    pub data: Value,
}

impl LoggingMessageParams {
    /// A message without a logger name.
    pub fn new(level: LoggingLevel, data: impl Into<Value>) -> Self {
        LoggingMessageParams { meta: None, level, logger: None, data: data.into() }
    }

    /// Names the speaking part of the server.
    pub fn logger(mut self, name: impl Into<String>) -> Self {
        self.logger = Some(name.into());
        self
    }
}
