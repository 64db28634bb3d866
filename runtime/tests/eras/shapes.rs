//! Structured results and lists as older revisions want them (LEG-28, LEG-29, CCH-09).

use ringmcp::types::{CallToolResult, Content, Tool};
use ringmcp::{Builder, CacheHint, Context, LegacyMode, Server, Structured, ToolError};
use serde_json::{Map, Value, json};

use crate::client::{Client, LATEST};
use crate::support::{Request, serve};

fn server() -> Builder {
    let list = Tool::new("list").output_schema(json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "array",
        "items": { "$ref": "#/$defs/item" },
        "$defs": { "item": { "type": "integer", "default": 0, "examples": [{ "$ref": "#/no" }] } }
    }));
    Server::builder("shapes", "1")
        .cache_lists(CacheHint::public(5000))
        .tool_with(list.expect("an object"), async |_: &Context<'_>, _: Map<String, Value>| {
            Ok::<_, ToolError>(CallToolResult::structured(json!([1, 2])))
        })
        .tool("object", "A struct", async |_: &Context<'_>, _: Map<String, Value>| {
            Ok::<_, ToolError>(Structured(std::collections::BTreeMap::from([("a", 1)])))
        })
        .tool("link", "A link", async |_: &Context<'_>, _: Map<String, Value>| {
            let link = json!({ "type": "resource_link", "name": "n", "uri": "test://a" });
            let block: Content = serde_json::from_value(link).expect("a link");
            Ok::<_, ToolError>(vec![block])
        })
}

/// [LEG-28] [LEG-19] [CCH-09] structured results that are no objects are shown inside one, with a schema that still
/// means the same; modern clients see them as they are.
#[test]
fn structured_results() {
    for mode in [LegacyMode::Stateless, LegacyMode::Sessions] {
        let running = serve(server().legacy(mode));
        let client = Client::connect(&running, LATEST, json!({}));
        let listed = client.result("tools/list", json!({}));
        let schema = listed["tools"][0]["outputSchema"].clone();
        assert_eq!(
            schema,
            json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "properties": { "result": {
                    "type": "array",
                    "items": { "$ref": "#/properties/result/$defs/item" },
                    "$defs": { "item": { "type": "integer", "default": 0, "examples": [{ "$ref": "#/no" }] } }
                } },
                "required": ["result"]
            })
        );
        let called = client.result("tools/call", json!({ "name": "list", "arguments": {} }));
        assert_eq!(called["structuredContent"], json!({ "result": [1, 2] }));
        let valid = jsonschema::validator_for(&schema)
            .expect("a schema")
            .is_valid(&called["structuredContent"]);
        assert!(valid, "the value fits the schema that is shown");
        let called = client.result("tools/call", json!({ "name": "object", "arguments": {} }));
        assert_eq!(called["structuredContent"], json!({ "a": 1 }));
        let modern = running.send(&Request::call("list", json!({}))).result("tools/call");
        assert_eq!(modern["structuredContent"], json!([1, 2]));
        let modern = running.send(&Request::new("tools/list", json!({}))).result("tools/list");
        assert_eq!(
            (&modern["tools"][0]["outputSchema"]["type"], &modern["ttlMs"]),
            (&json!("array"), &json!(5000))
        );
    }
}

/// [LEG-29] a session's revision decides on its content.
#[test]
fn content_by_revision() {
    let running = serve(server().legacy(LegacyMode::Sessions));
    for (version, kind) in [
        (LATEST, "resource_link"),
        ("2025-06-18", "resource_link"),
        ("2025-03-26", "text"),
        ("2024-11-05", "text"),
    ] {
        let client = Client::connect(&running, version, json!({}));
        let called = client.result("tools/call", json!({ "name": "link", "arguments": {} }));
        assert_eq!(called["content"][0]["type"], kind, "{version}");
    }
}
