//! The request envelope: the reserved keys of `params._meta` (ledger section 2), the capabilities a
//! client declares (MR-10, ERR-05) and the trace context (section 18). Every getter tells missing
//! from ill-typed, so that the ladder can put the answers in order.

mod capability;
mod level;
#[cfg(test)]
mod tests;
mod trace;

use crate::id::Id;
use crate::value::{Object, Value};

pub use capability::{Capability, declares, required_json};
pub use level::LoggingLevel;
pub use trace::TraceParent;

/// The revision claim; its presence makes a message modern.
pub const PROTOCOL_VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
/// What the client can do.
pub const CLIENT_CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
/// Who the client says it is.
pub const CLIENT_INFO_KEY: &str = "io.modelcontextprotocol/clientInfo";
/// The least severe log message the client wants on this request's stream.
pub const LOG_LEVEL_KEY: &str = "io.modelcontextprotocol/logLevel";
/// Who the server is, on results.
pub const SERVER_INFO_KEY: &str = "io.modelcontextprotocol/serverInfo";
/// The listen request a notification belongs to.
pub const SUBSCRIPTION_ID_KEY: &str = "io.modelcontextprotocol/subscriptionId";
/// The token progress notifications carry.
pub const PROGRESS_TOKEN_KEY: &str = "progressToken";
/// W3C trace parent.
pub const TRACEPARENT_KEY: &str = "traceparent";
/// W3C trace state.
pub const TRACESTATE_KEY: &str = "tracestate";
/// W3C baggage.
pub const BAGGAGE_KEY: &str = "baggage";

/// The revisions of the modern era this codec speaks.
pub const SUPPORTED: &[&str] = &["2026-07-28"];

/// The reserved keys of one message's `_meta`, found in one pass; types are checked by the getters.
#[derive(Clone, Copy, Debug, Default)]
pub struct RequestMeta<'a> {
    members: Option<Object<'a>>,
    version: Option<Value<'a>>,
    capabilities: Option<Value<'a>>,
    client_info: Option<Value<'a>>,
    log_level: Option<Value<'a>>,
    progress_token: Option<Value<'a>>,
    traceparent: Option<Value<'a>>,
    tracestate: Option<Value<'a>>,
    baggage: Option<Value<'a>>,
}

/// What the message says about its revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim<'a> {
    /// No claim: the legacy era, or a fault (ledger section 20a).
    Absent,
    /// A claim that is not a string.
    NotString,
    /// The claimed revision, supported or not.
    Version(&'a str),
}

/// An envelope key that is missing or ill-typed: -32602 (ledger ENV-01 to ENV-06).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetaFault {
    /// The key, as in `_meta`.
    pub key: &'static str,
    /// What is wrong with it.
    pub problem: &'static str,
}

impl std::fmt::Display for MetaFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "_meta[\"{}\"] {}", self.key, self.problem)
    }
}

impl std::error::Error for MetaFault {}

/// The client's description of itself: unverified, for logs alone (ledger ENV-08).
#[derive(Clone, Copy, Debug)]
pub struct ClientInfo<'a> {
    /// The program's name.
    pub name: &'a str,
    /// The program's version.
    pub version: &'a str,
    /// A name for people.
    pub title: Option<&'a str>,
    /// The whole object, for members not named here.
    pub members: Object<'a>,
}

impl<'a> RequestMeta<'a> {
    /// The envelope of a message whose `params._meta` is `meta`. One that is no object has no
    /// members.
    pub fn from_message(meta: Option<Value<'a>>) -> RequestMeta<'a> {
        let mut found =
            RequestMeta { members: meta.and_then(Value::as_object), ..Default::default() };
        for (name, value) in found.members.into_iter().flat_map(Object::iter) {
            let slot = match name {
                PROTOCOL_VERSION_KEY => &mut found.version,
                CLIENT_CAPABILITIES_KEY => &mut found.capabilities,
                CLIENT_INFO_KEY => &mut found.client_info,
                LOG_LEVEL_KEY => &mut found.log_level,
                PROGRESS_TOKEN_KEY => &mut found.progress_token,
                TRACEPARENT_KEY => &mut found.traceparent,
                TRACESTATE_KEY => &mut found.tracestate,
                BAGGAGE_KEY => &mut found.baggage,
                _ => continue,
            };
            *slot = slot.or(Some(value));
        }
        found
    }

    /// The whole `_meta`, unknown keys included; `None` where it is missing or no object.
    pub fn members(&self) -> Option<Object<'a>> {
        self.members
    }

