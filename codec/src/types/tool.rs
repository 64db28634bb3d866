//! Tools: their definition, a call and its result (LEDGER 8).

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::envelope::present;
use super::{CacheScope, Content, Icon, JsonObject, Meta, RequestMeta, ResultType, Retry};

/// Longest tool name in characters (TOOL-09).
pub const TOOL_NAME_CHARS_MAX: usize = 128;

/// A tool as it is listed (TOOL-05). Members of older revisions, such as `execution`, live in `extra`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// Name for programs; unique in a server, case-sensitive.
    pub name: String,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it does, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Pictures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icons: Option<Vec<Icon>>,
    /// JSON Schema of the arguments: root `"type":"object"`, every keyword kept (TOOL-06, TOOL-07).
    pub input_schema: JsonObject,
    /// JSON Schema of the structured result, any root (TOOL-08).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<JsonObject>,
    /// Hints about its behaviour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<ToolAnnotations>,
    /// Free metadata.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Every other member.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// Untrusted hints about a tool; what is unset stays absent on the wire (TOOL-11).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolAnnotations {
    /// Name for people; the tool's own `title` goes first (TOOL-13).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Changes nothing. Absent means false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// May destroy, not just add. Absent means true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Calling again with the same arguments adds nothing. Absent means false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// Reaches into the outside world. Absent means true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

/// Result of `tools/list`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListToolsResult {
    /// Kind of result.
    #[serde(default = "ResultType::absent", skip_serializing_if = "ResultType::is_absent")]
    pub result_type: ResultType,
    /// One page of tools.
    pub tools: Vec<Tool>,
    /// Where the next page starts; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// How long the result may be cached, in milliseconds (CCH-01).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
    /// Who may share it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_scope: Option<CacheScope>,
    /// Free metadata.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// Parameters of `tools/call` (CALL-01).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallToolParams {
    /// The envelope (ENV-01).
    #[serde(rename = "_meta")]
    pub meta: RequestMeta,
    /// Which tool.
    pub name: String,
    /// With what; absent means `{}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<JsonObject>,
    /// Answers of an earlier round.
    #[serde(flatten)]
    pub retry: Retry,
}

/// Result of `tools/call` (CALL-04).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallToolResult {
    /// Kind of result.
    #[serde(default = "ResultType::absent", skip_serializing_if = "ResultType::is_absent")]
    pub result_type: ResultType,
    /// What the model reads; always on the wire, may be empty.
    pub content: Vec<Content>,
    /// What programs read: any JSON. `Some(Value::Null)` is the value null, `None` is absence
    /// (CALL-08).
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
    /// The tool itself failed (CALL-05).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// Free metadata.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Every other member.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// Why a tool definition was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolDefinitionError {
    /// `inputSchema` is no object with root `"type":"object"` (TOOL-06).
    InputSchema,
    /// `outputSchema` is no object.
    OutputSchema,
    /// The name is not 1 to 128 of `A-Z a-z 0-9 _ - .` (TOOL-09).
    Name,
}

impl Tool {
    /// A tool that takes no arguments until a schema is set.
    pub fn new(name: impl Into<String>) -> Self {
        Tool {
            name: name.into(),
            title: None,
            description: None,
            icons: None,
            input_schema: no_arguments(),
            output_schema: None,
            annotations: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }

    /// Sets the name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Says what it does.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Adds a picture.
    pub fn icon(mut self, icon: Icon) -> Self {
        self.icons.get_or_insert_default().push(icon);
        self
    }

    /// Sets the schema of the arguments; the root must be `"type":"object"`.
    pub fn input_schema(mut self, schema: Value) -> Result<Self, ToolDefinitionError> {
        match schema {
            Value::Object(schema) if is_object_schema(&schema) => self.input_schema = schema,
            _ => return Err(ToolDefinitionError::InputSchema),
        }
        Ok(self)
    }

    /// Sets the schema of the structured result; any root.
    pub fn output_schema(mut self, schema: Value) -> Result<Self, ToolDefinitionError> {
        match schema {
            Value::Object(schema) => self.output_schema = Some(schema),
            _ => return Err(ToolDefinitionError::OutputSchema),
        }
        Ok(self)
    }

    /// Sets the hints.
    pub fn annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.annotations = Some(annotations);
        self
    }

    /// Sets the metadata.
    pub fn meta(mut self, meta: Meta) -> Self {
        self.meta = Some(meta);
        self
    }

