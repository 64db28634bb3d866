//! What registration refuses, with an error that names the thing and the reason.

use ringmcp::types::{Prompt, PromptArgument, Resource, ResourceTemplate, Tool};
use ringmcp::{Builder, Completion, Context, Error, HandlerError, ToolError};
use serde_json::{Value, json};

use crate::common::{Free, NoArgs, ask, names, once, server};

fn with_schema(schema: Value) -> Result<(), String> {
    let tool = Tool::new("the_tool").input_schema(schema).map_err(|error| error.to_string())?;
    start(server().tool_raw(tool, async |_: &Context, _: Free| Ok::<_, ToolError>(())))
}

fn start(builder: Builder) -> Result<(), String> {
    builder.in_process().map(drop).map_err(|error| {
        let told = matches!(error, Error::Registration(_) | Error::Config(_));
        assert!(told, "the program's fault: {error:?}");
        error.to_string()
    })
}

fn property(schema: Value) -> Value {
    json!({ "type": "object", "properties": { "p": schema } })
}

/// [TOOL-06] the root of an input schema is an object.
#[test]
fn input_schemas_have_an_object_root() {
    for root in [
        json!({}),
        json!({ "type": "array" }),
        json!({ "type": ["object"] }),
        json!(true),
        json!(null),
    ] {
        assert!(with_schema(root.clone()).is_err(), "{root}");
    }
    assert_eq!(with_schema(json!({ "type": "object" })), Ok(()));
    // A struct that derives no object schema cannot be a tool's arguments.
    let refused =
        start(server().tool("t", "", async |_: &Context, _: Vec<u8>| Ok::<_, ToolError>(())));
    assert!(refused.is_err());
}

/// [XH-01] [XH-05] the header's name is a token; the error names the tool.
#[test]
fn header_names_are_tokens() {
    let annotated = |name: Value| property(json!({ "type": "string", "x-mcp-header": name }));
    for name in [
        json!(""),
        json!("a b"),
        json!("a\r\nb"),
        json!("Région"),
        json!(5),
        json!(null),
        json!("a:b"),
        json!("a\u{7f}"),
    ] {
        let refused = with_schema(annotated(name.clone())).expect_err("no token");
        assert!(refused.contains("the_tool"), "{name}: {refused}");
    }
    for name in ["Region", "x!#$%&'*+-.^_`|~9"] {
        assert_eq!(with_schema(annotated(json!(name))), Ok(()), "{name}");
    }
}

/// [XH-02] unique without regard to case.
#[test]
fn header_names_are_unique() {
    let two = |first: &str, second: &str| {
        with_schema(json!({ "type": "object", "properties": {
            "a": { "type": "string", "x-mcp-header": first },
            "b": { "type": "object", "properties": { "c": { "type": "string", "x-mcp-header": second } } },
        } }))
    };
    assert!(two("Region", "region").is_err());
    assert!(two("Region", "Region").is_err());
    assert_eq!(two("Region", "Zone"), Ok(()));
}

/// [XH-03] only string, integer and boolean properties are mirrored.
#[test]
fn mirrored_types() {
    for (types, fits) in [
        (json!("string"), true),
        (json!("integer"), true),
        (json!("boolean"), true),
        (json!("number"), false),
        (json!("object"), false),
        (json!("array"), false),
        (json!("null"), false),
        (json!(["string"]), false),
        (json!(["string", "null"]), false),
    ] {
        let schema = property(json!({ "type": types, "x-mcp-header": "H" }));
        assert_eq!(with_schema(schema).is_ok(), fits, "{types}");
    }
    assert!(with_schema(property(json!({ "x-mcp-header": "H" }))).is_err(), "no type");
}

