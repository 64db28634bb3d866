//! Builders: what they write and what they refuse.

use serde_json::{Value, json};

use crate::meta_key::MetaKeyError;
use crate::types::*;

fn wire(value: impl serde::Serialize) -> Value {
    serde_json::to_value(value).expect("serializes")
}

/// [CALL-09] [RES-13] content blocks as they are written; binary is padded standard Base64 and every byte
/// value survives.
#[test]
fn content_blocks() {
    let every_byte: Vec<u8> = (0..=255).collect();
    let Content::Image(image) = Content::image(&every_byte, "image/png") else { panic!("image") };
    assert_eq!(image.bytes(), Ok(every_byte.clone()));
    let ResourceContents::Blob(blob) = ResourceContents::blob("a:b", &every_byte) else {
        panic!("blob")
    };
    assert_eq!(blob.bytes(), Ok(every_byte));
    assert_eq!(
        wire(Content::audio([0xfb, 0xff], "audio/wav")),
        json!({"type": "audio", "data": "+/8=", "mimeType": "audio/wav"})
    );
    assert_eq!(
        wire(Content::link(Resource::new("a:b", "b").size(3).mime_type("text/plain"))),
        json!({"type": "resource_link", "uri": "a:b", "name": "b", "mimeType": "text/plain", "size": 3})
    );
    assert_eq!(
        wire(Content::embedded(ResourceContents::text("a:b", "t").mime_type("text/plain"))),
        json!({"type": "resource", "resource": {"uri": "a:b", "mimeType": "text/plain", "text": "t"}})
    );
}

/// [CALL-10] priority is within 0..1, lastModified is ISO 8601; the error names the member.
#[test]
fn annotations_are_range_checked() {
    for good in [Num::from(0), Num::from(1), Num::from(0.5)] {
        assert!(Annotations::new().priority(good).is_ok());
    }
    for bad in [Num::from(1.1), Num::from(-0.1), Num::from(2), Num::from(f64::INFINITY)] {
        assert_eq!(Annotations::new().priority(bad), Err(AnnotationsError::Priority));
    }
    let rows = [
        ("2026-07-28T12:00:00Z", true),
        ("2026-07-28T12:00:00.25+02:00", true),
        ("2024-02-29", true),
        ("2023-02-29", false),
        ("2026-13-01", false),
        ("2026-07-28T24:00:00Z", false),
        ("2026-07-28T12:00Z", false),
        ("2026-07-28 12:00:00Z", false),
        ("2026-07-28T12:00:00", false),
        ("2026-07-2é", false),
        ("yesterday", false),
        ("", false),
    ];
    for (time, good) in rows {
        assert_eq!(Annotations::new().last_modified(time).is_ok(), good, "{time:?}");
    }
    assert!(AnnotationsError::Priority.to_string().contains("annotations.priority"));
    let annotations = Annotations::new().audience([Role::User]).priority(1.0).expect("in range");
    assert_eq!(
        wire(Content::text("hi").annotations(annotations)),
        json!({"type": "text", "text": "hi", "annotations": {"audience": ["user"], "priority": 1}})
    );
}

/// [TOOL-12] icons come from `https:` or `data:` only.
#[test]
fn icon_sources_and_sizes() {
    for good in ["https://a.example/i.png", "HTTPS://a", "data:image/png;base64,AA=="] {
        assert!(Icon::new(good).is_ok(), "{good:?}");
    }
    for bad in [
        "javascript:alert(1)",
        "http://a.example/i.png",
        "file:///etc/passwd",
        "https:",
        "https:///x",
        "i.png",
        "",
        "https://a b",
        "data:\n",
        " https://a",
    ] {
        assert_eq!(Icon::new(bad), Err(IconError::Source), "{bad:?}");
    }
    let icon = || Icon::new("https://a.example/i").expect("good source");
    assert!(icon().size("48x48").and_then(|icon| icon.size("any")).is_ok());
    for bad in ["48", "x", "48x", "48X48", "-1x2", ""] {
        assert_eq!(icon().size(bad), Err(IconError::Size), "{bad:?}");
    }
}

/// [TOOL-06] [TOOL-08] [TOOL-11] a tool without arguments has an object schema; other input roots are
/// refused, any output root passes; unset hints are not written.
#[test]
fn tool_definitions() {
    let tool = Tool::new("add").title("Add").annotations(ToolAnnotations::new().read_only(true));
    assert_eq!(
        wire(&tool),
        json!({
            "name": "add",
            "title": "Add",
            "inputSchema": {"type": "object", "additionalProperties": false},
            "annotations": {"readOnlyHint": true},
        })
    );
    for bad in
        [json!(null), json!({}), json!({"type": "array"}), json!({"type": ["object"]}), json!(true)]
    {
        assert_eq!(Tool::new("a").input_schema(bad), Err(ToolDefinitionError::InputSchema));
    }
    assert!(Tool::new("a").output_schema(json!({"anyOf": [true]})).is_ok());
    assert_eq!(Tool::new("a").output_schema(json!(true)), Err(ToolDefinitionError::OutputSchema));
}

