//! Messages against the published schema of revision 2025-11-25, where it lies beside the checkout.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use jsonschema::Validator;
use serde_json::{Value, json};

const SCHEMA: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/spec/schema/2025-11-25.json");

static PUBLISHED: LazyLock<Option<Value>> = LazyLock::new(|| match std::fs::read(SCHEMA) {
    Ok(bytes) => Some(serde_json::from_slice(&bytes).expect("the schema is JSON")),
    Err(_) => {
        eprintln!("SKIPPED: no published schema beside the checkout: answers are not validated");
        None
    }
});

static COMPILED: LazyLock<Mutex<HashMap<&'static str, &'static Validator>>> =
    LazyLock::new(Mutex::default);

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
    check(definition, message);
    // [LEG-19] what only later revisions have
    for member in ["resultType", "ttlMs", "cacheScope"] {
        assert_eq!(message["result"].get(member), None, "{message}");
    }
    let text = message.to_string();
    assert!(!text.contains("io.modelcontextprotocol/"), "{text}");
}

/// Panics unless `result` is one of `method`.
pub(crate) fn validate_result(method: &str, result: &Value) {
    check(
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

fn check(name: &'static str, value: &Value) {
    let Some(schema) = &*PUBLISHED else { return };
    let validator = *COMPILED.lock().expect("no panic inside").entry(name).or_insert_with(|| {
        let mut whole = json!({ "$ref": format!("#/$defs/{name}") });
        whole["$defs"] = schema["$defs"].clone();
        Box::leak(Box::new(jsonschema::validator_for(&whole).expect("the schema compiles")))
    });
    if let Err(error) = validator.validate(value) {
        panic!("not a {name}: {error} at {}: {value}", error.instance_path());
    }
}
