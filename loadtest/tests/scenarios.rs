//! Every scenario against a server that does it right, and against the faults that it is there to catch.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails with the line it is on")]

mod support;

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use support::{Act, HELLO, Outcome, Scripted, Seen, ok, run_on, stream};

fn run(server: &Scripted, scenario: &str, more: &[&str]) -> Outcome {
    run_on("auto", server, &[&["--scenario", scenario], more].concat())
}

/// All went right, this often.
fn all_right(outcome: &Outcome, requests: u64) {
    assert_eq!((outcome.code, &outcome.json["ok"]), (0, &requests.into()), "{}", outcome.text);
    assert_eq!(outcome.json["errors"], 0, "{}", outcome.text);
}

/// Exactly one of 20 operations went wrong, in this way.
fn one_wrong(outcome: &Outcome, kind: &str) {
    let text = &outcome.text;
    assert_eq!((outcome.code, &outcome.json["ok"]), (1, &19.into()), "{kind}: {text}");
    assert_eq!((outcome.errors(kind), &outcome.json["errors"]), (1, &1.into()), "{kind}: {text}");
}

/// A file for an option, gone with the value.
struct File(std::path::PathBuf);

impl File {
    fn new(text: &str) -> Self {
        static FILES: AtomicU64 = AtomicU64::new(0);
        let number = FILES.fetch_add(1, Ordering::SeqCst);
        let name = format!("ringmcp-scenarios-{}-{number}", std::process::id());
        let file = Self(std::env::temp_dir().join(name));
        std::fs::write(&file.0, text).unwrap();
        file
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

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

/// Asks a name, then a state alone, then is content.
fn asking(seen: &Seen) -> Vec<u8> {
    let params = &seen.body["params"];
    let capabilities = &params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    assert!(capabilities["elicitation"].is_object() && capabilities["roots"].is_object());
    let ask = json!({
        "resultType": "input_required",
        "requestState": "one",
        "inputRequests": {
            "name": { "method": "elicitation/create", "params": { "message": "?", "requestedSchema":
                { "type": "object", "properties": { "name": { "type": "string" } } } } },
            "roots": { "method": "roots/list" },
        },
    });
    match params["requestState"].as_str() {
        None => seen.result(&ask.to_string()),
        Some("one") => {
            let answers = &params["inputResponses"];
            assert_eq!(answers["name"]["action"], "accept");
            assert!(answers["name"]["content"]["name"].is_string());
            assert!(answers["roots"]["roots"].is_array());
            seen.result(r#"{"resultType":"input_required","requestState":"two"}"#)
        }
        Some("two") => {
            assert!(params.get("inputResponses").is_none());
            seen.result(HELLO)
        }
        Some(other) => panic!("{other}"),
    }
}

/// [MR-03] [MR-05] [MR-08] [RS-01] An operation is all its rounds, each a request of its own.
#[test]
fn rounds_are_one_operation() {
    for pipeline in ["1", "3"] {
        let server = Scripted::start(|seen| Act::Send(asking(seen)));
        let load = ["--requests", "20", "--expect", "hello", "--pipeline", pipeline];
        let outcome = run(&server, "mrtr", &load);
        all_right(&outcome, 20);
        assert_eq!((server.seen(), &outcome.json["exchanges"]), (60, &60.into()));
    }
    // A connection that is closed between two rounds is no fault: the next goes over another.
    let server = Scripted::start(|seen| {
        let answer = String::from_utf8(asking(seen)).unwrap();
        Act::SendAndClose(answer.replacen("\r\n", "\r\nConnection: close\r\n", 1).into_bytes())
    });
    all_right(&run(&server, "mrtr", &["--requests", "20"]), 20);
    let answers = File::new(r#"{"name":{"action":"decline"}}"#);
    let server = Scripted::start(|seen| match seen.body["params"].get("inputResponses") {
        Some(given) => {
            assert_eq!(given["name"], json!({ "action": "decline" }));
            Act::Send(seen.result(HELLO))
        }
        None => Act::Send(asking(seen)),
    });
    all_right(&run(&server, "mrtr", &["--requests", "5", "--answers", answers.path()]), 5);
}

/// [MR-02] [MR-03] What is no question, asks without end, or does not ask at all, is an error.
#[test]
fn wrong_rounds() {
    let wrong: [(&str, &str); 4] = [
        (HELLO, "rounds"),
        (r#"{"resultType":"input_required"}"#, "rounds"),
        (
            r#"{"resultType":"input_required","inputRequests":{"k":{"method":"tools/list"}}}"#,
            "rounds",
        ),
        (r#"{"resultType":"other","content":[]}"#, "rounds"),
    ];
    for (result, kind) in wrong {
        let server = Scripted::start(move |seen| {
            let first = seen.body["params"].get("requestState").is_none();
            let nth = seen.body["id"].as_u64().unwrap();
            Act::Send(if first && nth == 1 { seen.result(result) } else { asking(seen) })
        });
        one_wrong(&run(&server, "mrtr", &["--requests", "20"]), kind);
    }
    let server = Scripted::start(|seen| {
        Act::Send(seen.result(r#"{"resultType":"input_required","requestState":"again"}"#))
    });
    let outcome = run(&server, "mrtr", &["--requests", "1"]);
    assert_eq!(
        (outcome.code, outcome.errors("rounds"), server.seen()),
        (1, 1, 17),
        "{}",
        outcome.text
    );
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

const SERVER: &str = r#"{"supportedVersions":["2026-07-28"],"resultType":"complete"}"#;

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
    let (code, text) = {
        let outcome = support::loadtest(&[
            "run",
            "--url",
            &server.url,
            "--requests",
            "1",
            "--scenario",
            "resources-read",
        ]);
        (outcome.status.code(), String::from_utf8(outcome.stderr).unwrap())
    };
    assert!(code == Some(2) && text.contains("--uri"), "{text}");
}

/// Weights hold to the request, and each part has its own figures.
#[test]
fn mixes() {
    let mix = File::new(
        "[[part]]\nscenario = 'tools-call'\nweight = 3\nargs = { text = 'hello' }\nexpect = 'hello'\n\
         [[part]]\nscenario = 'discover'\nweight = 1\nname = 'who'\n\
         [[part]]\nscenario = 'mrtr'\nweight = 1\ntool = 'ask'\n",
    );
    let server = Scripted::start(|seen| {
        Act::Send(match seen.body["method"].as_str() {
            Some("server/discover") => seen.result(SERVER),
            _ if seen.body["params"]["name"] == "ask" => asking(seen),
            _ if seen.number == 1 => seen.result(r#"{"content":[],"resultType":"complete"}"#),
            _ => seen.hello(),
        })
    });
    let load = ["--requests", "100", "--connections", "2", "--pipeline", "2", "--mix", mix.path()];
    let outcome = run(&server, "mixed", &load);
    assert_eq!(outcome.errors("expect"), 1, "{}", outcome.text);
    let parts: Vec<_> = outcome.json["parts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| (part["name"].as_str().unwrap(), part["ok"].as_u64().unwrap()))
        .collect();
    assert_eq!(parts, [("tools-call echo", 59), ("who", 20), ("mrtr ask", 20)]);
    assert_eq!(outcome.json["parts"][0]["errors"], 1);
    let bad = File::new("[[part]]\nscenario = 'churn'\nweight = 1\n");
    let output = support::loadtest(&[
        "run",
        "--url",
        &server.url,
        "--requests",
        "1",
        "--scenario",
        "mixed",
        "--mix",
        bad.path(),
    ]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && said.contains("these can: tools-call"), "{said}");
}

/// A server of 2025-11-25; `sessions`: whether it gives them.
fn legacy(seen: &Seen, sessions: bool) -> Act {
    let session = seen.header("Mcp-Session-Id");
    if seen.head.starts_with("DELETE ") {
        assert!(session.is_some());
        return Act::Send(b"HTTP/1.1 204 No Content\r\n\r\n".to_vec());
    }
    assert!(seen.header("Mcp-Method").is_none() && seen.body["params"].get("_meta").is_none());
    let method = seen.body["method"].as_str().unwrap();
    if method == "initialize" {
        assert!(session.is_none() && seen.header("MCP-Protocol-Version").is_none());
        assert_eq!(seen.body["params"]["protocolVersion"], "2025-11-25");
        let hello = r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"x","version":"1"}}"#;
        let answer = String::from_utf8(seen.result(hello)).unwrap();
        let line = format!("\r\nMcp-Session-Id: s{}\r\n", seen.number);
        let line = if sessions { &*line } else { "\r\n" };
        return Act::Send(answer.replacen("\r\n", line, 1).into_bytes());
    }
    assert_eq!(session.is_some(), sessions);
    assert_eq!(seen.header("MCP-Protocol-Version"), Some("2025-11-25"));
    match method {
        "notifications/initialized" => {
            Act::Send(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n".to_vec())
        }
        "tools/call" => Act::Send(seen.result(r#"{"content":[{"type":"text","text":"hello"}]}"#)),
        other => panic!("{other}"),
    }
}

/// [LEG-13] [LEG-14] [LEG-16] [LEG-60] [LEG-62] Hands are shaken once a connection or for every call, and a session
/// is used and ended.
#[test]
fn the_older_revision() {
    for sessions in [false, true] {
        let (wanted, unwanted) = if sessions { ("required", "none") } else { ("none", "required") };
        for (handshake, pipeline, requests, exchanges) in [
            ("connection", "1", 2 * 2 + 20, 20),
            ("connection", "4", 2 * 2 + 20, 20),
            ("each", "1", 60, 60),
            ("each", "4", 60, 60),
        ] {
            let server = Scripted::start(move |seen| legacy(seen, sessions));
            let load = ["--requests", "20", "--connections", "2", "--expect", "hello"];
            let more = ["--handshake", handshake, "--sessions", wanted, "--pipeline", pipeline];
            let outcome = run(&server, "legacy", &[&load[..], &more].concat());
            all_right(&outcome, 20);
            let ends = match (sessions, handshake) {
                (false, _) => 0,
                (true, "each") => 20,
                (true, _) => 2,
            };
            assert_eq!(server.seen(), requests + ends, "{handshake}: {}", outcome.text);
            let counted = exchanges + if handshake == "each" { ends } else { 0 };
            assert_eq!(outcome.json["exchanges"], counted);
        }
        let server = Scripted::start(move |seen| legacy(seen, sessions));
        let load = ["--requests", "1", "--sessions", unwanted];
        let all = [&["run", "--url", &server.url, "--scenario", "legacy"], &load[..]].concat();
        let output = support::loadtest(&all);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && said.contains("Mcp-Session-Id"), "{said}");
    }
    // A connection that is lost shakes hands again.
    let server = Scripted::start(|seen| match seen.number {
        7 => Act::SendAndClose(Vec::new()),
        _ => legacy(seen, true),
    });
    let outcome = run(&server, "legacy", &["--requests", "20"]);
    one_wrong(&outcome, "closed");
    assert_eq!((&outcome.json["reconnects"], server.seen()), (&1.into(), 2 + 20 + 2 + 1));
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
    let output = support::loadtest(&[
        "run",
        "--url",
        &server.url,
        "--requests",
        "1",
        "--scenario",
        "mrtr",
        "--verify",
        "none",
    ]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && said.contains("is for tools-call"), "{said}");
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
