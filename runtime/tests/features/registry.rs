//! What a server offers changes while it runs.

use std::time::Duration;

use ringmcp::types::{Prompt, Resource, ResourceTemplate, Tool};
use ringmcp::{Context, HandlerError, ToolError};
use serde_json::{Value, json};

use crate::common::{Free, NoArgs, Runs, ask, by, names, server, with_callers};
use crate::support::{Request, Running, serve, serve_on};

fn listed(server: &Running) -> Vec<String> {
    names(&server.send(&ask("tools/list")).result("tools/list")["tools"], "name")
}

fn one_tool() -> ringmcp::Builder {
    server().tool("one", "", async |_: &Context, _: NoArgs| Ok::<_, ToolError>("one"))
}

async fn says_new(_: &Context<'_>, _: NoArgs) -> Result<&'static str, ToolError> {
    Ok("new")
}

/// [TOOL-14] [SUB-20] [TOOL-03] every kind of change shows in the list at once, in place, and is told once.
#[test]
fn changes_show_and_are_told() {
    let server = serve(one_tool());
    let change = server.handle().registrations();
    let mut events = server.stream(&Request::listen(json!({ "toolsListChanged": true })));
    events.message();
    let mut told = || assert_eq!(events.message()["method"], "notifications/tools/list_changed");

    change.add_tool(Tool::new("two"), says_new).expect("a free name");
    told();
    assert_eq!(listed(&server), ["one", "two"]);
    assert_eq!(server.send(&Request::call("two", json!({}))).text(), "new");

    change.set_tool_enabled("one", false).expect("it is there");
    told();
    assert_eq!(listed(&server), ["two"]);
    change.set_tool_enabled("one", true).expect("it is there");
    told();
    assert_eq!(listed(&server), ["one", "two"], "back in its place");

    change.update_tool(Tool::new("one").title("One"), says_new).expect("it is there");
    told();
    assert_eq!(listed(&server), ["one", "two"]);
    assert_eq!(server.send(&Request::call("one", json!({}))).text(), "new");

    change.remove_tool("one").expect("it is there");
    told();
    assert_eq!(listed(&server), ["two"]);
    assert_eq!(server.send(&Request::call("one", json!({}))).error(), (200, -32602));
}

/// [TOOL-14] [SUB-20] what no client can see is not told: a new handler behind the same definition, hiding the hidden.
#[test]
fn invisible_changes_are_not_told() {
    let server = serve(one_tool());
    let change = server.handle().registrations();
    let filter = json!({ "toolsListChanged": true, "promptsListChanged": true });
    change
        .add_prompt(Prompt::new("p"), async |_: &Context, _: NoArgs| Ok::<_, HandlerError>(""))
        .expect("free");
    let mut events = server.stream(&Request::listen(filter));
    events.message();
    let same = server.send(&ask("tools/list")).result("tools/list")["tools"][0].clone();
    let tool: Tool = serde_json::from_value(same).expect("a tool");
    change.update_tool(tool, says_new).expect("it is there");
    change.set_tool_enabled("one", true).expect("it is there");
    change.set_prompt_enabled("p", false).expect("it is there");
    assert_eq!(
        events.message()["method"],
        "notifications/prompts/list_changed",
        "the first that is told"
    );
    assert_eq!(server.send(&Request::call("one", json!({}))).text(), "new");
}

/// [TOOL-09] [TOOL-14] a change that is refused leaves everything as it was.
#[test]
fn refused_changes_change_nothing() {
    let server = serve(one_tool());
    let change = server.handle().registrations();
    let before = server.send(&ask("tools/list")).body;
    assert!(change.add_tool(Tool::new("one"), says_new).is_err());
    assert!(change.update_tool(Tool::new("none"), says_new).is_err());
    assert!(change.remove_tool("none").is_err());
    assert!(change.set_tool_enabled("none", true).is_err());
    assert!(change.remove_prompt("none").is_err());
    assert!(change.remove_resource("test://none").is_err());
    assert!(change.remove_resource_template("test://{none}").is_err());
    let wrong = Resource::new("not a uri", "r");
    assert!(change.add_resource(wrong, async |_: &Context| Ok::<_, HandlerError>("")).is_err());
    assert_eq!(server.send(&ask("tools/list")).body, before);
}

/// [DSC-04] [DSC-05] [SUB-05] a kind that comes while running is advertised and served from then on.
#[test]
fn capabilities_come_with_the_first_entry() {
    let server = serve(server());
    let change = server.handle().registrations();
    assert_eq!(server.send(&ask("prompts/list")).error(), (404, -32601));
    change
        .add_prompt(Prompt::new("p"), async |_: &Context, _: NoArgs| Ok::<_, HandlerError>(""))
        .expect("free");
    change
        .add_resource_template(
            ResourceTemplate::new("a://{b}", "t"),
            async |_: &Context, all: Free| {
                Ok::<_, HandlerError>(all["b"].as_str().unwrap_or_default().to_owned())
            },
        )
        .expect("free");
    let offered = crate::common::capabilities(&server);
    assert!(offered.get("prompts").is_some() && offered.get("resources").is_some(), "{offered}");
    assert_eq!(offered.get("tools"), None);
    let read = server
        .send(&Request::new("resources/read", json!({ "uri": "a://x" })))
        .result("resources/read");
    assert_eq!(read["contents"][0]["text"], "x");
    change.remove_resource_template("a://{b}").expect("it is there");
    let gone = server.send(&Request::new("resources/read", json!({ "uri": "a://x" })));
    assert_eq!(gone.error(), (200, -32602));
}

/// [TOOL-14] [SUB-20] a tool changes the lists from within, for all cores at once.
#[test]
fn handlers_change_the_lists() {
    let make = server()
        .tool("grow", "", async |ctx: &Context, _: NoArgs| {
            ctx.registrations().add_tool(Tool::new("grown"), says_new)?;
            Ok::<_, ToolError>("grown")
        })
        .tool("touch", "", async |ctx: &Context, _: NoArgs| {
            ctx.notifier().prompts_changed();
            Ok::<_, ToolError>("touched")
        })
        .prompt("p", "", async |_: &Context, _: NoArgs| Ok::<_, HandlerError>(""));
    let server = serve_on(make, ringmcp::Driver::Auto, 2);
    let filter = json!({ "toolsListChanged": true, "promptsListChanged": true });
    let mut streams: Vec<_> =
        (0..4).map(|_| server.stream(&Request::listen(filter.clone()))).collect();
    streams.iter_mut().for_each(|events| drop(events.message()));
    assert_eq!(server.send(&Request::call("grow", json!({}))).text(), "grown");
    for events in &mut streams {
        assert_eq!(events.message()["method"], "notifications/tools/list_changed");
    }
    for _ in 0..8 {
        assert_eq!(listed(&server), ["grow", "touch", "grown"]);
    }
    assert_eq!(
        server.send(&Request::call("grow", json!({}))).result("tools/call")["isError"],
        true
    );
    server.send(&Request::call("touch", json!({}))).result("tools/call");
    for events in &mut streams {
        assert_eq!(events.message()["method"], "notifications/prompts/list_changed");
    }
}

/// [TOOL-14] a call that has begun ends on what it began with, though its tool is removed meanwhile.
#[test]
fn running_calls_keep_their_tool() {
    let started = Runs::default();
    let seen = started.clone();
    let release = Runs::default();
    let released = release.clone();
    let builder = server().tool("slow", "", async move |ctx: &Context, _: NoArgs| {
        seen.add();
        while released.count() == 0 {
            ctx.sleep(Duration::from_millis(1)).await;
        }
        Ok::<_, ToolError>("ended well")
    });
    let server = serve(builder);
    std::thread::scope(|scope| {
        let call = scope.spawn(|| server.send(&Request::call("slow", json!({}))).text());
        while started.count() == 0 {
            std::thread::yield_now();
        }
        server.handle().registrations().remove_tool("slow").expect("it is there");
        assert_eq!(listed(&server), Vec::<String>::new());
        release.add();
        assert_eq!(call.join().expect("no panic"), "ended well");
    });
}

/// [AUTH-12] [CALL-02] [TOOL-14] updating a tool does not open it to those who lack its scopes.
#[test]
fn updates_keep_the_scopes() {
    let server = serve(with_callers(one_tool()).require_scopes("one", ["secret"]));
    let change = server.handle().registrations();
    let list = |token: &str| {
        let answer = server.send(&by(token, ask("tools/list")));
        names(&answer.result("tools/list")["tools"], "name")
    };
    assert_eq!(list("ann"), Vec::<String>::new());
    change.update_tool(Tool::new("one").title("One"), says_new).expect("it is there");
    assert_eq!(list("ann"), Vec::<String>::new());
    assert_eq!(list("ann:secret"), ["one"]);
    let denied = server.send(&by("ann", Request::call("one", json!({}))));
    assert_eq!(denied.status, 403);
    change.set_tool_enabled("one", false).expect("it is there");
    change.set_tool_enabled("one", true).expect("it is there");
    assert_eq!(list("ann"), Vec::<String>::new());
}

/// [TOOL-02] [RES-01] [PRM-01] the other kinds change alike.
#[test]
fn prompts_and_resources_change_alike() {
    let server = serve(server());
    let change = server.handle().registrations();
    let text = async |_: &Context<'_>| Ok::<_, HandlerError>("x");
    change.add_resource(Resource::new("test://a", "a"), text).expect("free");
    change.add_resource(Resource::new("test://b", "b"), text).expect("free");
    change.set_resource_enabled("test://a", false).expect("it is there");
    let list = |method: &str, member: &str| -> Value {
        server.send(&ask(method)).result(method)[member].clone()
    };
    assert_eq!(names(&list("resources/list", "resources"), "name"), ["b"]);
    let read = |uri: &str| server.send(&Request::new("resources/read", json!({ "uri": uri })));
    assert_eq!(read("test://a").error(), (200, -32602));
    read("test://b").result("resources/read");
    change.set_resource_enabled("test://a", true).expect("it is there");
    read("test://a").result("resources/read");
    change
        .add_prompt(Prompt::new("p"), async |_: &Context, _: NoArgs| Ok::<_, HandlerError>(""))
        .expect("free");
    assert_eq!(names(&list("prompts/list", "prompts"), "name"), ["p"]);
    change.remove_prompt("p").expect("it is there");
    assert_eq!(list("prompts/list", "prompts"), json!([]));
}
