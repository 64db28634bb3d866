//! Tools: their list, and calls that end in every way a call can end.

use std::time::Duration;

use base64::Engine as _;
use ringmcp::types::{
    Annotations, CallToolResult, Capability, Content, Icon, IconTheme, Resource, ResourceContents,
    Role, RpcError, Tool, ToolAnnotations,
};
use ringmcp::{Builder, Context, Limits, ToolError};
use serde_json::{Value, json};

use crate::common::{Free, NoArgs, Runs, ask, names, once, server};
use crate::support::{Request, serve};

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Add {
    /// The first number.
    a: i64,
    b: i64,
}

fn adder(runs: Runs) -> Builder {
    server().tool("add", "Adds", async move |_: &Context, Add { a, b }: Add| {
        runs.add();
        Ok::<_, ToolError>(a + b)
    })
}

/// [TOOL-03] [TOOL-04] [TOOL-02] registration order, byte-equal each time, on each connection and after a restart.
#[test]
fn order_is_stable() {
    let make = || {
        ["zeta", "alpha", "Get", "get", "mid"].into_iter().fold(server(), |builder, name| {
            builder.tool(name, "", async |_: &Context, _: NoArgs| Ok::<_, ToolError>(()))
        })
    };
    let running = serve(make());
    let first = running.send(&ask("tools/list"));
    let list = first.result("tools/list");
    assert_eq!(names(&list["tools"], "name"), ["zeta", "alpha", "Get", "get", "mid"]);
    assert_eq!(list.get("nextCursor"), None);
    for _ in 0..100 {
        assert_eq!(running.send(&ask("tools/list")).body, first.body);
    }
    running.stop();
    assert_eq!(serve(make()).send(&ask("tools/list")).body, first.body);
}

/// [TOOL-05] [TOOL-11] [TOOL-12] [TOOL-13] every field of a definition reaches the list; what is unset stays absent;
/// what only older revisions know does not appear.
#[test]
fn definitions_reach_the_list_whole() {
    let icon = Icon::new("data:image/png;base64,AAAA")
        .expect("data")
        .mime_type("image/png")
        .size("48x48")
        .expect("a size")
        .theme(IconTheme::Dark);
    let hints = ToolAnnotations::new().title("Hinted").read_only(true);
    let mut full =
        Tool::new("full").title("Full").description("All of it").icon(icon).annotations(hints);
    full.extra.insert("execution".into(), json!({ "taskSupport": "optional" }));
    full.extra.insert("taskSupport".into(), json!("optional"));
    full.extra.insert("x-kept".into(), json!(1));
    assert_eq!(full.display_name(), "Full");
    let builder = server()
        .tool_with(full, async |_: &Context, _: NoArgs| Ok::<_, ToolError>(()))
        .tool_raw(Tool::new("bare"), async |_: &Context, _: Free| Ok::<_, ToolError>(()));
    let list = once(builder, &ask("tools/list")).result("tools/list");
    let (full, bare) = (&list["tools"][0], &list["tools"][1]);
    assert_eq!(full["title"], "Full");
    assert_eq!(full["description"], "All of it");
    assert_eq!(full["annotations"], json!({ "title": "Hinted", "readOnlyHint": true }));
    assert_eq!(
        full["icons"],
        json!([{ "src": "data:image/png;base64,AAAA", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark" }])
    );
    assert_eq!(full.get("execution"), None);
    assert_eq!(full.get("taskSupport"), None);
    assert_eq!(full["x-kept"], 1);
    // TOOL-06: the recommended schema of a tool without arguments.
    let expected = json!({
        "name": "bare",
        "inputSchema": { "type": "object", "additionalProperties": false },
    });
    assert_eq!(bare, &expected);
}

/// [TOOL-07] [JSC-01] every keyword of a schema reaches the client unchanged and in its order.
#[test]
fn schemas_reach_the_client_unchanged() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://example.com/schema",
        "type": "object",
        "$defs": { "address": { "$anchor": "addressDef", "type": "object",
            "properties": { "street": { "type": "string" }, "city": { "type": "string" } } } },
        "properties": {
            "name": { "type": "string", "x-note": [1, null, 2.5] },
            "address": { "$ref": "#/$defs/address" },
            "contact": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["name"] }, { "required": ["contact"] }] }],
        "oneOf": [true],
        "not": { "required": ["nothing"] },
        "if": { "properties": { "name": { "const": "x" } }, "required": ["name"] },
        "then": { "required": ["contact"] },
        "else": {},
        "additionalProperties": false,
        "x-own": { "kept": true },
    });
    let output = json!({ "anyOf": [{ "type": "string" }, { "type": "null" }], "x-out": 1 });
    let tool = Tool::new("t").input_schema(schema.clone()).expect("an object root");
    let tool = tool.output_schema(output.clone()).expect("an object");
    let builder = server().tool_raw(tool, async |_: &Context, _: Free| {
        Ok::<_, ToolError>(CallToolResult::structured("x"))
    });
    let server = serve(builder);
    let answer = server.send(&ask("tools/list"));
    let list = answer.result("tools/list");
    assert_eq!(list["tools"][0]["inputSchema"], schema);
    assert_eq!(list["tools"][0]["outputSchema"], output);
    let body = String::from_utf8(answer.body).expect("UTF-8");
    assert!(body.contains(&schema.to_string()), "member order is kept: {body}");
    server.send(&Request::call("t", json!({ "name": "n" }))).result("tools/call");
    let refused = server.send(&Request::call("t", json!({ "name": "x" }))).result("tools/call");
    assert_eq!(refused["isError"], true, "then: contact is required");
}

