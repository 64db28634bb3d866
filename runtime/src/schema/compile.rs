//! From a schema to a validator, with everything switched off that a schema could reach the world or burn the
//! processor with.

use std::error::Error;

use codec::limits::ECHO_CHARS_MAX;
use jsonschema::error::ValidationErrorKind;
use jsonschema::json::Json;
use jsonschema::{
    Draft, PatternOptions, ReferencingError, Retrieve, Uri, ValidationError, Validator,
};
use serde_json::Value;

use super::{PATTERN_BYTES_MAX, SchemaError, fault, survey::survey};

/// Compiles `schema` for documents in the representation `J`.
pub(super) fn compile<J: Json>(schema: &Value) -> Result<Validator<J>, SchemaError> {
    let draft = dialect(schema)?;
    survey(schema, draft)?;
    let patterns =
        PatternOptions::regex().size_limit(PATTERN_BYTES_MAX).dfa_size_limit(PATTERN_BYTES_MAX);
    jsonschema::options_for::<J>()
        .with_retriever(Offline)
        .with_pattern_options(patterns)
        .build(schema)
        .map_err(|error| refused(&error))
}

/// The dialect `$schema` names, 2020-12 without one (JSC-01).
fn dialect(schema: &Value) -> Result<Draft, SchemaError> {
    let members = match schema {
        Value::Bool(_) => return Ok(Draft::Draft202012),
        Value::Object(members) => members,
        _ => return Err(SchemaError::NotASchema),
    };
    let unsupported = |uri: &str| SchemaError::Dialect { uri: clipped(uri) };
    match members.get("$schema") {
        None => Ok(Draft::Draft202012),
        Some(Value::String(uri)) => match Draft::from_schema_uri(uri) {
            Draft::Unknown => Err(unsupported(uri)),
            draft => Ok(draft),
        },
        Some(other) => Err(unsupported(&other.to_string())),
    }
}

/// Answers every reference that leads out of a schema with a refusal (JSC-03).
struct Offline;

impl Retrieve for Offline {
    fn retrieve(&self, _uri: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        Err("schemas are never fetched".into())
    }
}

fn refused(error: &ValidationError<'_>) -> SchemaError {
    match error.kind() {
        ValidationErrorKind::Referencing(ReferencingError::Unretrievable { uri, .. }) => {
            SchemaError::RemoteReference { reference: clipped(uri) }
        }
        ValidationErrorKind::Referencing(other) => {
            SchemaError::BrokenReference { reference: clipped(&other.to_string()) }
        }
        ValidationErrorKind::Format { format } if format == "regex" => {
            let pattern = error.instance().as_str().unwrap_or_default();
            SchemaError::Pattern { pattern: clipped(pattern) }
        }
        _ => SchemaError::Invalid {
            at: clipped(error.instance_path().as_str()),
            reason: clipped(&fault::text(error, "schema")),
        },
    }
}

fn clipped(text: &str) -> String {
    text.chars().take(ECHO_CHARS_MAX).collect()
}