/// [XH-04] only along `properties`; anywhere else the tool is refused.
#[test]
fn mirrored_only_along_properties() {
    let leaf = || json!({ "type": "string", "x-mcp-header": "H" });
    let within = || json!({ "type": "object", "properties": { "q": leaf() } });
    let deep = property(json!({ "type": "object", "properties": { "b": within() } }));
    assert_eq!(with_schema(deep), Ok(()));
    for keyword in [
        "items",
        "contains",
        "not",
        "additionalProperties",
        "if",
        "then",
        "else",
        "propertyNames",
        "unevaluatedItems",
        "unevaluatedProperties",
    ] {
        for inner in [leaf(), within()] {
            let schema = property(json!({ keyword: inner }));
            assert!(with_schema(schema).is_err(), "{keyword}");
        }
        let schema = json!({ "type": "object", keyword: within() });
        assert!(with_schema(schema).is_err(), "{keyword} at the root");
    }
    for keyword in ["oneOf", "anyOf", "allOf", "prefixItems"] {
        assert!(
            with_schema(json!({ "type": "object", keyword: [within()] })).is_err(),
            "{keyword}"
        );
    }
    for keyword in ["$defs", "patternProperties", "dependentSchemas", "definitions"] {
        let schema = json!({ "type": "object", keyword: { "k": within() } });
        assert!(with_schema(schema).is_err(), "{keyword}");
    }
    let root = json!({ "type": "object", "x-mcp-header": "H" });
    assert!(with_schema(root).is_err(), "the root itself");
}

/// [TOOL-09] duplicates are refused; other odd names warn, or are refused when asked to.
#[test]
fn tool_names() {
    let tool = |builder: Builder, name: &str| {
        builder.tool(name, "", async |_: &Context, _: NoArgs| Ok::<_, ToolError>(()))
    };
    let refused = start(tool(tool(server(), "same"), "same")).expect_err("a duplicate");
    assert!(refused.contains("same"), "{refused}");
    assert_eq!(start(tool(tool(server(), "Get"), "get")), Ok(()));
    let edge = "n".repeat(128);
    for name in ["a b", "a,b", "ü", "a/b", &"n".repeat(129)] {
        assert_eq!(start(tool(server(), name)), Ok(()), "{name}");
        assert!(start(tool(server().strict_names(), name)).is_err(), "{name}");
    }
    for name in ["a", "A-z_0.9", edge.as_str()] {
        assert_eq!(start(tool(server().strict_names(), name)), Ok(()), "{name}");
    }
    assert!(start(tool(server(), "")).is_err(), "no name at all");
}

/// [JSC-01] [JSC-02] [JSC-03] [TOOL-06] schemas are checked when they are registered; nothing is fetched.
#[test]
fn schemas_are_checked_at_registration() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("a socket option");
    let url = format!("http://{}/schema", listener.local_addr().expect("an address"));
    for schema in [
        json!({ "type": "object", "properties": { "p": { "type": "objekt" } } }),
        json!({ "type": "object", "required": "p" }),
        json!({ "type": "object", "properties": { "p": { "minimum": "1" } } }),
        json!({ "type": "object", "properties": { "p": { "$ref": url } } }),
        json!({ "type": "object", "properties": { "p": { "$ref": "#/$defs/none" } } }),
        json!({ "type": "object", "$schema": "https://example.com/unknown" }),
    ] {
        let refused = with_schema(schema.clone()).expect_err("a wrong schema");
        assert!(refused.contains("the_tool"), "{schema}: {refused}");
    }
    assert!(listener.accept().is_err(), "nobody asked for the schema");
    for dialect in
        ["https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#"]
    {
        assert_eq!(
            with_schema(json!({ "type": "object", "$schema": dialect })),
            Ok(()),
            "{dialect}"
        );
    }
}

/// [JSC-04] [JSC-05] hostile patterns and nests answer within their budget.
#[test]
fn hostile_schemas_end() {
    let pattern = property(json!({ "type": "string", "pattern": "^(a+)+$" }));
    let tool = Tool::new("t").input_schema(pattern).expect("an object root");
    let builder = server().tool_raw(tool, async |_: &Context, _: Free| Ok::<_, ToolError>("ran"));
    let attack = format!("{}!", "a".repeat(60_000));
    let request = crate::support::Request::call("t", json!({ "p": attack }));
    let answer = once(builder, &request).result("tools/call");
    assert_eq!(answer["isError"], true);

    let nest = json!({ "type": "object", "$defs": { "n": { "anyOf": [
        { "type": "array", "items": { "$ref": "#/$defs/n" }, "minItems": 1 },
        { "type": "array", "items": { "$ref": "#/$defs/n" }, "maxItems": 9 },
    ] } }, "properties": { "p": { "$ref": "#/$defs/n" } } });
    if let Ok(tool) = Tool::new("t").input_schema(nest) {
        let builder =
            server().tool_raw(tool, async |_: &Context, _: Free| Ok::<_, ToolError>("ran"));
        let deep = (0..60).fold(json!([]), |inner, _| json!([inner]));
        let request = crate::support::Request::call("t", json!({ "p": [deep, "x"] }));
        assert_eq!(once(builder, &request).status, 200);
    }
}