/// [CALL-01] [PREC-02] params that are no CallToolRequest are a protocol error in band, and nothing runs.
#[test]
fn malformed_calls() {
    let runs = Runs::default();
    let server = serve(adder(runs.clone()));
    let call = || Request::call("add", json!({ "a": 1, "b": 2 }));
    for request in [
        call().param("arguments", json!([])),
        call().param("arguments", json!("a")),
        call().param("arguments", json!(7)),
        call().param("inputResponses", json!([])),
        call().param("requestState", json!(7)),
    ] {
        assert_eq!(server.send(&request).error(), (200, -32602), "{}", request.message);
    }
    assert_eq!(runs.count(), 0);
    assert_eq!(server.send(&call()).text(), "3");
    let no_arguments = once(
        crate::common::server().tool("n", "", async |ctx: &Context, _: NoArgs| {
            Ok::<_, ToolError>(ctx.arguments().as_object().expect("an object").len())
        }),
        &Request::new("tools/call", json!({ "name": "n" })),
    );
    assert_eq!(no_arguments.text(), "0", "absent arguments are an empty object");
}

/// [CALL-02] unknown and hidden tools answer alike, but for the name.
#[test]
fn unknown_and_hidden_tools_answer_alike() {
    let server = serve(adder(Runs::default()));
    let good = Request::call("add", json!({ "a": 1, "b": 2 }));
    server.handle().registrations().set_tool_enabled("add", false).expect("it is there");
    let hidden = server.send(&good);
    assert_eq!(hidden.error(), (200, -32602));
    assert_eq!(hidden.error_object(), json!({ "code": -32602, "message": "Unknown tool: add" }));
    let unknown = server.send(&Request::call("ada", json!({ "a": 1, "b": 2 })));
    assert_eq!(unknown.error_object(), json!({ "code": -32602, "message": "Unknown tool: ada" }));
    server.handle().registrations().set_tool_enabled("add", true).expect("it is there");
    assert_eq!(server.send(&good).text(), "3");
}

/// [SEC-13] names of a caller's choice are clipped and escaped in what is repeated.
#[test]
fn repeated_names_are_clipped() {
    let server = serve(adder(Runs::default()));
    let long = "x".repeat(10_000);
    let message = |answer: crate::support::Answer| {
        answer.error_object()["message"].as_str().expect("a text").to_owned()
    };
    let text = message(server.send(&Request::call(&long, json!({}))));
    assert!(text.len() < 300, "{} bytes", text.len());
    let refused = server.send(&Request::call("add", json!({ "a": 1, "b": 2, long.as_str(): 1 })));
    assert!(refused.text().len() < 1_000, "{} bytes", refused.text().len());
}

