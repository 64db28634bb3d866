//! What the described server presents itself and behaves: names, limits, caching, streams, announcements.

use codec::types::Icon;

use super::Builder;
use crate::app::ResponseMode;
use crate::handler::CacheHint;
use crate::hub::Supported;
use crate::legacy::LegacyMode;
use crate::limits::Limits;
use crate::registry::Names;

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

    /// How clients of the 2025 era are served.
    pub fn legacy(mut self, mode: LegacyMode) -> Self {
        self.legacy = mode;
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
