//! Request ids and progress tokens: a string or an integer, repeated exactly as the client wrote it
//! (ledger RPC-02 to RPC-04).

use std::hash::{Hash, Hasher};

use serde::{Serialize, Serializer};

use crate::document::Node;
use crate::error::clip;
use crate::value::Value;
use crate::write;

/// An id borrowed from a document. Two ids are equal when they have the same JSON type and value:
/// `1` is not `"1"`, while `"a"` and `"\u0061"` are the same string.
#[derive(Clone, Copy, Debug)]
pub struct Id<'a>(Repr<'a>);

#[derive(Clone, Copy, Debug)]
enum Repr<'a> {
    /// Written with a minus sign; zero stands for `-0`.
    Negative(i64),
    Unsigned(u64),
    Text {
        value: &'a str,
        /// The text between the quotes as it arrived, where it has escapes.
        source: Option<&'a str>,
    },
}

impl<'a> Id<'a> {
    /// The id a value stands for: a string, or an integer of the `i64` or `u64` range written
    /// without fraction and exponent. `None` for everything else, `null` included.
    pub fn from_value(value: Value<'a>) -> Option<Id<'a>> {
        match value.head() {
            Node::String(text) => Some(Id::from(text)),
            // The parser gives the signed form to numbers with a minus sign and to no others, so a
            // zero here was `-0`.
            Node::I64(number) => Some(Id(Repr::Negative(number))),
            Node::U64(number) => Some(Id(Repr::Unsigned(number))),
            _ => None,
        }
    }

    /// The same id, written as `source` between quotes. `source` must be what the string looked
    /// like before its escapes were resolved; ids that are not strings are unchanged.
    pub(crate) fn with_source(self, source: Option<&'a str>) -> Id<'a> {
        match self.0 {
            Repr::Text { value, .. } => Id(Repr::Text { value, source }),
            _ => self,
        }
    }

    /// The string, if it is one.
    pub fn as_str(&self) -> Option<&'a str> {
        match self.0 {
            Repr::Text { value, .. } => Some(value),
            _ => None,
        }
    }

    /// The integer, if it is one.
    pub fn as_int(&self) -> Option<i128> {
        match self.0 {
            Repr::Negative(number) => Some(number.into()),
            Repr::Unsigned(number) => Some(number.into()),
            Repr::Text { .. } => None,
        }
    }

    /// Appends the id as the JSON the client sent.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self.0 {
            Repr::Negative(0) => out.extend_from_slice(b"-0"),
            Repr::Negative(number) => write::int(out, number),
            Repr::Unsigned(number) => write::uint(out, number),
            Repr::Text { source: Some(source), .. } => {
                out.push(b'"');
                out.extend_from_slice(source.as_bytes());
                out.push(b'"');
            }
            Repr::Text { value, source: None } => write::string(out, value),
        }
    }

    /// A copy that outlives the document.
    pub fn to_owned(&self) -> OwnedId {
        OwnedId(match self.0 {
            Repr::Negative(number) => OwnedRepr::Negative(number),
            Repr::Unsigned(number) => OwnedRepr::Unsigned(number),
            Repr::Text { value, source } => {
                OwnedRepr::Text { value: value.into(), source: source.map(Box::from) }
            }
        })
    }
}

impl<'a> From<&'a str> for Id<'a> {
    fn from(value: &'a str) -> Self {
        Id(Repr::Text { value, source: None })
    }
}

impl From<u64> for Id<'_> {
    fn from(number: u64) -> Self {
        Id(Repr::Unsigned(number))
    }
}

impl From<i64> for Id<'_> {
    fn from(number: i64) -> Self {
        match u64::try_from(number) {
            Ok(number) => Id(Repr::Unsigned(number)),
            Err(_) => Id(Repr::Negative(number)),
        }
    }
}

impl PartialEq for Id<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.as_int() == other.as_int() && self.as_str() == other.as_str()
    }
}

impl Eq for Id<'_> {}

impl Hash for Id<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_int().hash(state);
        self.as_str().hash(state);
    }
}

impl std::fmt::Display for Id<'_> {
    /// For logs: clipped, control characters escaped.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.as_int(), self.as_str()) {
            (Some(number), _) => write!(f, "{number}"),
            (None, text) => write!(f, "\"{}\"", clip(text.unwrap_or_default())),
        }
    }
}

impl Serialize for Id<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Repr::Negative(number) => serializer.serialize_i64(number),
            Repr::Unsigned(number) => serializer.serialize_u64(number),
            Repr::Text { value, .. } => serializer.serialize_str(value),
        }
    }
}

/// An id that owns its text, for tables of requests in flight. Equality and hash follow [`Id`].
#[derive(Clone, Debug)]
pub struct OwnedId(OwnedRepr);

#[derive(Clone, Debug)]
enum OwnedRepr {
    Negative(i64),
    Unsigned(u64),
    Text { value: Box<str>, source: Option<Box<str>> },
}

impl OwnedId {
    /// The borrowed form.
    pub fn as_id(&self) -> Id<'_> {
        Id(match &self.0 {
            OwnedRepr::Negative(number) => Repr::Negative(*number),
            OwnedRepr::Unsigned(number) => Repr::Unsigned(*number),
            OwnedRepr::Text { value, source } => Repr::Text { value, source: source.as_deref() },
        })
    }

    /// Appends the id as the JSON the client sent.
    pub fn write(&self, out: &mut Vec<u8>) {
        self.as_id().write(out);
    }
}

impl From<Id<'_>> for OwnedId {
    fn from(id: Id<'_>) -> Self {
        id.to_owned()
    }
}

impl PartialEq for OwnedId {
    fn eq(&self, other: &Self) -> bool {
        self.as_id() == other.as_id()
    }
}

impl Eq for OwnedId {}

impl Hash for OwnedId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_id().hash(state);
    }
}

impl std::fmt::Display for OwnedId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_id().fmt(f)
    }
}

impl Serialize for OwnedId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_id().serialize(serializer)
    }
}
