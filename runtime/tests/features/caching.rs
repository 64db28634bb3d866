//! Caching hints: where they are, where they come from, whom they may be shared with.

use ringmcp::types::{
    CacheScope, InputRequired, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use ringmcp::{Builder, CacheHint, Completion, Context, HandlerError, ToolError};
use serde_json::{Value, json};

use crate::common::{Free, NoArgs, ask, by, server, with_callers};
use crate::support::{Request, Running, serve};

fn everything(builder: Builder) -> Builder {
    builder
        .tool("t", "", async |_: &Context, _: NoArgs| Ok::<_, ToolError>("x"))
        .prompt("p", "", async |_: &Context, _: Arguments| Ok::<_, HandlerError>("x"))
        .complete_prompt("p", "a", async |_: &Context, _: Completion<'_>| {
            Ok::<_, HandlerError>(vec!["x"])
        })
        .resource(Resource::new("test://r", "r"), async |_: &Context| Ok::<_, HandlerError>("x"))
        .method("example/own", None, async |_: &Context, _: Free| Ok::<_, HandlerError>(json!({})))
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    #[serde(rename = "a")]
    _a: Option<String>,
}

fn read(uri: &str) -> Request {
    Request::new("resources/read", json!({ "uri": uri }))
}

fn hint(server: &Running, request: &Request) -> Value {
    let result = server.send(request).result(request.method());
    json!([result["ttlMs"], result["cacheScope"]])
}

fn cacheable() -> Vec<Request> {
    let mut requests: Vec<Request> = [
        "server/discover",
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
    ]
    .map(ask)
    .into();
    requests.push(read("test://r"));
    requests
}

/// [CCH-01] [CCH-03] the six methods carry both fields; by default nothing may be kept or shared.
#[test]
fn six_methods_carry_hints() {
    let server = serve(everything(server()));
    for request in cacheable() {
        assert_eq!(hint(&server, &request), json!([0, "private"]), "{}", request.method());
    }
}

/// [CCH-02] no other result carries either.
#[test]
fn other_methods_carry_none() {
    let server = serve(everything(server()));
    let complete = json!({ "ref": { "type": "ref/prompt", "name": "p" }, "argument": { "name": "a", "value": "" } });
    for request in [
        Request::call("t", json!({})),
        Request::new("prompts/get", json!({ "name": "p" })),
        Request::new("completion/complete", complete),
        ask("example/own"),
    ] {
        assert_eq!(hint(&server, &request), json!([null, null]), "{}", request.method());
    }
}

/// [CCH-03] [CCH-08] each operation has its own setting.
#[test]
fn settings_by_operation() {
    let server = serve(everything(
        server()
            .cache_discover(CacheHint::public(1))
            .cache_lists(CacheHint::public(2))
            .cache_reads(CacheHint { ttl_ms: Some(3), scope: None })
            .announce_list_changes(false, false, false),
    ));
    for (request, expected) in cacheable().iter().zip([1, 2, 2, 2, 2, 3]) {
        let scope = if expected == 3 { "private" } else { "public" };
        assert_eq!(hint(&server, request), json!([expected, scope]), "{}", request.method());
    }
}

/// [CCH-03] the handler goes before the entry, the entry before the server, field by field.
#[test]
fn precedence_is_field_by_field() {
    for handler in hints() {
        for entry in hints() {
            for operation in hints() {
                let builder = server().cache_reads(operation).resource_cached(
                    Resource::new("test://r", "r"),
                    entry,
                    async move |_: &Context| {
                        let mut result =
                            ReadResourceResult::new([ResourceContents::text("test://r", "x")]);
                        result.ttl_ms = handler.ttl_ms;
                        result.cache_scope = handler.scope;
                        Ok::<_, HandlerError>(result)
                    },
                );
                let sources = [handler, entry, operation];
                let ttl = sources.iter().find_map(|hint| hint.ttl_ms).unwrap_or(0);
                let scope =
                    sources.iter().find_map(|hint| hint.scope).unwrap_or(CacheScope::Private);
                let answer = builder.in_process().expect("a server").request(
                    "resources/read",
                    json!({ "uri": "test://r" }),
                    crate::support::PATIENCE,
                );
                let result = &answer["result"];
                assert_eq!(result["ttlMs"], ttl, "{sources:?}");
                assert_eq!(result["cacheScope"], scope.as_str(), "{sources:?}");
            }
        }
    }
}

