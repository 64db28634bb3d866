//! Log messages on a request's own stream.

use ringmcp::types::LoggingLevel;
use ringmcp::{Builder, Context, ResponseMode, ToolError};
use serde_json::{Value, json};

use crate::common::{NoArgs, server};
use crate::support::{Answer, LL, Request, Running, serve};

/// Logs once at each level, then answers.
fn logging() -> Builder {
    server().tool("logs", "", async |ctx: &Context, _: NoArgs| {
        for level in LoggingLevel::ALL {
            ctx.log(level, format!("at {}", level.as_str()));
        }
        Ok::<_, ToolError>("done")
    })
}

fn call(level: Option<&str>) -> Request {
    let request = Request::call("logs", json!({}));
    match level {
        Some(level) => request.meta(LL, json!(level)),
        None => request,
    }
}

fn levels(answer: &Answer) -> Vec<String> {
    let messages = answer.messages();
    let (last, logs) = messages.split_last().expect("an answer");
    assert_eq!(last["id"], 1, "the answer comes last");
    logs.iter()
        .map(|message| {
            assert_eq!(message["method"], "notifications/message");
            message["params"]["level"].as_str().expect("a level").to_owned()
        })
        .collect()
}

/// [LOG-01] [SSE-01] without a level there are no messages, and no stream.
#[test]
fn silent_without_a_level() {
    let answer = serve(logging()).send(&call(None));
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.text(), "done");
}

/// [LOG-03] [LOG-04] [SSE-07] each level lets itself and what is graver pass, in order, before the answer.
#[test]
fn levels_are_ordered() {
    let server = serve(logging());
    let all: Vec<&str> = LoggingLevel::ALL.iter().map(|level| level.as_str()).collect();
    assert_eq!(
        all,
        ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
    );
    for (at, level) in all.iter().enumerate() {
        let answer = server.send(&call(Some(level)));
        assert_eq!(answer.header("content-type"), Some("text/event-stream"));
        assert_eq!(levels(&answer), all[at..]);
        assert_eq!(answer.text(), "done");
    }
}

/// [LOG-06] [ENV-05] a level that is none is refused before anything runs.
#[test]
fn unknown_levels_are_refused() {
    let server = serve(logging());
    for level in [json!("verbose"), json!("Info"), json!(""), json!(3), json!(null)] {
        let request = Request::call("logs", json!({})).meta(LL, level.clone());
        assert_eq!(server.send(&request).error(), (400, -32602), "{level}");
    }
}

/// [LOG-02] switched off, the sender is silent, whatever the request asks.
#[test]
fn silent_when_switched_off() {
    let answer = serve(logging().logging(false)).send(&call(Some("debug")));
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.text(), "done");
}

/// [SSE-01] [HTTP-16] a client that takes only JSON, or a server that gives only JSON, drops messages.
#[test]
fn dropped_where_there_is_no_stream() {
    let json_only =
        serve(logging()).send(&call(Some("debug")).header("Accept", "application/json"));
    assert_eq!(json_only.header("content-type"), Some("application/json"));
    assert_eq!(json_only.text(), "done");
    let server = serve(logging().response_mode(ResponseMode::Json));
    assert_eq!(server.send(&call(Some("debug"))).header("content-type"), Some("application/json"));
}

/// [LOG-05] data is any JSON; the logger's name is there when given.
#[test]
fn message_params() {
    let builder = server().tool("logs", "", async |ctx: &Context, _: NoArgs| {
        ctx.log(LoggingLevel::Info, "line\nfeed \u{2028} \"quoted\"");
        ctx.log_as("disk", LoggingLevel::Error, json!({ "free": 0, "nested": [null, 1.5, true] }));
        ctx.log(LoggingLevel::Alert, ());
        ctx.log(LoggingLevel::Alert, 7);
        Ok::<_, ToolError>(())
    });
    let messages = serve(builder).send(&call(Some("debug"))).messages();
    let params: Vec<&Value> = messages[..4].iter().map(|message| &message["params"]).collect();
    assert_eq!(*params[0], json!({ "level": "info", "data": "line\nfeed \u{2028} \"quoted\"" }));
    assert_eq!(
        *params[1],
        json!({ "level": "error", "logger": "disk", "data": { "free": 0, "nested": [null, 1.5, true] } })
    );
    assert_eq!(params[2]["data"], Value::Null);
    assert_eq!(params[3]["data"], 7);
}

/// [LOG-05] what cannot be JSON is dropped whole and harms no other message.
#[test]
fn data_that_is_no_json_is_dropped() {
    let builder = server().tool("logs", "", async |ctx: &Context, _: NoArgs| {
        let odd = std::collections::HashMap::from([(vec![1], 1)]);
        ctx.log(LoggingLevel::Info, odd);
        ctx.log(LoggingLevel::Info, "fine");
        Ok::<_, ToolError>(())
    });
    let messages = serve(builder).send(&call(Some("debug"))).messages();
    assert_eq!(messages.len(), 2);
    assert_eq!(messages[0]["params"]["data"], "fine");
}

fn hear(server: &Running, level: Option<&str>) -> usize {
    levels(&server.send(&call(level))).len()
}

/// [LOG-04] [SSE-06] [SSE-12] [SSE-13] [RPC-15] of two requests on two connections only the one that asked hears, and
/// no subscription does.
#[test]
fn only_on_the_own_stream() {
    let server = serve(logging());
    let mut events = server.stream(&Request::listen(json!({ "toolsListChanged": true })));
    events.message();
    std::thread::scope(|scope| {
        let loud =
            scope.spawn(|| (0..20).map(|_| hear(&server, Some("error"))).collect::<Vec<_>>());
        let quiet = scope.spawn(|| (0..20).map(|_| hear(&server, None)).collect::<Vec<_>>());
        assert!(loud.join().expect("no panic").iter().all(|heard| *heard == 4));
        assert!(quiet.join().expect("no panic").iter().all(|heard| *heard == 0));
    });
    server.handle().notifier().tools_changed();
    assert_eq!(
        events.message()["method"],
        "notifications/tools/list_changed",
        "nothing came between"
    );
}

/// [LOG-07] [SSE-11] a flood is bounded: what comes is whole, and the answer comes.
#[test]
fn floods_are_bounded() {
    let builder = server().tool("logs", "", async |ctx: &Context, _: NoArgs| {
        for at in 0..100_000 {
            ctx.log(LoggingLevel::Info, at);
        }
        Ok::<_, ToolError>("done")
    });
    let answer = serve(builder).send(&call(Some("debug")));
    assert!(answer.body.len() < 256 * 1024, "{} bytes", answer.body.len());
    assert_eq!(answer.text(), "done");
    assert!(levels(&answer).len() > 100);
}
