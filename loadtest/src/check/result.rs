//! What a result must be: the shape that its method returns, and what the command line expects of it.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::fault::Kind;
use crate::request::{LEGACY_VERSION, VERSION};

/// What a method returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `tools/call`
    Call,
    /// `tools/list`
    Tools,
    /// `server/discover`
    Server,
    /// `resources/read` of this URI
    Resource(String),
    /// `initialize` of [`LEGACY_VERSION`]
    Initialize,
}

/// What the command line expects of a result.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expected {
    /// Calls and reads, in a text; listings, an item's name; discover, the server's name.
    pub(crate) text: Option<String>,
    /// Calls: what the structured content must be.
    pub(crate) schema: Option<Schema>,
}

/// A compiled JSON Schema, and where it came from.
#[derive(Clone)]
pub(crate) struct Schema {
    pub(crate) source: String,
    pub(crate) validator: Arc<jsonschema::Validator>,
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Schema").field(&self.source).finish()
    }
}

/// Everything a result must be.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) shape: Shape,
    /// Whether the result says that it is complete [RPC-07]; older revisions do not know that.
    pub(crate) typed: bool,
    pub(crate) expected: Expected,
}

type Wrong = (Kind, String);

impl Wanted {
    /// A result of 2026-07-28.
    pub(crate) fn modern(shape: Shape, expected: Expected) -> Self {
        Self { shape, typed: true, expected }
    }

    /// A result of an older revision.
    pub(crate) fn legacy(shape: Shape, expected: Expected) -> Self {
        Self { shape, typed: false, expected }
    }

    /// Holds a result against it.
    ///
    /// # Errors
    /// The kind of fault, and what is wrong.
    pub(crate) fn check(&self, result: &Value) -> Result<(), Wrong> {
        if self.typed && result["resultType"] != "complete" {
            return wrong(format!("resultType is {}, not \"complete\"", result["resultType"]));
        }
        self.check_shape(result)?;
        if let Some(text) = &self.expected.text
            && !self.shows(result, text)
        {
            return Err((Kind::Expect, format!("{text:?} is not to be seen")));
        }
        if let Some(schema) = &self.expected.schema {
            let structured = &result["structuredContent"];
            if let Err(error) = schema.validator.validate(structured) {
                let why = format!("structuredContent{} {error}", error.instance_path());
                return Err((Kind::Expect, why));
            }
        }
        Ok(())
    }

    fn check_shape(&self, result: &Value) -> Result<(), Wrong> {
        match &self.shape {
            Shape::Call if result["isError"] == true => {
                Err((Kind::Tool, "the tool reports a failure".into()))
            }
            Shape::Call if !result["content"].is_array() => wrong("no content array"),
            Shape::Tools if !result["tools"].is_array() => wrong("no tools array"),
            Shape::Server if !strings(&result["supportedVersions"]).any(|v| v == VERSION) => {
                wrong("supportedVersions lacks the version spoken")
            }
            Shape::Resource(uri) => check_contents(&result["contents"], uri),
            Shape::Initialize if result["protocolVersion"] != LEGACY_VERSION => wrong(format!(
                "protocolVersion is {}, not {LEGACY_VERSION}",
                result["protocolVersion"]
            )),
            Shape::Initialize if !result["serverInfo"]["name"].is_string() => {
                wrong("no serverInfo with a name")
            }
            Shape::Initialize if !result["capabilities"].is_object() => wrong("no capabilities"),
            _ => Ok(()),
        }
    }

    /// Whether the result shows the expected text.
    fn shows(&self, result: &Value, text: &str) -> bool {
        let items = |list: &'static str| result[list].as_array().into_iter().flatten();
        let in_text = |item: &Value| item["text"].as_str().is_some_and(|t| t.contains(text));
        match self.shape {
            Shape::Call => items("content").any(in_text),
            Shape::Resource(_) => items("contents").any(in_text),
            Shape::Tools => items("tools").any(|tool| tool["name"] == text),
            Shape::Server => result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == text,
            Shape::Initialize => result["serverInfo"]["name"] == text,
        }
    }
}

/// [RES-04] [RES-06] At least one item, each with a URI and either text or a blob, one of them what was asked for.
fn check_contents(contents: &Value, uri: &str) -> Result<(), Wrong> {
    let items = match contents.as_array() {
        Some(items) if !items.is_empty() => items,
        _ => return wrong("no contents array with an item"),
    };
    if items.iter().any(|item| item["text"].is_string() == item["blob"].is_string()) {
        return wrong("contents without exactly one of text and blob");
    }
    if !items.iter().any(|item| item["uri"].as_str().is_some_and(|came| came.starts_with(uri))) {
        return wrong(format!("no contents of {uri}"));
    }
    Ok(())
}

fn wrong<T>(detail: impl Into<String>) -> Result<T, Wrong> {
    Err((Kind::Result, detail.into()))
}

fn strings(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}
