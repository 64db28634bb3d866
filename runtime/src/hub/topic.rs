//! What a subscriber may ask to hear about: the three list topics of the protocol, resource URIs, and the
//! fields that extensions add to the filter. No state here.

use std::sync::Arc;

/// A list whose change a subscriber may follow. LEDGER SUB-07.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(clippy::enum_variant_names, reason = "they are the names of the protocol's filter fields")]
pub enum Topic {
    /// `notifications/tools/list_changed`
    ToolsListChanged,
    /// `notifications/prompts/list_changed`
    PromptsListChanged,
    /// `notifications/resources/list_changed`
    ResourcesListChanged,
}

/// How many topics there are.
pub(crate) const TOPICS: usize = Topic::ALL.len();

impl Topic {
    /// Every topic, in the order of the filter's fields.
    pub const ALL: [Topic; 3] =
        [Topic::ToolsListChanged, Topic::PromptsListChanged, Topic::ResourcesListChanged];

    /// The member of `params.notifications` that asks for it.
    pub const fn field(self) -> &'static str {
        match self {
            Topic::ToolsListChanged => "toolsListChanged",
            Topic::PromptsListChanged => "promptsListChanged",
            Topic::ResourcesListChanged => "resourcesListChanged",
        }
    }

    /// The notification that tells of it.
    pub const fn method(self) -> &'static str {
        match self {
            Topic::ToolsListChanged => "notifications/tools/list_changed",
            Topic::PromptsListChanged => "notifications/prompts/list_changed",
            Topic::ResourcesListChanged => "notifications/resources/list_changed",
        }
    }
}

/// A set of topics in one byte: the dirty bits of a stream, the interest of a core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Topics(pub(crate) u8);

impl Topics {
    pub(crate) const fn contains(self, topic: Topic) -> bool {
        self.0 & Topics::bit(topic) != 0
    }

    pub(crate) const fn with(self, topic: Topic) -> Topics {
        Topics(self.0 | Topics::bit(topic))
    }

    pub(crate) const fn without(self, topic: Topic) -> Topics {
        Topics(self.0 & !Topics::bit(topic))
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = Topic> {
        Topic::ALL.into_iter().filter(move |topic| self.contains(*topic))
    }

    pub(crate) const fn bit(topic: Topic) -> u8 {
        1 << topic as u8
    }
}

/// A filter field that an extension adds: a list of strings, each a key whose news is one notification
/// with a payload of the extension's own. LEDGER SUB-23; the tasks extension's `taskIds` is one (TSK-18).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtensionField {
    /// The member of `params.notifications`, for example `taskIds`.
    pub field: Arc<str>,
    /// The notification method, for example `notifications/tasks`.
    pub method: Arc<str>,
}

/// Which kind of key a string is: a resource URI, or a string of one of the registered extension fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Kind(u8);

impl Kind {
    pub(crate) const RESOURCE: Kind = Kind(0);

    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The kinds of keys of one server, settled at start-up.
#[derive(Debug, Default)]
pub(crate) struct Kinds {
    extensions: Vec<ExtensionField>,
}

/// Extension fields of one server. A small number keeps the scan by name cheaper than a map.
pub(crate) const EXTENSION_FIELDS_MAX: usize = 32;

/// The filter field of resource URIs.
pub(crate) const RESOURCE_FIELD: &str = "resourceSubscriptions";
/// The notification of one resource. LEDGER SUB-08.
pub(crate) const RESOURCE_METHOD: &str = "notifications/resources/updated";

impl Kinds {
    /// Registers an extension's field; a field of the protocol, a second one of the same name, and one beyond
    /// [`EXTENSION_FIELDS_MAX`] are refused with the reason.
    pub(crate) fn register(&mut self, extension: ExtensionField) -> Result<(), &'static str> {
        let field = &*extension.field;
        if field == RESOURCE_FIELD || Topic::ALL.iter().any(|topic| topic.field() == field) {
            return Err("the field belongs to the protocol");
        }
        if self.named(field).is_some() {
            return Err("the field is registered already");
        }
        if self.extensions.len() == EXTENSION_FIELDS_MAX {
            return Err("too many extension fields");
        }
        self.extensions.push(extension);
        Ok(())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Kind> {
        (0..=self.extensions.len() as u8).map(Kind)
    }

    /// The extension kind with this filter field.
    pub(crate) fn named(&self, field: &str) -> Option<Kind> {
        let at = self.extensions.iter().position(|extension| &*extension.field == field)?;
        Some(Kind(at as u8 + 1))
    }

    pub(crate) fn field(&self, kind: Kind) -> &str {
        self.extension(kind).map_or(RESOURCE_FIELD, |extension| &extension.field)
    }

    pub(crate) fn method(&self, kind: Kind) -> &str {
        self.extension(kind).map_or(RESOURCE_METHOD, |extension| &extension.method)
    }

    fn extension(&self, kind: Kind) -> Option<&ExtensionField> {
        self.extensions.get(kind.index().checked_sub(1)?)
    }
}
