//! Changes to what a running server offers.

use std::sync::Arc;

use codec::types::{Prompt, Resource, ResourceTemplate, Tool};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::make;
use crate::context::Context;
use crate::error::{HandlerError, ToolError};
use crate::handler::{CacheHint, PromptOutput, ResourceOutput, ToolOutput};
use crate::registry::{Completers, Draft, Names, RegistrationError, Registry};

/// Adds, updates, hides and removes tools, prompts and resources while the server runs, from any thread.
///
/// Requests that have begun finish on what they began with. Subscribers hear of every change that a client could see
/// (SUB-20, TOOL-14). One change copies the lists it touches: join many in one program step rather than a loop.
#[derive(Clone)]
pub struct Registrations {
    registry: Arc<Registry>,
    names: Names,
}

/// How many of each kind clients are offered at one moment; hidden ones do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Offer {
    /// Tools.
    pub tools: usize,
    /// Prompts.
    pub prompts: usize,
    /// Resources.
    pub resources: usize,
    /// Resource templates.
    pub templates: usize,
}

type Done = Result<(), RegistrationError>;

impl Registrations {
    pub(crate) fn new(registry: Arc<Registry>, names: Names) -> Self {
        Self { registry, names }
    }

    fn edit(&self, change: impl FnOnce(&mut Draft) -> Done) -> Done {
        self.registry.edit(change).map(|_| ())
    }

    /// How much the server offers now, all scopes taken together.
    #[must_use]
    pub fn offer(&self) -> Offer {
        let now = self.registry.snapshot();
        Offer {
            tools: now.tools.iter().count(),
            prompts: now.prompts.iter().count(),
            resources: now.resources.iter().count(),
            templates: now.templates.iter().count(),
        }
    }

