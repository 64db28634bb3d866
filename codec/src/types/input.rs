//! Multi round-trip input: what a result may ask of the client, and the client's answers (LEDGER 16).

use std::fmt;

use serde::de::Error as _;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::{
    CreateMessageParams, CreateMessageResult, ElicitForm, ElicitResult, ElicitUrl, FormError,
    IncludeContext, JsonObject, ListRootsParams, ListRootsResult, Meta, OrderedMap, ResultType,
    SamplingError, UrlError,
};
use crate::meta::Capability;

/// One thing asked of the client: a bare `{method, params}` (MR-03).
#[derive(Debug, Clone, PartialEq)]
pub enum InputRequest {
    /// `elicitation/create` with a form for the user.
    ElicitForm(ElicitForm),
    /// `elicitation/create` with a URL for the user to open.
    ElicitUrl(ElicitUrl),
    /// `sampling/createMessage` (deprecated).
    Sampling(Box<CreateMessageParams>),
    /// `roots/list` (deprecated).
    Roots(ListRootsParams),
}

/// What the client is asked for, by keys of the server's choice.
pub type InputRequests = OrderedMap<InputRequest>;

/// A result that ends the round and asks for more (MR-01). At least one of the two members is set,
/// see [`InputRequired::validate`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InputRequired {
    /// Always `"input_required"` (MR-04).
    pub result_type: ResultType,
    /// What is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_requests: Option<InputRequests>,
    /// Opaque state the client gives back unchanged (RS-01).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_state: Option<String>,
    /// Free metadata.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// The client's answers by the keys the server chose; untrusted. An answer is read as the kind that was
/// asked for, never by guessing from its shape (MR-21).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InputResponses(pub JsonObject);

/// Why a request for input was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputError {
    /// Neither requests nor state (MR-02).
    Nothing,
    /// A key is empty.
    KeyEmpty,
    /// A key was used before.
    KeyTwice {
        /// The key.
        key: String,
    },
    /// A form breaks a rule.
    Form {
        /// The key.
        key: String,
        /// The rule.
        error: FormError,
    },
    /// A URL breaks a rule.
    Url {
        /// The key.
        key: String,
        /// The rule.
        error: UrlError,
    },
    /// A conversation breaks a rule.
    Sampling {
        /// The key.
        key: String,
        /// The rule.
        error: SamplingError,
    },
}

impl InputRequest {
    /// The method on the wire.
    pub fn method(&self) -> &'static str {
        match self {
            InputRequest::ElicitForm(_) | InputRequest::ElicitUrl(_) => "elicitation/create",
            InputRequest::Sampling(_) => "sampling/createMessage",
            InputRequest::Roots(_) => "roots/list",
        }
    }

    /// What the client must have declared for this (MR-10): every entry is needed.
    pub fn required_capabilities(&self) -> Vec<Capability<'static>> {
        match self {
            InputRequest::ElicitForm(_) => vec![Capability::ElicitationForm],
            InputRequest::ElicitUrl(_) => vec![Capability::ElicitationUrl],
            InputRequest::Roots(_) => vec![Capability::Roots],
            InputRequest::Sampling(params) => {
                let mut needed = vec![Capability::Sampling];
                if params.tools.is_some() || params.tool_choice.is_some() {
                    needed.push(Capability::SamplingTools);
                }
                if params.include_context.is_some_and(|context| context != IncludeContext::None) {
                    needed.push(Capability::SamplingContext);
                }
                needed
            }
        }
    }

    fn validate(&self, key: &str) -> Result<(), InputError> {
        let key = || key.to_owned();
        match self {
            InputRequest::ElicitForm(form) => {
                form.validate().map_err(|error| InputError::Form { key: key(), error })
            }
            InputRequest::ElicitUrl(url) => {
                url.validate().map_err(|error| InputError::Url { key: key(), error })
            }
            InputRequest::Sampling(params) => {
                params.validate().map_err(|error| InputError::Sampling { key: key(), error })
            }
            InputRequest::Roots(_) => Ok(()),
        }
    }
}

impl InputRequired {
    /// Asks nothing yet; on its own refused by [`InputRequired::validate`].
    pub fn new() -> Self {
        InputRequired {
            result_type: ResultType::InputRequired,
            input_requests: None,
            request_state: None,
            meta: None,
        }
    }

    /// Asks for one more thing under `key`. Refuses a key used before and a request that breaks a rule.
    pub fn ask(
        mut self,
        key: impl Into<String>,
        request: impl Into<InputRequest>,
    ) -> Result<Self, InputError> {
        let (key, request) = (key.into(), request.into());
        let requests = self.input_requests.get_or_insert_default();
        if requests.contains_key(&key) {
            return Err(InputError::KeyTwice { key });
        }
        check_entry(&key, &request)?;
        requests.insert(key, request);
        Ok(self)
    }

