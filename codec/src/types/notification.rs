//! Parameters of the small notifications: progress, cancellation, and the changes of a listen stream.

use serde::{Deserialize, Serialize};

use super::{Meta, Num, ProgressToken, RequestId};

/// Parameters of `notifications/progress` (PRG-02).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProgressParams {
    /// Free metadata.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// The token of the request, unchanged.
    pub progress_token: ProgressToken,
    /// How far; grows with every notification.
    pub progress: Num,
    /// Where it ends, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<Num>,
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Parameters of `notifications/cancelled`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CancelledParams {
    /// Free metadata.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// The request to end.
    pub request_id: RequestId,
    /// Why, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Parameters of the three `list_changed` notifications: only the tag of the subscription (SUB-04).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ListChangedParams {
    /// Carries the subscription id.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// Parameters of `notifications/resources/updated` (SUB-08).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResourceUpdatedParams {
    /// Carries the subscription id.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// What changed.
    pub uri: String,
}

impl ProgressParams {
    /// Progress without total and message.
    pub fn new(token: impl Into<ProgressToken>, progress: impl Into<Num>) -> Self {
        ProgressParams {
            meta: None,
            progress_token: token.into(),
            progress: progress.into(),
            total: None,
            message: None,
        }
    }

    /// Sets where it ends.
    pub fn total(mut self, total: impl Into<Num>) -> Self {
        self.total = Some(total.into());
        self
    }

    /// Sets a message for people.
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }
}