fn hints() -> [CacheHint; 4] {
    [
        CacheHint::default(),
        CacheHint { ttl_ms: Some(1), scope: None },
        CacheHint { ttl_ms: None, scope: Some(CacheScope::Public) },
        CacheHint { ttl_ms: Some(u64::from(u32::MAX)), scope: Some(CacheScope::Private) },
    ]
}

/// [CCH-04] each page of a list has the same scope.
#[test]
fn pages_share_a_scope() {
    let many =
        (0..5).fold(server().page_size(2).cache_lists(CacheHint::public(9)), |builder, at| {
            builder.tool(
                format!("t{at}"),
                "",
                async |_: &Context, _: NoArgs| Ok::<_, ToolError>(()),
            )
        });
    let server = serve(many);
    let mut request = ask("tools/list");
    for page in 0..3 {
        let result = server.send(&request).result("tools/list");
        assert_eq!(result["cacheScope"], "public", "page {page}");
        request = ask("tools/list").param("cursor", result["nextCursor"].clone());
    }
}

/// [CCH-05] [CCH-06] [D-37] a list that depends on the caller is private, whatever is configured; the others stay as
/// they are.
#[test]
fn lists_that_depend_on_the_caller_are_private() {
    let builder = everything(with_callers(server()))
        .cache_lists(CacheHint::public(9))
        .tool("own", "", async |_: &Context, _: NoArgs| Ok::<_, ToolError>("x"))
        .require_scopes("own", ["s"]);
    let server = serve(builder);
    for token in ["ann", "ann:s"] {
        assert_eq!(hint(&server, &by(token, ask("tools/list"))), json!([9, "private"]), "{token}");
        assert_eq!(hint(&server, &by(token, ask("prompts/list"))), json!([9, "public"]), "{token}");
    }
    assert_eq!(server.send(&ask("prompts/list")).status, 401, "public is no access control");
    // The rule is gone with the tool that made it.
    server.handle().registrations().remove_tool("own").expect("it is there");
    assert_eq!(hint(&server, &by("ann", ask("tools/list"))), json!([9, "public"]));
}

/// [CCH-02] [CCH-07] [MR-04] [RES-15] a round that ends early carries no hint, and what a further round gives is not
/// kept.
#[test]
fn rounds_are_not_cached() {
    let resource = Resource::new("test://r", "r");
    let template = ResourceTemplate::new("test://t/{id}", "t");
    let server = serve(
        server()
            .resource_cached(resource, CacheHint::public(60_000), async |ctx: &Context| {
                Ok::<_, HandlerError>(format!("{} roots", ctx.roots("roots")?.len()))
            })
            .resource_template(template, async |ctx: &Context, _: Free| {
                if ctx.state::<u8>().is_none() {
                    return Err(HandlerError::input_required(InputRequired::new().state("1")));
                }
                let contents = ResourceContents::text(ctx.uri(), "x");
                Ok(ReadResourceResult::new([contents]).cache(5, CacheScope::Public))
            }),
    );
    let first = read("test://r").capabilities(json!({ "roots": {} }));
    assert_eq!(hint(&server, &first), json!([null, null]));
    let second = first.param("inputResponses", json!({ "roots": { "roots": [] } }));
    assert_eq!(hint(&server, &second), json!([0, "private"]));

    let first = server.send(&read("test://t/1")).result("resources/read");
    assert_eq!(first.get("ttlMs"), None);
    let second = read("test://t/1").param("requestState", first["requestState"].clone());
    assert_eq!(hint(&server, &second), json!([0, "private"]));
}
