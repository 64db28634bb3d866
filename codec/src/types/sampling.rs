//! `sampling/createMessage` (deprecated): asking the client's model (EL-06, EL-07).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::envelope::present;
use super::text::closed_text;
use super::{Content, JsonObject, MediaContent, Meta, Num, Role, TextContent, Tool};

closed_text! {
    /// Context of which servers the client should add (deprecated but for `none`).
    pub enum IncludeContext {
        /// None.
        None = "none",
        /// Of this server.
        ThisServer = "thisServer",
        /// Of all servers.
        AllServers = "allServers",
    }
}

closed_text! {
    /// Whether the model may or must use tools.
    pub enum ToolChoiceMode {
        /// May.
        Auto = "auto",
        /// Must.
        Required = "required",
        /// Must not.
        None = "none",
    }
}

/// Parameters of `sampling/createMessage`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateMessageParams {
    /// The conversation.
    pub messages: Vec<SamplingMessage>,
    /// Which model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_preferences: Option<ModelPreferences>,
    /// System prompt; the client may change or drop it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// Context to add.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_context: Option<IncludeContext>,
    /// Randomness.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<Num>,
    /// Most tokens to sample.
    pub max_tokens: u64,
    /// Texts that end the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_sequences: Option<Vec<String>>,
    /// For the model's provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonObject>,
    /// Tools the model may ask for; the server runs them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Tool>>,
    /// Whether it may or must.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice>,
    /// Free metadata.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// A request to the client's model: the parameters under the name user code reads best with.
pub type SamplingRequest = CreateMessageParams;

/// Whether the model may or must use tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ToolChoice {
    /// Absent means `auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<ToolChoiceMode>,
}

/// Hints and priorities for choosing a model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelPreferences {
    /// Models by (part of their) name, best first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hints: Option<Vec<ModelHint>>,
    /// Weight of low cost, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_priority: Option<Num>,
    /// Weight of speed, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed_priority: Option<Num>,
    /// Weight of ability, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intelligence_priority: Option<Num>,
}

/// A hint at a model.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ModelHint {
    /// Its name or a part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// One message of a conversation with a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SamplingMessage {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: SamplingBlocks,
    /// Free metadata.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// A single block or an array of blocks; both forms are legal and kept (D-27).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SamplingBlocks {
    /// An array.
    Many(Vec<SamplingContent>),
    /// A block by itself.
    One(SamplingContent),
}

/// One block of a conversation with a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SamplingContent {
    /// Text.
    Text(TextContent),
    /// A picture.
    Image(MediaContent),
    /// A sound.
    Audio(MediaContent),
    /// The model asks for a tool.
    ToolUse(ToolUseContent),
    /// What the tool answered.
    ToolResult(ToolResultContent),
}

/// The model asks for a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolUseContent {
    /// Named by the result.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub input: JsonObject,
    /// Free metadata, to be given back unchanged.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResultContent {
    /// The `id` of the [`ToolUseContent`].
    pub tool_use_id: String,
    /// For the model.
    pub content: Vec<Content>,
    /// Any JSON; `Some(Value::Null)` is the value null.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
    /// The tool failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// Free metadata.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// What the client's model said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateMessageResult {
    /// Who speaks: the assistant.
    pub role: Role,
    /// What is said.
    pub content: SamplingBlocks,
    /// The model that answered.
    pub model: String,
    /// Why it stopped: `endTurn`, `stopSequence`, `maxTokens`, `toolUse` or another; an open set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Free metadata.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl CreateMessageParams {
    /// An empty conversation with room for `max_tokens` of answer.
    pub fn new(max_tokens: u64) -> Self {
        CreateMessageParams {
            messages: Vec::new(),
            model_preferences: None,
            system_prompt: None,
            include_context: None,
            temperature: None,
            max_tokens,
            stop_sequences: None,
            metadata: None,
            tools: None,
            tool_choice: None,
            meta: None,
        }
    }

    /// Adds a message.
    pub fn message(mut self, message: SamplingMessage) -> Self {
        self.messages.push(message);
        self
    }

    /// Adds a message of the user.
    pub fn user(self, content: impl Into<SamplingBlocks>) -> Self {
        self.message(SamplingMessage::user(content))
    }

    /// Adds a message of the model.
    pub fn assistant(self, content: impl Into<SamplingBlocks>) -> Self {
        self.message(SamplingMessage::assistant(content))
    }

    /// Sets the system prompt.
    pub fn system_prompt(mut self, text: impl Into<String>) -> Self {
        self.system_prompt = Some(text.into());
        self
    }

    /// Sets which model is wanted.
    pub fn model_preferences(mut self, preferences: ModelPreferences) -> Self {
        self.model_preferences = Some(preferences);
        self
    }

    /// Sets the randomness.
    pub fn temperature(mut self, temperature: impl Into<Num>) -> Self {
        self.temperature = Some(temperature.into());
        self
    }

    /// Adds a text that ends the answer.
    pub fn stop_sequence(mut self, text: impl Into<String>) -> Self {
        self.stop_sequences.get_or_insert_default().push(text.into());
        self
    }

    /// Adds a tool the model may ask for; needs the capability `sampling.tools` (MR-10).
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.get_or_insert_default().push(tool);
        self
    }

    /// Sets whether the model may or must use tools; needs the capability `sampling.tools`.
    pub fn tool_choice(mut self, mode: ToolChoiceMode) -> Self {
        self.tool_choice = Some(ToolChoice { mode: Some(mode) });
        self
    }
}

