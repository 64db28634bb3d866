//! The filter of one listen: what the client asked for, then what of it will be delivered. Ledger section 5.

use std::collections::HashSet;
use std::rc::Rc;

use codec::{Object, Value};

use super::topic::{Kind, Kinds, Topic, Topics};
use crate::engine::guard;

/// Strings in one list of a filter. LEDGER SUB-17.
pub(crate) const KEYS_PER_LISTEN_MAX: usize = 1000;
/// Bytes of one URI, or of one key of an extension's field.
pub(crate) const KEY_BYTES_MAX: usize = 8 * 1024;

/// What the server really emits (LEDGER SUB-05, SUB-21): `listChanged` of the three lists, `subscribe` of
/// resources. Extension fields count as supported once registered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Supported {
    pub(crate) tools: bool,
    pub(crate) prompts: bool,
    pub(crate) resources: bool,
    pub(crate) subscribe: bool,
}

/// The bounds of a filter; both are counted in the client's own list, duplicates included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FilterLimits {
    pub(crate) keys_max: usize,
    pub(crate) key_bytes_max: usize,
}

impl Default for FilterLimits {
    fn default() -> FilterLimits {
        FilterLimits { keys_max: KEYS_PER_LISTEN_MAX, key_bytes_max: KEY_BYTES_MAX }
    }
}

/// What an authorisation question is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject<'a> {
    /// May the opener hear of this resource?
    Resource(&'a str),
    /// May the opener hear of this key of an extension's filter field?
    Extension {
        /// The filter field, for example `taskIds`.
        field: &'a str,
        /// One string of its list.
        key: &'a str,
    },
}

/// Answers for one opener, whose principal it has captured; asked at open and again at every delivery
/// (LEDGER SUB-10). A panic in it is a refusal.
pub(crate) type Access = Rc<dyn Fn(Subject<'_>) -> bool>;

/// Asks; without a predicate everything is allowed.
pub(crate) fn allowed(access: Option<&Access>, subject: Subject<'_>) -> bool {
    let Some(access) = access else { return true };
    guard::catch(|| access(subject)).unwrap_or_else(|panic| {
        tracing::warn!(%panic, "the authorisation predicate of a subscription panicked: refused");
        false
    })
}

/// Topics and keys: as requested after [`Filter::parse`], as honoured after [`Filter::honoured`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    pub(crate) topics: Topics,
    /// In the client's order, each once.
    pub(crate) keys: Vec<(Kind, Box<str>)>,
}

/// Why a filter was refused: the text of the `-32602` answer, naming the field. LEDGER SUB-01.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FilterFault(pub(crate) String);

impl Filter {
    /// Reads `params` of a listen. Unknown members are ignored, a known one of another type is a fault.
    pub(crate) fn parse(
        params: Option<Object<'_>>,
        kinds: &Kinds,
        limits: FilterLimits,
    ) -> Result<Filter, FilterFault> {
        let asked = params
            .and_then(|params| params.get("notifications"))
            .ok_or_else(|| FilterFault("notifications: required".to_owned()))?
            .as_object()
            .ok_or_else(|| FilterFault("notifications: expected an object".to_owned()))?;
        let mut filter = Filter::default();
        for topic in Topic::ALL {
            let Some(value) = asked.get(topic.field()) else { continue };
            match value.as_bool() {
                Some(true) => filter.topics = filter.topics.with(topic),
                Some(false) => {}
                None => return Err(fault(topic.field(), "expected a boolean")),
            }
        }
        for kind in kinds.iter() {
            if let Some(value) = asked.get(kinds.field(kind)) {
                filter.read_keys(kind, kinds.field(kind), value, limits)?;
            }
        }
        Ok(filter)
    }

    fn read_keys(
        &mut self,
        kind: Kind,
        field: &str,
        value: Value<'_>,
        limits: FilterLimits,
    ) -> Result<(), FilterFault> {
        let list = value.as_array().ok_or_else(|| fault(field, "expected an array of strings"))?;
        if list.len() > limits.keys_max {
            return Err(fault(field, &format!("more than {} entries", limits.keys_max)));
        }
        let mut seen = HashSet::with_capacity(list.len());
        for item in list.iter() {
            let key = item.as_str().ok_or_else(|| fault(field, "expected an array of strings"))?;
            if key.len() > limits.key_bytes_max {
                let text = format!("an entry is longer than {} bytes", limits.key_bytes_max);
                return Err(fault(field, &text));
            }
            if seen.insert(key) {
                self.keys.push((kind, key.into()));
            }
        }
        Ok(())
    }

    /// What will be delivered: requested, supported, and allowed to this opener. LEDGER SUB-05, SUB-10.
    pub(crate) fn honoured(
        mut self,
        supported: Supported,
        kinds: &Kinds,
        access: Option<&Access>,
    ) -> Filter {
        for (topic, emitted) in [
            (Topic::ToolsListChanged, supported.tools),
            (Topic::PromptsListChanged, supported.prompts),
            (Topic::ResourcesListChanged, supported.resources),
        ] {
            if !emitted {
                self.topics = self.topics.without(topic);
            }
        }
        self.keys.retain(|(kind, key)| {
            (*kind != Kind::RESOURCE || supported.subscribe)
                && allowed(access, subject(kinds, *kind, key))
        });
        self
    }
}

/// The subject of a key.
pub(crate) fn subject<'a>(kinds: &'a Kinds, kind: Kind, key: &'a str) -> Subject<'a> {
    if kind == Kind::RESOURCE {
        Subject::Resource(key)
    } else {
        Subject::Extension { field: kinds.field(kind), key }
    }
}

fn fault(field: &str, problem: &str) -> FilterFault {
    FilterFault(format!("notifications.{field}: {problem}"))
}
