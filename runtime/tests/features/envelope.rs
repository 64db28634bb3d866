//! `_meta` in both directions: what handlers see of a request, what results carry.

use ringmcp::types::{
    CallToolResult, GetPromptResult, Meta, Prompt, ReadResourceResult, Resource, ResourceContents,
    RpcError,
};
use ringmcp::{Builder, Completion, Context, HandlerError, ToolError};
use serde_json::{Map, Value, json};

use crate::common::{Free, NoArgs, ask, server};
use crate::support::{CC, CI, LL, PV, Request, VERSION, serve};

const SI: &str = "io.modelcontextprotocol/serverInfo";

/// Something of every method.
fn everything() -> Builder {
    server()
        .tool("hi", "", async |_: &Context, _: NoArgs| Ok::<_, ToolError>("hi"))
        .prompt("p", "", async |_: &Context, _: Named| Ok::<_, HandlerError>("p"))
        .complete_prompt("p", "who", async |_: &Context, _: Completion<'_>| {
            Ok::<_, HandlerError>(vec!["ann"])
        })
        .resource(Resource::new("test://r", "r"), async |_: &Context| Ok::<_, HandlerError>("r"))
        .tool("asks", "", async |ctx: &Context, _: NoArgs| {
            let roots = ctx.roots("roots")?;
            Ok::<_, ToolError>(roots.len())
        })
        .method("example/own", None, async |_: &Context, _: Free| {
            Ok::<_, HandlerError>(json!({ "own": 1 }))
        })
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Named {
    #[serde(rename = "who")]
    _who: Option<String>,
}

fn every_request() -> Vec<Request> {
    let reference = json!({ "type": "ref/prompt", "name": "p" });
    let complete = json!({ "ref": reference, "argument": { "name": "who", "value": "" } });
    let mut requests: Vec<Request> = [
        "server/discover",
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "example/own",
    ]
    .map(ask)
    .into();
    requests.push(Request::call("hi", json!({})));
    requests.push(Request::call("asks", json!({})).capabilities(json!({ "roots": {} })));
    requests.push(Request::new("prompts/get", json!({ "name": "p" })));
    requests.push(Request::new("resources/read", json!({ "uri": "test://r" })));
    requests.push(Request::new("completion/complete", complete));
    requests
}

/// [ENV-09] [RPC-07] [RPC-08] [MR-04] [SUB-14] every result names the server, whatever the method.
#[test]
fn every_result_names_the_server() {
    let server = serve(everything());
    for request in every_request() {
        let result = server.send(&request).result(request.method());
        assert_eq!(
            result["_meta"][SI],
            json!({ "name": "t", "version": "1" }),
            "{}",
            request.method()
        );
        let kind = result["resultType"].as_str().expect("a text");
        assert!(["complete", "input_required"].contains(&kind), "{kind}");
    }
    let mut events = server.stream(&Request::listen(json!({ "toolsListChanged": true })));
    events.message();
    server.handle().drain(std::time::Duration::from_secs(5));
    let closing = events.message();
    assert_eq!(closing["result"]["_meta"][SI]["name"], "t");
}

/// [ENV-09] switched off, no result says anything of the server.
#[test]
fn the_name_can_be_switched_off() {
    let server = serve(everything().stamp_server_info(false));
    for request in every_request() {
        let result = server.send(&request).result(request.method());
        assert_eq!(result.get("_meta"), None, "{}", request.method());
    }
}

