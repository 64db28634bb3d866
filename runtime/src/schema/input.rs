//! A tool's `inputSchema` (TOOL-06): arguments that break it never reach the handler (CALL-03).

use std::sync::Arc;

use codec::Object;
use jsonschema::Validator;
use serde_json::Value;

use super::compile::compile;
use super::fuel::Fuel;
use super::plan::Plan;
use super::tape::{Tape, Visit};
use super::{CHECK_STEPS_MAX, FAULTS_COLLECTED_MAX, SchemaError, fault};

/// What faults call the root of the arguments.
const ROOT: &str = "arguments";

/// A compiled `inputSchema`. Cloning shares what was compiled.
#[derive(Clone)]
pub(crate) struct InputSchema {
    validator: Validator<Tape>,
    /// What usually settles it that arguments fit; the validator has the word where a plan cannot tell.
    plan: Option<Arc<Plan>>,
}

impl InputSchema {
    /// Compiles `schema` once (JSC-05).
    ///
    /// # Errors
    /// [`SchemaError`]: the root is not an object with `"type": "object"` (TOOL-06), or JSC-01..04 are broken.
    pub(crate) fn compile(schema: &Value) -> Result<Self, SchemaError> {
        let members = schema.as_object().ok_or(SchemaError::NotAnObject)?;
        if members.get("type").and_then(Value::as_str) != Some("object") {
            return Err(SchemaError::RootType);
        }
        Ok(InputSchema { validator: compile(schema)?, plan: Plan::draw(schema).map(Arc::new) })
    }

    /// Checks `args` where they lie.
    ///
    /// # Errors
    /// One line of at most [`FAULT_TEXT_CHARS_MAX`](super::FAULT_TEXT_CHARS_MAX) characters that says where the
    /// arguments break the schema, and how.
    pub(crate) fn check(&self, args: Object<'_>) -> Result<(), String> {
        self.check_within(args, CHECK_STEPS_MAX)
    }

    /// As [`check`](Self::check), with a bound of the caller's on the work.
    pub(super) fn check_within(&self, args: Object<'_>, steps: u64) -> Result<(), String> {
        if self.plan.as_ref().is_some_and(|plan| plan.fits(args)) {
            return Ok(());
        }
        let visit = Visit::of_members(args, Fuel::new(steps, u32::MAX));
        let valid = self.validator.is_valid(visit.root());
        if visit.fuel.is_spent() {
            return Err(format!("{ROOT}: too much work to check against the schema"));
        }
        if valid {
            return Ok(());
        }
        let visit = Visit::of_members(args, Fuel::new(steps, FAULTS_COLLECTED_MAX));
        Err(fault::tell(&self.validator, &visit, ROOT))
    }
}
