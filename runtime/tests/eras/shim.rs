//! Handlers of several rounds for clients that know none (ledger section 20f).

use std::time::Duration;

use ringmcp::types::{Capability, CreateMessageParams, ElicitForm, ElicitUrl, Prompt};
use ringmcp::{Builder, Context, HandlerError, Interrupt, LegacyMode, Limits, Server};
use serde_json::{Map, Value, json};

use crate::client::{Client, LATEST, Stream, call, request};
use crate::support::{CC, Request, on_both_drivers, serve};

fn form(field: &str) -> ElicitForm {
    ElicitForm::new(format!("Your {field}?")).string(field, |field| field.required())
}

/// Two elicitations, each in a round of its own, then the client's model.
async fn interview(ctx: &Context<'_>, _: Map<String, Value>) -> Result<String, Interrupt> {
    let mut known: Vec<String> = ctx.state().unwrap_or_default();
    for field in ["name", "color"].into_iter().skip(known.len()) {
        let mut ask = ctx.ask();
        let answer = ask.elicit(field, form(field));
        ask.state(&known);
        known.push(ask.done(answer)?.text(field).unwrap_or("nothing").to_owned());
    }
    let mut ask = ctx.ask();
    let poem = ask.sample("poem", CreateMessageParams::new(50).user(known.join(" and ")));
    ask.state(&known);
    let poem = ask.done(poem)?;
    Ok(format!("{}: {}", known.join(", "), poem.text().unwrap_or("no poem")))
}

fn server() -> Builder {
    Server::builder("shim", "1")
        .legacy(LegacyMode::Sessions)
        .tool("interview", "Asks twice, then the model", interview)
        .tool("url", "Has a page opened", async |ctx: &Context<'_>, _: Map<String, Value>| {
            let page = ElicitUrl::new("Please sign", "https://example.com/sign").expect("a URL");
            let answer = ctx.elicit_url("page", page)?;
            Ok::<_, Interrupt>(format!("accepted: {}", answer.is_accepted()))
        })
        .tool(
            "both",
            "Asks two things at once",
            async |ctx: &Context<'_>, _: Map<String, Value>| {
                ctx.progress(1, 2);
                let mut ask = ctx.ask();
                let (name, roots) = (ask.elicit("name", form("name")), ask.roots("roots"));
                let (name, roots) = ask.done(name.zip(roots))?;
                ctx.progress(2, 2);
                Ok::<_, Interrupt>(format!("{} {}", name.text("name").unwrap_or("-"), roots.len()))
            },
        )
        .tool("for_ever", "Is never content", async |ctx: &Context<'_>, _: Map<String, Value>| {
            ctx.elicit("never", form("name"))?;
            let mut ask = ctx.ask();
            ask.elicit("again", form("name"));
            Err::<String, _>(ask.interrupt())
        })
        .tool(
            "pause",
            "Wants to be called again",
            async |ctx: &Context<'_>, _: Map<String, Value>| match ctx.state_text() {
                Some(_) => Ok("rested"),
                None => {
                    let mut ask = ctx.ask();
                    ask.state(&"tired");
                    Err(ask.interrupt())
                }
            },
        )
        .tool("needs", "Needs a model", async |ctx: &Context<'_>, _: Map<String, Value>| {
            ctx.require(&Capability::Sampling)?;
            Ok::<_, Interrupt>("has one")
        })
        .prompt_with(Prompt::new("ask"), async |ctx: &Context<'_>, _: Map<String, Value>| {
            let answer = ctx.elicit("name", form("name"))?;
            Ok::<_, HandlerError>(answer.text("name").unwrap_or("-").to_owned())
        })
}

fn everything() -> Value {
    json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} })
}

/// What this client says to whatever it is asked.
fn answer_to(asked: &Value) -> Value {
    match asked["method"].as_str() {
        Some("elicitation/create") if asked["params"]["mode"] == "url" => {
            json!({ "action": "accept" })
        }
        Some("elicitation/create") => {
            let fields =
                asked["params"]["requestedSchema"]["properties"].as_object().expect("fields");
            let content: Map<String, Value> =
                fields.keys().map(|field| (field.clone(), json!(format!("my {field}")))).collect();
            json!({ "action": "accept", "content": content })
        }
        Some("sampling/createMessage") => {
            let text = asked["params"]["messages"][0]["content"]["text"].as_str().expect("a text");
            json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": format!("O {text}") } })
        }
        Some("roots/list") => json!({ "roots": [{ "uri": "file:///a" }] }),
        other => panic!("{other:?}"),
    }
}

