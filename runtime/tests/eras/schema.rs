//! Messages against the published schema of the latest revision of this era.

use std::sync::LazyLock;

use serde_json::Value;

use crate::client::LATEST;
use crate::support::Published;

static SCHEMA: LazyLock<Published> = LazyLock::new(|| Published::load(LATEST));

/// Panics unless `message` is one that a server of this era sends.
pub(crate) fn validate(message: &Value) {
    let definition = match message["method"].as_str() {
        Some("elicitation/create") => "ElicitRequest",
        Some("sampling/createMessage") => "CreateMessageRequest",
        Some("roots/list") => "ListRootsRequest",
        Some("notifications/progress") => "ProgressNotification",
        Some("notifications/message") => "LoggingMessageNotification",
        Some("notifications/tools/list_changed") => "ToolListChangedNotification",
        Some("notifications/prompts/list_changed") => "PromptListChangedNotification",
        Some("notifications/resources/list_changed") => "ResourceListChangedNotification",
        Some("notifications/resources/updated") => "ResourceUpdatedNotification",
        Some(other) => panic!("a server does not send {other}: {message}"),
        None if message.get("error").is_some() => "JSONRPCErrorResponse",
        None => "JSONRPCResultResponse",
    };
    SCHEMA.check(definition, message);
    // [LEG-19] what only later revisions have
    for member in ["resultType", "ttlMs", "cacheScope"] {
        assert_eq!(message["result"].get(member), None, "{message}");
    }
    let text = message.to_string();
    assert!(!text.contains("io.modelcontextprotocol/"), "{text}");
}

/// Panics unless `result` is one of `method`.
pub(crate) fn validate_result(method: &str, result: &Value) {
    SCHEMA.check(
        match method {
            "initialize" => "InitializeResult",
            "tools/list" => "ListToolsResult",
            "tools/call" => "CallToolResult",
            "prompts/list" => "ListPromptsResult",
            "prompts/get" => "GetPromptResult",
            "resources/list" => "ListResourcesResult",
            "resources/templates/list" => "ListResourceTemplatesResult",
            "resources/read" => "ReadResourceResult",
            "completion/complete" => "CompleteResult",
            _ => "EmptyResult",
        },
        result,
    );
}
