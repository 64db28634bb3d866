//! Every message of the suite is held against the published schema of its revision.

use std::sync::LazyLock;

use serde_json::Value;

use super::{Published, VERSION};

static SCHEMA: LazyLock<Published> = LazyLock::new(|| Published::load(VERSION));

/// Panics unless the message is what the schema says: a notification, an error, or a result of `method`.
pub fn validate(message: &Value, method: Option<&str>) {
    SCHEMA.check(definition(message, method), message);
    if let (Some(method), Some(result)) = (method, message.get("result")) {
        if result["resultType"] == "input_required" {
            SCHEMA.check("InputRequiredResult", result);
        } else if let Some(name) = result_of(method) {
            SCHEMA.check(name, result);
        }
    }
}

fn definition(message: &Value, method: Option<&str>) -> &'static str {
    match message["method"].as_str() {
        Some("notifications/progress") => "ProgressNotification",
        Some("notifications/message") => "LoggingMessageNotification",
        Some("notifications/subscriptions/acknowledged") => "SubscriptionsAcknowledgedNotification",
        Some("notifications/tools/list_changed") => "ToolListChangedNotification",
        Some("notifications/prompts/list_changed") => "PromptListChangedNotification",
        Some("notifications/resources/list_changed") => "ResourceListChangedNotification",
        Some("notifications/resources/updated") => "ResourceUpdatedNotification",
        Some(other) if other.starts_with("notifications/") => "JSONRPCNotification",
        Some(other) => panic!("a server sends no requests: {other} ({method:?})"),
        None => match message["error"]["code"].as_i64() {
            None => "JSONRPCResultResponse",
            Some(-32021) => "MissingRequiredClientCapabilityError",
            Some(-32022) => "UnsupportedProtocolVersionError",
            Some(-32020) => "HeaderMismatchError",
            Some(_) => "JSONRPCErrorResponse",
        },
    }
}

fn result_of(method: &str) -> Option<&'static str> {
    Some(match method {
        "server/discover" => "DiscoverResult",
        "tools/list" => "ListToolsResult",
        "tools/call" => "CallToolResult",
        "prompts/list" => "ListPromptsResult",
        "prompts/get" => "GetPromptResult",
        "resources/list" => "ListResourcesResult",
        "resources/templates/list" => "ListResourceTemplatesResult",
        "resources/read" => "ReadResourceResult",
        "completion/complete" => "CompleteResult",
        "subscriptions/listen" => "SubscriptionsListenResult",
        _ => return None,
    })
}
