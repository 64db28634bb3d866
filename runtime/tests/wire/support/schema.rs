//! Every message of the suite is held against the published schema, where it lies beside the checkout.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use jsonschema::Validator;
use serde_json::{Value, json};

const SCHEMA: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/spec/schema/2026-07-28.json");

static PUBLISHED: LazyLock<Option<Value>> = LazyLock::new(|| match std::fs::read(SCHEMA) {
    Ok(bytes) => Some(serde_json::from_slice(&bytes).expect("the schema is JSON")),
    Err(_) => {
        eprintln!("SKIPPED: no published schema beside the checkout: answers are not validated");
        None
    }
});

static COMPILED: LazyLock<Mutex<HashMap<&'static str, &'static Validator>>> =
    LazyLock::new(Mutex::default);

/// Panics unless the message is what the schema says: a notification, an error, or a result of `method`.
pub fn validate(message: &Value, method: Option<&str>) {
    let Some(schema) = &*PUBLISHED else { return };
    check(schema, definition(message, method), message);
    if let (Some(method), Some(result)) = (method, message.get("result")) {
        if result["resultType"] == "input_required" {
            check(schema, "InputRequiredResult", result);
        } else if let Some(name) = result_of(method) {
            check(schema, name, result);
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

fn check(schema: &Value, name: &'static str, value: &Value) {
    let validator = *COMPILED.lock().expect("no panic inside").entry(name).or_insert_with(|| {
        let definitions = &schema["$defs"];
        assert!(definitions.get(name).is_some(), "the schema defines no {name}");
        let mut whole = json!({ "$ref": format!("#/$defs/{name}") });
        whole["$defs"] = definitions.clone();
        Box::leak(Box::new(jsonschema::validator_for(&whole).expect("the schema compiles")))
    });
    if let Err(error) = validator.validate(value) {
        panic!("not a {name}: {error} at {}: {value}", error.instance_path());
    }
}
