//! Answers in the shape of the 2025 era: nothing that only later revisions put there (LEG-19), structured results as
//! objects (LEG-28), content of kinds that the client's revision knows (LEG-29), and that era's error codes.
//!
//! Members that a revision does not know but allows, such as `title` or `icons`, stay where they are.

use codec::error::{RpcError, code};
use codec::id::Id;
use codec::meta::SERVER_INFO_KEY;
use codec::write;
use serde_json::{Map, Value, json};
use transport::mcp::legacy::Version;

use crate::registry::ToolEntry;

/// A missing resource (LEG-24, D-23). Never sent to a modern client (ERR-02).
pub(crate) const RESOURCE_NOT_FOUND: i32 = -32002;

/// Starts a result: everything before its members.
pub(crate) fn begin(body: &mut Vec<u8>, id: &Id<'_>) {
    body.clear();
    write::response_start(body, id);
    body.push(b'{');
}

/// Ends a result with the handler's `_meta`, without what the server says of itself in it.
pub(crate) fn end(body: &mut Vec<u8>, meta: Option<Map<String, Value>>) {
    if body.last() == Some(&b',') {
        body.pop();
    }
    let mut meta = meta.unwrap_or_default();
    meta.shift_remove(SERVER_INFO_KEY);
    if !meta.is_empty() {
        if body.last() != Some(&b'{') {
            body.push(b',');
        }
        write::key(body, "_meta");
        write::serialize(body, &meta);
    }
    body.push(b'}');
    write::end(body);
}

/// A result without members.
pub(crate) fn empty(body: &mut Vec<u8>, id: &Id<'_>) {
    begin(body, id);
    end(body, None);
}

/// The error in this era's codes. What only the modern era has a code for is an internal error here; callers have
/// dealt with missing capabilities before.
pub(crate) fn error(mut error: RpcError, method: &str) -> RpcError {
    match error.code {
        code::INVALID_PARAMS if method == "resources/read" && names_a_resource(&error) => {
            error.code = RESOURCE_NOT_FOUND;
        }
        code::HEADER_MISMATCH | code::UNSUPPORTED_VERSION => return RpcError::internal(),
        code::MISSING_CLIENT_CAPABILITY => {
            error.code = code::INTERNAL_ERROR;
            error.data = None;
        }
        _ => {}
    }
    error
}

fn names_a_resource(error: &RpcError) -> bool {
    let data = error.data.as_ref().map_or("null", |data| data.get());
    serde_json::from_str::<Value>(data).is_ok_and(|data| data["uri"].is_string())
}

/// Whether a tool's structured result is shown inside an object (LEG-28).
fn is_wrapped(tool: &ToolEntry) -> bool {
    tool.def
        .output_schema
        .as_ref()
        .is_some_and(|schema| schema.get("type") != Some(&json!("object")))
}

/// The members of `tools/list` that stand from `start` on, for clients that know output schemas of objects only.
pub(crate) fn tools<'e>(
    body: &mut Vec<u8>,
    start: usize,
    mut all: impl Iterator<Item = &'e ToolEntry>,
) {
    if !all.any(is_wrapped) {
        return;
    }
    rewrite(body, start, |result| {
        for tool in result.get_mut("tools").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(schema) = tool.get_mut("outputSchema").and_then(Value::as_object_mut)
                && schema.get("type") != Some(&json!("object"))
            {
                *schema = wrapped_schema(std::mem::take(schema));
            }
        }
    });
}

/// The members of a result that stand from `start` on; `tool` is the one that was called, `structured` its value.
pub(crate) fn result(
    body: &mut Vec<u8>,
    start: usize,
    version: Version,
    tool: Option<&ToolEntry>,
    structured: Option<&Value>,
) {
    let wraps = structured.is_some_and(|value| match tool {
        Some(tool) if tool.output.is_some() => is_wrapped(tool),
        _ => !value.is_object(),
    });
    if !wraps && !holds_unknown_content(&body[start..], version) {
        return;
    }
    rewrite(body, start, |result| {
        if wraps && let Some(value) = result.get_mut("structuredContent") {
            *value = json!({ "result": value.take() });
        }
        for block in result.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten() {
            plain_block(block, version);
        }
        for message in
            result.get_mut("messages").and_then(Value::as_array_mut).into_iter().flatten()
        {
            if let Some(block) = message.get_mut("content") {
                plain_block(block, version);
            }
        }
    });
}

/// A look at the bytes: inside a string the quotes would be escaped, so only a member can match.
fn holds_unknown_content(members: &[u8], version: Version) -> bool {
    let holds = |what: &str| memchr::memmem::find(members, what.as_bytes()).is_some();
    !version.has_audio() && holds(r#""type":"audio""#)
        || !version.has_resource_links() && holds(r#""type":"resource_link""#)
}

fn plain_block(block: &mut Value, version: Version) {
    let text = match block["type"].as_str() {
        Some("audio") if !version.has_audio() => {
            format!("[audio, {}]", block["mimeType"].as_str().unwrap_or("of unknown type"))
        }
        Some("resource_link") if !version.has_resource_links() => {
            let member = |name: &str| block[name].as_str().unwrap_or_default();
            format!("{}: {}", member("name"), member("uri"))
        }
        _ => return,
    };
    *block = json!({ "type": "text", "text": text });
}

fn rewrite(body: &mut Vec<u8>, start: usize, change: impl FnOnce(&mut Map<String, Value>)) {
    let mut text = vec![b'{'];
    text.extend_from_slice(body[start..].strip_suffix(b",").unwrap_or(&body[start..]));
    text.push(b'}');
    let Ok(mut members) = serde_json::from_slice(&text) else { return };
    change(&mut members);
    body.truncate(start);
    crate::render::members(body, &members);
}

/// `S` as the schema of `{"result": S}`: references that count from the root of `S` count from its new place.
fn wrapped_schema(mut schema: Map<String, Value>) -> Map<String, Value> {
    let mut whole = Map::new();
    if let Some(dialect) = schema.shift_remove("$schema") {
        whole.insert("$schema".to_owned(), dialect);
    }
    // A schema with an id of its own is the root of its references wherever it stands.
    if !schema.contains_key("$id") {
        rebase(&mut schema);
    }
    whole.insert("type".to_owned(), json!("object"));
    whole.insert("properties".to_owned(), json!({ "result": schema }));
    whole.insert("required".to_owned(), json!(["result"]));
    whole
}

fn rebase(schema: &mut Map<String, Value>) {
    for (keyword, value) in schema {
        match (keyword.as_str(), &mut *value) {
            ("$ref" | "$dynamicRef", Value::String(reference))
                if reference == "#" || reference.starts_with("#/") =>
            {
                reference.insert_str(1, "/properties/result");
            }
            // Data, not schemas.
            ("const" | "enum" | "default" | "examples", _) => {}
            (_, Value::Object(inner)) => rebase(inner),
            (_, Value::Array(inner)) => {
                inner.iter_mut().filter_map(Value::as_object_mut).for_each(rebase);
            }
            _ => {}
        }
    }
}