fn is_request(message: &Value) -> bool {
    message.get("method").is_some() && message.get("id").is_some()
}

/// Answers until the response comes; the response, and what was asked on the way.
fn converse(client: &Client<'_>, stream: &mut Stream) -> (Value, Vec<Value>) {
    let mut asked = Vec::new();
    loop {
        let message = stream.message();
        if is_request(&message) {
            client.respond(&message["id"], answer_to(&message));
            asked.push(message);
        } else if message.get("method").is_none() {
            assert!(stream.event().is_none(), "the response is the last event");
            return (message, asked);
        }
    }
}

fn text_of(response: &Value) -> &str {
    response["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("no text: {response}"))
}

/// The final text that a modern client gets, which comes with its answers round by round.
fn modern_text(running: &crate::support::Running, tool: &str) -> String {
    let mut request = Request::call(tool, json!({})).meta(CC, everything());
    loop {
        let result = running.send(&request).result("tools/call");
        let Some(asked) = result["inputRequests"].as_object() else {
            return result["content"][0]["text"].as_str().expect("a text").to_owned();
        };
        let answers: Map<String, Value> =
            asked.iter().map(|(key, asked)| (key.clone(), answer_to(asked))).collect();
        request = request.param("inputResponses", Value::Object(answers));
        if let Some(state) = result.get("requestState") {
            request = request.param("requestState", state.clone());
        }
    }
}

/// [LEG-80] [LEG-66] [LEG-64] one handler with two elicitations and a sampling request gives the same text in both eras;
/// what it asks for travels on its own stream.
#[test]
fn one_handler_for_both_eras() {
    on_both_drivers(server, |running| {
        let modern = modern_text(running, "interview");
        assert_eq!(modern, "my name, my color: O my name and my color");
        for version in [LATEST, "2025-06-18"] {
            let client = Client::connect(running, version, everything());
            let mut stream = client.stream(&call(1, "interview", json!({})));
            let (response, asked) = converse(&client, &mut stream);
            assert_eq!(text_of(&response), modern);
            let methods: Vec<_> = asked.iter().map(|asked| asked["method"].clone()).collect();
            assert_eq!(
                methods,
                ["elicitation/create", "elicitation/create", "sampling/createMessage"]
            );
            let mut ids: Vec<_> = asked.iter().map(|asked| asked["id"].to_string()).collect();
            ids.dedup();
            assert_eq!(ids.len(), 3);
        }
        assert_eq!(modern_text(running, "both"), "my name 1");
        let client = Client::connect(running, LATEST, everything());
        let (response, asked) = converse(&client, &mut client.stream(&call(1, "both", json!({}))));
        assert_eq!((text_of(&response), asked.len()), ("my name 1", 2));
        let (response, _) = converse(
            &client,
            &mut client.stream(&request(2, "prompts/get", json!({ "name": "ask" }))),
        );
        assert_eq!(response["result"]["messages"][0]["content"]["text"], "my name");
    });
}

/// [LEG-83] what a handler asks for moves nobody's progress: each entry reports for itself.
#[test]
fn legs_report_no_progress() {
    let running = serve(server());
    let client = Client::connect(&running, LATEST, everything());
    let mut body = call(1, "both", json!({}));
    body["params"]["_meta"] = json!({ "progressToken": 7 });
    let mut stream = client.stream(&body);
    let (mut progress, mut asked) = (Vec::new(), Vec::new());
    while asked.len() < 2 {
        let message = stream.message();
        if is_request(&message) { asked.push(message) } else { progress.push(message) }
    }
    assert!(asked.iter().all(|asked| asked["params"].get("_meta").is_none()), "{asked:?}");
    assert_eq!(progress.len(), 1);
    for asked in &asked {
        client.respond(&asked["id"], answer_to(asked));
    }
    let reported = |message: &Value| message["params"]["progressToken"] == 7;
    assert!(progress.iter().all(reported));
}

/// [LEG-82] a URL comes with an id, and only to clients of the revision that has them.
#[test]
fn urls_have_ids() {
    let running = serve(server());
    let client = Client::connect(&running, LATEST, everything());
    let (response, asked) = converse(&client, &mut client.stream(&call(1, "url", json!({}))));
    assert_eq!(text_of(&response), "accepted: true");
    let id = asked[0]["params"]["elicitationId"].as_str().expect("an id");
    assert!(id.len() >= 32, "{id}");
    let older = Client::connect(&running, "2025-06-18", everything());
    let result = older.result("tools/call", json!({ "name": "url", "arguments": {} }));
    assert_eq!(result["isError"], true);
}

/// [LEG-81] [LEG-66] [MR-10] what a client did not declare is not asked for: tools fail, prompts are internal errors.
#[test]
fn undeclared_capabilities() {
    let running = serve(server());
    let client = Client::connect(&running, LATEST, json!({ "roots": {} }));
    for tool in ["interview", "both", "url", "needs"] {
        let result = client.result("tools/call", json!({ "name": tool, "arguments": {} }));
        assert_eq!(result["isError"], true, "{tool}");
        let text = result["content"][0]["text"].as_str().expect("a text");
        assert!(text.contains("elicitation") || text.contains("sampling"), "{text}");
    }
    assert_eq!(client.code("prompts/get", json!({ "name": "ask" })), -32603);
    let able = Client::connect(&running, LATEST, everything());
    let result = able.result("tools/call", json!({ "name": "needs", "arguments": {} }));
    assert_eq!(result["content"][0]["text"], "has one");
}

/// [LEG-67] before the handshake is finished nothing is asked.
#[test]
fn not_before_the_handshake() {
    let running = serve(server());
    let begun = Client::new(&running).post(&crate::client::initialize(LATEST, everything()));
    let session = begun.header("mcp-session-id").map(str::to_owned);
    let client = Client { session, version: Some(LATEST.to_owned()), ..Client::new(&running) };
    let result = client.result("tools/call", json!({ "name": "interview", "arguments": {} }));
    assert_eq!(result["isError"], true);
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(client.post(&note).status, 202);
    let (response, _) = converse(&client, &mut client.stream(&call(1, "interview", json!({}))));
    assert!(text_of(&response).starts_with("my name"));
}

/// [LEG-81] a client that refuses, or answers nothing that makes sense again and again, fails the call; whatever answers
/// nothing that was asked is ignored (LEG-66).
#[test]
fn refusing_clients() {
    on_both_drivers(server, |running| {
        let client = Client::connect(running, LATEST, everything());
        let mut stream = client.stream(&call(1, "interview", json!({})));
        let asked = stream.message();
        client.respond(&json!(999), json!({}));
        client.respond(&json!("x"), json!({}));
        let refusal = json!({ "jsonrpc": "2.0", "id": asked["id"], "error": { "code": -1, "message": "Not today" } });
        assert_eq!(client.post(&refusal).status, 202);
        let response = stream.message();
        assert_eq!(response["result"]["isError"], true);
        assert!(text_of(&response).contains("Not today"));
        // Eight rounds, then no more.
        let mut stream = client.stream(&call(2, "for_ever", json!({})));
        let (response, asked) = converse(&client, &mut stream);
        assert_eq!((&response["result"]["isError"], asked.len()), (&json!(true), 8));
    });
}

/// [LEG-80] a round that asks for nothing but another turn gets it after a pause.
#[test]
fn rounds_of_state_alone() {
    let running = serve(server());
    let client = Client::connect(&running, LATEST, json!({}));
    let result = client.result("tools/call", json!({ "name": "pause", "arguments": {} }));
    assert_eq!(result["content"][0]["text"], "rested");
}

/// [LEG-80] [LEG-81] the bounds of the shim: rounds, time for an answer, and questions at once.
#[test]
fn bounds() {
    let limits = Limits { rounds: 2, ..Limits::default() };
    let running = serve(server().limits(limits));
    let client = Client::connect(&running, LATEST, everything());
    let (response, asked) = converse(&client, &mut client.stream(&call(1, "interview", json!({}))));
    assert_eq!((&response["result"]["isError"], asked.len()), (&json!(true), 2));

    let limits = Limits { leg_timeout: Duration::from_millis(1), ..Limits::default() };
    let running = serve(server().limits(limits));
    let client = Client::connect(&running, LATEST, everything());
    let events = client.stream(&call(1, "interview", json!({}))).rest();
    let response = events.last().and_then(|event| event.message.clone()).expect("a response");
    assert!(text_of(&response).contains("in time"), "{response}");

    let limits = Limits { asked_per_session: 1, ..Limits::default() };
    let running = serve(server().limits(limits));
    let client = Client::connect(&running, LATEST, everything());
    let events = client.stream(&call(1, "both", json!({}))).rest();
    let response = events.last().and_then(|event| event.message.clone()).expect("a response");
    assert!(text_of(&response).contains("too many"), "{response}");
    let (response, asked) = converse(&client, &mut client.stream(&call(2, "interview", json!({}))));
    assert_eq!((text_of(&response), asked.len()), ("my name, my color: O my name and my color", 3));
}
