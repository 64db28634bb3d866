//! Why a registration or a change at run time was refused.

use std::fmt;

use codec::header::Violation;
use codec::types::{AnnotationsError, IconError};
use codec::uri::TemplateError;

use crate::schema::SchemaError;

/// A tool, prompt, resource or template that was not taken, and why. The text names both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistrationError {
    thing: Thing,
    name: String,
    reason: RegistrationFault,
}

/// What kind of thing was registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Thing {
    /// A tool.
    Tool,
    /// A prompt.
    Prompt,
    /// A resource with a URI of its own.
    Resource,
    /// A resource template.
    Template,
}

/// The reason of a [`RegistrationError`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegistrationFault {
    /// The name, URI or template is taken (TOOL-09).
    Duplicate,
    /// There is nothing of that name to change.
    Unknown,
    /// There are as many as [`Limits::entries`](crate::Limits) allows.
    Full {
        /// The limit.
        limit: usize,
    },
    /// The name is empty, or in strict mode not 1 to 128 of `A-Z a-z 0-9 _ - .` (TOOL-09).
    Name,
    /// The schema of the arguments was refused (TOOL-06, JSC-01..04).
    InputSchema(SchemaError),
    /// The schema of the result was refused (JSC-01..04).
    OutputSchema(SchemaError),
    /// An `x-mcp-header` breaks its rules (XH-01..05).
    Header(Violation),
    /// An icon was refused (TOOL-12).
    Icon(IconError),
    /// Annotations are out of range (CALL-10).
    Annotations(AnnotationsError),
    /// Two arguments of a prompt share this name.
    DuplicateArgument(String),
    /// A completer stands for this argument or variable, which does not exist.
    UnknownArgument(String),
    /// Not a URI by RFC 3986 (RES-08).
    Uri,
    /// Not a URI template that can be matched (RES-10).
    Template(TemplateError),
    /// The definition cannot be written as JSON.
    Json(String),
}

impl RegistrationError {
    pub(crate) fn new(thing: Thing, name: &str, reason: RegistrationFault) -> Self {
        RegistrationError { thing, name: name.to_owned(), reason }
    }

    /// What kind of thing it is.
    #[must_use]
    pub fn thing(&self) -> Thing {
        self.thing
    }

    /// Its name, URI or template.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What is wrong with it.
    #[must_use]
    pub fn reason(&self) -> &RegistrationFault {
        &self.reason
    }
}

impl fmt::Display for RegistrationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}: {}", self.thing, self.name, self.reason)
    }
}

impl std::error::Error for RegistrationError {}

impl fmt::Display for Thing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Thing::Tool => "tool",
            Thing::Prompt => "prompt",
            Thing::Resource => "resource",
            Thing::Template => "resource template",
        })
    }
}

impl fmt::Display for RegistrationFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duplicate => f.write_str("is registered already"),
            Self::Unknown => f.write_str("is not registered"),
            Self::Full { limit } => {
                write!(f, "there are {limit} already, as many as the limit allows")
            }
            Self::Name => f.write_str("a name is 1 to 128 of A-Z a-z 0-9 _ - ."),
            Self::InputSchema(error) => write!(f, "inputSchema: {error}"),
            Self::OutputSchema(error) => write!(f, "outputSchema: {error}"),
            Self::Header(violation) => violation.fmt(f),
            Self::Icon(error) => error.fmt(f),
            Self::Annotations(error) => error.fmt(f),
            Self::DuplicateArgument(name) => write!(f, "two arguments are named {name:?}"),
            Self::UnknownArgument(name) => {
                write!(f, "a completer stands for {name:?}, which is no argument or variable of it")
            }
            Self::Uri => f.write_str("not a URI (RFC 3986)"),
            Self::Template(error) => write!(f, "uriTemplate: {error}"),
            Self::Json(error) => write!(f, "cannot be written as JSON: {error}"),
        }
    }
}
