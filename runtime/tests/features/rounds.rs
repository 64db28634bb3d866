//! Rounds: handlers that ask the client for input, and clients that bring it (or something else).

use ringmcp::types::{
    Capability, CreateMessageParams, ElicitForm, ElicitUrl, IncludeContext, InputRequest,
    InputRequests, InputRequired, Resource, Tool, ToolChoiceMode,
};
use ringmcp::{Builder, Context, HandlerError, ToolError};
use serde_json::{Map, Value, json};

use crate::common::{Free, NoArgs, Runs, ask, once, server};
use crate::support::{Request, Running, serve};

fn able() -> Value {
    json!({
        "elicitation": { "form": {}, "url": {} },
        "sampling": { "tools": {}, "context": {} },
        "roots": {},
    })
}

fn call(name: &str) -> Request {
    Request::call(name, json!({})).capabilities(able())
}

/// The retry of a request with these answers.
fn retry(request: &Request, answers: Value) -> Request {
    request.clone().id(json!(2)).param("inputResponses", answers)
}

fn name_form() -> ElicitForm {
    ElicitForm::new("What is your name?").string("name", |field| field.min_length(2).required())
}

fn asking() -> Builder {
    server()
        .tool("greet", "", async |ctx: &Context, _: NoArgs| {
            let answer = ctx.elicit("user_name", name_form())?;
            Ok::<_, ToolError>(match answer.text("name") {
                Some(name) if answer.is_accepted() => format!("Hello {name}"),
                _ => format!("{:?}", answer.action),
            })
        })
        .tool("visit", "", async |ctx: &Context, _: NoArgs| {
            let url = ElicitUrl::new("Sign in", "https://example.com/in?step=1")?;
            Ok::<_, ToolError>(format!("{:?}", ctx.elicit_url("login", url)?.action))
        })
        .tool("capital", "", async |ctx: &Context, _: NoArgs| {
            let question = CreateMessageParams::new(100).user("What is the capital of France?");
            let answer = ctx.sample("capital_question", question)?;
            Ok::<_, ToolError>(answer.text().unwrap_or("no text").to_owned())
        })
        .tool("folders", "", async |ctx: &Context, _: NoArgs| {
            let roots = ctx.roots("client_roots")?;
            let uris: Vec<String> = roots.iter().map(|root| root.uri.clone()).collect();
            Ok::<_, ToolError>(uris.join(" "))
        })
        .tool("all", "", async |ctx: &Context, _: NoArgs| {
            let mut round = ctx.ask();
            let name = round.elicit("user_name", name_form());
            let greeting = round.sample("greeting", CreateMessageParams::new(9).user("Greet"));
            let roots = round.roots("client_roots");
            let (name, (greeting, roots)) = round.done(name.zip(greeting.zip(roots)))?;
            let name = name.text("name").unwrap_or("nobody");
            Ok::<_, ToolError>(format!(
                "{} {name} {}",
                greeting.text().unwrap_or_default(),
                roots.len()
            ))
        })
}

fn kind(server: &Running, request: &Request) -> Value {
    server.send(request).result(request.method())["resultType"].clone()
}

/// [MR-01] [MR-03] [MR-04] [EL-01] [EL-02] [EL-06] [RPC-08] what a round's end looks like, for each kind of question.
#[test]
fn rounds_end_with_bare_requests() {
    let server = serve(asking());
    for (tool, key, request) in [
        (
            "greet",
            "user_name",
            json!({ "method": "elicitation/create", "params": { "mode": "form", "message": "What is your name?",
                "requestedSchema": { "type": "object", "properties": { "name": { "type": "string", "minLength": 2 } },
                    "required": ["name"] } } }),
        ),
        (
            "visit",
            "login",
            json!({ "method": "elicitation/create",
                "params": { "mode": "url", "message": "Sign in", "url": "https://example.com/in?step=1" } }),
        ),
        (
            "capital",
            "capital_question",
            json!({ "method": "sampling/createMessage", "params": { "messages": [{ "role": "user",
                "content": { "type": "text", "text": "What is the capital of France?" } }], "maxTokens": 100 } }),
        ),
        ("folders", "client_roots", json!({ "method": "roots/list", "params": {} })),
    ] {
        let answer = server.send(&call(tool));
        assert_eq!(answer.status, 200);
        let result = answer.result("tools/call");
        let expected = json!({
            "resultType": "input_required",
            "inputRequests": { key: request },
            "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "t", "version": "1" } },
        });
        assert_eq!(result, expected, "{tool}");
    }
}

