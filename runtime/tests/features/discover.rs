//! `server/discover`: what is advertised is what works.

use ringmcp::types::{Prompt, PromptArgument, Resource, ResourceTemplate};
use ringmcp::{Builder, Completion, Context, HandlerError, ToolError};
use serde_json::{Value, json};

use crate::common::{Free, NoArgs, ask, by, capabilities, once, server, with_callers};
use crate::support::{CC, CI, PV, Request, Running, serve};

fn with_tool(builder: Builder) -> Builder {
    builder.tool("hi", "Says hi", async |_: &Context, _: NoArgs| Ok::<_, ToolError>("hi"))
}

fn with_prompt(builder: Builder) -> Builder {
    let prompt = Prompt::new("p").argument(PromptArgument::new("who"));
    builder.prompt_with(prompt, async |_: &Context, _: Free| Ok::<_, HandlerError>("p"))
}

fn with_resource(builder: Builder) -> Builder {
    builder.resource(Resource::new("test://r", "r"), async |_: &Context| Ok::<_, HandlerError>("r"))
}

fn with_template(builder: Builder) -> Builder {
    let template = ResourceTemplate::new("test://t/{id}", "t");
    builder.resource_template(template, async |_: &Context, _: Free| Ok::<_, HandlerError>("t"))
}

fn with_completion(builder: Builder) -> Builder {
    with_prompt(builder).complete_prompt("p", "who", async |_: &Context, _: Completion<'_>| {
        Ok::<_, HandlerError>(vec!["ann"])
    })
}

/// [DSC-01] [DSC-02] [DSC-03] the first thing a fresh process is asked; nothing beyond the result's own members.
#[test]
fn answers_first_on_a_fresh_server() {
    let server = serve(with_tool(server()).instructions("Say hi."));
    let request = ask("server/discover").param("whatever", json!({"a": 1}));
    let result = server.send(&request).result("server/discover");
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(result["instructions"], "Say hi.");
    assert_eq!(result["ttlMs"], 0);
    assert_eq!(result["cacheScope"], "private");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "t");
    assert_eq!(result.get("serverInfo"), None);
    assert_eq!(result.get("protocolVersion"), None);
    assert_eq!(
        once(crate::common::server(), &ask("server/discover"))
            .result("server/discover")
            .get("instructions"),
        None
    );
}

/// Every method that belongs to a capability, with parameters that suit the fixtures here.
fn methods_of(capability: &str) -> Vec<Request> {
    let reference = json!({ "type": "ref/prompt", "name": "p" });
    let complete = json!({ "ref": reference, "argument": { "name": "who", "value": "" } });
    match capability {
        "tools" => vec![ask("tools/list"), Request::call("hi", json!({}))],
        "prompts" => vec![ask("prompts/list"), Request::new("prompts/get", json!({ "name": "p" }))],
        "resources" => vec![
            ask("resources/list"),
            ask("resources/templates/list"),
            Request::new("resources/read", json!({ "uri": "test://r" })),
        ],
        "completions" => vec![Request::new("completion/complete", complete)],
        other => panic!("no such capability here: {other}"),
    }
}

/// Each capability that is advertised answers, each that is not is unknown with a JSON-RPC body.
fn check_honesty(server: &Running, expected: &[&str]) {
    let advertised = capabilities(server);
    for capability in ["tools", "prompts", "resources", "completions"] {
        let offers = expected.contains(&capability);
        assert_eq!(advertised.get(capability).is_some(), offers, "{capability} in {advertised}");
        for request in methods_of(capability) {
            let answer = server.send(&request);
            let method = request.method();
            match offers {
                true if method == "resources/read" || method == "prompts/get" => {
                    assert_eq!(answer.status, 200, "{method}");
                }
                true => drop(answer.result(method)),
                false => assert_eq!(answer.error(), (404, -32601), "{method}"),
            }
        }
    }
    for legacy in ["tasks", "elicitation", "sampling", "roots"] {
        assert_eq!(advertised.get(legacy), None, "{advertised}");
    }
}

/// [DSC-04] [DSC-05] [DSC-06] [DSC-10] [TOOL-01] [RES-01] [PRM-01] [CMP-01] [ERR-07] every mix of what can be
/// registered.
#[test]
fn advertises_what_works_and_nothing_else() {
    check_honesty(&serve(server()), &[]);
    check_honesty(&serve(with_tool(server())), &["tools"]);
    check_honesty(&serve(with_prompt(server())), &["prompts"]);
    check_honesty(&serve(with_resource(server())), &["resources"]);
    check_honesty(&serve(with_template(server())), &["resources"]);
    check_honesty(&serve(with_completion(server())), &["prompts", "completions"]);
    let all = with_template(with_resource(with_tool(with_completion(server()))));
    check_honesty(&serve(all), &["tools", "prompts", "resources", "completions"]);
}