    /// The revision claim.
    pub fn claim(&self) -> Claim<'a> {
        match self.version.map(Value::as_str) {
            None => Claim::Absent,
            Some(None) => Claim::NotString,
            Some(Some(version)) => Claim::Version(version),
        }
    }

    /// The declared capabilities (ledger ENV-01, ENV-04, ENV-07).
    pub fn capabilities(&self) -> Result<Object<'a>, MetaFault> {
        let fault = |problem| MetaFault { key: CLIENT_CAPABILITIES_KEY, problem };
        let value = self.capabilities.ok_or(fault("is missing"))?;
        value.as_object().ok_or(fault("is not an object"))
    }

    /// The client's description of itself (ledger ENV-02, ENV-03).
    pub fn client_info(&self) -> Result<Option<ClientInfo<'a>>, MetaFault> {
        let fault = |problem| MetaFault { key: CLIENT_INFO_KEY, problem };
        let Some(value) = self.client_info else { return Ok(None) };
        let members = value.as_object().ok_or(fault("is not an object"))?;
        let (mut name, mut version, mut title) = (None, None, None);
        for (member, value) in members.iter() {
            let slot = match member {
                "name" => &mut name,
                "version" => &mut version,
                "title" => &mut title,
                _ => continue,
            };
            *slot = slot.or(Some(value));
        }
        let name = name.and_then(Value::as_str).ok_or(fault("has no name that is a string"))?;
        let version =
            version.and_then(Value::as_str).ok_or(fault("has no version that is a string"))?;
        Ok(Some(ClientInfo { name, version, title: title.and_then(Value::as_str), members }))
    }

    /// The least severe log message the client wants; `None` asks for none (ledger ENV-05).
    pub fn log_level(&self) -> Result<Option<LoggingLevel>, MetaFault> {
        let Some(value) = self.log_level else { return Ok(None) };
        match value.as_str().and_then(LoggingLevel::parse) {
            Some(level) => Ok(Some(level)),
            None => {
                Err(MetaFault { key: LOG_LEVEL_KEY, problem: "is not one of the eight levels" })
            }
        }
    }

    /// The token for progress notifications (ledger ENV-06).
    pub fn progress_token(&self) -> Result<Option<Id<'a>>, MetaFault> {
        let Some(value) = self.progress_token else { return Ok(None) };
        match Id::from_value(value) {
            Some(token) => Ok(Some(token)),
            None => {
                Err(MetaFault { key: PROGRESS_TOKEN_KEY, problem: "is not a string or an integer" })
            }
        }
    }

    /// The remote parent span, if it is well-formed (ledger TRC-01). Never to be trusted with a
    /// decision (TRC-03).
    pub fn traceparent(&self) -> Option<TraceParent<'a>> {
        self.traceparent.and_then(Value::as_str).and_then(TraceParent::parse)
    }

    /// The vendors' trace state; only read beside a well-formed `traceparent`, and only within its
    /// size limit.
    pub fn tracestate(&self) -> Option<&'a str> {
        self.traceparent()?;
        self.tracestate.and_then(Value::as_str).filter(|text| trace::is_tracestate(text))
    }

    /// The baggage, within its size limit (ledger TRC-03).
    pub fn baggage(&self) -> Option<&'a str> {
        self.baggage.and_then(Value::as_str).filter(|text| trace::is_baggage(text))
    }
}
