//! The description of a server, before it is bound. Every call adds or sets one thing; what is wrong is reported when
//! the server is built, with the name of what was registered and the reason.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use codec::state::Protection;
use codec::types::{Icon, Implementation, Prompt, Resource, ResourceTemplate, Tool};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::make;
use super::start::Bound;
use crate::app::{CacheHints, CustomMethod, ResponseMode};
use crate::context::Context;
use crate::engine::driver::Driver;
use crate::error::{Error, HandlerError, ToolError};
use crate::handler::{self, CacheHint, Completion, Completions, Handler, PromptOutput};
use crate::handler::{ResourceOutput, ToolOutput};
use crate::hooks::{Answered, Denied, Hooks, Observed, Principal, RequestHead};
use crate::hub::{Bus, ExtensionField, Matcher, Supported};
use crate::in_process::InProcess;
use crate::limits::Limits;
use crate::registry::{
    Completers, Names, PromptEntry, RegistrationError, ResourceEntry, TemplateEntry, ToolEntry,
};
use crate::state::ReplayStore;

/// Describes a server: what it offers, how it is reached, what it refuses.
#[must_use = "a builder does nothing until it is bound and run"]
pub struct Builder {
    pub(super) info: Implementation,
    pub(super) instructions: Option<String>,
    pub(super) limits: Limits,
    pub(super) tools: Vec<ToolEntry>,
    pub(super) prompts: Vec<PromptEntry>,
    pub(super) resources: Vec<ResourceEntry>,
    pub(super) templates: Vec<TemplateEntry>,
    pub(super) completers: Vec<(Reference, String, Arc<dyn Handler>)>,
    pub(super) scopes: Vec<(String, Vec<String>)>,
    pub(super) methods: HashMap<String, CustomMethod>,
    pub(super) extensions: Map<String, Value>,
    pub(super) fields: Vec<ExtensionField>,
    pub(super) hooks: Hooks,
    pub(super) matcher: Option<Matcher>,
    pub(super) bus: Option<Arc<dyn Bus>>,
    pub(super) keys: Vec<(String, Vec<u8>)>,
    pub(super) protection: Protection,
    pub(super) state_ttl: Duration,
    pub(super) replay: Option<Arc<dyn ReplayStore>>,
    pub(super) page_size: Option<usize>,
    pub(super) cache: CacheHints,
    pub(super) mode: ResponseMode,
    pub(super) logging: bool,
    pub(super) stamp_info: bool,
    pub(super) announces: Supported,
    pub(super) names: Names,
    pub(super) path: String,
    pub(super) hosts: Vec<String>,
    pub(super) origins: Vec<String>,
    pub(super) workers: Option<usize>,
    pub(super) pin: bool,
    pub(super) driver: Driver,
    #[cfg(feature = "tokio")]
    pub(super) tokio: Option<tokio::runtime::Handle>,
    pub(super) fault: Option<Error>,
}

/// What a completer belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reference {
    Prompt(String),
    Template(String),
}

impl Builder {
    pub(super) fn new(name: String, version: String) -> Self {
        Self {
            info: Implementation::new(name, version),
            instructions: None,
            limits: Limits::default(),
            tools: Vec::new(),
            prompts: Vec::new(),
            resources: Vec::new(),
            templates: Vec::new(),
            completers: Vec::new(),
            scopes: Vec::new(),
            methods: HashMap::new(),
            extensions: Map::new(),
            fields: Vec::new(),
            hooks: Hooks::default(),
            matcher: None,
            bus: None,
            keys: Vec::new(),
            protection: Protection::SignedReadable,
            state_ttl: Duration::from_secs(codec::state::TTL_SECS),
            replay: None,
            page_size: None,
            cache: CacheHints::default(),
            mode: ResponseMode::Auto,
            logging: true,
            stamp_info: true,
            announces: Supported { tools: true, prompts: true, resources: true, subscribe: true },
            names: Names::Lenient,
            path: "/mcp".to_owned(),
            hosts: Vec::new(),
            origins: Vec::new(),
            workers: None,
            pin: false,
            driver: Driver::Auto,
            #[cfg(feature = "tokio")]
            tokio: None,
            fault: None,
        }
    }

