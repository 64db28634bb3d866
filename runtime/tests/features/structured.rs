//! Structured results and output schemas.

use ringmcp::types::{CallToolResult, Content, Tool};
use ringmcp::{Builder, Context, Structured, ToolError};
use serde_json::{Value, json};

use crate::common::{NoArgs, ask, once, server};
use crate::support::{Request, serve};

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Weather {
    /// In degrees.
    temperature: f64,
    words: Vec<String>,
}

/// [TOOL-08] [CALL-06] [CALL-07] a typed result derives its schema and stands beside its own JSON as text.
#[test]
fn typed_results_derive_their_schema() {
    let builder = server()
        .tool("weather", "", async |_: &Context, _: NoArgs| {
            Ok::<_, ToolError>(Structured(Weather { temperature: 1.5, words: vec!["wet".into()] }))
        })
        .tool("list", "", async |_: &Context, _: NoArgs| Ok::<_, ToolError>(Structured(vec![1, 2])))
        .tool("maybe", "", async |_: &Context, _: NoArgs| {
            Ok::<_, ToolError>(Structured(None::<u32>))
        });
    let server = serve(builder);
    let tools = server.send(&ask("tools/list")).result("tools/list")["tools"].clone();
    assert_eq!(tools[0]["outputSchema"]["type"], "object");
    assert_eq!(tools[0]["outputSchema"]["properties"]["temperature"]["description"], "In degrees.");
    assert_eq!(tools[1]["outputSchema"]["type"], "array");
    for (name, value) in [
        ("weather", json!({ "temperature": 1.5, "words": ["wet"] })),
        ("list", json!([1, 2])),
        ("maybe", json!(null)),
    ] {
        let answer = server.send(&Request::call(name, json!({})));
        let result = answer.result("tools/call");
        assert_eq!(result.as_object().expect("an object").get("structuredContent"), Some(&value));
        assert_eq!(serde_json::from_str::<Value>(&answer.text()).expect("JSON"), value);
    }
}

/// A tool that returns this value with this schema.
fn returning(schema: Option<Value>, result: CallToolResult) -> Builder {
    let mut tool = Tool::new("t");
    if let Some(schema) = schema {
        tool = tool.output_schema(schema).expect("an object");
    }
    server().tool_raw(tool, async move |_: &Context, _: NoArgs| Ok::<_, ToolError>(result.clone()))
}

/// [CALL-07] [CALL-08] [TOOL-08] any JSON value is a structured result; null is there, absence is not; text is added
/// where the handler gave none.
#[test]
fn any_value_is_structured() {
    for value in [
        json!(null),
        json!(false),
        json!(0),
        json!(""),
        json!([]),
        json!({}),
        json!([{ "a": null }]),
        json!(-1.5),
    ] {
        let bare =
            CallToolResult { structured_content: Some(value.clone()), ..CallToolResult::new() };
        let answer = once(returning(None, bare), &Request::call("t", json!({})));
        let result = answer.result("tools/call");
        assert_eq!(result.as_object().expect("an object").get("structuredContent"), Some(&value));
        assert_eq!(serde_json::from_str::<Value>(&answer.text()).expect("JSON"), value);
        assert_eq!(result["content"].as_array().map(Vec::len), Some(1));
    }
    let absent = once(returning(None, CallToolResult::text("x")), &Request::call("t", json!({})));
    assert_eq!(absent.result("tools/call").get("structuredContent"), None);
}

/// [CALL-07] the handler's own text stays alone; other blocks do not count as text.
#[test]
fn own_text_is_not_doubled() {
    let own = CallToolResult {
        structured_content: Some(json!({ "a": 1 })),
        ..CallToolResult::text("One")
    };
    let result = once(returning(None, own), &Request::call("t", json!({}))).result("tools/call");
    assert_eq!(result["content"], json!([{ "type": "text", "text": "One" }]));
    let image = CallToolResult::from(Content::image([1], "image/png"));
    let image = CallToolResult { structured_content: Some(json!([1])), ..image };
    let result = once(returning(None, image), &Request::call("t", json!({}))).result("tools/call");
    assert_eq!(result["content"][1], json!({ "type": "text", "text": "[1]" }));
}

