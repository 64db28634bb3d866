//! One server as all its cores share it: what it offers, its keys, its hooks and its settings. Immutable but for the
//! registry, whose snapshots are swapped whole.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use codec::cursor::Cursors;
use serde_json::{Map, Value};
use transport::mcp::ladder::Surface;
use transport::mcp::method::{Method, Needs};
use transport::mcp::origin;

use crate::LegacyMode;
use crate::engine::mailbox::Mailbox;
use crate::handler::{CacheHint, Handler};
use crate::hooks::Hooks;
use crate::hub::{Exchange, Supported};
use crate::limits::Limits;
use crate::notifier::Notifier;
use crate::offload::Pools;
use crate::registry::{Names, Registry, Snapshot};
use crate::state::States;

/// When an answer is an event stream (SSE-01).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResponseMode {
    /// JSON, unless the handler reports progress or logs before it answers.
    #[default]
    Auto,
    /// Always JSON; progress and log messages are dropped. Subscriptions still stream.
    Json,
    /// Always an event stream.
    Sse,
}

/// Where the server's caching hints come from, after the handler and the entry (CCH-03).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CacheHints {
    pub(crate) discover: CacheHint,
    pub(crate) lists: CacheHint,
    pub(crate) reads: CacheHint,
}

/// A custom method of an extension.
pub(crate) struct CustomMethod {
    pub(crate) handler: Box<dyn Handler>,
    /// The extension that the client must declare, if any (DSC-10).
    pub(crate) extension: Option<String>,
}

/// The shared half of a running server.
pub(crate) struct App {
    /// The server's name and version as JSON.
    pub(crate) info_json: Box<str>,
    /// The same as a member of `_meta`, as results carry it (ENV-09).
    pub(crate) info_member: Box<str>,
    pub(crate) instructions: Option<String>,
    pub(crate) limits: Limits,
    pub(crate) registry: Arc<Registry>,
    /// How names are judged that break the rules.
    pub(crate) names: Names,
    pub(crate) methods: HashMap<String, CustomMethod>,
    pub(crate) extensions: Map<String, Value>,
    pub(crate) hooks: Hooks,
    pub(crate) states: States,
    pub(crate) cursors: Cursors,
    pub(crate) page_size: Option<usize>,
    pub(crate) cache: CacheHints,
    pub(crate) mode: ResponseMode,
    /// Whether log messages may be sent (LOG-02).
    pub(crate) logging: bool,
    /// Whether results carry the server's name (ENV-09).
    pub(crate) stamp_info: bool,
    /// Kinds of change that are announced (SUB-21).
    pub(crate) announces: Supported,
    pub(crate) path: String,
    pub(crate) guard: origin::Guard,
    pub(crate) notifier: Notifier,
    pub(crate) exchange: Arc<Exchange>,
    pub(crate) offload: Pools,
    /// How the 2025 era is served.
    pub(crate) legacy: LegacyMode,
    /// The mailboxes of the cores, by their numbers, once they run: a session's messages find their core by it.
    pub(crate) cores: OnceLock<Arc<[Mailbox<App>]>>,
}

/// The ladder's view: one request sees one snapshot.
pub(crate) struct AppSurface<'a> {
    pub(crate) app: &'a App,
    pub(crate) snapshot: &'a Snapshot,
}

impl Surface for AppSurface<'_> {
    fn versions(&self) -> &[&str] {
        codec::meta::SUPPORTED
    }

    fn serves(&self, method: &str) -> bool {
        match Method::from_name(method) {
            Some(method) => serves(self.snapshot, method.row().needs),
            None => self.app.methods.contains_key(method),
        }
    }
}

fn serves(snapshot: &Snapshot, needs: Needs) -> bool {
    match needs {
        Needs::Nothing => true,
        Needs::Tools => snapshot.serves.tools,
        Needs::Prompts => snapshot.serves.prompts,
        Needs::Resources => snapshot.serves.resources,
        Needs::Completions => snapshot.serves.completions,
    }
}

impl App {
    /// What is announced of what exists: the ack of a listen lists no more (SUB-05).
    pub(crate) fn supported(&self, snapshot: &Snapshot) -> Supported {
        Supported {
            tools: self.announces.tools && snapshot.serves.tools,
            prompts: self.announces.prompts && snapshot.serves.prompts,
            resources: self.announces.resources && snapshot.serves.resources,
            subscribe: self.announces.subscribe && snapshot.serves.resources,
        }
    }
}
