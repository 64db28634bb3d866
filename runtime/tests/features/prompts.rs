//! Prompts: their list, typed arguments, and messages of every kind.

use ringmcp::types::{
    Content, GetPromptResult, Prompt, PromptArgument, PromptMessage, Resource, ResourceContents,
};
use ringmcp::{Builder, Context, HandlerError};
use serde_json::{Value, json};

use crate::common::{Free, NoArgs, Runs, ask, names, once, server};
use crate::support::{Request, serve};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Greet {
    /// Who is greeted.
    who: String,
    #[schemars(title = "Mood")]
    mood: Option<String>,
}

fn greeter(runs: Runs) -> Builder {
    server().prompt("greet", "Greets", async move |_: &Context, Greet { who, mood }: Greet| {
        runs.add();
        Ok::<_, HandlerError>(format!("Greet {who} {}", mood.as_deref().unwrap_or("calmly")))
    })
}

fn get(name: &str, arguments: Value) -> Request {
    Request::new("prompts/get", json!({ "name": name, "arguments": arguments }))
}

/// [PRM-02] derived and written arguments, in order, with what is required.
#[test]
fn definitions_reach_the_list_whole() {
    let written = Prompt::new("written")
        .title("Written")
        .description("By hand")
        .argument(PromptArgument::new("b").title("B").description("About b").required())
        .argument("a");
    let builder = greeter(Runs::default())
        .prompt_with(written, async |_: &Context, _: Free| Ok::<_, HandlerError>(""))
        .prompt("none", "Takes nothing", async |_: &Context, _: NoArgs| Ok::<_, HandlerError>(""));
    let list = once(builder, &ask("prompts/list")).result("prompts/list")["prompts"].clone();
    assert_eq!(names(&list, "name"), ["greet", "written", "none"]);
    assert_eq!(
        list[0],
        json!({ "name": "greet", "description": "Greets", "arguments": [
            { "name": "who", "description": "Who is greeted.", "required": true },
            { "name": "mood", "title": "Mood" },
        ] })
    );
    assert_eq!(
        list[1],
        json!({ "name": "written", "title": "Written", "description": "By hand", "arguments": [
            { "name": "b", "title": "B", "description": "About b", "required": true },
            { "name": "a" },
        ] })
    );
    assert_eq!(list[2], json!({ "name": "none", "description": "Takes nothing" }));
}

/// [PRM-03] [PRM-06] [CCH-02] each kind of block, one a message; no caching fields.
#[test]
fn messages_of_every_kind() {
    let builder = server().prompt("all", "", async |_: &Context, _: NoArgs| {
        Ok::<_, HandlerError>(
            GetPromptResult::new()
                .description("All kinds")
                .user("text")
                .assistant(Content::image([1, 2, 3], "image/png"))
                .user(Content::audio([4], "audio/wav"))
                .user(Content::link(Resource::new("file:///a", "a")))
                .message(PromptMessage::user(
                    ResourceContents::text("test://t", "t").mime_type("text/plain"),
                )),
        )
    });
    let result = once(builder, &get("all", json!({}))).result("prompts/get");
    assert_eq!(result["description"], "All kinds");
    let messages = result["messages"].as_array().expect("messages");
    let kinds: Vec<&Value> = messages.iter().map(|message| &message["content"]["type"]).collect();
    assert_eq!(kinds, ["text", "image", "audio", "resource_link", "resource"]);
    assert_eq!(messages[1]["role"], "assistant");
    assert_eq!(messages[1]["content"]["data"], "AQID");
    assert_eq!(messages[1]["content"]["mimeType"], "image/png");
    assert_eq!(messages[2]["content"]["mimeType"], "audio/wav");
    let embedded = json!({ "uri": "test://t", "mimeType": "text/plain", "text": "t" });
    assert_eq!(messages[4]["content"]["resource"], embedded);
    assert_eq!(result.get("ttlMs"), None);
    assert_eq!(result.get("cacheScope"), None);
}