/// [MR-05] [MR-21] [MR-24] [EL-08] the answer of the right kind completes the call, with a new id, on a new connection.
#[test]
fn answers_complete_the_call() {
    let server = serve(asking());
    let text = |tool: &str, answers: Value| {
        let answer = server.send(&retry(&call(tool), answers));
        assert_eq!(answer.message()["id"], 2);
        answer.text()
    };
    let accepted = json!({ "user_name": { "action": "accept", "content": { "name": "Ann" } } });
    assert_eq!(text("greet", accepted), "Hello Ann");
    assert_eq!(text("greet", json!({ "user_name": { "action": "decline" } })), "Decline");
    assert_eq!(text("greet", json!({ "user_name": { "action": "cancel" } })), "Cancel");
    for (action, seen) in [("accept", "Accept"), ("decline", "Decline"), ("cancel", "Cancel")] {
        assert_eq!(text("visit", json!({ "login": { "action": action } })), seen);
    }
    let sampled = json!({ "role": "assistant", "content": { "type": "text", "text": "Paris" }, "model": "m" });
    assert_eq!(text("capital", json!({ "capital_question": sampled })), "Paris");
    let roots = json!({ "roots": [{ "uri": "file:///a" }, { "uri": "https://example.com" }, { "uri": "file:///b", "name": "b" }] });
    assert_eq!(text("folders", json!({ "client_roots": roots })), "file:///a file:///b");
}

/// [MR-20] [D-47] the container must be an object, and then each entry that is none counts as missing.
#[test]
fn malformed_containers_are_refused() {
    let server = serve(asking());
    for answers in [json!([]), json!("x"), json!(7), json!(null), json!(true)] {
        assert_eq!(
            server.send(&retry(&call("greet"), answers.clone())).error(),
            (200, -32602),
            "{answers}"
        );
    }
    for entry in [json!(null), json!("Ann"), json!(7), json!([]), json!(true), json!({})] {
        let request = retry(&call("greet"), json!({ "user_name": entry.clone() }));
        assert_eq!(kind(&server, &request), "input_required", "{entry}");
    }
}

/// [MR-21] [MR-22] [MR-25] wrong keys, wrong kinds, wrapped results and content that does not fit are asked for anew.
#[test]
fn what_does_not_fit_is_asked_anew() {
    let server = serve(asking());
    let right = json!({ "action": "accept", "content": { "name": "Ann" } });
    for answers in [
        json!({}),
        json!({ "other": right }),
        json!({ "User_name": right }),
        json!({ "user_name": { "result": right } }),
        json!({ "user_name": { "method": "elicitation/create", "params": right } }),
        json!({ "user_name": { "jsonrpc": "2.0", "id": 1, "result": right } }),
        json!({ "user_name": { "action": "yes", "content": { "name": "Ann" } } }),
        json!({ "user_name": { "action": 1 } }),
        json!({ "user_name": { "roots": [] } }),
        json!({ "user_name": { "action": "accept" } }),
        json!({ "user_name": { "action": "accept", "content": {} } }),
        json!({ "user_name": { "action": "accept", "content": { "name": 7 } } }),
        json!({ "user_name": { "action": "accept", "content": { "name": "A" } } }),
        json!({ "user_name": { "action": "accept", "content": { "name": null } } }),
        json!({ "user_name": { "action": "accept", "content": ["Ann"] } }),
    ] {
        assert_eq!(
            kind(&server, &retry(&call("greet"), answers.clone())),
            "input_required",
            "{answers}"
        );
    }
    for (tool, answers) in [
        ("capital", json!({ "capital_question": { "action": "accept" } })),
        ("folders", json!({ "client_roots": { "roots": "none" } })),
        ("folders", json!({ "client_roots": { "action": "accept" } })),
    ] {
        assert_eq!(
            kind(&server, &retry(&call(tool), answers.clone())),
            "input_required",
            "{answers}"
        );
    }
}

