//! `subscriptions/listen`: the filter, its acknowledgement and the closing result (LEDGER 5).

use serde::{Deserialize, Serialize};

use super::{JsonObject, Meta, RequestId, RequestMeta, ResultType};

/// Kinds of change a client wants to hear of (SUB-01). False is never sent, it is left out (SUB-05).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SubscriptionFilter {
    /// Changes of the tool list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools_list_changed: Option<bool>,
    /// Changes of the prompt list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompts_list_changed: Option<bool>,
    /// Changes of the resource list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources_list_changed: Option<bool>,
    /// Updates of these resources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_subscriptions: Option<Vec<String>>,
    /// Changes of these tasks (tasks extension).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_ids: Option<Vec<String>>,
    /// Fields of other extensions (SUB-23); not part of an acknowledgement unless one honours them.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// Parameters of `subscriptions/listen`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ListenParams {
    /// The envelope (ENV-01).
    #[serde(rename = "_meta")]
    pub meta: RequestMeta,
    /// What is wanted.
    pub notifications: SubscriptionFilter,
}

/// Parameters of `notifications/subscriptions/acknowledged` (SUB-02).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AcknowledgedParams {
    /// Carries the subscription id.
    #[serde(rename = "_meta")]
    pub meta: Meta,
    /// What will be delivered.
    pub notifications: SubscriptionFilter,
}

/// Result that ends a subscription in order (SUB-14).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListenResult {
    /// Kind of result.
    #[serde(default = "ResultType::absent", skip_serializing_if = "ResultType::is_absent")]
    pub result_type: ResultType,
    /// Carries the subscription id.
    #[serde(rename = "_meta")]
    pub meta: Meta,
}

impl AcknowledgedParams {
    /// Acknowledges the listen request `id` with what will be delivered.
    pub fn new(id: &RequestId, honoured: SubscriptionFilter) -> Self {
        AcknowledgedParams { meta: tagged(id), notifications: honoured }
    }
}

impl ListenResult {
    /// Ends the listen request `id`.
    pub fn new(id: &RequestId) -> Self {
        ListenResult { result_type: ResultType::Complete, meta: tagged(id) }
    }
}

fn tagged(id: &RequestId) -> Meta {
    let mut meta = Meta::new();
    meta.stamp_subscription_id(id);
    meta
}
