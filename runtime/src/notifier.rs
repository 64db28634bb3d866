//! The handle through which an application says that something changed.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::hub::{Bus, Event, Payload, Topic};

/// Tells subscribers that something changed. Clone it and call it from any thread, inside handlers or out.
///
/// Every call returns at once, whatever the readers do, and cannot fail: what a reader has not taken yet is
/// remembered as "changed", once per changed thing, so a burst of a thousand calls may reach it as one
/// notification, and the last change is always followed by one (LEDGER SSE-11, SUB-19, SUB-20). Only
/// subscribers that asked for the thing hear of it; with none, a call costs one load per core.
///
/// Adding or removing a tool, prompt or resource at run time notifies by itself; these calls are for changes that
/// the registry cannot see.
#[derive(Clone)]
pub struct Notifier {
    bus: Arc<dyn Bus>,
}

impl Notifier {
    pub(crate) fn new(bus: Arc<dyn Bus>) -> Notifier {
        Notifier { bus }
    }

    /// The set of tools changed: `notifications/tools/list_changed`.
    pub fn tools_changed(&self) {
        self.list_changed(Topic::ToolsListChanged);
    }

    /// The set of prompts changed: `notifications/prompts/list_changed`.
    pub fn prompts_changed(&self) {
        self.list_changed(Topic::PromptsListChanged);
    }

    /// The set of resources or templates changed: `notifications/resources/list_changed`.
    pub fn resources_changed(&self) {
        self.list_changed(Topic::ResourcesListChanged);
    }

    /// The content of one resource changed: `notifications/resources/updated` to those that subscribed to this
    /// URI, compared byte for byte unless the server has a matcher (LEDGER SUB-08, SUB-09). The URI needs not
    /// be registered.
    pub fn resource_updated(&self, uri: &str) {
        self.bus.publish(&Event::ResourceUpdated(uri.into()));
    }

    /// News of an extension for one key of its filter field (LEDGER SUB-23), for example a task's new state for
    /// its id. `params` are the notification's, without `_meta`. Of several that wait for one reader it gets
    /// the newest. A field that was not registered has no subscribers.
    pub fn extension(&self, field: &str, key: &str, params: &Map<String, Value>) {
        self.bus.publish(&Event::Extension {
            field: field.into(),
            key: key.into(),
            payload: Payload::new(params),
        });
    }

    fn list_changed(&self, topic: Topic) {
        self.bus.publish(&Event::ListChanged(topic));
    }
}

impl std::fmt::Debug for Notifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Notifier").finish_non_exhaustive()
    }
}
