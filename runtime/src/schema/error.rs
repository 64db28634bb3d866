//! Why a schema was refused at registration.

use std::fmt;

/// Why a JSON Schema was refused. Raised once, when something is registered, never by a request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaError {
    /// An `inputSchema` is not a JSON object (TOOL-06).
    NotAnObject,
    /// An `inputSchema` does not say `"type": "object"` at its root (TOOL-06).
    RootType,
    /// A schema is neither an object nor a boolean.
    NotASchema,
    /// `$schema` names a dialect that is not supported (JSC-01).
    Dialect {
        /// The `$schema` value.
        uri: String,
    },
    /// The schema breaks its own dialect (JSC-02).
    Invalid {
        /// JSON pointer into the schema.
        at: String,
        /// What is wrong there.
        reason: String,
    },
    /// A reference leads out of the schema; nothing is ever fetched (JSC-03).
    RemoteReference {
        /// The reference as written.
        reference: String,
    },
    /// A reference leads to nothing.
    BrokenReference {
        /// The reference as written.
        reference: String,
    },
    /// A reference comes back to itself on the same value, so checking would never end.
    EndlessReference,
    /// Nested deeper than 128 levels of JSON (JSC-04).
    TooDeep,
    /// More than 10 000 subschemas (JSC-04).
    TooManySubschemas,
    /// More than 4096 subschemas would apply to one value, or a chain of more than 32, counted with repetition through
    /// `$ref`, `allOf`, `anyOf` and the like (JSC-04).
    TooCostly,
    /// A `pattern` the linear-time engine does not take: look-around, back-references, or too large (JSC-04).
    Pattern {
        /// The pattern as written.
        pattern: String,
    },
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnObject => f.write_str("the schema must be a JSON object"),
            Self::RootType => f.write_str("the schema must say \"type\": \"object\" at its root"),
            Self::NotASchema => f.write_str("a schema must be a JSON object or a boolean"),
            Self::Dialect { uri } => write!(
                f,
                "the dialect {uri:?} is not supported; use 2020-12, 2019-09, draft-07, draft-06 or draft-04"
            ),
            Self::Invalid { at, reason } => write!(f, "not a valid schema at {at:?}: {reason}"),
            Self::RemoteReference { reference } => {
                write!(
                    f,
                    "the reference {reference:?} leads out of the schema; nothing is fetched, put it under $defs"
                )
            }
            Self::BrokenReference { reference } => {
                write!(f, "the reference {reference:?} leads to nothing")
            }
            Self::EndlessReference => f.write_str(
                "a reference comes back to itself on the same value, so checking would never end",
            ),
            Self::TooDeep => write!(f, "nested deeper than {} levels", super::SCHEMA_DEPTH_MAX),
            Self::TooManySubschemas => write!(f, "more than {} subschemas", super::SUBSCHEMAS_MAX),
            Self::TooCostly => write!(
                f,
                "too costly: more than {} subschemas apply to one value, or more than {} in one chain",
                super::SCHEMAS_PER_VALUE_MAX,
                super::SCHEMA_CHAIN_MAX
            ),
            Self::Pattern { pattern } => write!(
                f,
                "the pattern {pattern:?} is not taken by the linear-time engine (look-around, back-references, or too large)"
            ),
        }
    }
}

impl std::error::Error for SchemaError {}
