//! Several messages in one array (LEG-22).

use ringmcp::{Builder, Context, LegacyMode, Limits, Server, ToolError};
use serde_json::{Map, Value, json};

use crate::client::{Client, call, initialize, message, messages, request};
use crate::support::{PV, VERSION, on_both_drivers, serve};

fn server() -> Builder {
    Server::builder("batches", "1").tool(
        "echo",
        "Echoes, with progress",
        async |ctx: &Context<'_>, arguments: Map<String, Value>| {
            ctx.progress(1, 1);
            Ok::<_, ToolError>(Value::Object(arguments).to_string())
        },
    )
}

fn ping(id: impl Into<Value>) -> Value {
    request(id, "ping", json!({}))
}

/// [LEG-22] [RPC-03] responses come as an array, in order, each with its own id; notifications and responses leave no
/// trace; malformed elements are answered one by one.
#[test]
fn answers_are_an_array() {
    for mode in [LegacyMode::Stateless, LegacyMode::Sessions] {
        on_both_drivers(
            || server().legacy(mode),
            |running| {
                let client = Client::connect(running, "2025-03-26", json!({}));
                let note = json!({ "jsonrpc": "2.0", "method": "notifications/progress" });
                let response = json!({ "jsonrpc": "2.0", "id": 9, "result": {} });
                let answer = client.post(&json!([
                    ping("a"),
                    note,
                    call(2, "echo", json!({ "n": 1 })),
                    response,
                    { "jsonrpc": "2.0", "id": 3, "method": 5 },
                    request(4, "unknown/method", json!({})),
                ]));
                assert_eq!(answer.status, 200);
                let all = message(&answer);
                let ids: Vec<_> =
                    all.as_array().expect("an array").iter().map(|one| one["id"].clone()).collect();
                assert_eq!(ids, [json!("a"), json!(2), json!(3), json!(4)]);
                assert_eq!(all[1]["result"]["content"][0]["text"], "{\"n\":1}");
                assert_eq!(
                    (&all[2]["error"]["code"], &all[3]["error"]["code"]),
                    (&json!(-32600), &json!(-32601))
                );
                let quiet = client.post(&json!([note, response]));
                assert_eq!((quiet.status, quiet.body.len()), (202, 0));
            },
        );
    }
}

/// [LEG-22] [LEG-20] progress of an element goes first, the array is the last event.
#[test]
fn batches_stream() {
    let running = serve(server());
    let mut element = call(1, "echo", json!({}));
    element["params"]["_meta"] = json!({ "progressToken": "t" });
    let answer = Client::new(&running).post(&json!([element, ping(2)]));
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    let all = messages(&answer);
    assert_eq!(all[0]["method"], "notifications/progress");
    assert_eq!(all[1].as_array().map(Vec::len), Some(2));
}

/// [LEG-22] [D-34] [RPC-13] by version: up to 2025-03-26, and where no header says otherwise.
#[test]
fn batches_by_version() {
    let running = serve(server());
    for (version, status) in [
        (None, 200),
        (Some("2025-03-26"), 200),
        (Some("2024-11-05"), 200),
        (Some("2025-06-18"), 400),
        (Some("2025-11-25"), 400),
        (Some(VERSION), 400),
    ] {
        let mut client = Client::new(&running);
        client.version = version.map(str::to_owned);
        let answer = client.post(&json!([ping(1)]));
        assert_eq!(answer.status, status, "{version:?}");
        if status == 400 {
            assert_eq!(message(&answer)["error"]["code"], -32600);
        }
    }
}

/// [LEG-22] [SEC-02] what may not be in a batch refuses all of it, and nothing of it runs.
#[test]
fn refused_batches() {
    let limits = Limits { batch_messages: 3, ..Limits::default() };
    let running = serve(server().limits(limits));
    let client = Client::new(&running);
    assert_eq!(client.post(&json!([ping(1), ping(2), ping(3)])).status, 200);
    let modern = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping", "params": { "_meta": { PV: VERSION } } });
    for refused in [
        json!([]),
        json!([ping(1), ping(2), ping(3), ping(4)]),
        json!([ping(1), initialize("2025-03-26", json!({}))]),
        json!([ping(1), modern]),
    ] {
        let answer = client.post(&refused);
        assert_eq!((answer.status, &message(&answer)["error"]["code"]), (400, &json!(-32600)));
    }
}
