//! Scenarios against servers that do it right, and against the faults that they are there to catch.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails with the line it is on")]

mod support;

use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use support::{
    Act, File, HELLO, SERVER, Scripted, Seen, all_right, fails, ok, one_wrong, run_on,
    run_scenario as run, stream,
};

fn progress(token: &Value, progress: u64) -> String {
    let params = json!({ "progressToken": token, "progress": progress, "total": 3 });
    json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }).to_string()
}

/// Three notifications and the response, after `change` had its way with them.
fn progressing(seen: &Seen, change: impl Fn(&mut Vec<String>)) -> Vec<u8> {
    let token = &seen.body["params"]["_meta"]["progressToken"];
    assert_eq!(token, &seen.body["id"]);
    let mut messages: Vec<_> = (1..=3).map(|step| progress(token, step)).collect();
    messages.push(seen.response(HELLO));
    change(&mut messages);
    stream(&messages)
}

/// [PRG-02] [SSE-06] Notifications are counted; a missing, foreign or unordered one is an error, and so is a stream
/// that ends early.
#[test]
fn progress_is_watched() {
    let load = ["--requests", "20", "--connections", "2", "--notifications", "3"];
    let server = Scripted::start(|seen| Act::Send(progressing(seen, |_| {})));
    let outcome = run(&server, "progress", &load);
    all_right(&outcome, 20);
    assert_eq!(outcome.json["notifications"], 60, "{}", outcome.text);

    type Change = fn(&mut Vec<String>);
    let changes: [(&str, Change); 5] = [
        ("progress", |messages| drop(messages.remove(1))),
        ("progress", |messages| messages.swap(0, 1)),
        ("progress", |messages| messages[2] = progress(&json!(0), 3)),
        ("message", |messages| drop(messages.pop())),
        ("form", |messages| messages.clear()),
    ];
    for (kind, change) in changes {
        let server = Scripted::start(move |seen| {
            let wrong = seen.number == 5;
            Act::Send(progressing(seen, |messages| {
                if wrong {
                    change(messages)
                }
            }))
        });
        one_wrong(&run(&server, "progress", &load), kind);
    }
    let server = Scripted::start(|seen| {
        let mut answer = progressing(seen, |_| {});
        if seen.number != 5 {
            return Act::Send(answer);
        }
        answer.truncate(answer.len() - 20);
        Act::SendAndClose(answer)
    });
    one_wrong(&run(&server, "progress", &load), "truncated");
}

/// Every call has a connection of its own; that is no reconnect.
#[test]
fn churn_connects_for_every_call() {
    for driver in ["auto", "epoll"] {
        let server = Scripted::start(|seen| Act::Send(seen.hello()));
        let load = ["--requests", "20", "--connections", "3", "--expect", "hello"];
        let outcome = run_on(driver, &server, &[&["--scenario", "churn"], &load[..]].concat());
        all_right(&outcome, 20);
        // One more to see that there is a server.
        assert_eq!(server.connections.load(Ordering::SeqCst), 21);
        assert_eq!(outcome.json["reconnects"], 0);
    }
    let server = Scripted::start(|seen| match seen.number {
        5 => Act::SendAndClose(Vec::new()),
        _ => Act::Send(seen.hello()),
    });
    one_wrong(&run(&server, "churn", &["--requests", "20"]), "closed");
}

/// [SSE-09] Calls are given up, each on a connection of its own, and the probe behind it is what counts.
#[test]
fn cancelled_calls() {
    let slow = |seen: &Seen| seen.body["method"] == "tools/call";
    for rate in [&[][..], &["--rate", "100"]] {
        let server =
            Scripted::start(
                move |seen| {
                    if slow(seen) { Act::Silence } else { Act::Send(seen.result(SERVER)) }
                },
            );
        let load = ["--requests", "20", "--connections", "4", "--cancel-after", "30ms"];
        let outcome = run(&server, "cancel", &[&load[..], rate].concat());
        all_right(&outcome, 20);
        assert_eq!((server.seen(), &outcome.json["exchanges"]), (40, &40.into()));
        let worst = outcome.json["latency_us"]["p50"].as_f64().unwrap();
        assert!(worst < 30_000.0, "the wait is no latency: {}", outcome.text);
    }
    let server = Scripted::start(move |seen| match (slow(seen), seen.number) {
        (true, 5) => Act::Send(seen.hello()),
        (true, _) => Act::Silence,
        (false, _) => Act::Send(seen.result(SERVER)),
    });
    one_wrong(&run(&server, "cancel", &["--requests", "20"]), "early");
}

