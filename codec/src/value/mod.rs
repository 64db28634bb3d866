//! A read-only view of a JSON value on the tape: two words, `Copy`, borrowed from its document.
//! Objects and arrays are in their own files; turning a value into another form is `json.rs`, into
//! a Rust type `crate::de`.

mod array;
mod json;
mod object;
mod outline;
#[cfg(test)]
mod tests;

pub use array::{Array, Elements};
pub use object::{Members, Object, RawMembers};
pub use outline::{OUTLINED_BYTES_MAX, outline};

use crate::de::DeError;
use crate::document::Node;

/// What a JSON value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number without fraction or exponent that fits an `i64` or a `u64`.
    Integer,
    /// Any other number.
    Float,
    /// A string, its escapes resolved.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Kind {
    /// The name a person would read in an error message.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Bool => "boolean",
            Kind::Integer => "integer",
            Kind::Float => "number",
            Kind::String => "string",
            Kind::Array => "array",
            Kind::Object => "object",
        }
    }
}

/// A value taken apart: for readers that treat every kind, in one step.
#[derive(Clone, Copy)]
pub enum View<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// An integer, negative or not.
    I64(i64),
    /// An integer that is not negative; it may fit an `i64` as well.
    U64(u64),
    /// Any other number.
    F64(f64),
    /// A string, its escapes resolved.
    String(&'a str),
    /// An array.
    Array(Array<'a>),
    /// An object.
    Object(Object<'a>),
}

/// One value of a document.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    /// Invariant: never empty, and exactly the nodes of one value: the head and everything below
    /// it.
    nodes: &'a [Node<'a>],
}

/// `{}`, for parameters and arguments that were left out.
pub fn parse_empty_object() -> Value<'static> {
    static EMPTY: [Node<'static>; 1] = [Node::Object { len: 0, count: 0 }];
    Value { nodes: &EMPTY }
}

impl<'a> Value<'a> {
    /// `null`.
    pub fn null() -> Value<'static> {
        static NULL: [Node<'static>; 1] = [Node::Null];
        Value { nodes: &NULL }
    }

    /// The value whose head is the first of `nodes`; `null` where there is none.
    pub(crate) fn over(nodes: &'a [Node<'a>]) -> Value<'a> {
        match split_value(nodes) {
            Some((value, _)) => value,
            None => Value::null(),
        }
    }

    /// The value taken apart.
    #[inline]
    pub fn view(self) -> View<'a> {
        match *self.first() {
            Node::String(text) => View::String(text),
            Node::Object { len, .. } => View::Object(Object::over(len, self)),
            Node::Array { len, .. } => View::Array(Array::over(len, self)),
            Node::Null => View::Null,
            Node::Bool(flag) => View::Bool(flag),
            Node::I64(number) => View::I64(number),
            Node::U64(number) => View::U64(number),
            Node::F64(number) => View::F64(number),
        }
    }

    /// What the value is.
    pub fn kind(self) -> Kind {
        match self.head() {
            Node::String(_) => Kind::String,
            Node::Object { .. } => Kind::Object,
            Node::Array { .. } => Kind::Array,
            Node::Null => Kind::Null,
            Node::Bool(_) => Kind::Bool,
            Node::F64(_) => Kind::Float,
            Node::I64(_) | Node::U64(_) => Kind::Integer,
        }
    }

    /// Whether the value is `null`.
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// The string, its escapes resolved.
    pub fn as_str(self) -> Option<&'a str> {
        match self.head() {
            Node::String(text) => Some(text),
            _ => None,
        }
    }

    /// The boolean.
    pub fn as_bool(self) -> Option<bool> {
        match self.head() {
            Node::Bool(flag) => Some(flag),
            _ => None,
        }
    }

    /// The integer, if it was written without fraction and exponent and fits.
    pub fn as_i64(self) -> Option<i64> {
        match self.head() {
            Node::I64(number) => Some(number),
            Node::U64(number) => i64::try_from(number).ok(),
            _ => None,
        }
    }

    /// The integer, if it was written without fraction and exponent and fits.
    pub fn as_u64(self) -> Option<u64> {
        match self.head() {
            Node::I64(number) => u64::try_from(number).ok(),
            Node::U64(number) => Some(number),
            _ => None,
        }
    }

    /// Any number, rounded to the nearest double.
    pub fn as_f64(self) -> Option<f64> {
        match self.head() {
            Node::I64(number) => Some(number as f64),
            Node::U64(number) => Some(number as f64),
            Node::F64(number) => Some(number),
            _ => None,
        }
    }

    /// The number as `serde_json` holds it: integers stay integers.
    pub fn as_number(self) -> Option<serde_json::Number> {
        match self.head() {
            Node::I64(number) => Some(number.into()),
            Node::U64(number) => Some(number.into()),
            Node::F64(number) => serde_json::Number::from_f64(number),
            _ => None,
        }
    }

    /// The members, if this is an object.
    pub fn as_object(self) -> Option<Object<'a>> {
        match self.head() {
            Node::Object { len, .. } => Some(Object::over(len, self)),
            _ => None,
        }
    }

    /// The elements, if this is an array.
    pub fn as_array(self) -> Option<Array<'a>> {
        match self.head() {
            Node::Array { len, .. } => Some(Array::over(len, self)),
            _ => None,
        }
    }

    /// Reads the value into a Rust type. `&str` fields borrow from the document; of a repeated
    /// member name the first counts, here as everywhere (ledger RPC-19).
    pub fn deserialize<T: serde::Deserialize<'a>>(self) -> Result<T, DeError> {
        T::deserialize(self)
    }

    /// What tells this value from every other one of the same parsed document, while it stays
    /// parsed: the address of its head. Two views of one value have the same. Meaningless between
    /// documents.
    pub fn address(self) -> usize {
        self.nodes.as_ptr().addr()
    }

    /// The nodes after the head.
    #[inline]
    fn below(self) -> &'a [Node<'a>] {
        self.nodes.get(1..).unwrap_or_default()
    }

    #[inline]
    fn first(self) -> &'a Node<'a> {
        self.nodes.first().unwrap_or(&Node::Null)
    }

    #[inline]
    pub(crate) fn head(self) -> Node<'a> {
        *self.first()
    }
}

/// Splits the first value off a run of nodes.
#[inline]
fn split_value<'a>(nodes: &'a [Node<'a>]) -> Option<(Value<'a>, &'a [Node<'a>])> {
    let span = match nodes.first()? {
        Node::Object { count, .. } | Node::Array { count, .. } => count + 1,
        _ => 1,
    };
    let (value, rest) = nodes.split_at_checked(span)?;
    Some((Value { nodes: value }, rest))
}