/// [CALL-06] [ERR-10] a result that breaks its own schema is the server's fault, and no detail of it leaves.
#[test]
fn broken_results_are_internal_errors() {
    let schema = || {
        Some(
            json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] }),
        )
    };
    let structured =
        |value: Value| CallToolResult { structured_content: Some(value), ..CallToolResult::new() };
    for wrong in [
        CallToolResult::text("no structure"),
        structured(json!(null)),
        structured(json!({})),
        structured(json!({ "n": "secret" })),
        structured(json!([1])),
    ] {
        let answer = once(returning(schema(), wrong.clone()), &Request::call("t", json!({})));
        assert_eq!(answer.error(), (200, -32603), "{wrong:?}");
        assert_eq!(answer.error_object(), json!({ "code": -32603, "message": "Internal error" }));
    }
    let right =
        once(returning(schema(), structured(json!({ "n": 1 }))), &Request::call("t", json!({})));
    assert_eq!(right.result("tools/call")["structuredContent"], json!({ "n": 1 }));
}

/// [CALL-06] a failed call, a panic and a round that ends early need not fit the schema.
#[test]
fn failures_skip_the_output_schema() {
    let tool =
        |name: &str| Tool::new(name).output_schema(json!({ "type": "string" })).expect("an object");
    let builder = server()
        .tool_raw(tool("fails"), async |_: &Context, _: NoArgs| {
            Err::<(), _>(ToolError::new("sorry"))
        })
        .tool_raw(tool("panics"), async |ctx: &Context, _: NoArgs| {
            assert!(ctx.method().is_empty(), "always");
            Ok::<_, ToolError>(())
        })
        .tool_raw(tool("asks"), async |ctx: &Context, _: NoArgs| {
            ctx.roots("r")?;
            Ok::<_, ToolError>(())
        });
    let server = serve(builder);
    let call = |name: &str| {
        let request = Request::call(name, json!({})).capabilities(json!({ "roots": {} }));
        server.send(&request).result("tools/call")
    };
    assert_eq!(call("fails")["isError"], true);
    assert_eq!(call("panics")["isError"], true);
    assert_eq!(call("asks")["resultType"], "input_required");
}

/// [TOOL-08] [CALL-06] [JSC-01] every kind of root, each with a value that fits and one that does not.
#[test]
fn every_root_is_checked() {
    for (schema, fits, fails) in [
        (json!({ "type": "array", "items": { "type": "integer" } }), json!([1]), json!(["1"])),
        (json!({ "type": "string", "minLength": 2 }), json!("ab"), json!("a")),
        (json!({ "type": "null" }), json!(null), json!(0)),
        (json!({ "type": "boolean" }), json!(false), json!(null)),
        (
            json!({ "anyOf": [{ "type": "integer" }, { "const": "none" }] }),
            json!("none"),
            json!("some"),
        ),
        (json!({ "not": { "type": "object" } }), json!(1), json!({})),
        (json!({ "enum": [1, "a"] }), json!("a"), json!(2)),
    ] {
        for (value, ok) in [(fits, true), (fails, false)] {
            let result =
                CallToolResult { structured_content: Some(value.clone()), ..CallToolResult::new() };
            let answer =
                once(returning(Some(schema.clone()), result), &Request::call("t", json!({})));
            assert_eq!(answer.message().get("result").is_some(), ok, "{schema}: {value}");
        }
    }
}

/// [CALL-04] [RPC-07] members that a handler adds do not speak for the server.
#[test]
fn extra_members_do_not_repeat_the_servers_own() {
    let mut result = CallToolResult::text("x");
    for member in ["resultType", "_meta", "ttlMs", "content", "isError", "structuredContent"] {
        result.extra.insert(member.into(), json!("lies"));
    }
    result.extra.insert("com.example/own".into(), json!(1));
    let answer = once(returning(None, result), &Request::call("t", json!({})));
    let body = String::from_utf8(answer.body.clone()).expect("UTF-8");
    assert!(!body.contains("lies"), "{body}");
    assert_eq!(answer.result("tools/call")["com.example/own"], 1);
}