/// [TOOL-01] [RES-01] [PRM-01] [DSC-04] a capability that was seen stays honoured when the last entry goes.
#[test]
fn empty_lists_answer() {
    let server = serve(with_resource(with_prompt(with_tool(server()))));
    let change = server.handle().registrations();
    change.remove_tool("hi").expect("it is there");
    change.remove_prompt("p").expect("it is there");
    change.remove_resource("test://r").expect("it is there");
    let advertised = capabilities(&server);
    for (method, member, capability) in [
        ("tools/list", "tools", "tools"),
        ("prompts/list", "prompts", "prompts"),
        ("resources/list", "resources", "resources"),
        ("resources/templates/list", "resourceTemplates", "resources"),
    ] {
        assert_eq!(server.send(&ask(method)).result(method)[member], json!([]));
        assert!(advertised.get(capability).is_some(), "{advertised}");
    }
}

/// [DSC-05] [LOG-02] `logging` is advertised exactly when messages may be sent.
#[test]
fn logging_is_advertised_while_on() {
    assert_eq!(capabilities(&serve(server()))["logging"], json!({}));
    assert_eq!(capabilities(&serve(server().logging(false))).get("logging"), None);
}

/// [SUB-21] [DSC-04] change announcements are advertised as configured, and then acknowledged.
#[test]
fn announcements_are_advertised_as_configured() {
    let all = || with_resource(with_prompt(with_tool(server())));
    let offered = capabilities(&serve(all()));
    assert_eq!(offered["tools"], json!({ "listChanged": true }));
    assert_eq!(offered["prompts"], json!({ "listChanged": true }));
    assert_eq!(offered["resources"], json!({ "subscribe": true, "listChanged": true }));

    let quiet =
        serve(all().announce_list_changes(false, true, false).announce_resource_updates(false));
    let offered = capabilities(&quiet);
    assert_ne!(offered["tools"]["listChanged"], true);
    assert_eq!(offered["prompts"]["listChanged"], true);
    assert_ne!(offered["resources"]["listChanged"], true);
    assert_ne!(offered["resources"]["subscribe"], true);
    let mut events = quiet.stream(&Request::listen(json!({
        "toolsListChanged": true,
        "promptsListChanged": true,
        "resourcesListChanged": true,
        "resourceSubscriptions": ["test://r"],
    })));
    let honoured = events.message()["params"]["notifications"].clone();
    assert_eq!(honoured, json!({ "promptsListChanged": true }));
}

/// [DSC-07] [ERR-06] a claimed version that is not served; what would be is what discover says.
#[test]
fn unsupported_version() {
    let server = serve(server());
    let request = ask("server/discover").meta(PV, json!("2099-01-01"));
    let answer = server.send(&request.header("MCP-Protocol-Version", "2099-01-01"));
    assert_eq!(answer.error(), (400, -32022));
    let data = answer.error_object()["data"].clone();
    assert_eq!(data["requested"], "2099-01-01");
    let supported = server.send(&ask("server/discover")).result("server/discover");
    assert_eq!(data["supported"], supported["supportedVersions"]);
}

/// [DSC-08] [TOOL-02] [ENV-08] neither the connection, earlier calls nor what the client calls itself change the answer.
#[test]
fn does_not_depend_on_the_connection() {
    let server = serve(with_tool(server()));
    let first = server.send(&ask("server/discover")).body;
    server.send(&Request::call("hi", json!({}))).result("tools/call");
    assert_eq!(server.send(&ask("server/discover")).body, first);
    let stranger = ask("server/discover").meta(CI, json!({ "name": "admin", "version": "9" }));
    assert_eq!(server.send(&stranger).body, first);
    let anonymous = ask("server/discover").without_meta(CI);
    assert_eq!(server.send(&anonymous).body, first);
    let able = ask("server/discover").meta(CC, json!({ "sampling": {}, "roots": {} }));
    assert_eq!(server.send(&able).body, first);
}

/// [DSC-08] [DSC-09] discover needs the same authorization as everything else, and tells each caller the same.
#[test]
fn discover_is_authorized() {
    let server = serve(with_callers(with_tool(server())));
    assert_eq!(server.send(&ask("server/discover")).status, 401);
    let ann = server.send(&by("ann", ask("server/discover"))).result("server/discover");
    let bob = server.send(&by("bob", ask("server/discover"))).result("server/discover");
    assert_eq!(ann, bob);
    assert_eq!(ann["cacheScope"], "private");
}

/// [RPC-07] [DSC-02] the server's own description travels whole.
#[test]
fn server_info_is_whole() {
    let icon = ringmcp::types::Icon::new("https://example.com/i.png").expect("https");
    let builder =
        server().title("Title").description("About").website_url("https://example.com").icon(icon);
    let result = once(builder, &ask("server/discover")).result("server/discover");
    let info: &Value = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(info["name"], "t");
    assert_eq!(info["version"], "1");
    assert_eq!(info["title"], "Title");
    assert_eq!(info["description"], "About");
    assert_eq!(info["websiteUrl"], "https://example.com");
    assert_eq!(info["icons"][0]["src"], "https://example.com/i.png");
}
