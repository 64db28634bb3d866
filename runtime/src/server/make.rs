//! Registry entries from definitions and handlers: the same for the builder and for changes while running.

use std::sync::Arc;

use codec::types::{Prompt, Resource, ResourceTemplate, Tool};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::context::Context;
use crate::error::{HandlerError, ToolError};
use crate::handler::{self, CacheHint, PromptOutput, ResourceOutput, ToolOutput};
use crate::registry::{
    Completers, Names, PromptEntry, RegistrationError, ResourceEntry, TemplateEntry, ToolEntry,
};

/// A tool whose schemas are derived from its types; an output schema that the definition has stays.
pub(super) fn tool<F, A, R, E>(
    mut def: Tool,
    function: F,
    names: Names,
) -> Result<ToolEntry, RegistrationError>
where
    F: AsyncFn(&Context<'_>, A) -> Result<R, E> + Send + Sync + 'static,
    A: DeserializeOwned + JsonSchema + 'static,
    R: ToolOutput + 'static,
    E: Into<ToolError> + 'static,
{
    if let Value::Object(schema) = handler::input_schema_of::<A>() {
        def.input_schema = schema;
    }
    tool_with_schema(def, function, names)
}

/// A tool whose input schema its definition gives.
pub(super) fn tool_with_schema<F, A, R, E>(
    mut def: Tool,
    function: F,
    names: Names,
) -> Result<ToolEntry, RegistrationError>
where
    F: AsyncFn(&Context<'_>, A) -> Result<R, E> + Send + Sync + 'static,
    A: DeserializeOwned + 'static,
    R: ToolOutput + 'static,
    E: Into<ToolError> + 'static,
{
    if def.output_schema.is_none()
        && let Some(Value::Object(schema)) = R::output_schema()
    {
        def.output_schema = Some(schema);
    }
    ToolEntry::new(def, Arc::new(handler::tool(function)), Vec::new(), names)
}

/// A prompt; arguments that the definition does not list are derived from its argument struct.
pub(super) fn prompt<F, A, R, E>(
    mut def: Prompt,
    function: F,
    completers: Completers,
    names: Names,
) -> Result<PromptEntry, RegistrationError>
where
    F: AsyncFn(&Context<'_>, A) -> Result<R, E> + Send + Sync + 'static,
    A: DeserializeOwned + JsonSchema + 'static,
    R: PromptOutput + 'static,
    E: Into<HandlerError> + 'static,
{
    if def.arguments.is_none() {
        let derived = handler::prompt_arguments::<A>();
        def.arguments = (!derived.is_empty()).then_some(derived);
    }
    PromptEntry::new(def, Arc::new(handler::prompt(function)), completers, names)
}

pub(super) fn resource<F, R, E>(
    def: Resource,
    function: F,
    cache: CacheHint,
) -> Result<ResourceEntry, RegistrationError>
where
    F: AsyncFn(&Context<'_>) -> Result<R, E> + Send + Sync + 'static,
    R: ResourceOutput + 'static,
    E: Into<HandlerError> + 'static,
{
    let handler = handler::resource(def.mime_type.clone(), function);
    ResourceEntry::new(def, Arc::new(handler), cache)
}

pub(super) fn template<F, V, R, E>(
    def: ResourceTemplate,
    function: F,
    cache: CacheHint,
    completers: Completers,
) -> Result<TemplateEntry, RegistrationError>
where
    F: AsyncFn(&Context<'_>, V) -> Result<R, E> + Send + Sync + 'static,
    V: DeserializeOwned + 'static,
    R: ResourceOutput + 'static,
    E: Into<HandlerError> + 'static,
{
    let handler = handler::template(def.mime_type.clone(), function);
    TemplateEntry::new(def, Arc::new(handler), cache, completers)
}
