//! Operations of several rounds, and several kinds of operations side by side.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails with the line it is on")]

mod support;

use serde_json::json;
use support::{
    Act, File, HELLO, SERVER, Scripted, Seen, all_right, fails, one_wrong, run_scenario as run,
};

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
    let mixed = ["--scenario", "mixed", "--mix", bad.path()];
    fails(&server, &mixed, 2, "these can: tools-call");
}