    /// Keeps the first fault: it is what run and start report.
    fn note<T>(&mut self, made: Result<T, RegistrationError>) -> Option<T> {
        match made {
            Ok(made) => Some(made),
            Err(error) => {
                self.fault.get_or_insert(Error::Registration(error));
                None
            }
        }
    }

    fn blame(&mut self, text: String) {
        self.fault.get_or_insert(Error::Config(text));
    }
}

/// What the server offers.
impl Builder {
    /// Adds a tool. Its argument struct gives the input schema; doc comments become descriptions.
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

/// How the server presents itself and behaves.
impl Builder {
    /// A name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.info = self.info.title(title);
        self
    }

    /// What the server is for.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.info = self.info.description(description);
        self
    }

    /// The server's website.
    pub fn website_url(mut self, url: impl Into<String>) -> Self {
        self.info = self.info.website_url(url);
        self
    }

    /// An icon of the server.
    pub fn icon(mut self, icon: Icon) -> Self {
        self.info = self.info.icon(icon);
        self
    }

    /// How a model should use the server.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// The bounds of the server.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Items on one page of a list; without it everything is on one page (PAG-01).
    pub fn page_size(mut self, items: usize) -> Self {
        self.page_size = Some(items.max(1));
        self
    }

    /// How long lists may be cached (CCH-03). Lists that depend on the caller stay private.
    pub fn cache_lists(mut self, hint: CacheHint) -> Self {
        self.cache.lists = hint;
        self
    }

    /// How long the answer to `server/discover` may be cached.
    pub fn cache_discover(mut self, hint: CacheHint) -> Self {
        self.cache.discover = hint;
        self
    }

    /// How long resources may be cached that say nothing themselves.
    pub fn cache_reads(mut self, hint: CacheHint) -> Self {
        self.cache.reads = hint;
        self
    }

    /// When answers are event streams.
    pub fn response_mode(mut self, mode: ResponseMode) -> Self {
        self.mode = mode;
        self
    }

    /// Whether log messages may be sent to clients; off, the capability is not advertised (LOG-02).
    pub fn logging(mut self, on: bool) -> Self {
        self.logging = on;
        self
    }

    /// Whether results carry the server's name and version (ENV-09).
    pub fn stamp_server_info(mut self, on: bool) -> Self {
        self.stamp_info = on;
        self
    }

    /// Whether changes of the three lists are announced; off, `listChanged` is not advertised (SUB-21).
    pub fn announce_list_changes(mut self, tools: bool, prompts: bool, resources: bool) -> Self {
        self.announces = Supported { tools, prompts, resources, ..self.announces };
        self
    }

    /// Whether clients may subscribe to single resources.
    pub fn announce_resource_updates(mut self, on: bool) -> Self {
        self.announces.subscribe = on;
        self
    }

    /// Refuses names that break the rules for names instead of warning (TOOL-09). Set it before registering.
    pub fn strict_names(mut self) -> Self {
        self.names = Names::Strict;
        self
    }
}

