//! The JSON-RPC frame around everything else: ids, requests, notifications, responses, and the small
//! members results share.

use std::borrow::Cow;
use std::fmt;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::text::{closed_text, literal_text};
use super::{InputResponses, Meta, RequestMeta};

literal_text! {
    /// The text `"2.0"` (RPC-01).
    pub struct JsonRpc = "2.0";
}

closed_text! {
    /// Who speaks, or for whom something is meant.
    pub enum Role {
        /// The person.
        User = "user",
        /// The model.
        Assistant = "assistant",
    }
}

closed_text! {
    /// Who may share a cached result (CCH-01).
    pub enum CacheScope {
        /// Anyone.
        Public = "public",
        /// Only the caller.
        Private = "private",
    }
}

/// An id of a request: a string or an integer within `i64`/`u64`, never null (RPC-02..04).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RequestId {
    /// An integer; always within `i64::MIN ..= u64::MAX`.
    Integer(i128),
    /// A string.
    String(String),
}

/// A progress token has the shape of an id (ENV-06).
pub type ProgressToken = RequestId;

/// What kind of result an object is: an open set (RPC-08).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ResultType {
    /// `"complete"`: the final answer.
    #[default]
    Complete,
    /// `"input_required"`: the client is asked for more (MR-04).
    InputRequired,
    /// A value of an extension, such as `"task"`.
    Other(Cow<'static, str>),
    /// The member is left out: the form of the 2025 era, to be read as complete.
    Absent,
}

/// A request frame.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request<P> {
    /// Always `"2.0"`.
    pub jsonrpc: JsonRpc,
    /// Repeated by the response.
    pub id: RequestId,
    /// What to do.
    pub method: Cow<'static, str>,
    /// With what.
    pub params: P,
}

/// A notification frame: no id, never answered (RPC-06).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Notification<P> {
    /// Always `"2.0"`.
    pub jsonrpc: JsonRpc,
    /// What happened.
    pub method: Cow<'static, str>,
    /// The details.
    pub params: P,
}

/// A success frame (RPC-07).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResultResponse<R> {
    /// Always `"2.0"`.
    pub jsonrpc: JsonRpc,
    /// The id of the request.
    pub id: RequestId,
    /// The answer.
    pub result: R,
}

/// Parameters of a request that has none of its own: only the envelope.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequestParams {
    /// The envelope (ENV-01).
    #[serde(rename = "_meta")]
    pub meta: RequestMeta,
}

/// Parameters of the four listing methods (PAG-01).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PaginatedParams {
    /// The envelope (ENV-01).
    #[serde(rename = "_meta")]
    pub meta: RequestMeta,
    /// Where to go on; the server's `nextCursor`, unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// What a retry after `input_required` adds to the original parameters (MR-05).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Retry {
    /// Answers by the keys the server chose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_responses: Option<InputResponses>,
    /// The server's state, unchanged (RS-01).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_state: Option<String>,
}

/// A result without members of its own: `{"resultType":"complete"}`, or `{}` in the 2025 era.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EmptyResult {
    /// Kind of result.
    #[serde(default = "ResultType::absent", skip_serializing_if = "ResultType::is_absent")]
    pub result_type: ResultType,
    /// Free metadata.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl<P> Request<P> {
    /// A request frame.
    pub fn new(
        id: impl Into<RequestId>,
        method: impl Into<Cow<'static, str>>,
        params: P,
    ) -> Request<P> {
        Request { jsonrpc: JsonRpc, id: id.into(), method: method.into(), params }
    }
}

impl<P> Notification<P> {
    /// A notification frame.
    pub fn new(method: impl Into<Cow<'static, str>>, params: P) -> Notification<P> {
        Notification { jsonrpc: JsonRpc, method: method.into(), params }
    }
}

impl<R> ResultResponse<R> {
    /// A success frame.
    pub fn new(id: impl Into<RequestId>, result: R) -> ResultResponse<R> {
        ResultResponse { jsonrpc: JsonRpc, id: id.into(), result }
    }
}

impl ResultType {
    /// The text on the wire; none when the member is left out.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            ResultType::Complete => Some("complete"),
            ResultType::InputRequired => Some("input_required"),
            ResultType::Other(text) => Some(text),
            ResultType::Absent => None,
        }
    }

    pub(crate) fn absent() -> ResultType {
        ResultType::Absent
    }

    pub(crate) fn is_absent(&self) -> bool {
        matches!(self, ResultType::Absent)
    }
}

impl Serialize for ResultType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Fields of this type are skipped when absent; "complete" is what absence means.
        serializer.serialize_str(self.as_str().unwrap_or("complete"))
    }
}

impl<'de> Deserialize<'de> for ResultType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Cow::<'de, str>::deserialize(deserializer)?.as_ref() {
            "complete" => ResultType::Complete,
            "input_required" => ResultType::InputRequired,
            other => ResultType::Other(other.to_owned().into()),
        })
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequestId::Integer(value) => value.fmt(f),
            RequestId::String(text) => text.fmt(f),
        }
    }
}

impl From<&str> for RequestId {
    fn from(text: &str) -> RequestId {
        RequestId::String(text.to_owned())
    }
}

impl From<String> for RequestId {
    fn from(text: String) -> RequestId {
        RequestId::String(text)
    }
}

macro_rules! id_from_integer {
    ($($int:ty),+) => { $(
        impl From<$int> for RequestId {
            fn from(value: $int) -> RequestId {
                RequestId::Integer(i128::from(value))
            }
        }
    )+ };
}
id_from_integer!(i32, i64, u32, u64);

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            RequestId::String(text) => serializer.serialize_str(text),
            RequestId::Integer(value) => match (i64::try_from(*value), u64::try_from(*value)) {
                (Ok(small), _) => serializer.serialize_i64(small),
                (_, Ok(large)) => serializer.serialize_u64(large),
                _ => Err(serde::ser::Error::custom("id: integer beyond 64 bits")),
            },
        }
    }
}

impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Id;
        impl Visitor<'_> for Id {
            type Value = RequestId;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a 64-bit integer")
            }

            fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<RequestId, E> {
                Ok(RequestId::from(value))
            }

            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<RequestId, E> {
                Ok(RequestId::from(value))
            }

            fn visit_f64<E: serde::de::Error>(self, _: f64) -> Result<RequestId, E> {
                Err(E::custom("id: a number with a fraction, an exponent or beyond 64 bits"))
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<RequestId, E> {
                Ok(RequestId::from(text))
            }
        }
        deserializer.deserialize_any(Id)
    }
}

/// Deserializes a member whose `null` is a value of its own, apart from absence (CALL-08).
/// Goes with `#[serde(default, skip_serializing_if = "Option::is_none")]`.
pub(crate) fn present<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}