/// [CALL-03] [PREC-02] arguments that do not fit never reach the handler; the model reads what is wrong.
#[test]
fn wrong_arguments_are_told_to_the_model() {
    let runs = Runs::default();
    let server = serve(adder(runs.clone()));
    for (arguments, named) in [
        (json!({ "a": 1 }), "b"),
        (json!({}), "a"),
        (json!({ "a": "1", "b": 2 }), "a"),
        (json!({ "a": 1.5, "b": 2 }), "a"),
        (json!({ "a": null, "b": 2 }), "a"),
        (json!({ "a": [], "b": 2 }), "a"),
        (json!({ "a": 1, "b": 2, "c": 3 }), "c"),
    ] {
        let answer = server.send(&Request::call("add", arguments.clone()));
        assert_eq!(answer.status, 200);
        let result = answer.result("tools/call");
        assert_eq!(result["isError"], true, "{arguments}");
        assert!(answer.text().contains(named), "{arguments}: {}", answer.text());
    }
    assert_eq!(runs.count(), 0);
    assert_eq!(server.send(&Request::call("add", json!({ "a": 1.0, "b": 2 }))).status, 200);
}

/// [CALL-04] `content` is always there, and `isError` only when something failed.
#[test]
fn content_is_always_present() {
    let builder = server()
        .tool("nothing", "", async |_: &Context, _: NoArgs| Ok::<_, ToolError>(()))
        .tool("text", "", async |_: &Context, _: NoArgs| Ok::<_, ToolError>("a\n\"b\"\u{1}ß"))
        .tool("owned", "", async |_: &Context, _: NoArgs| Ok::<_, ToolError>(String::from("o")))
        .tool("flag", "", async |_: &Context, _: NoArgs| Ok::<_, ToolError>(true))
        .tool("real", "", async |_: &Context, _: NoArgs| Ok::<_, ToolError>(1.5))
        .tool("blocks", "", async |_: &Context, _: NoArgs| {
            Ok::<_, ToolError>(vec![Content::text("1"), Content::text("2")])
        });
    let server = serve(builder);
    let call = |name: &str| server.send(&Request::call(name, json!({}))).result("tools/call");
    assert_eq!(call("nothing")["content"], json!([]));
    assert_eq!(call("nothing").get("isError"), None);
    assert_eq!(call("nothing").get("structuredContent"), None);
    assert_eq!(call("text")["content"], json!([{ "type": "text", "text": "a\n\"b\"\u{1}ß" }]));
    assert_eq!(call("owned")["content"][0]["text"], "o");
    assert_eq!(call("flag")["content"][0]["text"], "true");
    assert_eq!(call("real")["content"][0]["text"], "1.5");
    assert_eq!(call("blocks")["content"].as_array().map(Vec::len), Some(2));
}

/// [CALL-05] [ERR-04] [ERR-08] [ERR-10] [CALL-15] a tool's own failures are results, protocol faults are errors.
#[test]
fn failures_by_their_class() {
    let fail =
        |error: fn() -> ToolError| async move |_: &Context<'_>, _: NoArgs| Err::<(), _>(error());
    let builder = server()
        .tool("told", "", fail(|| ToolError::new("No such city")))
        .tool("foreign", "", async |_: &Context, _: NoArgs| "x".parse::<i32>())
        .tool("made", "", fail(|| ToolError::with_result(CallToolResult::text("Made"))))
        .tool(
            "own",
            "",
            fail(|| ToolError::protocol(RpcError::new(1234, "Own").with_data(&json!({ "k": 1 })))),
        )
        .tool("internal", "", fail(|| ToolError::protocol(RpcError::internal())))
        .tool("needs", "", async |ctx: &Context, _: NoArgs| {
            ctx.require(&Capability::Sampling)?;
            Ok::<_, ToolError>("can")
        });
    let server = serve(builder);
    let call = |name: &str| server.send(&Request::call(name, json!({})));
    for (name, text) in
        [("told", "No such city"), ("made", "Made"), ("foreign", "invalid digit found in string")]
    {
        let answer = call(name);
        assert_eq!(answer.status, 200);
        assert_eq!(answer.result("tools/call")["isError"], true);
        assert_eq!(answer.text(), text);
    }
    assert_eq!(call("own").error(), (200, 1234));
    assert_eq!(call("own").error_object()["data"], json!({ "k": 1 }));
    assert_eq!(call("internal").error(), (200, -32603));
    let answer = call("needs");
    assert_eq!(answer.error(), (400, -32021));
    assert_eq!(
        answer.error_object()["data"],
        json!({ "requiredCapabilities": { "sampling": {} } })
    );
    let able = Request::call("needs", json!({})).capabilities(json!({ "sampling": {} }));
    assert_eq!(server.send(&able).text(), "can");
}