/// Who may ask for what.
impl Builder {
    /// Sees the head of every request before its body is read; refuses it, or says who asks (ledger section 17).
    pub fn authenticate<F>(mut self, authenticator: F) -> Self
    where
        F: AsyncFn(&RequestHead<'_>) -> Result<Principal, Denied> + Send + Sync + 'static,
    {
        self.hooks.authenticator = Some(Box::new(authenticator));
        self
    }

    /// Sees every request that is well formed before its handler runs, and may refuse it: access control, rate limits
    /// (CALL-13, SEC-03). Guards run in the order they were added, on the core: keep them short.
    pub fn guard(
        mut self,
        guard: impl Fn(&Observed<'_>) -> Result<(), Denied> + Send + Sync + 'static,
    ) -> Self {
        self.hooks.guards.push(Box::new(guard));
        self
    }

    /// Sees every answer. Runs on the core: keep it short.
    pub fn observe(mut self, observer: impl Fn(&Answered<'_>) + Send + Sync + 'static) -> Self {
        self.hooks.observers.push(Box::new(observer));
        self
    }

    /// Whether a caller may hear of updates of a resource, or of an extension's key; asked when a subscription opens
    /// and again at every delivery (SUB-10).
    pub fn may_watch(
        mut self,
        rule: impl Fn(Option<&Principal>, &str) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.hooks.may_watch = Some(Arc::new(rule));
        self
    }

    /// Widens which updates a subscribed URI hears of: `(subscribed, updated) -> bool` (SUB-09).
    pub fn match_resources(
        mut self,
        matcher: impl Fn(&str, &str) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.matcher = Some(Arc::new(matcher));
        self
    }

    /// Carries events between servers that share it (SUB-19). In process by default.
    pub fn bus(mut self, bus: Arc<dyn Bus>) -> Self {
        self.bus = Some(bus);
        self
    }

    /// The secret that seals cursors and request states: at least 32 bytes, the same on every replica. The first key
    /// seals, further ones only verify: rotate by adding the new one in front (RS-06). Without any, each start draws a
    /// random key, and what was sealed before it is refused (RS-09).
    pub fn state_key(mut self, id: impl Into<String>, secret: impl Into<Vec<u8>>) -> Self {
        self.keys.push((id.into(), secret.into()));
        self
    }

    /// Encrypts request states instead of only signing them (RS-06, RS-10).
    pub fn encrypt_state(mut self) -> Self {
        self.protection = Protection::Encrypted;
        self
    }

    /// How long a request state stays valid; 600 s by default (RS-04).
    pub fn state_ttl(mut self, ttl: Duration) -> Self {
        self.state_ttl = ttl;
        self
    }

    /// Allows each request state only once (RS-05).
    pub fn one_shot_state(mut self, store: Arc<dyn ReplayStore>) -> Self {
        self.replay = Some(store);
        self
    }

    /// `Host` values that are answered, such as `mcp.example.com`; `*` allows all. By default a loopback address
    /// answers loopback names only, any other address answers all (HTTP-03, D-43).
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        self.hosts.push(host.into());
        self
    }

    /// `Origin` values that may call, such as `https://app.example.com`; `*` allows all. By default a loopback address
    /// allows loopback origins, any other address none (HTTP-02).
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        self.origins.push(origin.into());
        self
    }
}

/// Where and how it runs.
impl Builder {
    /// The endpoint's path, `/mcp` by default; compared exactly (HTTP-23).
    pub fn path(mut self, path: impl Into<String>) -> Self {
        let path = path.into();
        if path.starts_with('/') && !path.contains(['?', '#', ' ']) {
            self.path = path;
        } else {
            self.blame(format!("path {path:?}: must start with / and hold no ?, # or blank"));
        }
        self
    }

    /// Worker threads, each with a core of its own; as many as the process may use by default.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers.max(1));
        self
    }

    /// Pins each worker to a CPU.
    pub fn pin(mut self, on: bool) -> Self {
        self.pin = on;
        self
    }

    /// io_uring or epoll; io_uring where the kernel allows it by default.
    pub fn driver(mut self, driver: Driver) -> Self {
        self.driver = driver;
        self
    }

    /// The tokio runtime that [`Context::on_tokio`] uses; without it one is started at the first use.
    #[cfg(feature = "tokio")]
    pub fn tokio(mut self, handle: tokio::runtime::Handle) -> Self {
        self.tokio = Some(handle);
        self
    }

    /// The whole server on the calling thread, without a socket: for tests. Its path is the builder's.
    ///
    /// # Errors
    /// As for [`Bound::start`], but for the machine's part.
    pub fn in_process(self) -> Result<InProcess, Error> {
        super::start::in_process(self)
    }

    /// The address to listen on, such as `127.0.0.1:8080`; port 0 takes a free one.
    pub fn bind(self, address: impl Into<String>) -> Bound {
        Bound { builder: self, address: address.into() }
    }
}