/// [MR-22] [MR-23] only what is missing is asked again; unknown keys are ignored.
#[test]
fn only_what_is_missing_is_asked_again() {
    let server = serve(asking());
    let keys = |request: &Request| -> Vec<String> {
        let result = server.send(request).result("tools/call");
        let requests = result["inputRequests"].as_object().expect("requests");
        requests.keys().cloned().collect()
    };
    let first = call("all");
    assert_eq!(keys(&first), ["user_name", "greeting", "client_roots"]);
    let name = json!({ "action": "accept", "content": { "name": "Ann" } });
    let greeting =
        json!({ "role": "assistant", "content": { "type": "text", "text": "Hi" }, "model": "m" });
    let some = json!({ "user_name": name, "extra": { "a": 1 }, "more": 7 });
    assert_eq!(keys(&retry(&first, some)), ["greeting", "client_roots"]);
    let all = json!({ "x": {}, "user_name": name, "greeting": greeting, "client_roots": { "roots": [] }, "y": null });
    assert_eq!(server.send(&retry(&first, all)).text(), "Hi Ann 0");
}

/// [MR-01] [PRM-07] [RES-15] prompts and resources ask as tools do.
#[test]
fn prompts_and_resources_ask_too() {
    let builder = server()
        .prompt("p", "", async |ctx: &Context, _: NoArgs| {
            let answer = ctx.elicit("user_context", name_form())?;
            Ok::<_, HandlerError>(format!("For {}", answer.text("name").unwrap_or("nobody")))
        })
        .resource(Resource::new("test://r", "r"), async |ctx: &Context| {
            Ok::<_, HandlerError>(format!("{} roots", ctx.roots("roots")?.len()))
        });
    let server = serve(builder);
    let prompt = Request::new("prompts/get", json!({ "name": "p" })).capabilities(able());
    let first = server.send(&prompt).result("prompts/get");
    assert_eq!(first["resultType"], "input_required");
    assert!(first["inputRequests"].get("user_context").is_some(), "{first}");
    let accepted = json!({ "user_context": { "action": "accept", "content": { "name": "Ann" } } });
    let second = server.send(&retry(&prompt, accepted)).result("prompts/get");
    assert_eq!(second["messages"][0]["content"]["text"], "For Ann");

    let read = Request::new("resources/read", json!({ "uri": "test://r" })).capabilities(able());
    assert_eq!(kind(&server, &read), "input_required");
    let second =
        server.send(&retry(&read, json!({ "roots": { "roots": [] } }))).result("resources/read");
    assert_eq!(second["contents"][0]["text"], "0 roots");
}

/// [MR-01] [MR-02] a handler that asks for nothing, or where it may not, is the server's fault.
#[test]
fn asking_wrongly_is_an_internal_error() {
    let empty =
        || InputRequired { input_requests: Some(InputRequests::default()), ..InputRequired::new() };
    let secret = ElicitForm::new("m").string("password", |field| field);
    let builder = server()
        .tool("nothing", "", async |_: &Context, _: NoArgs| {
            Err::<(), _>(ToolError::input_required(InputRequired::new()))
        })
        .tool("empty", "", async move |_: &Context, _: NoArgs| {
            Err::<(), _>(ToolError::input_required(empty()))
        })
        .tool("undone", "", async |ctx: &Context, _: NoArgs| {
            ctx.ask().done(None::<()>)?;
            Ok::<_, ToolError>(())
        })
        .tool("secret", "", async move |ctx: &Context, _: NoArgs| {
            ctx.elicit("k", secret.clone())?;
            Ok::<_, ToolError>(())
        })
        .tool("twice", "", async |ctx: &Context, _: NoArgs| {
            let mut round = ctx.ask();
            let (one, two) = (round.roots("k"), round.roots("k"));
            round.done(one.zip(two))?;
            Ok::<_, ToolError>(())
        })
        .tool("no_key", "", async |ctx: &Context, _: NoArgs| {
            ctx.roots("")?;
            Ok::<_, ToolError>(())
        })
        .method("example/own", None, async |ctx: &Context, _: Free| {
            ctx.roots("k")?;
            Ok::<_, HandlerError>(json!({}))
        });
    let server = serve(builder);
    let internal = json!({ "code": -32603, "message": "Internal error" });
    for request in [
        call("nothing"),
        call("empty"),
        call("undone"),
        call("secret"),
        call("twice"),
        call("no_key"),
        ask("example/own").capabilities(able()),
    ] {
        let answer = server.send(&request);
        assert_eq!(answer.status, 200);
        assert_eq!(answer.error_object(), internal, "{}", request.message);
    }
}

