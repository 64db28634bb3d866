//! What a client must have declared before a server may ask for it (ledger MR-10), and how a
//! missing declaration is reported (ERR-05).

use serde_json::{Map, Value as Json};

use crate::value::{Object, Value};

/// Something a request's `clientCapabilities` may declare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability<'a> {
    /// `elicitation`, empty or with `form`.
    ElicitationForm,
    /// `elicitation.url`.
    ElicitationUrl,
    /// `sampling`.
    Sampling,
    /// `sampling.tools`.
    SamplingTools,
    /// `sampling.context`.
    SamplingContext,
    /// `roots`.
    Roots,
    /// `extensions.<identifier>`.
    Extension(&'a str),
}

impl std::fmt::Display for Capability<'_> {
    /// As a path: `elicitation.form`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.path() {
            (outer, None) => f.write_str(outer),
            (outer, Some(inner)) => write!(f, "{outer}.{inner}"),
        }
    }
}

impl<'a> Capability<'a> {
    /// The two names under which the capability is declared: the member of `clientCapabilities`,
    /// and the member inside it.
    fn path(self) -> (&'static str, Option<&'a str>) {
        match self {
            Capability::ElicitationForm => ("elicitation", Some("form")),
            Capability::ElicitationUrl => ("elicitation", Some("url")),
            Capability::Sampling => ("sampling", None),
            Capability::SamplingTools => ("sampling", Some("tools")),
            Capability::SamplingContext => ("sampling", Some("context")),
            Capability::Roots => ("roots", None),
            Capability::Extension(identifier) => ("extensions", Some(identifier)),
        }
    }
}

/// Whether the capabilities of a request declare `capability`. Every step of the declaration must
/// be an object; `null` declares nothing.
pub fn declares(capabilities: Object<'_>, capability: &Capability<'_>) -> bool {
    let (outer, inner) = capability.path();
    let Some(declared) = capabilities.get(outer).and_then(Value::as_object) else { return false };
    match inner {
        None => true,
        Some("form") if declared.is_empty() => *capability == Capability::ElicitationForm,
        Some(inner) => declared.get(inner).and_then(Value::as_object).is_some(),
    }
}

/// The `requiredCapabilities` object for what is missing: objects nested to each missing leaf,
/// nothing else.
pub fn required_json(missing: &[Capability<'_>]) -> Json {
    let mut required = Map::new();
    for capability in missing {
        let (outer, inner) = capability.path();
        let entry = required.entry(outer).or_insert_with(|| Json::Object(Map::new()));
        if let (Some(inner), Json::Object(members)) = (inner, entry) {
            members.entry(inner).or_insert_with(|| Json::Object(Map::new()));
        }
    }
    Json::Object(required)
}