/// [ENV-09] [ENV-10] handlers' own keys survive beside the server's name, and a name of their own wins.
#[test]
fn handlers_keys_survive() {
    let own = || Meta::new().with("a.b/c", 1).expect("a free key");
    let mut named = own();
    named.0.insert(SI.into(), json!({ "name": "mine", "version": "2" }));
    let other = named.clone();
    let builder = server()
        .tool("t", "", async move |_: &Context, _: NoArgs| {
            Ok::<_, ToolError>(CallToolResult::text("x").meta(own()))
        })
        .tool("named", "", async move |_: &Context, _: NoArgs| {
            Ok::<_, ToolError>(CallToolResult::text("x").meta(named.clone()))
        })
        .tool("failing", "", async move |_: &Context, _: NoArgs| {
            Err::<(), _>(ToolError::with_result(CallToolResult::error("x").meta(own())))
        })
        .prompt("p", "", async move |_: &Context, _: NoArgs| {
            Ok::<_, HandlerError>(GetPromptResult::new().user("x").meta(own()))
        })
        .resource(Resource::new("test://r", "r"), async move |_: &Context| {
            let mut result = ReadResourceResult::new([ResourceContents::text("test://r", "x")]);
            result.meta = Some(own());
            Ok::<_, HandlerError>(result)
        })
        .method("example/own", None, async move |_: &Context, _: Free| {
            Ok::<_, HandlerError>(json!({ "_meta": other.0 }))
        });
    let server = serve(builder);
    let both = json!({ "a.b/c": 1, SI: { "name": "t", "version": "1" } });
    let mine = json!({ "a.b/c": 1, SI: { "name": "mine", "version": "2" } });
    for (request, expected) in [
        (Request::call("t", json!({})), &both),
        (Request::call("failing", json!({})), &both),
        (Request::new("prompts/get", json!({ "name": "p" })), &both),
        (Request::new("resources/read", json!({ "uri": "test://r" })), &both),
        (Request::call("named", json!({})), &mine),
        (ask("example/own"), &mine),
    ] {
        let result = server.send(&request).result(request.method());
        assert_eq!(&result["_meta"], expected, "{}", request.message);
    }
}

/// [ENV-10] [RPC-09] errors carry no `_meta`, at no level.
#[test]
fn errors_carry_no_meta() {
    let failing = server().tool("bad", "", async |_: &Context, _: NoArgs| {
        Err::<(), _>(ToolError::protocol(RpcError::new(1234, "No")))
    });
    let server = serve(failing);
    for request in [
        Request::call("bad", json!({})),
        Request::call("unknown", json!({})),
        ask("unknown/method"),
        ask("tools/list").param("cursor", json!("zzz")),
    ] {
        let message = server.send(&request).message();
        assert_eq!(message.get("_meta"), None, "{message}");
        assert_eq!(message["error"].get("_meta"), None, "{message}");
        assert_eq!(message.get("result"), None, "{message}");
    }
}

/// [ENV-11] the key grammar as builders of results enforce it.
#[test]
fn builders_refuse_reserved_and_malformed_keys() {
    for (key, free) in [
        ("com.example/x", true),
        ("com.example.mcp/x", true),
        ("a.b/c", true),
        ("plain", true),
        ("com.example/", true),
        ("io.modelcontextprotocol/x", false),
        ("com.mcp.tools/x", false),
        ("dev.mcp/x", false),
        ("1a.b/x", false),
        ("a-.b/x", false),
        ("a..b/x", false),
        ("-x", false),
        ("x-", false),
        ("com.example/x y", false),
    ] {
        assert_eq!(Meta::new().set(key, 1).is_ok(), free, "{key}");
    }
}

