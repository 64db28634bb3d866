//! The published schema of a revision, where it lies beside the checkout, and messages held against it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use jsonschema::Validator;
use serde_json::{Value, json};

const SCHEMAS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/spec/schema");

/// The schema of one revision; its definitions are compiled as they are asked for.
pub struct Published {
    definitions: Option<Value>,
    compiled: Mutex<HashMap<&'static str, Arc<Validator>>>,
}

impl Published {
    /// Without the file nothing is checked, loudly.
    pub fn load(revision: &str) -> Self {
        let definitions = match std::fs::read(format!("{SCHEMAS}/{revision}.json")) {
            Ok(bytes) => {
                let mut schema: Value = serde_json::from_slice(&bytes).expect("the schema is JSON");
                Some(schema["$defs"].take())
            }
            Err(_) => {
                eprintln!(
                    "SKIPPED: no published schema of {revision} beside the checkout: answers are not validated"
                );
                None
            }
        };
        Self { definitions, compiled: Mutex::default() }
    }

    /// Panics unless `message` is what the definition says.
    pub fn check(&self, definition: &'static str, message: &Value) {
        let Some(definitions) = &self.definitions else { return };
        let mut compiled = self.compiled.lock().expect("no panic inside");
        let compile = || Arc::new(compile(definitions, definition));
        let validator = Arc::clone(compiled.entry(definition).or_insert_with(compile));
        drop(compiled);
        if let Err(error) = validator.validate(message) {
            panic!("not a {definition}: {error} at {}: {message}", error.instance_path());
        }
    }
}

fn compile(definitions: &Value, name: &str) -> Validator {
    assert!(definitions.get(name).is_some(), "the schema defines no {name}");
    let mut whole = json!({ "$ref": format!("#/$defs/{name}") });
    whole["$defs"] = definitions.clone();
    jsonschema::validator_for(&whole).expect("the schema compiles")
}
