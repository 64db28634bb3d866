//! What the two sides say about themselves: capabilities, implementation, `server/discover`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{CacheScope, Icon, JsonObject, Meta, ResultType};
use crate::meta_key::{self, MetaKeyError};

/// What a client can do for one request (ENV-07). Presence means support; `{}` has no settings.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientCapabilities {
    /// Non-standard capabilities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub experimental: Option<JsonObject>,
    /// Can list roots (deprecated).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roots: Option<JsonObject>,
    /// Can sample from a model (deprecated).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling: Option<SamplingCapability>,
    /// Can ask the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elicitation: Option<ElicitationCapability>,
    /// Extensions by identifier, with their settings (ENV-15).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extensions: Option<JsonObject>,
    /// Every other member (D-32).
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// `sampling` of [`ClientCapabilities`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SamplingCapability {
    /// Supports `includeContext` other than `none` (deprecated).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<JsonObject>,
    /// Supports `tools` and `toolChoice`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<JsonObject>,
    /// Every other member.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// `elicitation` of [`ClientCapabilities`]; with neither member it means form mode.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ElicitationCapability {
    /// Supports forms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<JsonObject>,
    /// Supports opening a URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<JsonObject>,
    /// Every other member.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// What a server offers (DSC-05). Absent means the methods answer `-32601`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerCapabilities {
    /// Non-standard capabilities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub experimental: Option<JsonObject>,
    /// Log messages may be sent (deprecated).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logging: Option<JsonObject>,
    /// `completion/complete` is served.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completions: Option<JsonObject>,
    /// `prompts/*` is served.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompts: Option<ListCapability>,
    /// `resources/*` is served.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourcesCapability>,
    /// `tools/*` is served.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<ListCapability>,
    /// Extensions by identifier, with their settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extensions: Option<JsonObject>,
    /// Every other member.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// `tools` and `prompts` of [`ServerCapabilities`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListCapability {
    /// Changes of the list are announced (SUB-21); left out rather than false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
}

/// `resources` of [`ServerCapabilities`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourcesCapability {
    /// Updates of single resources are announced; left out rather than false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subscribe: Option<bool>,
    /// Changes of the list are announced; left out rather than false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
}

/// A program's unverified description of itself (ENV-08).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Implementation {
    /// Name for programs.
    pub name: String,
    /// Version.
    pub version: String,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Where to read more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub website_url: Option<String>,
    /// Pictures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icons: Option<Vec<Icon>>,
}

/// Result of `server/discover` (DSC-02).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DiscoverResult {
    /// Kind of result.
    #[serde(default = "ResultType::absent", skip_serializing_if = "ResultType::is_absent")]
    pub result_type: ResultType,
    /// Revisions served through the envelope, newest first (DSC-03).
    pub supported_versions: Vec<String>,
    /// What is offered.
    pub capabilities: ServerCapabilities,
    /// How to use the server, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// How long the result may be cached, in milliseconds (CCH-01).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
    /// Who may share it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_scope: Option<CacheScope>,
    /// Free metadata, with the server's self-description.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl Implementation {
    /// Name and version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Implementation { name: name.into(), version: version.into(), ..Default::default() }
    }

    /// Sets the name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Says what it is.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Says where to read more.
    pub fn website_url(mut self, url: impl Into<String>) -> Self {
        self.website_url = Some(url.into());
        self
    }

    /// Adds a picture.
    pub fn icon(mut self, icon: Icon) -> Self {
        self.icons.get_or_insert_default().push(icon);
        self
    }
}

impl ServerCapabilities {
    /// Offers tools; `list_changed` announces changes.
    pub fn tools(mut self, list_changed: bool) -> Self {
        self.tools = Some(ListCapability::new(list_changed));
        self
    }

    /// Offers prompts; `list_changed` announces changes.
    pub fn prompts(mut self, list_changed: bool) -> Self {
        self.prompts = Some(ListCapability::new(list_changed));
        self
    }

    /// Offers resources, with the two kinds of announcement.
    pub fn resources(mut self, subscribe: bool, list_changed: bool) -> Self {
        self.resources = Some(ResourcesCapability {
            subscribe: subscribe.then_some(true),
            list_changed: list_changed.then_some(true),
        });
        self
    }

    /// Offers completion.
    pub fn completions(mut self) -> Self {
        self.completions = Some(JsonObject::new());
        self
    }

    /// Announces that log messages may be sent (LOG-02).
    pub fn logging(mut self) -> Self {
        self.logging = Some(JsonObject::new());
        self
    }

    /// Offers an extension; refuses an identifier without a prefix (ENV-15).
    pub fn extension(mut self, id: &str, settings: JsonObject) -> Result<Self, MetaKeyError> {
        meta_key::check_extension_id(id)?;
        self.extensions.get_or_insert_default().insert(id.to_owned(), Value::Object(settings));
        Ok(self)
    }
}

impl ListCapability {
    /// `{listChanged:true}` or `{}`.
    pub fn new(list_changed: bool) -> Self {
        ListCapability { list_changed: list_changed.then_some(true) }
    }
}

impl DiscoverResult {
    /// Versions and capabilities; the rest is optional.
    pub fn new<V: Into<String>>(
        versions: impl IntoIterator<Item = V>,
        capabilities: ServerCapabilities,
    ) -> Self {
        let supported_versions = versions.into_iter().map(Into::into).collect();
        DiscoverResult { supported_versions, capabilities, ..Default::default() }
    }
}