/// [MR-26] [D-36] [RPC-18] other methods ignore what a retry carries, whatever it is.
#[test]
fn other_methods_ignore_the_fields() {
    let builder = asking().method("example/own", None, async |ctx: &Context, _: Free| {
        Ok::<_, HandlerError>(json!({ "saw": ctx.response("k").is_some() }))
    });
    let server = serve(builder);
    for method in ["tools/list", "server/discover", "example/own"] {
        for (responses, state) in [(json!([]), json!(7)), (json!({ "k": {} }), json!("forged"))] {
            let request =
                ask(method).param("inputResponses", responses).param("requestState", state);
            let result = server.send(&request).result(method);
            assert_eq!(result["resultType"], "complete", "{method}");
            assert_ne!(result["saw"], true, "{method}");
        }
    }
}

/// [MR-06] abandoned rounds leave nothing behind.
#[test]
fn abandoned_rounds_leave_nothing() {
    let server = serve(asking());
    let mut connection = server.connect();
    for _ in 0..500 {
        crate::support::support_write(&mut connection, &call("all").bytes());
        let answer = crate::support::read_answer(&mut connection).expect("an answer");
        assert_eq!(answer.status, 200);
    }
    let counters = server.handle().counters();
    assert_eq!((counters.connections_open, counters.subscriptions_open), (1, 0));
}

/// What a tool may ask for, by name.
fn question(kind: &str) -> InputRequest {
    let sampling = || CreateMessageParams::new(5).user("q");
    let including = |context| {
        let mut params = sampling();
        params.include_context = Some(context);
        params.into()
    };
    match kind {
        "form" => name_form().into(),
        "url" => ElicitUrl::new("m", "https://example.com/").expect("a URL").into(),
        "sampling" => sampling().into(),
        "tools" => sampling().tool(Tool::new("x")).into(),
        "toolChoice" => sampling().tool_choice(ToolChoiceMode::Auto).into(),
        "context none" => including(IncludeContext::None),
        "context this" => including(IncludeContext::ThisServer),
        "context all" => including(IncludeContext::AllServers),
        "roots" => ringmcp::types::ListRootsParams::default().into(),
        other => panic!("no such question: {other}"),
    }
}

const QUESTIONS: [&str; 9] = [
    "form",
    "url",
    "sampling",
    "tools",
    "toolChoice",
    "context none",
    "context this",
    "context all",
    "roots",
];

/// The ledger's table, read naively: what is missing of what a question needs, nested to the leaf.
fn missing(kind: &str, declared: &Value) -> Value {
    let object = |path: &str| declared.pointer(path).is_some_and(Value::is_object);
    let empty =
        |path: &str| declared.pointer(path).and_then(Value::as_object).is_some_and(Map::is_empty);
    let leaf = |met: bool, path: Value| if met { json!(null) } else { path };
    match kind {
        "form" => leaf(
            empty("/elicitation") || object("/elicitation/form"),
            json!({ "elicitation": { "form": {} } }),
        ),
        "url" => leaf(object("/elicitation/url"), json!({ "elicitation": { "url": {} } })),
        "sampling" | "context none" => leaf(object("/sampling"), json!({ "sampling": {} })),
        "tools" | "toolChoice" => {
            leaf(object("/sampling/tools"), json!({ "sampling": { "tools": {} } }))
        }
        "context this" | "context all" => {
            leaf(object("/sampling/context"), json!({ "sampling": { "context": {} } }))
        }
        "roots" => leaf(object("/roots"), json!({ "roots": {} })),
        other => panic!("no such question: {other}"),
    }
}