    /// Sets the state the client gives back: sealed, or harmless (RS-02, RS-08).
    pub fn state(mut self, state: impl Into<String>) -> Self {
        self.request_state = Some(state.into());
        self
    }

    /// Checks that there is something to ask or a state, and every request (MR-02).
    pub fn validate(&self) -> Result<(), InputError> {
        let requests = self.input_requests.as_ref();
        if requests.is_none_or(OrderedMap::is_empty) && self.request_state.is_none() {
            return Err(InputError::Nothing);
        }
        requests
            .iter()
            .flat_map(|map| map.iter())
            .try_for_each(|(key, request)| check_entry(key, request))
    }

    /// What the client must have declared for all of it, without repetition (MR-11).
    pub fn required_capabilities(&self) -> Vec<Capability<'static>> {
        let mut needed = Vec::new();
        for (_, request) in self.input_requests.iter().flat_map(OrderedMap::iter) {
            for capability in request.required_capabilities() {
                if !needed.contains(&capability) {
                    needed.push(capability);
                }
            }
        }
        needed
    }
}

impl Default for InputRequired {
    fn default() -> Self {
        InputRequired::new()
    }
}

fn check_entry(key: &str, request: &InputRequest) -> Result<(), InputError> {
    match key.is_empty() {
        true => Err(InputError::KeyEmpty),
        false => request.validate(key),
    }
}

impl InputResponses {
    /// The answer under `key` if it is an object; anything else counts as missing (MR-20).
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key).filter(|value| value.is_object())
    }

    /// The user's answer under `key`; none if missing or of another kind: ask again (MR-22).
    pub fn elicit(&self, key: &str) -> Option<ElicitResult> {
        ElicitResult::deserialize(self.get(key)?).ok()
    }

    /// The model's answer under `key`; none if missing or of another kind.
    pub fn sampling(&self, key: &str) -> Option<CreateMessageResult> {
        CreateMessageResult::deserialize(self.get(key)?).ok()
    }

    /// The client's roots under `key`; none if missing or of another kind.
    pub fn roots(&self, key: &str) -> Option<ListRootsResult> {
        ListRootsResult::deserialize(self.get(key)?).ok()
    }
}

impl From<ElicitForm> for InputRequest {
    fn from(form: ElicitForm) -> InputRequest {
        InputRequest::ElicitForm(form)
    }
}

impl From<ElicitUrl> for InputRequest {
    fn from(url: ElicitUrl) -> InputRequest {
        InputRequest::ElicitUrl(url)
    }
}

impl From<CreateMessageParams> for InputRequest {
    fn from(params: CreateMessageParams) -> InputRequest {
        InputRequest::Sampling(Box::new(params))
    }
}

impl From<ListRootsParams> for InputRequest {
    fn from(params: ListRootsParams) -> InputRequest {
        InputRequest::Roots(params)
    }
}

impl Serialize for InputRequest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bare = serializer.serialize_struct("InputRequest", 2)?;
        bare.serialize_field("method", self.method())?;
        match self {
            InputRequest::ElicitForm(form) => bare.serialize_field("params", form)?,
            InputRequest::ElicitUrl(url) => bare.serialize_field("params", url)?,
            InputRequest::Sampling(params) => bare.serialize_field("params", params)?,
            InputRequest::Roots(params) => bare.serialize_field("params", params)?,
        }
        bare.end()
    }
}

impl<'de> Deserialize<'de> for InputRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Bare {
            method: String,
            #[serde(default)]
            params: JsonObject,
        }
        let Bare { method, params } = Bare::deserialize(deserializer)?;
        let is_url = params.get("mode").and_then(Value::as_str) == Some("url");
        let params = Value::Object(params);
        let request = match method.as_str() {
            "elicitation/create" if is_url => {
                serde_json::from_value(params).map(InputRequest::ElicitUrl)
            }
            "elicitation/create" => serde_json::from_value(params).map(InputRequest::ElicitForm),
            "sampling/createMessage" => serde_json::from_value(params).map(InputRequest::Sampling),
            "roots/list" => serde_json::from_value(params).map(InputRequest::Roots),
            _ => return Err(D::Error::custom("input request: unknown method")),
        };
        request.map_err(D::Error::custom)
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InputError::Nothing => {
                f.write_str("input required: neither inputRequests nor requestState")
            }
            InputError::KeyEmpty => f.write_str("inputRequests: a key is empty"),
            InputError::KeyTwice { key } => write!(f, "inputRequests `{key}`: key used twice"),
            InputError::Form { key, error } => write!(f, "inputRequests `{key}`: {error}"),
            InputError::Url { key, error } => write!(f, "inputRequests `{key}`: {error}"),
            InputError::Sampling { key, error } => write!(f, "inputRequests `{key}`: {error}"),
        }
    }
}

impl std::error::Error for InputError {}
