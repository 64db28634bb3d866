//! A tool's `outputSchema` (TOOL-08): a result that breaks it is the server's fault (CALL-06).

use codec::{Document, Parser};
use jsonschema::Validator;
use serde_json::Value;

use super::compile::compile;
use super::fuel::Fuel;
use super::tape::{Tape, Visit};
use super::{CHECK_STEPS_MAX, FAULTS_COLLECTED_MAX, SchemaError, fault};

/// What faults call the root of the result.
const ROOT: &str = "structuredContent";

/// A compiled `outputSchema`, of any root. Cloning shares what was compiled.
#[derive(Clone)]
pub(crate) struct OutputSchema {
    /// For the value as the handler made it.
    validator: Validator,
    /// To tell the faults of a refused one, with a bound on the work.
    telling: Validator<Tape>,
}

impl OutputSchema {
    /// Compiles `schema` once (JSC-05).
    ///
    /// # Errors
    /// [`SchemaError`]: JSC-01..04 are broken.
    pub(crate) fn compile(schema: &Value) -> Result<Self, SchemaError> {
        Ok(OutputSchema { validator: compile(schema)?, telling: compile(schema)? })
    }

    /// Checks `value`.
    ///
    /// # Errors
    /// One line for the log that says where the value breaks the schema, and how.
    pub(crate) fn check(&self, value: &Value) -> Result<(), String> {
        if self.validator.is_valid(value) { Ok(()) } else { Err(self.tell(value)) }
    }

    fn tell(&self, value: &Value) -> String {
        let text = value.to_string().into_bytes();
        let body = 0..text.len();
        let mut document = Document::new();
        if document.parse(&mut Parser::default(), text, body).is_err() {
            return format!(
                "{ROOT}: does not match the schema, and is nested too deeply to tell where"
            );
        }
        let fuel = Fuel::new(CHECK_STEPS_MAX, FAULTS_COLLECTED_MAX);
        fault::tell(&self.telling, &Visit::of_value(document.root(), fuel), ROOT)
    }
}
