//! Requests of the 2025 era, each on its own (ledger section 20b).

use ringmcp::types::{ElicitForm, LoggingLevel, Prompt, Resource};
use ringmcp::{Builder, Context, HandlerError, Interrupt, LegacyMode, Server, ToolError};
use serde_json::{Map, Value, json};

use crate::client::{Client, LATEST, call, initialize, message, messages, request};
use crate::support::{on_both_drivers, serve};

fn server() -> Builder {
    Server::builder("stateless", "1")
        .instructions("Be kind")
        .tool("echo", "Echoes", async |_: &Context<'_>, arguments: Map<String, Value>| {
            Ok::<_, ToolError>(Value::Object(arguments).to_string())
        })
        .tool("steps", "Reports and logs", async |ctx: &Context<'_>, _: Map<String, Value>| {
            ctx.progress(1, 2);
            ctx.log(LoggingLevel::Emergency, "never sent: nobody has set a level");
            ctx.progress(2, 2);
            Ok::<_, ToolError>("stepped")
        })
        .tool("ask", "Asks for input", async |ctx: &Context<'_>, _: Map<String, Value>| {
            ctx.elicit("name", ElicitForm::new("Name?").string("name", |field| field))?;
            Ok::<_, Interrupt>("answered")
        })
        .prompt_with(Prompt::new("ask"), async |ctx: &Context<'_>, _: Map<String, Value>| {
            ctx.elicit("name", ElicitForm::new("Name?").string("name", |field| field))?;
            Ok::<_, HandlerError>("answered".to_owned())
        })
        .resource(Resource::new("test://a", "a"), async |_: &Context<'_>| {
            Ok::<_, HandlerError>("content")
        })
}

/// [LEG-16] [LEG-05] [LEG-19] [LEG-15] [LEG-18] every request stands alone: no handshake before it, no session after it,
/// no member that only later revisions have.
#[test]
fn requests_stand_alone() {
    on_both_drivers(server, |running| {
        for version in [None, Some("2025-11-25"), Some("2025-06-18"), Some("2024-11-05")] {
            let mut client = Client::new(running).header("Mcp-Session-Id", "whatever");
            client.version = version.map(str::to_owned);
            assert_eq!(client.result("ping", json!({})), json!({}));
            assert_eq!(client.result("tools/list", json!({}))["tools"][0]["name"], "echo");
            let result =
                client.result("tools/call", json!({ "name": "echo", "arguments": { "a": 1 } }));
            assert_eq!(result, json!({ "content": [{ "type": "text", "text": "{\"a\":1}" }] }));
            let read = client.result("resources/read", json!({ "uri": "test://a" }));
            assert_eq!(read["contents"][0]["text"], "content");
            for method in ["prompts/list", "resources/list", "resources/templates/list"] {
                client.result(method, json!({}));
            }
            let answer = client.post(&initialize(LATEST, json!({})));
            assert_eq!(answer.header("mcp-session-id"), None);
        }
        assert_eq!(running.handle().counters().sessions_open, 0);
    });
}

/// [LEG-27] [LEG-25] [LEG-26] a handshake promises nothing that a client could only hear of unasked.
#[test]
fn handshakes_promise_little() {
    let running = serve(server());
    let client = Client::new(&running);
    let result = message(&client.post(&initialize(LATEST, json!({}))))["result"].clone();
    assert_eq!(result["capabilities"], json!({ "tools": {}, "prompts": {}, "resources": {} }));
    assert_eq!(
        (&result["serverInfo"]["name"], &result["instructions"]),
        (&json!("stateless"), &json!("Be kind"))
    );
    // The level is taken, and kept nowhere.
    assert_eq!(client.result("logging/setLevel", json!({ "level": "debug" })), json!({}));
    for params in [json!({}), json!({ "level": "loud" })] {
        assert_eq!(client.code("logging/setLevel", params), -32602);
    }
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        assert_eq!(client.code(method, json!({ "uri": "test://a" })), -32601);
    }
}