/// [PRM-03] [PRM-04] [PRM-05] [PREC-02] what does not fit is `-32602` in band, and nothing runs.
#[test]
fn wrong_arguments() {
    let runs = Runs::default();
    let server = serve(greeter(runs.clone()));
    for request in [
        get("unknown", json!({ "who": "ann" })),
        get("greet", json!({})),
        get("greet", json!({ "mood": "gaily" })),
        get("greet", json!({ "who": 7 })),
        get("greet", json!({ "who": null })),
        get("greet", json!({ "who": ["ann"] })),
        get("greet", json!({ "who": "ann", "other": 1 })),
        get("greet", json!([])),
        get("greet", json!("ann")),
        get("greet", json!({ "who": "ann" })).param("inputResponses", json!(1)),
        get("greet", json!({ "who": "ann" })).param("requestState", json!(null)),
    ] {
        let answer = server.send(&request);
        assert_eq!(answer.error(), (200, -32602), "{}", request.message);
    }
    assert_eq!(runs.count(), 0);
    let missing = server.send(&get("greet", json!({}))).error_object();
    assert!(missing["message"].as_str().expect("a text").contains("who"), "{missing}");
}

/// [PRM-08] unknown further arguments are ignored.
#[test]
fn unknown_arguments_are_ignored() {
    let server = serve(greeter(Runs::default()));
    let result =
        server.send(&get("greet", json!({ "who": "ann", "zzz": "1" }))).result("prompts/get");
    assert_eq!(result["messages"][0]["content"]["text"], "Greet ann calmly");
    assert_eq!(result["messages"][0]["role"], "user");
}

/// [PRM-05] a value that the argument's type does not take is the caller's fault.
#[test]
fn typed_arguments() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Size {
        Small,
        Large,
    }
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Sized {
        size: Size,
    }
    let server = serve(server().prompt("sized", "", async |_: &Context, Sized { size }: Sized| {
        Ok::<_, HandlerError>(match size {
            Size::Small => "s",
            Size::Large => "l",
        })
    }));
    assert_eq!(server.send(&get("sized", json!({ "size": "medium" }))).error(), (200, -32602));
    let result = server.send(&get("sized", json!({ "size": "large" }))).result("prompts/get");
    assert_eq!(result["messages"][0]["content"]["text"], "l");
    server.send(&get("sized", json!({ "size": "small" }))).result("prompts/get");
}

/// [PRM-04] [ERR-10] [ERR-11] failures of a prompt by their class.
#[test]
fn failing_prompts() {
    let builder = server()
        .prompt("io", "", async |_: &Context, _: NoArgs| std::fs::read_to_string("/secret/path"))
        .prompt("invalid", "", async |_: &Context, _: NoArgs| {
            Err::<String, _>(HandlerError::invalid("No such mood"))
        })
        .prompt("panics", "", async |ctx: &Context, _: NoArgs| {
            assert!(ctx.method().is_empty(), "secret detail");
            Ok::<_, HandlerError>("")
        });
    let server = serve(builder);
    let internal = json!({ "code": -32603, "message": "Internal error" });
    assert_eq!(server.send(&get("io", json!({}))).error_object(), internal);
    assert_eq!(server.send(&get("panics", json!({}))).error_object(), internal);
    assert_eq!(
        server.send(&get("invalid", json!({}))).error_object(),
        json!({ "code": -32602, "message": "No such mood" })
    );
}

/// [PRM-01] [CALL-02] hidden prompts answer like unknown ones.
#[test]
fn hidden_prompts() {
    let server = serve(greeter(Runs::default()));
    let change = server.handle().registrations();
    change.set_prompt_enabled("greet", false).expect("it is there");
    let hidden = server.send(&get("greet", json!({ "who": "ann" }))).error_object();
    assert_eq!(hidden, json!({ "code": -32602, "message": "Unknown prompt: greet" }));
    assert_eq!(server.send(&ask("prompts/list")).result("prompts/list")["prompts"], json!([]));
}