/// [ERR-01] [ERR-02] [ERR-03] [ERR-04] [ERR-05] [ERR-06] whatever code a handler makes up, only codes with a meaning
/// leave, in the shape that the meaning has.
#[test]
fn reserved_codes_do_not_leave() {
    let builder = server().tool("code", "", async |_: &Context, arguments: Free| {
        let code = arguments["code"].as_i64().and_then(|code| i32::try_from(code).ok());
        Err::<(), _>(ToolError::protocol(RpcError::new(code.expect("an i32"), "Made up")))
    });
    let server = serve(builder);
    for code in [
        -32768, -32700, -32699, -32604, -32500, -32100, -32099, -32050, -32042, -32023, -32022,
        -32021, -32019, -32002, -32001, -32000,
    ] {
        let answer = server.send(&Request::call("code", json!({ "code": code })));
        let error = answer.error_object();
        assert_eq!(answer.error(), (200, -32603), "{code}: {error}");
        assert_eq!(error["message"], "Internal error", "{code}");
    }
    for code in [
        1,
        -1,
        0,
        -31999,
        -32769,
        1234,
        i64::from(i32::MAX),
        i64::from(i32::MIN),
        -32600,
        -32601,
        -32602,
        -32020,
    ] {
        let answer = server.send(&Request::call("code", json!({ "code": code })));
        assert_eq!(answer.error(), (200, code), "D-05: by origin");
    }
}

/// [CALL-09] [CALL-10] each type of block, decoded again.
#[test]
fn content_blocks() {
    let every_byte: Vec<u8> = (0..=255).collect();
    let bytes = every_byte.clone();
    let builder = server().tool("all", "", async move |_: &Context, _: NoArgs| {
        let hints = Annotations::new()
            .audience([Role::User])
            .priority(0.5)?
            .last_modified("2026-01-02T03:04:05Z")?;
        Ok::<_, ToolError>(vec![
            Content::text("words").annotations(hints),
            Content::image(&bytes, "image/png"),
            Content::audio(&bytes[..2], "audio/wav"),
            Content::link(Resource::new("file:///a", "a").mime_type("text/plain").size(3)),
            Content::embedded(ResourceContents::text("test://t", "text").mime_type("text/plain")),
            Content::embedded(ResourceContents::blob("test://b", &bytes)),
        ])
    });
    let result = once(builder, &Request::call("all", json!({}))).result("tools/call");
    let blocks = result["content"].as_array().expect("blocks");
    let kinds: Vec<&Value> = blocks.iter().map(|block| &block["type"]).collect();
    assert_eq!(kinds, ["text", "image", "audio", "resource_link", "resource", "resource"]);
    assert_eq!(
        blocks[0]["annotations"],
        json!({ "audience": ["user"], "priority": 0.5, "lastModified": "2026-01-02T03:04:05Z" })
    );
    let decode = |value: &Value| {
        let text = value.as_str().expect("Base64");
        base64::engine::general_purpose::STANDARD.decode(text).expect("strict, padded Base64")
    };
    assert_eq!(decode(&blocks[1]["data"]), every_byte);
    assert_eq!(decode(&blocks[2]["data"]), [0, 1]);
    assert_eq!(blocks[3]["uri"], "file:///a");
    assert_eq!(blocks[3]["size"], 3);
    assert_eq!(
        blocks[4]["resource"],
        json!({ "uri": "test://t", "text": "text", "mimeType": "text/plain" })
    );
    assert_eq!(decode(&blocks[5]["resource"]["blob"]), every_byte);
}