/// [ENV-11] [ENV-13] [RPC-18] unknown keys and the bare reserved ones are taken, whatever they hold.
#[test]
fn inbound_keys_are_open() {
    let server = serve(everything());
    let request = Request::call("hi", json!({}))
        .meta("1a.b/x", json!(1))
        .meta("com.mcp/zzz", json!({ "deep": [1] }))
        .meta("progressToken", json!("p"))
        .meta("traceparent", json!("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
        .meta("tracestate", json!("a=b"))
        .meta("baggage", json!("k=v"));
    assert_eq!(server.send(&request).text(), "hi");
}

/// [ENV-12] a modern header over a body that claims nothing is answered with what is missing, never served as legacy.
#[test]
fn claimless_body_under_a_modern_header() {
    let server = serve(everything());
    let request = ask("tools/list").without_meta(PV);
    let answer = server.send(&request);
    assert_eq!(answer.error(), (400, -32602));
    let text = answer.error_object()["message"].as_str().expect("a text").to_owned();
    assert!(text.contains(PV), "{text}");
}

/// Tells all that a handler sees.
fn dump(ctx: &Context<'_>, arguments: Map<String, Value>) -> Value {
    let meta = ctx.meta();
    let members = meta.members().expect("an object");
    let keys: Vec<&str> = members.iter().map(|(key, _)| key).collect();
    json!({
        "arguments": arguments,
        "version": ctx.protocol_version(),
        "client": ctx.client().map(|client| [client.name, client.version]),
        "level": ctx.log_level().map(|level| level.as_str()),
        "token": meta.progress_token().ok().flatten().map(|token| {
            let mut raw = Vec::new();
            token.write(&mut raw);
            String::from_utf8(raw).expect("UTF-8")
        }),
        "trace": meta.traceparent().map(|parent| parent.trace_id),
        "keys": keys,
        "method": ctx.method(),
        "target": ctx.target(),
        "header": ctx.header("X-Own").map(String::from_utf8_lossy),
        "response": ctx.response("k").map(|value| value.to_json()),
        "roots": ctx.client_can(&ringmcp::types::Capability::Roots),
        "cancelled": ctx.cancel_token().is_cancelled(),
        "hasTime": ctx.time_left() > std::time::Duration::from_secs(1),
    })
}

/// [ENV-14] [CALL-14] [MR-20] reserved keys and retry fields are hidden from arguments and readable from the context.
#[test]
fn context_shows_what_arguments_hide() {
    let server = serve(
        server()
            .tool("dump", "", async |ctx: &Context, arguments: Free| {
                Ok::<_, ToolError>(CallToolResult::structured(dump(ctx, arguments)))
            })
            .prompt("dump", "", async |ctx: &Context, arguments: Free| {
                Ok::<_, HandlerError>(dump(ctx, arguments).to_string())
            }),
    );
    let full = |request: Request| {
        request
            .meta(LL, json!("warning"))
            .meta("progressToken", json!(9_007_199_254_740_993_u64))
            .meta("traceparent", json!("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
            .meta("com.example/own", json!([1]))
            .capabilities(json!({ "roots": {} }))
            .param("inputResponses", json!({ "k": { "action": "cancel" } }))
            .header("X-Own", "yes")
    };
    let tool = full(Request::call("dump", json!({ "a": "b" })));
    let seen = server.send(&tool).result("tools/call")["structuredContent"].clone();
    let expected = json!({
        "arguments": { "a": "b" },
        "version": VERSION,
        "client": ["t", "1"],
        "level": "warning",
        "token": "9007199254740993",
        "trace": "0af7651916cd43dd8448eb211c80319c",
        "keys": [PV, CC, CI, LL, "progressToken", "traceparent", "com.example/own"],
        "method": "tools/call",
        "target": "dump",
        "header": "yes",
        "response": { "action": "cancel" },
        "roots": true,
        "cancelled": false,
        "hasTime": true,
    });
    assert_eq!(seen, expected);
    let prompt =
        full(Request::new("prompts/get", json!({ "name": "dump", "arguments": { "a": "b" } })));
    let result = server.send(&prompt).result("prompts/get");
    let text = result["messages"][0]["content"]["text"].as_str().expect("a text");
    let mut expected = expected;
    expected["method"] = json!("prompts/get");
    assert_eq!(serde_json::from_str::<Value>(text).expect("JSON"), expected);
}

/// [ENV-07] [RPC-15] what one request declares is gone with it, on the same connection too.
#[test]
fn nothing_is_remembered_between_requests() {
    let server = serve(everything());
    let mut connection = server.connect();
    let able = Request::call("asks", json!({})).capabilities(json!({ "roots": {} }));
    let unable = Request::call("asks", json!({}));
    let mut exchange = |request: &Request| {
        crate::support::support_write(&mut connection, &request.bytes());
        crate::support::read_answer(&mut connection).expect("an answer")
    };
    assert_eq!(exchange(&able).result("tools/call")["resultType"], "input_required");
    assert_eq!(exchange(&unable).error(), (400, -32021));
    assert_eq!(exchange(&able).result("tools/call")["resultType"], "input_required");
}

/// [ENV-15] an extension's identifier needs a prefix.
#[test]
fn extension_identifiers_need_a_prefix() {
    for (id, fits) in [
        ("com.example/thing", true),
        ("io.modelcontextprotocol/tasks", true),
        ("tasks", false),
        ("/tasks", false),
        ("1x/tasks", false),
    ] {
        let made = server().extension(id, Map::new()).in_process();
        assert_eq!(made.is_ok(), fits, "{id}");
    }
}

/// [ENV-15] [ENV-16] [ERR-05] [DSC-05] an extension is advertised; its method is for clients that declare it.
#[test]
fn extension_methods_are_for_clients_that_declare_it() {
    let mut settings = Map::new();
    settings.insert("most".into(), json!(3));
    let builder = server()
        .extension("com.example/thing", settings)
        .method("thing/do", Some("com.example/thing"), async |ctx: &Context, params: Free| {
            Ok::<_, HandlerError>(json!({ "did": params["what"], "method": ctx.method() }))
        })
        .method("thing/free", None, async |_: &Context, _: Free| {
            Ok::<_, HandlerError>(json!({ "resultType": "lies" }))
        })
        .method("thing/wrong", None, async |_: &Context, _: Free| Ok::<_, HandlerError>("text"));
    let server = serve(builder);
    let offered = crate::common::capabilities(&server);
    assert_eq!(offered["extensions"], json!({ "com.example/thing": { "most": 3 } }));

    let request = Request::new("thing/do", json!({ "what": "this" }));
    let answer = server.send(&request);
    assert_eq!(answer.error(), (400, -32021));
    let needed = answer.error_object()["data"]["requiredCapabilities"].clone();
    assert_eq!(needed, json!({ "extensions": { "com.example/thing": {} } }));
    let able = request.capabilities(json!({ "extensions": { "com.example/thing": {} } }));
    let result = server.send(&able).result("thing/do");
    assert_eq!(result["did"], "this");
    assert_eq!(result["method"], "thing/do");
    assert_eq!(server.send(&ask("thing/free")).result("thing/free")["resultType"], "complete");
    assert_eq!(server.send(&ask("thing/wrong")).error(), (200, -32603));
}

/// [DSC-10] a custom method takes no name that the protocol has, nor one twice.
#[test]
fn custom_methods_take_free_names() {
    let make = |names: &[&str]| {
        let add = |builder: Builder, name: &&str| {
            builder
                .method(*name, None, async |_: &Context, _: Free| Ok::<_, HandlerError>(json!({})))
        };
        names.iter().fold(server(), add).in_process().map(drop)
    };
    assert!(make(&["tools/call"]).is_err());
    assert!(make(&["a/b", "a/b"]).is_err());
    assert!(make(&["a/b", "a/c"]).is_ok());
}

/// [PRM-02] a definition's own metadata and free members reach the list.
#[test]
fn definitions_keep_their_meta() {
    let meta = Meta::new().with("a.b/c", "d").expect("a free key");
    let prompt = Prompt::new("p").meta(meta);
    let builder =
        server().prompt_with(prompt, async |_: &Context, _: NoArgs| Ok::<_, HandlerError>(""));
    let list = serve(builder).send(&ask("prompts/list")).result("prompts/list");
    assert_eq!(list["prompts"][0]["_meta"], json!({ "a.b/c": "d" }));
}