    /// The name to show: `title`, else the one of the annotations, else `name` (TOOL-13).
    pub fn display_name(&self) -> &str {
        let annotated = self.annotations.as_ref().and_then(|hints| hints.title.as_deref());
        self.title.as_deref().or(annotated).unwrap_or(&self.name)
    }

    /// Checks the name and the root of the input schema; keywords are the schema engine's business.
    pub fn validate(&self) -> Result<(), ToolDefinitionError> {
        if !is_tool_name(&self.name) {
            return Err(ToolDefinitionError::Name);
        }
        match is_object_schema(&self.input_schema) {
            true => Ok(()),
            false => Err(ToolDefinitionError::InputSchema),
        }
    }
}

/// Whether `name` is 1 to 128 of `A-Z a-z 0-9 _ - .` (TOOL-09).
pub fn is_tool_name(name: &str) -> bool {
    (1..=TOOL_NAME_CHARS_MAX).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
}

fn is_object_schema(schema: &JsonObject) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("object")
}

fn no_arguments() -> JsonObject {
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema
}

impl ToolAnnotations {
    /// No hints.
    pub fn new() -> Self {
        ToolAnnotations::default()
    }

    /// Sets the name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Says whether it changes nothing.
    pub fn read_only(mut self, hint: bool) -> Self {
        self.read_only_hint = Some(hint);
        self
    }

    /// Says whether it may destroy.
    pub fn destructive(mut self, hint: bool) -> Self {
        self.destructive_hint = Some(hint);
        self
    }

    /// Says whether calling again adds nothing.
    pub fn idempotent(mut self, hint: bool) -> Self {
        self.idempotent_hint = Some(hint);
        self
    }

    /// Says whether it reaches into the outside world.
    pub fn open_world(mut self, hint: bool) -> Self {
        self.open_world_hint = Some(hint);
        self
    }
}

impl CallToolResult {
    /// No content yet.
    pub fn new() -> Self {
        CallToolResult::default()
    }

    /// One text block.
    pub fn text(text: impl Into<String>) -> Self {
        CallToolResult::new().content(Content::text(text))
    }

    /// The tool failed; `text` tells the model how, so that it can mend its call (CALL-05).
    pub fn error(text: impl Into<String>) -> Self {
        CallToolResult { is_error: Some(true), ..CallToolResult::text(text) }
    }

    /// A structured value and the same as a text block (CALL-07).
    pub fn structured(value: impl Into<Value>) -> Self {
        let mut result =
            CallToolResult { structured_content: Some(value.into()), ..Default::default() };
        result.ensure_text();
        result
    }

    /// Adds a block.
    pub fn content(mut self, block: impl Into<Content>) -> Self {
        self.content.push(block.into());
        self
    }

    /// Sets the metadata.
    pub fn meta(mut self, meta: Meta) -> Self {
        self.meta = Some(meta);
        self
    }

    /// Whether the tool itself failed.
    pub fn failed(&self) -> bool {
        self.is_error == Some(true)
    }

    /// Adds the structured value as text if there is one and no text block yet (CALL-07).
    pub fn ensure_text(&mut self) {
        let Some(value) = &self.structured_content else { return };
        if !self.content.iter().any(|block| matches!(block, Content::Text(_))) {
            self.content.push(Content::text(value.to_string()));
        }
    }
}

impl From<Content> for CallToolResult {
    fn from(block: Content) -> CallToolResult {
        CallToolResult::new().content(block)
    }
}

impl From<Vec<Content>> for CallToolResult {
    fn from(content: Vec<Content>) -> CallToolResult {
        CallToolResult { content, ..Default::default() }
    }
}

impl From<&str> for CallToolResult {
    fn from(text: &str) -> CallToolResult {
        CallToolResult::text(text)
    }
}

impl From<String> for CallToolResult {
    fn from(text: String) -> CallToolResult {
        CallToolResult::text(text)
    }
}

impl fmt::Display for ToolDefinitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ToolDefinitionError::InputSchema => {
                "tool.inputSchema: must be an object with `\"type\":\"object\"` at its root"
            }
            ToolDefinitionError::OutputSchema => "tool.outputSchema: must be an object",
            ToolDefinitionError::Name => "tool.name: must be 1 to 128 of `A-Z a-z 0-9 _ - .`",
        })
    }
}

impl std::error::Error for ToolDefinitionError {}
