//! What lists carry, against the published schema.

use std::fs;

use codec::types::{Icon, Prompt, PromptArgument, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::*;

const SCHEMA: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/spec/schema/2026-07-28.json");

/// A registry with one plain and one full entry of each kind.
fn furnished() -> Registry {
    let registry = Registry::new(10);
    let full = Tool::new("full")
        .title("T")
        .description("D")
        .icon(Icon::new("https://example.com/i.png").expect("an https icon"))
        .annotations(ToolAnnotations::new().read_only(true))
        .output_schema(json!({"type": "array"}))
        .expect("an object");
    let asks = Prompt::new("full").description("D").argument(PromptArgument::new("a").required());
    registry
        .edit(|draft| {
            draft.tools.add(tool("plain"))?;
            draft.tools.add(tool_of(full)?)?;
            draft.prompts.add(prompt(Prompt::new("plain"), &[])?)?;
            draft.prompts.add(prompt(asks, &["a"])?)?;
            draft.resources.add(resource("test://a")?)?;
            draft.templates.add(template("test://{id}", &["id"])?)
        })
        .expect("legal entries");
    registry
}

/// [TOOL-04] [TOOL-05] [RES-02] [RES-03] [PRM-02] whole lists and pages of one make valid results.
#[test]
fn fragments_are_schema_valid() {
    let Ok(text) = fs::read_to_string(SCHEMA) else {
        println!("SKIPPED: fragments_are_schema_valid, no schema at {SCHEMA}");
        return;
    };
    let protocol: Value = serde_json::from_str(&text).expect("the schema is JSON");
    let registry = furnished();
    let snapshot = registry.snapshot();
    let check = |definition: &str, member: &str, array: &str| {
        let schema = json!({"$ref": format!("#/$defs/{definition}"), "$defs": protocol["$defs"]});
        let validator = jsonschema::validator_for(&schema).expect("the schema is legal");
        let list: Value = serde_json::from_str(array).expect("a JSON array");
        let result =
            json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private", member: list});
        if let Err(error) = validator.validate(&result) {
            panic!("{definition}: {error} at {}", error.instance_path());
        }
    };
    let tools = &snapshot.tools;
    check("ListToolsResult", "tools", tools.array());
    let second = tools.page(tools.page(None, Some(1)).next, Some(1)).json;
    check("ListToolsResult", "tools", &format!("[{second}]"));
    check("ListPromptsResult", "prompts", snapshot.prompts.array());
    check("ListResourcesResult", "resources", snapshot.resources.array());
    check("ListResourceTemplatesResult", "resourceTemplates", snapshot.templates.array());
}