    /// Adds a tool; see [`Builder::tool_with`](super::Builder::tool_with).
    ///
    /// # Errors
    /// Names the tool and the reason.
    pub fn add_tool<F, A, R, E>(&self, tool: Tool, handler: F) -> Done
    where
        F: AsyncFn(&Context<'_>, A) -> Result<R, E> + Send + Sync + 'static,
        A: DeserializeOwned + JsonSchema + 'static,
        R: ToolOutput + 'static,
        E: Into<ToolError> + 'static,
    {
        let entry = make::tool(tool, handler, self.names)?;
        self.edit(|draft| draft.tools.add(entry))
    }

    /// Adds a tool with a schema of its own; see [`Builder::tool_raw`](super::Builder::tool_raw).
    ///
    /// # Errors
    /// Names the tool and the reason.
    pub fn add_tool_raw<F, A, R, E>(&self, tool: Tool, handler: F) -> Done
    where
        F: AsyncFn(&Context<'_>, A) -> Result<R, E> + Send + Sync + 'static,
        A: DeserializeOwned + 'static,
        R: ToolOutput + 'static,
        E: Into<ToolError> + 'static,
    {
        let entry = make::tool_with_schema(tool, handler, self.names)?;
        self.edit(|draft| draft.tools.add(entry))
    }

    /// Replaces the tool of the same name, in its place in the list; the scopes it asks for stay (AUTH-12).
    ///
    /// # Errors
    /// There is no such tool, or the definition is wrong.
    pub fn update_tool<F, A, R, E>(&self, tool: Tool, handler: F) -> Done
    where
        F: AsyncFn(&Context<'_>, A) -> Result<R, E> + Send + Sync + 'static,
        A: DeserializeOwned + JsonSchema + 'static,
        R: ToolOutput + 'static,
        E: Into<ToolError> + 'static,
    {
        let mut entry = make::tool(tool, handler, self.names)?;
        self.edit(|draft| {
            if let Some(old) = draft.tools.get(&entry.def.name) {
                entry.scopes.clone_from(&old.scopes);
            }
            draft.tools.update(entry)
        })
    }

    /// Shows or hides a tool: hidden, it answers like an unknown one (CALL-02).
    ///
    /// # Errors
    /// There is no such tool.
    pub fn set_tool_enabled(&self, name: &str, enabled: bool) -> Done {
        self.edit(|draft| draft.tools.set_enabled(name, enabled))
    }

    /// A caller needs all these scopes, and no others, to see and call the tool from now on (AUTH-12).
    ///
    /// # Errors
    /// There is no such tool.
    pub fn require_scopes<S: Into<String>>(
        &self,
        tool: &str,
        scopes: impl IntoIterator<Item = S>,
    ) -> Done {
        let scopes = scopes.into_iter().map(Into::into).collect();
        self.edit(|draft| draft.tools.change(tool, |entry| entry.scopes = scopes))
    }

    /// Removes a tool.
    ///
    /// # Errors
    /// There is no such tool.
    pub fn remove_tool(&self, name: &str) -> Done {
        self.edit(|draft| draft.tools.remove(name).map(|_| ()))
    }

    /// Adds a prompt; see [`Builder::prompt_with`](super::Builder::prompt_with).
    ///
    /// # Errors
    /// Names the prompt and the reason.
    pub fn add_prompt<F, A, R, E>(&self, prompt: Prompt, handler: F) -> Done
    where
        F: AsyncFn(&Context<'_>, A) -> Result<R, E> + Send + Sync + 'static,
        A: DeserializeOwned + JsonSchema + 'static,
        R: PromptOutput + 'static,
        E: Into<HandlerError> + 'static,
    {
        let entry = make::prompt(prompt, handler, Completers::new(), self.names)?;
        self.edit(|draft| draft.prompts.add(entry))
    }

    /// Shows or hides a prompt.
    ///
    /// # Errors
    /// There is no such prompt.
    pub fn set_prompt_enabled(&self, name: &str, enabled: bool) -> Done {
        self.edit(|draft| draft.prompts.set_enabled(name, enabled))
    }

    /// Removes a prompt.
    ///
    /// # Errors
    /// There is no such prompt.
    pub fn remove_prompt(&self, name: &str) -> Done {
        self.edit(|draft| draft.prompts.remove(name).map(|_| ()))
    }

    /// Adds a resource; see [`Builder::resource`](super::Builder::resource).
    ///
    /// # Errors
    /// Names the resource and the reason.
    pub fn add_resource<F, R, E>(&self, resource: Resource, handler: F) -> Done
    where
        F: AsyncFn(&Context<'_>) -> Result<R, E> + Send + Sync + 'static,
        R: ResourceOutput + 'static,
        E: Into<HandlerError> + 'static,
    {
        let entry = make::resource(resource, handler, CacheHint::default())?;
        self.edit(|draft| draft.resources.add(entry))
    }

    /// Shows or hides a resource.
    ///
    /// # Errors
    /// There is no such resource.
    pub fn set_resource_enabled(&self, uri: &str, enabled: bool) -> Done {
        self.edit(|draft| draft.resources.set_enabled(uri, enabled))
    }

    /// Removes a resource.
    ///
    /// # Errors
    /// There is no such resource.
    pub fn remove_resource(&self, uri: &str) -> Done {
        self.edit(|draft| draft.resources.remove(uri).map(|_| ()))
    }

    /// Adds a resource template; see [`Builder::resource_template`](super::Builder::resource_template).
    ///
    /// # Errors
    /// Names the template and the reason.
    pub fn add_resource_template<F, V, R, E>(&self, template: ResourceTemplate, handler: F) -> Done
    where
        F: AsyncFn(&Context<'_>, V) -> Result<R, E> + Send + Sync + 'static,
        V: DeserializeOwned + 'static,
        R: ResourceOutput + 'static,
        E: Into<HandlerError> + 'static,
    {
        let entry = make::template(template, handler, CacheHint::default(), Completers::new())?;
        self.edit(|draft| draft.templates.add(entry))
    }

    /// Removes a resource template, by its text.
    ///
    /// # Errors
    /// There is no such template.
    pub fn remove_resource_template(&self, uri_template: &str) -> Done {
        self.edit(|draft| draft.templates.remove(uri_template).map(|_| ()))
    }
}
