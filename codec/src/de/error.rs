//! Why a value does not fit a Rust type, and where in the value.

use std::fmt::{self, Display, Write};

use serde::de::{self, Expected, Unexpected};

use crate::error::clip;
use crate::limits::ECHO_CHARS_MAX;

/// A value that does not fit the type it was read into: `arguments.rows[3].id: expected u64, got
/// string`. Text of the document is clipped and its control characters escaped.
pub struct DeError(Box<Inner>);

struct Inner {
    /// From the innermost place outwards, as the error travels up.
    path: Vec<Step>,
    message: String,
}

enum Step {
    Member(String),
    Element(usize),
}

impl DeError {
    fn new(message: String) -> DeError {
        DeError(Box::new(Inner { path: Vec::new(), message }))
    }

    /// The same error, told from outside: the value was the member `name`.
    #[must_use]
    pub fn under(mut self, name: &str) -> DeError {
        self.0.path.push(Step::Member(clip(name).to_string()));
        self
    }

    /// The same error, told from outside: the value was element `index`.
    #[must_use]
    pub(super) fn at(mut self, index: usize) -> DeError {
        self.0.path.push(Step::Element(index));
        self
    }

    /// What is wrong, without the place.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The place, `rows[3].id`; empty for the whole value. At most [`ECHO_CHARS_MAX`] characters.
    pub fn path(&self) -> String {
        let mut path = String::new();
        for step in self.0.path.iter().rev() {
            // Writing to a string cannot fail.
            let _ = match step {
                Step::Member(name) if path.is_empty() => path.write_str(name),
                Step::Member(name) => write!(path, ".{name}"),
                Step::Element(index) => write!(path, "[{index}]"),
            };
            if path.len() > ECHO_CHARS_MAX {
                break;
            }
        }
        clip(&path).to_string()
    }
}

impl Display for DeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.path.is_empty() {
            return f.write_str(&self.0.message);
        }
        write!(f, "{}: {}", self.path(), self.0.message)
    }
}

impl fmt::Debug for DeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeError({self})")
    }
}

impl std::error::Error for DeError {}

impl de::Error for DeError {
    fn custom<T: Display>(message: T) -> Self {
        DeError::new(clip(&message.to_string()).to_string())
    }

    fn invalid_type(got: Unexpected<'_>, expected: &dyn Expected) -> Self {
        DeError::new(format!("expected {expected}, got {}", kind_of(&got)))
    }

    fn invalid_value(got: Unexpected<'_>, expected: &dyn Expected) -> Self {
        DeError::new(format!("expected {expected}, got {}", clip(&got.to_string())))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        DeError::new(format!("expected one of {}, got \"{}\"", expected.join(", "), clip(variant)))
    }

    fn unknown_field(field: &str, _: &'static [&'static str]) -> Self {
        DeError::new(format!("unknown member \"{}\"", clip(field)))
    }

    fn missing_field(field: &'static str) -> Self {
        DeError::new(format!("member \"{field}\" is missing"))
    }
}

fn kind_of(got: &Unexpected<'_>) -> &'static str {
    match got {
        Unexpected::Bool(_) => "boolean",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) => "integer",
        Unexpected::Float(_) => "number",
        Unexpected::Str(_) | Unexpected::Char(_) | Unexpected::Bytes(_) => "string",
        Unexpected::Unit | Unexpected::Option => "null",
        Unexpected::Seq | Unexpected::TupleVariant => "array",
        _ => "object",
    }
}