/// [LEG-23] [LEG-24] [LEG-30] [ERR-02] errors are in band, in that era's codes.
#[test]
fn errors() {
    let running = serve(server());
    let client = Client::new(&running).version(LATEST);
    for method in
        ["unknown/method", "server/discover", "subscriptions/listen", "tasks/get", "tasks/list"]
    {
        assert_eq!(client.code(method, json!({})), -32601, "{method}");
    }
    let missing = client.request("resources/read", json!({ "uri": "test://missing" }));
    assert_eq!(missing["error"]["code"], -32002);
    assert_eq!(missing["error"]["data"]["uri"], "test://missing");
    assert_eq!(client.code("resources/read", json!({})), -32602);
    assert_eq!(client.code("tools/call", json!({ "name": "missing" })), -32602);
    assert_eq!(client.code("tools/list", json!({ "cursor": "?" })), -32602);
    assert_eq!(client.code("tools/list", json!({ "_meta": { "progressToken": 1.5 } })), -32602);
}

/// [LEG-10] [LEG-11] [LEG-12] what the head must say.
#[test]
fn heads() {
    let running = serve(server());
    let client = Client::new(&running);
    let ping = request(1, "ping", json!({})).to_string();
    for (accept, status) in [
        ("application/json, text/event-stream", 200),
        ("*/*", 200),
        ("application/*, text/*", 200),
        ("application/json", 406),
        ("text/event-stream", 406),
        ("image/png", 406),
    ] {
        assert_eq!(client.post_text(&ping, accept).status, status, "{accept}");
    }
    let broken = client.post_text("{", "*/*");
    assert_eq!((broken.status, &message(&broken)["error"]["code"]), (400, &json!(-32700)));
    for version in ["1999-01-01", "v999.0.0", ""] {
        let answer =
            Client::new(&running).version(version).post(&request(1, "tools/list", json!({})));
        assert_eq!(answer.status, 400, "{version}");
        let told = message(&answer)["error"]["message"].to_string();
        assert!(told.contains(LATEST) && told.contains("2024-11-05"), "{told}");
    }
    let text = client.bytes("POST", "*/*", &ping, "").clone();
    let text = String::from_utf8(text).expect("ASCII").replace("application/json", "text/plain");
    assert_eq!(running.send_raw(text.as_bytes()).status, 415);
}

/// [LEG-17] there is nothing to GET or to DELETE.
#[test]
fn no_other_methods() {
    let running = serve(server());
    let client = Client::new(&running);
    for method in ["GET", "DELETE", "PUT"] {
        let answer = running.send_raw(&client.bytes(method, "text/event-stream", "", ""));
        assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")), "{method}");
    }
}

/// [LEG-20] [LEG-25] messages before the answer make it an event stream; without a level nothing is logged.
#[test]
fn progress_is_streamed() {
    on_both_drivers(server, |running| {
        let client = Client::new(running).version("2025-03-26");
        let mut body = call(7, "steps", json!({}));
        let plain = client.post(&body);
        assert_eq!(plain.header("content-type"), Some("application/json"));
        body["params"]["_meta"] = json!({ "progressToken": "t" });
        let answer = client.post(&body);
        assert_eq!(answer.header("content-type"), Some("text/event-stream"));
        let text = String::from_utf8(answer.body.clone()).expect("UTF-8");
        assert!(text.starts_with("event: message\ndata: ") && !text.contains("id: "), "{text}");
        let all = messages(&answer);
        let progress: Vec<_> =
            all.iter().map(|message| message["params"]["progress"].clone()).collect();
        assert_eq!(progress, [json!(1), json!(2), json!(null)]);
        assert_eq!(
            (&all[2]["id"], &all[2]["result"]["content"][0]["text"]),
            (&json!(7), &json!("stepped"))
        );
    });
}

/// [LEG-81] a handler that needs input is told at once that there will be none.
#[test]
fn input_is_refused_at_once() {
    let running = serve(server());
    let client = Client::new(&running).version(LATEST);
    let result = client.result("tools/call", json!({ "name": "ask", "arguments": {} }));
    assert_eq!(result["isError"], true);
    assert!(result["content"][0]["text"].as_str().is_some_and(|text| text.contains("session")));
    assert_eq!(client.code("prompts/get", json!({ "name": "ask" })), -32603);
}

/// [LEG-40] [LEG-41] where the era is not served, nothing of this is.
#[test]
fn rejected() {
    let running = serve(server().legacy(LegacyMode::Reject));
    let answer = Client::new(&running).post(&initialize(LATEST, json!({})));
    assert_eq!((answer.status, &message(&answer)["error"]["code"]), (400, &json!(-32022)));
    let batch = Client::new(&running).post(&json!([request(1, "ping", json!({}))]));
    assert_eq!((batch.status, &message(&batch)["error"]["code"]), (400, &json!(-32600)));
}