/// [CALL-10] [TOOL-12] builders check ranges and schemes.
#[test]
fn builders_check_ranges() {
    assert!(Annotations::new().priority(1.1).is_err());
    assert!(Annotations::new().priority(-0.1).is_err());
    assert!(Annotations::new().priority(1).is_ok());
    assert!(Annotations::new().last_modified("yesterday").is_err());
    for (source, fits) in [
        ("https://example.com/a.png", true),
        ("data:image/png;base64,AA==", true),
        ("javascript:alert(1)", false),
        ("http://example.com/a.png", false),
        ("file:///etc/passwd", false),
        ("HTTPS://example.com/a.png", true),
    ] {
        assert_eq!(Icon::new(source).is_ok(), fits, "{source}");
    }
}

/// [ERR-10] [ERR-11] a panic, before or after the first wait, fails its own call alone and says nothing of itself.
#[test]
fn panics_fail_their_call_alone() {
    let builder = server()
        .tool("at_once", "", async |_: &Context, arguments: Free| {
            assert!(arguments.len() > 9, "secret detail");
            Ok::<_, ToolError>("never")
        })
        .tool("later", "", async |ctx: &Context, arguments: Free| {
            ctx.sleep(Duration::from_millis(1)).await;
            assert!(arguments.len() > 9, "secret detail");
            Ok::<_, ToolError>("never")
        })
        .tool("fine", "", async |_: &Context, _: NoArgs| Ok::<_, ToolError>("fine"));
    let server = serve(builder);
    let mut connection = server.connect();
    for name in ["at_once", "later", "at_once", "fine"] {
        crate::support::support_write(&mut connection, &Request::call(name, json!({})).bytes());
        let answer = crate::support::read_answer(&mut connection).expect("the connection lives on");
        assert_eq!(answer.status, 200);
        let result = answer.result("tools/call");
        if name == "fine" {
            assert_eq!(answer.text(), "fine");
        } else {
            assert_eq!(result["isError"], true);
            assert_eq!(result["content"], json!([{ "type": "text", "text": "Internal error" }]));
        }
    }
    assert_eq!(server.handle().counters().panics, 3);
}

/// [CAN-01] a handler that takes too long is dropped and answered in band.
#[test]
fn handlers_have_a_time_limit() {
    struct Dropped(Runs);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.add();
        }
    }
    let dropped = Runs::default();
    let seen = dropped.clone();
    let limits = Limits { handler_timeout: Duration::from_millis(100), ..Limits::default() };
    let builder =
        server().limits(limits).tool("forever", "", async move |_: &Context, _: NoArgs| {
            let _guard = Dropped(seen.clone());
            std::future::pending::<()>().await;
            Ok::<_, ToolError>("never")
        });
    let server = serve(builder);
    assert_eq!(server.send(&Request::call("forever", json!({}))).error(), (200, -32603));
    assert_eq!(dropped.count(), 1);
    assert_eq!(server.handle().counters().handler_timeouts, 1);
}

/// [CALL-13] [XH-07] [PAR-07] mirrored arguments are compared, then the body is what the handler reads.
#[test]
fn mirrored_arguments_are_compared_with_the_body() {
    let schema = json!({
        "type": "object",
        "properties": { "region": { "type": "string", "x-mcp-header": "Region" } },
    });
    let runs = Runs::default();
    let ran = runs.clone();
    let tool = Tool::new("t").input_schema(schema).expect("an object root");
    let builder = server().tool_raw(tool, async move |_: &Context, arguments: Free| {
        ran.add();
        Ok::<_, ToolError>(arguments.get("region").map_or("-".to_owned(), Value::to_string))
    });
    let server = serve(builder);
    let call = Request::call("t", json!({ "region": "eu" }));
    assert_eq!(server.send(&call.clone().header("mcp-param-region", "eu")).text(), r#""eu""#);
    assert_eq!(server.send(&call.clone().header("Mcp-Param-Region", "us")).error(), (400, -32020));
    assert_eq!(
        server.send(&call).error(),
        (400, -32020),
        "the header is required beside the value"
    );
    let absent = Request::call("t", json!({}));
    assert_eq!(server.send(&absent).text(), "-");
    assert_eq!(server.send(&absent.header("Mcp-Param-Region", "eu")).error(), (400, -32020));
    assert_eq!(runs.count(), 2);
}