/// The body is as long as asked for, and its text has to come back whole.
#[test]
fn large_bodies() {
    let echo = |seen: &Seen| {
        let text = &seen.body["params"]["arguments"]["text"];
        let content =
            json!({ "content": [{ "type": "text", "text": text }], "resultType": "complete" });
        (text.as_str().unwrap().len(), content.to_string())
    };
    let server = Scripted::start(move |seen| {
        let length: u64 = seen.header("Content-Length").unwrap().parse().unwrap();
        assert!((100_000..100_003).contains(&length), "{length}");
        let (length, mut result) = echo(seen);
        if seen.number == 5 {
            // One byte of a hundred thousand.
            let middle = result.find("text\":\"").unwrap() + length / 2;
            result.replace_range(middle..=middle, "!");
        }
        Act::Send(seen.result(&result))
    });
    let outcome = run(&server, "large", &["--requests", "20", "--body-bytes", "100000"]);
    one_wrong(&outcome, "expect");
    let bytes = outcome.json["sent_bytes"].as_u64().unwrap();
    assert!(bytes > 1_900_000, "{}", outcome.text);
}

/// [HDR-11] [RES-04] Reads ask for the URI and look at what comes.
#[test]
fn resources() {
    let server = Scripted::start(|seen| {
        assert_eq!(seen.header("Mcp-Name"), Some("test://a"));
        let uri = &seen.body["params"]["uri"];
        let text = if seen.number == 5 { "ho" } else { "hi there" };
        let contents =
            json!({ "contents": [{ "uri": uri, "text": text }], "resultType": "complete" });
        Act::Send(seen.result(&contents.to_string()))
    });
    let load = ["--requests", "20", "--uri", "test://a", "--expect", "hi"];
    one_wrong(&run(&server, "resources-read", &load), "expect");
    fails(&server, &["--scenario", "resources-read"], 2, "--uri");
}

/// Without checks a wrong answer passes, the report says that nothing was checked, and scenarios that have to read
/// their answers refuse.
#[test]
fn unchecked() {
    let server = Scripted::start(|_| Act::Send(ok("[]")));
    let outcome = run(&server, "tools-call", &["--requests", "20", "--verify", "none"]);
    all_right(&outcome, 20);
    assert_eq!(outcome.json["verify"], "none");
    assert!(outcome.text.contains("not checked"), "{}", outcome.text);
    fails(&server, &["--scenario", "mrtr", "--verify", "none"], 2, "is for tools-call");
}

/// Structured content is held to a schema from a file, and arguments come from one.
#[test]
fn files() {
    let schema =
        File::new(r#"{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}"#);
    let args = File::new(r#"{"from":"a file"}"#);
    let server = Scripted::start(|seen| {
        assert_eq!(seen.body["params"]["arguments"], json!({ "from": "a file" }));
        let n = if seen.number == 5 { json!("1") } else { json!(1) };
        let result =
            json!({ "content": [], "structuredContent": { "n": n }, "resultType": "complete" });
        Act::Send(seen.result(&result.to_string()))
    });
    let from = format!("@{}", args.path());
    let load = ["--requests", "20", "--args", &from, "--expect-schema", schema.path()];
    one_wrong(&run(&server, "tools-call", &load), "expect");
}

/// A server that closes quiet connections is no fault, at a rate so low that they are quiet: they are opened again.
#[test]
fn quiet_connections() {
    let server = Scripted::start(|seen| {
        // Closes behind the answer, without a word.
        Act::SendAndClose(seen.hello())
    });
    let load = ["--rate", "1", "--requests", "3", "--connections", "1"];
    let outcome = run(&server, "tools-call", &load);
    all_right(&outcome, 3);
    assert_eq!(outcome.json["reconnects"], 2, "{}", outcome.text);
}
