//! One change, as it travels from whoever made it to every core that cares, and between replicas.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::topic::Topic;

/// Something changed. Cheap to clone; carries no more than what a subscriber is told.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The set of tools, prompts or resources changed.
    ListChanged(Topic),
    /// The resource with this URI changed.
    ResourceUpdated(Arc<str>),
    /// An extension's news for one key of its filter field. LEDGER SUB-23.
    Extension {
        /// The filter field, as registered.
        field: Arc<str>,
        /// The key within the field's list, for example a task id.
        key: Arc<str>,
        /// What is told; the newest wins when several are pending for one reader.
        payload: Payload,
    },
}

impl Event {
    /// The event as one JSON object, for a bus that carries bytes between replicas.
    pub fn to_json(&self) -> String {
        match self {
            Event::ListChanged(topic) => json!({ "listChanged": topic.field() }),
            Event::ResourceUpdated(uri) => json!({ "resourceUpdated": &**uri }),
            Event::Extension { field, key, payload } => {
                json!({ "field": &**field, "key": &**key, "params": payload.to_value() })
            }
        }
        .to_string()
    }

    /// Reads what [`Event::to_json`] wrote; `None` when the text is anything else (another program on the
    /// same channel, a newer replica), which a bus should skip.
    pub fn from_json(text: &str) -> Option<Event> {
        let value: Value = serde_json::from_str(text).ok()?;
        if let Some(name) = value.get("listChanged").and_then(Value::as_str) {
            let topic = Topic::ALL.into_iter().find(|topic| topic.field() == name)?;
            return Some(Event::ListChanged(topic));
        }
        if let Some(uri) = value.get("resourceUpdated").and_then(Value::as_str) {
            return Some(Event::ResourceUpdated(uri.into()));
        }
        Some(Event::Extension {
            field: value.get("field")?.as_str()?.into(),
            key: value.get("key")?.as_str()?.into(),
            payload: Payload::new(value.get("params")?.as_object()?),
        })
    }
}

/// The members of an extension notification's `params`, serialised once and spliced into every reader's frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    // Each member with a comma before it, so that it follows `_meta` as it stands: `,"a":1,"b":2`.
    members: Arc<str>,
}

impl Payload {
    /// Serialises the members. A `_meta` among them is left out: that place belongs to the subscription's tag
    /// (LEDGER SUB-04).
    pub fn new(params: &Map<String, Value>) -> Payload {
        let mut members = String::new();
        for (name, value) in params.iter().filter(|(name, _)| *name != "_meta") {
            members.push(',');
            members.push_str(&Value::from(name.as_str()).to_string());
            members.push(':');
            members.push_str(&value.to_string());
        }
        Payload { members: members.into() }
    }

    pub(crate) fn members(&self) -> &str {
        &self.members
    }

    fn to_value(&self) -> Value {
        let text = format!("{{{}}}", self.members.strip_prefix(',').unwrap_or(""));
        serde_json::from_str(&text).unwrap_or(Value::Null)
    }
}