/// [TOOL-09] [TOOL-13] names, and which name is shown.
#[test]
fn tool_names() {
    let rows = [
        ("get_weather-2.0", true),
        (&"a".repeat(128), true),
        (&"a".repeat(129), false),
        ("", false),
        ("a b", false),
        ("a,b", false),
        ("a/b", false),
        ("é", false),
    ];
    for (name, good) in rows {
        assert_eq!(Tool::new(name).validate().is_ok(), good, "{name:?}");
    }
    let hinted = Tool::new("n").annotations(ToolAnnotations::new().title("hint"));
    assert_eq!(Tool::new("n").display_name(), "n");
    assert_eq!(hinted.display_name(), "hint");
    assert_eq!(hinted.clone().title("title").display_name(), "title");
}

/// [CALL-04] [CALL-05] [CALL-07] content is always written; a structured value comes with its text, once.
#[test]
fn tool_results() {
    assert_eq!(wire(CallToolResult::new()), json!({"resultType": "complete", "content": []}));
    let mut result = CallToolResult::structured(json!([1, null]));
    result.ensure_text();
    assert_eq!(
        wire(&result),
        json!({
            "resultType": "complete",
            "content": [{"type": "text", "text": "[1,null]"}],
            "structuredContent": [1, null],
        })
    );
    assert!(CallToolResult::error("no").failed());
    assert!(!CallToolResult::text("yes").failed());
}

/// [ENV-09] [ENV-10] [ENV-11] [SUB-03] metadata: own keys are checked, a handler's server info wins, other
/// keys survive, subscription ids keep their JSON type.
#[test]
fn metadata() {
    let mut meta = Meta::new().with("a.b/c", 1).expect("free key");
    assert_eq!(meta.set("io.modelcontextprotocol/x", 1), Err(MetaKeyError::Reserved));
    assert_eq!(meta.set("1.b/c", 1), Err(MetaKeyError::MalformedPrefix));
    let first = Implementation::new("first", "1");
    meta.stamp_server_info(&first);
    meta.stamp_server_info(&Implementation::new("second", "2"));
    assert_eq!(meta.server_info(), Some(first));
    assert_eq!(meta.get("a.b/c"), Some(&json!(1)));
    for id in [json!("1"), json!(1), json!(0), json!("")] {
        let id: RequestId = serde_json::from_value(id).expect("an id");
        let closing = ListenResult::new(&id);
        assert_eq!(closing.meta.subscription_id(), Some(id));
    }
}

/// [DSC-05] [ENV-15] [SUB-21] empty capability objects are written, false flags are not; an extension
/// needs a prefix.
#[test]
fn capabilities() {
    let capabilities = ServerCapabilities::default()
        .tools(false)
        .resources(true, false)
        .completions()
        .extension("com.example/x", JsonObject::new())
        .expect("has a prefix");
    assert_eq!(
        wire(&capabilities),
        json!({
            "completions": {},
            "resources": {"subscribe": true},
            "tools": {},
            "extensions": {"com.example/x": {}},
        })
    );
    assert_eq!(
        capabilities.extension("tasks", JsonObject::new()),
        Err(MetaKeyError::PrefixMissing)
    );
}

/// [CMP-03] more than 100 values are cut, and the rest is told of.
#[test]
fn completion_is_cut_at_one_hundred() {
    let values = |count: usize| (0..count).map(|n| n.to_string());
    let cut = Completion::new(values(250));
    assert_eq!((cut.values.len(), cut.total, cut.has_more), (100, Some(250), Some(true)));
    let whole = Completion::new(values(100));
    assert_eq!((whole.values.len(), whole.total, whole.has_more), (100, None, None));
}

/// [PRM-02] [PRM-03] prompts, their arguments and messages.
#[test]
fn prompts() {
    let prompt =
        Prompt::new("review").argument("style").argument(PromptArgument::new("code").required());
    assert_eq!(
        wire(prompt),
        json!({"name": "review", "arguments": [{"name": "style"}, {"name": "code", "required": true}]})
    );
    assert_eq!(
        wire(GetPromptResult::new().user("hi").assistant(Content::text("ho"))),
        json!({"resultType": "complete", "messages": [
            {"role": "user", "content": {"type": "text", "text": "hi"}},
            {"role": "assistant", "content": {"type": "text", "text": "ho"}},
        ]})
    );
}