/// [RES-08] [RES-10] [RES-11] resources need URIs, templates need to parse, and none may be taken.
#[test]
fn resources_and_templates() {
    let resource = |builder: Builder, uri: &str| {
        builder.resource(Resource::new(uri, "r"), async |_: &Context| Ok::<_, HandlerError>(""))
    };
    for uri in ["not a uri", "", "no-scheme", "test://a\0b", "test://ü", "test://%zz"] {
        assert!(start(resource(server(), uri)).is_err(), "{uri}");
    }
    assert!(start(resource(resource(server(), "test://a"), "test://a")).is_err());
    assert_eq!(start(resource(resource(server(), "test://a"), "test://A")), Ok(()));
    let template = |builder: Builder, text: &str| {
        builder.resource_template(ResourceTemplate::new(text, "t"), async |_: &Context, _: Free| {
            Ok::<_, HandlerError>("")
        })
    };
    for text in ["test://{", "test://{}", "test://{a}{a"] {
        assert!(start(template(server(), text)).is_err(), "{text}");
    }
    assert!(start(template(template(server(), "test://{a}"), "test://{a}")).is_err());
}

/// [CMP-02] [PRM-02] completions belong to something that exists, and argument names to one argument each.
#[test]
fn completions_belong_to_arguments() {
    let prompt = Prompt::new("p").argument(PromptArgument::new("who"));
    let with_prompt = || {
        server().prompt_with(prompt.clone(), async |_: &Context, _: Free| Ok::<_, HandlerError>(""))
    };
    let complete = |builder: Builder, name: &str, argument: &str| {
        builder.complete_prompt(name, argument, async |_: &Context, _: Completion<'_>| {
            Ok::<_, HandlerError>(vec!["x"])
        })
    };
    assert_eq!(start(complete(with_prompt(), "p", "who")), Ok(()));
    assert!(start(complete(with_prompt(), "p", "what")).is_err());
    assert!(start(complete(with_prompt(), "q", "who")).is_err());
    let twice =
        Prompt::new("p").argument(PromptArgument::new("who")).argument(PromptArgument::new("who"));
    let twice = server().prompt_with(twice, async |_: &Context, _: Free| Ok::<_, HandlerError>(""));
    assert!(start(twice).is_err());
}

/// [AUTH-12] scopes are asked of a tool that exists.
#[test]
fn scopes_belong_to_tools() {
    assert!(start(server().require_scopes("none", ["s"])).is_err());
}

/// [SEC-02] a server holds so many entries and no more.
#[test]
fn entries_are_bounded() {
    let limits = ringmcp::Limits { entries: 2, ..ringmcp::Limits::default() };
    let tools =
        |count: usize| {
            (0..count).fold(server().limits(limits.clone()), |builder, at| {
                builder.tool(format!("t{at}"), "", async |_: &Context, _: NoArgs| {
                    Ok::<_, ToolError>(())
                })
            })
        };
    let list = once(tools(2), &ask("tools/list")).result("tools/list");
    assert_eq!(names(&list["tools"], "name"), ["t0", "t1"]);
    assert!(start(tools(3)).is_err());
}

/// [RS-06] keys that are too short are refused before anything listens.
#[test]
fn short_keys_are_refused() {
    let refused = start(server().state_key("k", b"short".to_vec())).expect_err("too short");
    assert!(refused.contains('k'), "{refused}");
    assert!(!refused.contains("short\""), "the secret itself is not repeated: {refused}");
}
