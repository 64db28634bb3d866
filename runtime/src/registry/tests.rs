//! What is refused at registration, and that lists stay in order while they change under a reader.

mod editing;
mod paging;
mod registration;
mod resources;
mod wire;

use std::sync::Arc;

use codec::types::{Prompt, Resource, ResourceTemplate, Tool};
use serde_json::{Value, json};

use super::entry::{Completers, Names, PromptEntry, ResourceEntry, TemplateEntry, ToolEntry};
use super::{RegistrationError, Registry};
use crate::context::Context;
use crate::handler::{CacheHint, Handler, HandlerFuture};

/// Stands behind every entry; nothing here calls it.
struct Never;

impl Handler for Never {
    fn call<'a>(&'a self, _: &'a Context<'a>) -> HandlerFuture<'a> {
        unreachable!("the registry calls no handler")
    }
}

fn never() -> Arc<dyn Handler> {
    Arc::new(Never)
}

fn tool(name: &str) -> ToolEntry {
    tool_of(Tool::new(name)).expect("a legal tool")
}

fn tool_of(def: Tool) -> Result<ToolEntry, RegistrationError> {
    ToolEntry::new(def, never(), Vec::new(), Names::Lenient)
}

fn tool_with(schema: Value) -> Result<ToolEntry, RegistrationError> {
    let mut def = Tool::new("probe");
    def.input_schema = schema.as_object().expect("an object").clone();
    tool_of(def)
}

fn prompt(def: Prompt, completed: &[&str]) -> Result<PromptEntry, RegistrationError> {
    PromptEntry::new(def, never(), completers(completed), Names::Lenient)
}

fn resource(uri: &str) -> Result<ResourceEntry, RegistrationError> {
    let def = Resource { uri: uri.to_owned(), name: "r".to_owned(), ..Resource::default() };
    ResourceEntry::new(def, never(), CacheHint::default())
}

fn template(text: &str, completed: &[&str]) -> Result<TemplateEntry, RegistrationError> {
    let def = ResourceTemplate {
        uri_template: text.to_owned(),
        name: "t".to_owned(),
        ..Default::default()
    };
    TemplateEntry::new(def, never(), CacheHint::default(), completers(completed))
}

fn completers(names: &[&str]) -> Completers {
    names.iter().map(|name| ((*name).to_owned(), never())).collect()
}

/// A registry with these tools.
fn registry(names: impl IntoIterator<Item = String>) -> Registry {
    let registry = Registry::new(1_000);
    registry
        .edit(|draft| names.into_iter().try_for_each(|name| draft.tools.add(tool(&name))))
        .expect("distinct names");
    registry
}

fn names_in(array: &str) -> Vec<String> {
    let array: Vec<Value> = serde_json::from_str(array).expect("a JSON array");
    array.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

/// [TOOL-07] a schema reaches the client unchanged, member order included.
#[test]
fn schemas_are_listed_as_registered() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "https://example.com/t", "type": "object",
        "$defs": {"address": {"$anchor": "address", "type": "object", "properties": {"street": {"type": "string"}}}},
        "properties": {"z": {"$ref": "#address"}, "a": {"anyOf": [{"type": "string"}, {"not": {"const": 1}}]}},
        "allOf": [{"if": {"required": ["z"]}, "then": {"required": ["a"]}, "else": {}}],
        "oneOf": [{"minProperties": 0}], "x-note": [1, null], "additionalProperties": false
    });
    let entry = tool_with(schema.clone()).expect("a legal tool");
    let listed: Value = serde_json::from_str(&entry.json).expect("JSON");
    assert_eq!(listed["inputSchema"].to_string(), schema.to_string());
}
