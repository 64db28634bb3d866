//! Everything the server offers at one moment, immutable: a request works on one snapshot from start to end.

use std::borrow::Cow;
use std::sync::Arc;

use codec::uri::URI_BYTES_MAX;

use super::entry::{PromptEntry, ResourceEntry, TemplateEntry, ToolEntry};
use super::listing::Listing;
use super::{Changed, Draft};

/// One state of the registry.
pub(crate) struct Snapshot {
    /// Counts the snapshots of one registry, from 0.
    pub(crate) generation: u64,
    pub(crate) tools: Arc<Listing<ToolEntry>>,
    pub(crate) prompts: Arc<Listing<PromptEntry>>,
    pub(crate) resources: Arc<Listing<ResourceEntry>>,
    pub(crate) templates: Arc<Listing<TemplateEntry>>,
    pub(crate) serves: Serves,
    /// Some tool shows only to callers with its scopes.
    pub(crate) scoped: bool,
}

/// Which capabilities there is something behind (DSC-05). Once true, true for good: a client that saw a capability
/// may go on listing after the last entry was removed (TOOL-01, RES-01, PRM-01).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Serves {
    pub(crate) tools: bool,
    pub(crate) prompts: bool,
    /// Resources or templates.
    pub(crate) resources: bool,
    /// Some prompt argument or template variable has a completer (CMP-01).
    pub(crate) completions: bool,
}

/// What answers a URI.
pub(crate) enum ResourceMatch<'a> {
    /// A resource registered under exactly this URI.
    Exact(&'a Arc<ResourceEntry>),
    /// The first template that matches, with its variables percent-decoded once.
    Template(&'a Arc<TemplateEntry>, Vec<(&'a str, Cow<'a, str>)>),
}

impl Snapshot {
    pub(super) fn empty() -> Self {
        Snapshot {
            generation: 0,
            tools: Arc::new(Listing::new(std::iter::empty())),
            prompts: Arc::new(Listing::new(std::iter::empty())),
            resources: Arc::new(Listing::new(std::iter::empty())),
            templates: Arc::new(Listing::new(std::iter::empty())),
            serves: Serves::default(),
            scoped: false,
        }
    }

    /// The snapshot of `next`, where `self` is the one of `before`.
    pub(super) fn next(&self, before: &Draft, next: &Draft) -> Self {
        let tools = next.tools.listing(&before.tools, &self.tools);
        let scoped = tools.iter().any(|tool| !tool.scopes.is_empty());
        Snapshot {
            generation: self.generation + 1,
            scoped,
            tools,
            prompts: next.prompts.listing(&before.prompts, &self.prompts),
            resources: next.resources.listing(&before.resources, &self.resources),
            templates: next.templates.listing(&before.templates, &self.templates),
            serves: next.serves,
        }
    }

    /// Which lists a client would read differently in `other`: a new handler behind an unchanged definition is none of
    /// a client's business.
    pub(super) fn difference(&self, other: &Self) -> Changed {
        Changed {
            tools: self.tools.array() != other.tools.array(),
            prompts: self.prompts.array() != other.prompts.array(),
            resources: self.resources.array() != other.resources.array()
                || self.templates.array() != other.templates.array(),
        }
    }

    /// Who answers `uri`: an exact resource before any template, templates in registration order (RES-10).
    /// A URI longer than [`URI_BYTES_MAX`] names nothing.
    pub(crate) fn resource<'a>(&'a self, uri: &'a str) -> Option<ResourceMatch<'a>> {
        if uri.len() > URI_BYTES_MAX {
            return None;
        }
        if let Some(exact) = self.resources.get(uri) {
            return Some(ResourceMatch::Exact(exact));
        }
        self.templates.iter().find_map(|entry| {
            let variables = entry.template.match_uri(uri)?;
            Some(ResourceMatch::Template(entry, variables))
        })
    }
}