/// [MR-10] [MR-11] [ERR-05] [D-41] every question against every declaration: asked exactly when allowed, and else only
/// what is missing is named.
#[test]
fn capability_truth_table() {
    let builder = server().tool("ask", "", async |_: &Context, arguments: Free| {
        let kind = arguments["kind"].as_str().expect("a kind");
        let input = InputRequired::new().ask("k", question(kind))?;
        Err::<(), _>(ToolError::input_required(input))
    });
    let server = serve(builder);
    let declarations = [
        json!({}),
        json!({ "elicitation": {} }),
        json!({ "elicitation": { "form": {} } }),
        json!({ "elicitation": { "url": {} } }),
        json!({ "elicitation": { "form": {}, "url": {} } }),
        json!({ "elicitation": { "form": null, "url": true } }),
        json!({ "elicitation": null }),
        json!({ "elicitation": true }),
        json!({ "sampling": {} }),
        json!({ "sampling": { "tools": {} } }),
        json!({ "sampling": { "context": {} } }),
        json!({ "sampling": { "tools": {}, "context": {} } }),
        json!({ "sampling": { "tools": false } }),
        json!({ "sampling": [] }),
        json!({ "roots": {} }),
        json!({ "roots": { "listChanged": true } }),
        json!({ "roots": true }),
        json!({ "elicitation": { "url": {} }, "sampling": {}, "roots": {}, "zzz": {} }),
    ];
    for declared in &declarations {
        for kind in QUESTIONS {
            let request =
                Request::call("ask", json!({ "kind": kind })).capabilities(declared.clone());
            let answer = server.send(&request);
            match missing(kind, declared) {
                Value::Null => {
                    let result = answer.result("tools/call");
                    assert_eq!(result["resultType"], "input_required", "{kind} by {declared}");
                }
                required => {
                    assert_eq!(answer.error(), (400, -32021), "{kind} by {declared}");
                    let data = answer.error_object()["data"].clone();
                    assert_eq!(
                        data,
                        json!({ "requiredCapabilities": required }),
                        "{kind} by {declared}"
                    );
                    assert_eq!(answer.message().get("result"), None);
                }
            }
        }
    }
}

/// [MR-11] one entry that is not allowed fails them all, and only what is missing is named.
#[test]
fn nothing_partial_is_asked() {
    let server = serve(asking());
    let answer = server
        .send(&call("all").capabilities(json!({ "roots": {}, "elicitation": { "url": {} } })));
    assert_eq!(answer.error(), (400, -32021));
    let required = answer.error_object()["data"]["requiredCapabilities"].clone();
    assert_eq!(required, json!({ "elicitation": { "form": {} }, "sampling": {} }));
}

/// [MR-12] a handler asks what it may.
#[test]
fn handlers_choose_by_capability() {
    let builder = server().tool("choose", "", async |ctx: &Context, _: NoArgs| {
        let mut round = ctx.ask();
        let mut answers = 0;
        if ctx.client_can(&Capability::ElicitationForm) {
            answers += usize::from(round.elicit("form", name_form()).is_some());
        }
        if ctx.client_can(&Capability::Sampling) {
            answers += usize::from(
                round.sample("sample", CreateMessageParams::new(1).user("q")).is_some(),
            );
        }
        Ok::<_, ToolError>(round.done(Some(answers))?)
    });
    let server = serve(builder);
    let keys = |capabilities: Value| -> Vec<String> {
        let request = Request::call("choose", json!({})).capabilities(capabilities);
        let result = server.send(&request).result("tools/call");
        result["inputRequests"]
            .as_object()
            .map(|all| all.keys().cloned().collect())
            .unwrap_or_default()
    };
    assert_eq!(keys(json!({ "sampling": {} })), ["sample"]);
    assert_eq!(keys(json!({ "elicitation": {} })), ["form"]);
    assert_eq!(keys(json!({ "elicitation": {}, "sampling": {} })), ["form", "sample"]);
    assert_eq!(keys(json!({})), Vec::<String>::new());
}

/// [CALL-03] [MR-05] a retry is an ordinary request: its arguments are checked again.
#[test]
fn retries_are_checked_again() {
    let runs = Runs::default();
    let ran = runs.clone();
    let schema = json!({ "type": "object", "properties": { "a": { "type": "integer" } }, "required": ["a"] });
    let tool = Tool::new("t").input_schema(schema).expect("an object root");
    let builder = server().tool_raw(tool, async move |ctx: &Context, _: Free| {
        ran.add();
        Ok::<_, ToolError>(ctx.roots("r")?.len())
    });
    let wrong = retry(&Request::call("t", json!({ "a": "x" })), json!({ "r": { "roots": [] } }));
    assert_eq!(once(builder, &wrong).result("tools/call")["isError"], true);
    assert_eq!(runs.count(), 0);
}
