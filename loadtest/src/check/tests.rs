//! What passes, and the name of each thing that does not.

use super::*;
use crate::answer::Head;

const OK: Head = Head { status: 200, form: Form::Json, keep_alive: true };
const EVENTS: Head = Head { form: Form::Events, ..OK };

fn call() -> Checker {
    Checker::new(Scenario::ToolsCall, Some("hello".into()))
}

fn check(checker: &mut Checker, head: Head, body: &str, id: u64) -> Option<Kind> {
    let answer = Answer { head, body: body.as_bytes(), len: body.len() };
    checker.check(&answer, id).err().map(|fault| fault.kind)
}

fn response(id: &str, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

const HELLO: &str = r#"{"content":[{"type":"text","text":"hello"}],"resultType":"complete"}"#;

/// [RPC-07] A right answer passes in either form, whatever the order of its members, again and again.
#[test]
fn right() {
    let mut checker = call();
    for id in [7, 8, 8, 100] {
        let digits = id.to_string();
        assert_eq!(check(&mut checker, OK, &response(&digits, HELLO), id), None);
        let turned = format!(r#" {{ "result":{HELLO},"id":{id} ,"jsonrpc":"2.0"}}"#);
        assert_eq!(check(&mut checker, OK, &turned, id), None);
        let note = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#;
        let stream = format!("data: {note}\n\ndata: {}\n\n", response(&digits, HELLO));
        assert_eq!(check(&mut checker, EVENTS, &stream, id), None);
    }
}

/// Every wrong answer is told, by a fresh checker and by one that has seen the right answer before.
#[test]
fn wrong() {
    let text = |text: &str| response("7", &HELLO.replace("hello", text));
    let cases = [
        (OK, response("8", HELLO), Kind::Id),
        (OK, response("70", HELLO), Kind::Id),
        (OK, response(r#""7""#, HELLO), Kind::Id),
        (OK, response("7.0", HELLO), Kind::Id),
        (OK, text("hell"), Kind::Expect),
        (OK, response("7", r#"{"content":[],"resultType":"complete"}"#), Kind::Expect),
        (OK, response("7", r#"{"content":[]}"#), Kind::Result),
        (OK, response("7", r#"{"resultType":"input_required"}"#), Kind::Result),
        (OK, response("7", r#"{"resultType":"complete"}"#), Kind::Result),
        (OK, response("7", "[]"), Kind::Result),
        (
            OK,
            response("7", &HELLO.replace("\"resultType", "\"isError\":true,\"resultType")),
            Kind::Tool,
        ),
        (
            OK,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"no"}}"#.into(),
            Kind::Error,
        ),
        (OK, r#"{"jsonrpc":"2.0","id":7}"#.into(), Kind::Message),
        (OK, response("7", HELLO).replace("2.0", "1.0"), Kind::Message),
        (OK, response("7", HELLO).replace("}", ""), Kind::Message),
        (OK, format!("[{}]", response("7", HELLO)), Kind::Message),
        (OK, String::new(), Kind::Message),
        (Head { status: 500, ..OK }, response("7", HELLO), Kind::Status),
        (Head { form: Form::Other, ..OK }, response("7", HELLO), Kind::Form),
        (EVENTS, ": nothing\n\n".into(), Kind::Form),
        (EVENTS, format!("data: {0}\n\ndata: {0}\n\n", response("7", HELLO)), Kind::Form),
        (EVENTS, format!("data: {}\n\n", response("8", HELLO)), Kind::Id),
    ];
    for (head, body, kind) in cases {
        assert_eq!(check(&mut call(), head, &body, 7), Some(kind), "{body}");
        let mut warm = call();
        assert_eq!(check(&mut warm, OK, &response("6", HELLO), 6), None);
        assert_eq!(check(&mut warm, head, &body, 7), Some(kind), "{body}");
    }
}

/// [DSC-02] [TOOL-04] The other scenarios look at what their methods return.
#[test]
fn other_scenarios() {
    let tools = r#"{"tools":[{"name":"echo"}],"resultType":"complete"}"#;
    let server = r#"{"supportedVersions":["2026-07-28"],"resultType":"complete",
        "_meta":{"io.modelcontextprotocol/serverInfo":{"name":"calc","version":"1"}}}"#;
    let old = server.replace("2026", "2025");
    for (scenario, result, expect, kind) in [
        (Scenario::ToolsList, tools, "echo", None),
        (Scenario::ToolsList, tools, "ech", Some(Kind::Expect)),
        (Scenario::ToolsList, HELLO, "echo", Some(Kind::Result)),
        (Scenario::Discover, server, "calc", None),
        (Scenario::Discover, server, "other", Some(Kind::Expect)),
        (Scenario::Discover, &*old, "calc", Some(Kind::Result)),
        (Scenario::Discover, tools, "calc", Some(Kind::Result)),
    ] {
        let mut checker = Checker::new(scenario, Some(expect.into()));
        assert_eq!(check(&mut checker, OK, &response("1", result), 1), kind, "{result}");
    }
}
