//! What the described server offers: tools, prompts, resources, completions, methods of extensions.

use std::sync::Arc;

use codec::types::{Prompt, Resource, ResourceTemplate, Tool};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{Builder, Reference};
use crate::app::CustomMethod;
use crate::context::Context;
use crate::error::{HandlerError, ToolError};
use crate::handler::{
    self, CacheHint, Completion, Completions, PromptOutput, ResourceOutput, ToolOutput,
};
use crate::hub::ExtensionField;
use crate::registry::Completers;
use crate::server::make;

/// What the server offers.
impl Builder {
    /// Adds a tool. Its argument struct gives the input schema; doc comments become descriptions.
    ///
    /// A closure has to name its error: end it with `Ok::<_, ToolError>(…)`. For prompts, resources, templates and
    /// completions that is `Ok::<_, HandlerError>(…)`.
    pub fn tool<F, A, R, E>(
        self,
        name: impl Into<String>,
        description: impl Into<String>,
        handler: F,
    ) -> Self
    where
        F: AsyncFn(&Context<'_>, A) -> Result<R, E> + Send + Sync + 'static,
        A: DeserializeOwned + JsonSchema + 'static,
        R: ToolOutput + 'static,
        E: Into<ToolError> + 'static,
    {
        self.tool_with(Tool::new(name).description(description), handler)
    }

    /// Adds a tool with a title, annotations, icons or metadata. The input schema is the argument struct's.
    pub fn tool_with<F, A, R, E>(mut self, tool: Tool, handler: F) -> Self
    where
        F: AsyncFn(&Context<'_>, A) -> Result<R, E> + Send + Sync + 'static,
        A: DeserializeOwned + JsonSchema + 'static,
        R: ToolOutput + 'static,
        E: Into<ToolError> + 'static,
    {
        let made = make::tool(tool, handler, self.names);
        let made = self.note(made);
        self.tools.extend(made);
        self
    }

    /// Adds a tool with the input schema of its definition; every keyword reaches the client unchanged (TOOL-07).
    pub fn tool_raw<F, A, R, E>(mut self, tool: Tool, handler: F) -> Self
    where
        F: AsyncFn(&Context<'_>, A) -> Result<R, E> + Send + Sync + 'static,
        A: DeserializeOwned + 'static,
        R: ToolOutput + 'static,
        E: Into<ToolError> + 'static,
    {
        let made = make::tool_with_schema(tool, handler, self.names);
        let made = self.note(made);
        self.tools.extend(made);
        self
    }

    /// A caller needs all these scopes to see and call the tool (AUTH-12).
    pub fn require_scopes<S: Into<String>>(
        mut self,
        tool: impl Into<String>,
        scopes: impl IntoIterator<Item = S>,
    ) -> Self {
        self.scopes.push((tool.into(), scopes.into_iter().map(Into::into).collect()));
        self
    }

    /// Adds a prompt. Its argument struct gives the prompt's arguments; all are strings (PRM-03).
    pub fn prompt<F, A, R, E>(
        self,
        name: impl Into<String>,
        description: impl Into<String>,
        handler: F,
    ) -> Self
    where
        F: AsyncFn(&Context<'_>, A) -> Result<R, E> + Send + Sync + 'static,
        A: DeserializeOwned + JsonSchema + 'static,
        R: PromptOutput + 'static,
        E: Into<HandlerError> + 'static,
    {
        self.prompt_with(Prompt::new(name).description(description), handler)
    }

    /// Adds a prompt with a definition of its own; arguments that it does not list are derived.
    pub fn prompt_with<F, A, R, E>(mut self, prompt: Prompt, handler: F) -> Self
    where
        F: AsyncFn(&Context<'_>, A) -> Result<R, E> + Send + Sync + 'static,
        A: DeserializeOwned + JsonSchema + 'static,
        R: PromptOutput + 'static,
        E: Into<HandlerError> + 'static,
    {
        let made = make::prompt(prompt, handler, Completers::new(), self.names);
        let made = self.note(made);
        self.prompts.extend(made);
        self
    }

    /// Adds a resource under one URI.
    pub fn resource<F, R, E>(self, resource: Resource, handler: F) -> Self
    where
        F: AsyncFn(&Context<'_>) -> Result<R, E> + Send + Sync + 'static,
        R: ResourceOutput + 'static,
        E: Into<HandlerError> + 'static,
    {
        self.resource_cached(resource, CacheHint::default(), handler)
    }

    /// Adds a resource whose contents may be cached (CCH-03).
    pub fn resource_cached<F, R, E>(
        mut self,
        resource: Resource,
        cache: CacheHint,
        handler: F,
    ) -> Self
    where
        F: AsyncFn(&Context<'_>) -> Result<R, E> + Send + Sync + 'static,
        R: ResourceOutput + 'static,
        E: Into<HandlerError> + 'static,
    {
        let made = make::resource(resource, handler, cache);
        let made = self.note(made);
        self.resources.extend(made);
        self
    }

    /// Adds a family of resources. The handler's second argument is filled from the template's variables.
    pub fn resource_template<F, V, R, E>(mut self, template: ResourceTemplate, handler: F) -> Self
    where
        F: AsyncFn(&Context<'_>, V) -> Result<R, E> + Send + Sync + 'static,
        V: DeserializeOwned + 'static,
        R: ResourceOutput + 'static,
        E: Into<HandlerError> + 'static,
    {
        let made = make::template(template, handler, CacheHint::default(), Completers::new());
        let made = self.note(made);
        self.templates.extend(made);
        self
    }

    /// Suggests values for an argument of a prompt.
    pub fn complete_prompt<F, R, E>(
        mut self,
        prompt: impl Into<String>,
        argument: impl Into<String>,
        handler: F,
    ) -> Self
    where
        F: AsyncFn(&Context<'_>, Completion<'_>) -> Result<R, E> + Send + Sync + 'static,
        R: Into<Completions> + 'static,
        E: Into<HandlerError> + 'static,
    {
        let handler = Arc::new(handler::completer(handler));
        self.completers.push((Reference::Prompt(prompt.into()), argument.into(), handler));
        self
    }

    /// Suggests values for a variable of a resource template.
    pub fn complete_template<F, R, E>(
        mut self,
        uri_template: impl Into<String>,
        variable: impl Into<String>,
        handler: F,
    ) -> Self
    where
        F: AsyncFn(&Context<'_>, Completion<'_>) -> Result<R, E> + Send + Sync + 'static,
        R: Into<Completions> + 'static,
        E: Into<HandlerError> + 'static,
    {
        let handler = Arc::new(handler::completer(handler));
        self.completers.push((Reference::Template(uri_template.into()), variable.into(), handler));
        self
    }

    /// Serves a method of an extension. With `extension` set, the client must declare it (DSC-10).
    pub fn method<F, P, R, E>(
        mut self,
        name: impl Into<String>,
        extension: Option<&str>,
        handler: F,
    ) -> Self
    where
        F: AsyncFn(&Context<'_>, P) -> Result<R, E> + Send + Sync + 'static,
        P: DeserializeOwned + 'static,
        R: Serialize + 'static,
        E: Into<HandlerError> + 'static,
    {
        let name = name.into();
        let taken = transport::mcp::method::Method::from_name(&name).is_some();
        if taken || self.methods.contains_key(&name) {
            self.blame(format!("method {name:?} is served already"));
            return self;
        }
        let handler = Box::new(handler::method(handler));
        let extension = extension.map(str::to_owned);
        self.methods.insert(name, CustomMethod { handler, extension });
        self
    }

    /// Advertises an extension with its settings; the identifier needs a prefix (ENV-15).
    pub fn extension(mut self, id: impl Into<String>, settings: Map<String, Value>) -> Self {
        let id = id.into();
        match codec::meta_key::check_extension_id(&id) {
            Ok(()) => {
                self.extensions.insert(id, Value::Object(settings));
            }
            Err(fault) => self.blame(format!("extension {id:?}: {fault}")),
        }
        self
    }

    /// Lets subscriptions ask for an extension's news by a filter field (SUB-23).
    pub fn subscription_field(mut self, field: ExtensionField) -> Self {
        self.fields.push(field);
        self
    }
}
