//! What passes, and the name of each thing that does not.

use super::*;
use crate::answer::Head;

const OK: Head = Head { status: 200, form: Form::Json, keep_alive: true };
const EVENTS: Head = Head { form: Form::Events, ..OK };

fn shows(text: &str) -> Expected {
    Expected { text: Some(text.to_owned()), schema: None }
}

fn call() -> Checker {
    Checker::new(Wanted::modern(Shape::Call, shows("hello")))
}

fn check(checker: &mut Checker, head: Head, body: &str, id: u64) -> Option<Kind> {
    let answer = Answer { head, body: body.as_bytes(), session: None, len: body.len() };
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

/// [DSC-02] [TOOL-04] [RES-04] [RES-06] The other methods look at what their methods return.
#[test]
fn other_scenarios() {
    let tools = r#"{"tools":[{"name":"echo"}],"resultType":"complete"}"#;
    let server = r#"{"supportedVersions":["2026-07-28"],"resultType":"complete",
        "_meta":{"io.modelcontextprotocol/serverInfo":{"name":"calc","version":"1"}}}"#;
    let old = server.replace("2026", "2025");
    let hello = r#"{"contents":[{"uri":"test://a","text":"hi"}],"resultType":"complete"}"#;
    let both = hello.replace("\"text", "\"blob\":\"\",\"text");
    let read = || Shape::Resource("test://a".into());
    for (shape, result, expect, kind) in [
        (Shape::Tools, tools, "echo", None),
        (Shape::Tools, tools, "ech", Some(Kind::Expect)),
        (Shape::Tools, HELLO, "echo", Some(Kind::Result)),
        (Shape::Server, server, "calc", None),
        (Shape::Server, server, "other", Some(Kind::Expect)),
        (Shape::Server, &*old, "calc", Some(Kind::Result)),
        (Shape::Server, tools, "calc", Some(Kind::Result)),
        (read(), hello, "hi", None),
        (read(), hello, "ho", Some(Kind::Expect)),
        (Shape::Resource("test://b".into()), hello, "hi", Some(Kind::Result)),
        (read(), r#"{"contents":[],"resultType":"complete"}"#, "hi", Some(Kind::Result)),
        (read(), &*both, "hi", Some(Kind::Result)),
    ] {
        let mut checker = Checker::new(Wanted::modern(shape, shows(expect)));
        assert_eq!(check(&mut checker, OK, &response("1", result), 1), kind, "{result}");
    }
}

/// [LEG-13] [LEG-19] Results of the older revision have no type, and a handshake its version.
#[test]
fn legacy() {
    let hello = r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"x","version":"1"}}"#;
    let old = hello.replace("11-25", "06-18");
    let bare = r#"{"content":[{"type":"text","text":"hello"}]}"#;
    for (shape, result, kind) in [
        (Shape::Initialize, hello, None),
        (Shape::Initialize, &*old, Some(Kind::Result)),
        (Shape::Call, bare, None),
        (Shape::Call, hello, Some(Kind::Result)),
    ] {
        let mut checker = Checker::new(Wanted::legacy(shape, Expected::default()));
        assert_eq!(check(&mut checker, OK, &response("1", result), 1), kind, "{result}");
    }
}

/// Structured content that breaks the schema of --expect-schema is told, and so is none.
#[test]
fn schemas() {
    let schema = serde_json::json!({ "type": "object", "required": ["n"], "properties": { "n": { "type": "integer" } } });
    let validator = std::sync::Arc::new(jsonschema::validator_for(&schema).unwrap());
    let schema = Schema { source: "n.json".into(), validator };
    let with =
        |structured: &str| HELLO.replace("\"resultType", &format!("{structured}\"resultType"));
    for (structured, kind) in [
        (r#""structuredContent":{"n":1},"#, None),
        (r#""structuredContent":{"n":"1"},"#, Some(Kind::Expect)),
        ("", Some(Kind::Expect)),
    ] {
        let expected = Expected { text: None, schema: Some(schema.clone()) };
        let mut checker = Checker::new(Wanted::modern(Shape::Call, expected));
        assert_eq!(
            check(&mut checker, OK, &response("1", &with(structured)), 1),
            kind,
            "{structured}"
        );
    }
}
