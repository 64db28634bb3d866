//! The description of a server, before it is bound. Every call adds or sets one thing; what is wrong is reported when
//! the server is built, with the name of what was registered and the reason.

mod admits;
mod offers;
mod places;
mod presents;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use codec::state::Protection;
use codec::types::Implementation;
use serde_json::{Map, Value};

use crate::app::{CacheHints, CustomMethod, ResponseMode};
use crate::engine::driver::Driver;
use crate::error::Error;
use crate::handler::Handler;
use crate::hooks::Hooks;
use crate::hub::{Bus, ExtensionField, Matcher, Supported};
use crate::legacy::LegacyMode;
use crate::limits::Limits;
use crate::registry::{
    Names, PromptEntry, RegistrationError, ResourceEntry, TemplateEntry, ToolEntry,
};
use crate::state::ReplayStore;

/// Describes a server: what it offers, how it is reached, what it refuses.
#[must_use = "a builder does nothing until it is bound and run"]
pub struct Builder {
    pub(in crate::server) info: Implementation,
    pub(in crate::server) instructions: Option<String>,
    pub(in crate::server) limits: Limits,
    pub(in crate::server) tools: Vec<ToolEntry>,
    pub(in crate::server) prompts: Vec<PromptEntry>,
    pub(in crate::server) resources: Vec<ResourceEntry>,
    pub(in crate::server) templates: Vec<TemplateEntry>,
    pub(in crate::server) completers: Vec<(Reference, String, Arc<dyn Handler>)>,
    pub(in crate::server) scopes: Vec<(String, Vec<String>)>,
    pub(in crate::server) methods: HashMap<String, CustomMethod>,
    pub(in crate::server) extensions: Map<String, Value>,
    pub(in crate::server) fields: Vec<ExtensionField>,
    pub(in crate::server) hooks: Hooks,
    pub(in crate::server) matcher: Option<Matcher>,
    pub(in crate::server) bus: Option<Arc<dyn Bus>>,
    pub(in crate::server) keys: Vec<(String, Vec<u8>)>,
    pub(in crate::server) protection: Protection,
    pub(in crate::server) state_ttl: Duration,
    pub(in crate::server) replay: Option<Arc<dyn ReplayStore>>,
    pub(in crate::server) page_size: Option<usize>,
    pub(in crate::server) cache: CacheHints,
    pub(in crate::server) mode: ResponseMode,
    pub(in crate::server) legacy: LegacyMode,
    pub(in crate::server) logging: bool,
    pub(in crate::server) stamp_info: bool,
    pub(in crate::server) announces: Supported,
    pub(in crate::server) names: Names,
    pub(in crate::server) path: String,
    pub(in crate::server) hosts: Vec<String>,
    pub(in crate::server) origins: Vec<String>,
    pub(in crate::server) workers: Option<usize>,
    pub(in crate::server) pin: bool,
    pub(in crate::server) driver: Driver,
    #[cfg(feature = "tokio")]
    pub(in crate::server) tokio: Option<tokio::runtime::Handle>,
    pub(in crate::server) fault: Option<Error>,
}

/// What a completer belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::server) enum Reference {
    Prompt(String),
    Template(String),
}

impl Builder {
    pub(in crate::server) fn new(name: String, version: String) -> Self {
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
            legacy: LegacyMode::default(),
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