impl ModelPreferences {
    /// No preference.
    pub fn new() -> Self {
        ModelPreferences::default()
    }

    /// Adds a model by (part of) its name.
    pub fn hint(mut self, name: impl Into<String>) -> Self {
        self.hints.get_or_insert_default().push(ModelHint { name: Some(name.into()) });
        self
    }

    /// Sets the weight of low cost, 0 to 1.
    pub fn cost(mut self, priority: impl Into<Num>) -> Self {
        self.cost_priority = Some(priority.into());
        self
    }

    /// Sets the weight of speed, 0 to 1.
    pub fn speed(mut self, priority: impl Into<Num>) -> Self {
        self.speed_priority = Some(priority.into());
        self
    }

    /// Sets the weight of ability, 0 to 1.
    pub fn intelligence(mut self, priority: impl Into<Num>) -> Self {
        self.intelligence_priority = Some(priority.into());
        self
    }
}

impl SamplingMessage {
    /// The user speaks.
    pub fn user(content: impl Into<SamplingBlocks>) -> Self {
        SamplingMessage { role: Role::User, content: content.into(), meta: None }
    }

    /// The model speaks.
    pub fn assistant(content: impl Into<SamplingBlocks>) -> Self {
        SamplingMessage { role: Role::Assistant, content: content.into(), meta: None }
    }
}

impl SamplingBlocks {
    /// The blocks, however they were written.
    pub fn as_slice(&self) -> &[SamplingContent] {
        match self {
            SamplingBlocks::Many(blocks) => blocks,
            SamplingBlocks::One(block) => std::slice::from_ref(block),
        }
    }
}

impl SamplingContent {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        SamplingContent::Text(TextContent { text: text.into(), ..Default::default() })
    }

    /// A picture from its bytes.
    pub fn image(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        SamplingContent::Image(MediaContent::new(bytes, mime_type))
    }

    /// A sound from its bytes.
    pub fn audio(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        SamplingContent::Audio(MediaContent::new(bytes, mime_type))
    }

    /// The model's wish to use a tool, to be repeated when the conversation goes on.
    pub fn tool_use(id: impl Into<String>, name: impl Into<String>, input: JsonObject) -> Self {
        let (id, name) = (id.into(), name.into());
        SamplingContent::ToolUse(ToolUseContent { id, name, input, meta: None })
    }

    /// What a tool answered; `id` is the one of the wish.
    pub fn tool_result(id: impl Into<String>, content: impl IntoIterator<Item = Content>) -> Self {
        SamplingContent::ToolResult(ToolResultContent {
            tool_use_id: id.into(),
            content: content.into_iter().collect(),
            structured_content: None,
            is_error: None,
            meta: None,
        })
    }
}

impl CreateMessageResult {
    /// The first text of the answer.
    pub fn text(&self) -> Option<&str> {
        self.content.as_slice().iter().find_map(|block| match block {
            SamplingContent::Text(text) => Some(text.text.as_str()),
            _ => None,
        })
    }

    /// The tools the model asks for.
    pub fn tool_uses(&self) -> impl Iterator<Item = &ToolUseContent> {
        self.content.as_slice().iter().filter_map(|block| match block {
            SamplingContent::ToolUse(tool_use) => Some(tool_use),
            _ => None,
        })
    }
}

impl From<SamplingContent> for SamplingBlocks {
    fn from(block: SamplingContent) -> SamplingBlocks {
        SamplingBlocks::One(block)
    }
}

impl From<Vec<SamplingContent>> for SamplingBlocks {
    fn from(blocks: Vec<SamplingContent>) -> SamplingBlocks {
        SamplingBlocks::Many(blocks)
    }
}

impl From<&str> for SamplingBlocks {
    fn from(text: &str) -> SamplingBlocks {
        SamplingBlocks::One(SamplingContent::text(text))
    }
}

impl From<String> for SamplingBlocks {
    fn from(text: String) -> SamplingBlocks {
        SamplingBlocks::One(SamplingContent::text(text))
    }
}
