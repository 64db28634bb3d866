//! The wire types of the protocol as plain structs: one file an area. Reading accepts and, where a type
//! is relayed, keeps unknown members; an absent member and a null one are told apart only where the
//! protocol does. Builders check what a server must not send and say which field is wrong.
//!
//! Requests are not read through these types on the hot path, see [`crate::message`].

mod annotations;
mod blob;
mod capabilities;
mod completion;
mod content;
mod elicit;
mod envelope;
mod errors;
mod form;
mod form_check;
mod icon;
mod input;
pub mod legacy;
mod logging;
mod meta;
mod notification;
mod number;
mod ordered;
mod prompt;
mod resource;
mod roots;
mod sampling;
mod sampling_check;
pub mod schema;
mod secrets;
mod subscription;
pub mod task;
#[cfg(test)]
mod tests;
mod text;
mod time;
mod tool;

/// An open JSON object; members keep their order.
pub type JsonObject = serde_json::Map<String, serde_json::Value>;

pub use annotations::{Annotations, AnnotationsError};
pub use blob::NotBase64;
pub use capabilities::{
    ClientCapabilities, DiscoverResult, ElicitationCapability, Implementation, ListCapability,
    ResourcesCapability, SamplingCapability, ServerCapabilities,
};
pub use completion::{
    COMPLETION_VALUES_MAX, CompleteParams, CompleteResult, Completion, CompletionArgument,
    CompletionContext, CompletionRef,
};
pub use content::{Content, EmbeddedResource, MediaContent, TextContent};
pub use elicit::{ElicitAction, ElicitResult, ElicitUrl, UrlError, UrlMode};
pub use envelope::{
    CacheScope, EmptyResult, JsonRpc, Notification, PaginatedParams, ProgressToken, Request,
    RequestId, RequestParams, ResultResponse, ResultType, Retry, Role,
};
pub use errors::{
    ErrorObject, ErrorResponse, MissingCapabilityData, ResourceNotFoundData, UnsupportedVersionData,
};
pub use form::{ElicitForm, Field, FormError, FormMode, FormSchema, ObjectType};
pub use icon::{Icon, IconError, IconTheme};
pub use input::{InputError, InputRequest, InputRequests, InputRequired, InputResponses};
pub use logging::{LoggingLevel, LoggingMessageParams};
pub use meta::{Meta, RequestMeta};
pub use notification::{CancelledParams, ListChangedParams, ProgressParams, ResourceUpdatedParams};
pub use number::Num;
pub use ordered::OrderedMap;
pub use prompt::{
    GetPromptParams, GetPromptResult, ListPromptsResult, Prompt, PromptArgument, PromptMessage,
};
pub use resource::{
    BlobResourceContents, ListResourceTemplatesResult, ListResourcesResult, ReadResourceParams,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate, TextResourceContents,
};
pub use roots::{ListRootsParams, ListRootsResult, Root};
pub use sampling::{
    CreateMessageParams, CreateMessageResult, IncludeContext, ModelHint, ModelPreferences,
    SamplingBlocks, SamplingContent, SamplingMessage, SamplingRequest, ToolChoice, ToolChoiceMode,
    ToolResultContent, ToolUseContent,
};
pub use sampling_check::SamplingError;
pub use schema::StringFormat;
pub use subscription::{AcknowledgedParams, ListenParams, ListenResult, SubscriptionFilter};
pub use tool::{
    CallToolParams, CallToolResult, ListToolsResult, TOOL_NAME_CHARS_MAX, Tool, ToolAnnotations,
    ToolDefinitionError, is_tool_name,
};
