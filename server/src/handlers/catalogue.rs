//! `--catalogue N`: N more tools with schemas as real servers have them, for measuring long lists.

use ringmcp::types::{Tool, ToolAnnotations};
use ringmcp::{Builder, Context, ToolError};
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use super::tool_with_schema;

const VERBS: [&str; 7] = ["search", "list", "create", "update", "archive", "export", "assign"];
const NOUNS: [&str; 9] = [
    "orders",
    "invoices",
    "tickets",
    "customers",
    "documents",
    "shipments",
    "events",
    "projects",
    "contracts",
];

/// Fewest and most properties of one schema.
const PROPERTIES: (usize, usize) = (3, 8);

/// Adds `count` tools. The same count gives the same tools on every machine.
pub(crate) fn add(builder: Builder, count: usize) -> Builder {
    (0..count).fold(builder, |builder, index| builder.tool_raw(tool(index), answer))
}

async fn answer(ctx: &Context<'_>, _: IgnoredAny) -> Result<String, ToolError> {
    Ok(format!("{} is part of the catalogue and does nothing", ctx.target()))
}

fn tool(index: usize) -> Tool {
    let (verb, noun) = (VERBS[index % VERBS.len()], NOUNS[index / VERBS.len() % NOUNS.len()]);
    let reads = matches!(verb, "search" | "list" | "export");
    let tool = Tool::new(format!("{verb}_{noun}_{index:05}"))
        .title(format!("{verb} {noun}"))
        .description(format!(
            "Use this to {verb} {noun} of the current workspace. Results are limited to what the caller may see; \
             times are RFC 3339 in UTC."
        ))
        .annotations(ToolAnnotations::new().read_only(reads).idempotent(reads));
    tool_with_schema(tool, schema(index))
}

fn schema(index: usize) -> Value {
    let (least, most) = PROPERTIES;
    let count = least + index % (most - least + 1);
    // Starts elsewhere for each tool, so that neighbours differ in more than their names.
    let properties: Map<String, Value> = properties()
        .into_iter()
        .cycle()
        .skip(index % most)
        .take(count)
        .map(|(name, schema)| (name.to_owned(), schema))
        .collect();
    let required: Vec<&String> = properties.keys().take(1 + index % 2).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false
    })
}

/// As many as one schema may have.
fn properties() -> [(&'static str, Value); PROPERTIES.1] {
    [
        (
            "query",
            json!({
                "type": "string", "description": "Words to look for; quotes keep them together",
                "minLength": 1, "maxLength": 500
            }),
        ),
        (
            "status",
            json!({
                "type": "string", "enum": ["open", "pending", "closed", "archived"],
                "description": "Only those in this state"
            }),
        ),
        (
            "limit",
            json!({
                "type": "integer", "minimum": 1, "maximum": 200, "default": 50,
                "description": "How many at most"
            }),
        ),
        (
            "period",
            json!({
                "type": "object", "description": "Only what happened in between",
                "properties": {
                    "from": { "type": "string", "format": "date-time" },
                    "to": { "type": "string", "format": "date-time" }
                },
                "required": ["from"]
            }),
        ),
        (
            "labels",
            json!({
                "type": "array", "items": { "type": "string", "pattern": "^[a-z0-9-]+$" },
                "maxItems": 20, "uniqueItems": true, "description": "Labels that must all be present"
            }),
        ),
        (
            "include_archived",
            json!({
                "type": "boolean", "default": false, "description": "Also those that are archived"
            }),
        ),
        (
            "amount",
            json!({
                "type": "object", "description": "An amount of money",
                "properties": {
                    "value": { "type": "number", "exclusiveMinimum": 0 },
                    "currency": { "type": "string", "enum": ["EUR", "USD", "JPY", "GBP"] }
                },
                "required": ["value", "currency"]
            }),
        ),
        (
            "assignee",
            json!({
                "anyOf": [{ "type": "string", "format": "email" }, { "type": "null" }],
                "description": "Who is responsible; null for nobody"
            }),
        ),
    ]
}
