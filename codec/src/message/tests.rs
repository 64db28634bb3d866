//! Rung 7: which objects are messages, which ids are repeated, and how.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::testing::{any_text, document, spell_text};

/// Reads `text` and describes the outcome: `request ID`, `notification`, or `ID? REASON`.
fn outcome(text: &str) -> String {
    let doc = document(text);
    let written = |id: Id<'_>| {
        let mut out = Vec::new();
        id.write(&mut out);
        String::from_utf8(out).unwrap()
    };
    match read(&doc) {
        Ok(Message::Request(request)) => format!("request {}", written(request.id)),
        Ok(Message::Notification(_)) => "notification".into(),
        Err(Malformed { id: Some(id), reason }) => format!("{} {reason}", written(id)),
        Err(Malformed { id: None, reason }) => reason.into(),
    }
}

/// [RPC-02] [RPC-03] legal ids are repeated byte for byte, whatever else is escaped in the message
#[test]
fn legal_ids_are_repeated_byte_for_byte() {
    let ids = [
        "0",
        "-0",
        "1",
        "-7",
        "9007199254740993",
        "-9007199254740993",
        "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551615",
        r#""""#,
        r#""0""#,
        r#""1""#,
        r#""a b""#,
        r#""\"""#,
        r#""\"\"""#,
        r#""\\""#,
        r#""\\\"\\""#,
        r#""\/""#,
        r#""/""#,
        r#""\u0061""#,
        r#""\u00e9""#,
        r#""é""#,
        r#""\uD83E\uDD80""#,
        r#""🦀""#,
        r#""\b\f\n\r\t""#,
        r#""\u0000""#,
        r#""},\"id\":7""#,
        r#""a\u0022b""#,
    ];
    for id in ids {
        let frames = [
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#),
            format!(
                r#"{{"method":"m","params":{{"id":"\"","x":"\\"}},"jsonrpc":"2.0","id":{id}}}"#
            ),
            format!(
                r#"{{"jsonrpc":"2.0", "\u0069d" : {id} ,"method":"m","params":{{"x":"\n\""}}}}"#
            ),
            format!(
                "\u{feff}{{\"a\\\\\":\"\\\\\",\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"m\"}}"
            ),
        ];
        for frame in frames {
            assert_eq!(outcome(&frame), format!("request {id}"), "{frame}");
        }
    }
}

/// [RPC-02] [RPC-04] what is no legal id is refused without one
#[test]
fn illegal_ids_are_refused() {
    for id in [
        "null",
        "true",
        "false",
        "{}",
        "[]",
        "[1]",
        "1.5",
        "1.0",
        "1e3",
        "1E3",
        "-1.0",
        "0e0",
        "0.0",
        "18446744073709551616",
        "-9223372036854775809",
        "1e308",
        "123456789012345678901234567890",
    ] {
        let frame = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
        assert_eq!(outcome(&frame), "id is not a string or an integer", "{frame}");
    }
}

/// [RPC-01] [RPC-06] [RPC-11] [RPC-12] [RPC-13] [RPC-14] one row a rule
#[test]
fn every_fault_has_its_reason() {
    let batch = "the message is an array: batches ended with revision 2025-03-26";
    let response = "the message is a response: a server takes no responses";
    let table = [
        (r#"{"jsonrpc":"2.0","method":"m"}"#, "notification"),
        (r#"{"jsonrpc":"2.0","method":"m","params":{"_meta":7}}"#, "notification"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"","extra":[{}]}"#, "request 1"),
        (r#"{"jsonrpc":"2\u002e0","id":1,"method":"m"}"#, "request 1"),
        (r#"[]"#, batch),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"m"}]"#, batch),
        (r#"7"#, "the message is not an object"),
        (r#""m""#, "the message is not an object"),
        (r#"null"#, "the message is not an object"),
        (r#"{}"#, "jsonrpc is not \"2.0\""),
        (r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, "1 jsonrpc is not \"2.0\""),
        (r#"{"jsonrpc":2.0,"id":1,"method":"m"}"#, "1 jsonrpc is not \"2.0\""),
        (r#"{"id":"x","method":"m"}"#, "\"x\" jsonrpc is not \"2.0\""),
        (r#"{"JSONRPC":"2.0","id":1,"method":"m"}"#, "1 jsonrpc is not \"2.0\""),
        (r#"{"jsonrpc":"2.0","id":5}"#, "5 method is missing"),
        (r#"{"jsonrpc":"2.0"}"#, "method is missing"),
        (r#"{"jsonrpc":"2.0","id":5,"method":7}"#, "5 method is not a string"),
        (r#"{"jsonrpc":"2.0","id":"\u0035","method":null}"#, r#""\u0035" method is not a string"#),
        (r#"{"jsonrpc":"2.0","id":5,"method":"m","params":[]}"#, "5 params is not an object"),
        (r#"{"jsonrpc":"2.0","id":5,"method":"m","params":null}"#, "5 params is not an object"),
        (r#"{"jsonrpc":"2.0","method":"m","params":1}"#, "params is not an object"),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, response),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#, response),
        (r#"{"id":null,"error":null}"#, response),
    ];
    for (text, expected) in table {
        assert_eq!(outcome(text), expected, "{text}");
    }
}

/// [RPC-19] [RPC-11] repeated names are refused in the message, params and params._meta, and
/// nowhere deeper
#[test]
fn repeated_names_are_refused() {
    let many: String = (0..100).map(|at| format!(r#""k{at}":{at},"#)).collect();
    let whole = "1 the message repeats a member name";
    let table = [
        (
            r#"{"jsonrpc":"2.0","id":1,"id":1,"method":"m"}"#.into(),
            "the message has more than one id",
        ),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"id":3}"#.into(), "the message has more than one id"),
        (
            r#"{"jsonrpc":"2.0","id":1,"\u0069d":1,"method":"m"}"#.into(),
            "the message has more than one id",
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","method":"m"}"#.into(), whole),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","m\u0065thod":"n"}"#.into(), whole),
        (r#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"m"}"#.into(), whole),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{},"params":{}}"#.into(), whole),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","x":1,"x":1}"#.into(), whole),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"name":"a","name":"b"}}"#.into(),
            "1 params repeats a member name",
        ),
        (
            r#"{"jsonrpc":"2.0","method":"m","params":{"_meta":{},"_meta":{}}}"#.into(),
            "params repeats a member name",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"a":1,"a":1}}}"#.into(),
            "1 params._meta repeats a member name",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"arguments":{"a":1,"a":2}}}"#.into(),
            "request 1",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"b":{"a":1,"a":2}}}}"#
                .into(),
            "request 1",
        ),
        (format!(r#"{{{many}"jsonrpc":"2.0","id":1,"method":"m","k99":0}}"#), whole),
        (format!(r#"{{{many}"jsonrpc":"2.0","id":1,"method":"m","k100":0}}"#), "request 1"),
        (
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{{many}"k0":0}}}}"#),
            "1 params repeats a member name",
        ),
    ];
    for (text, expected) in table {
        let text: String = text;
        assert_eq!(outcome(&text), expected, "{text}");
    }
}

proptest! {
    /// [RPC-03] any string id, in any spelling, among any other escapes, comes back as it was sent.
    #[test]
    fn any_spelling_of_an_id_is_repeated(
        id in any_text(),
        method in any_text(),
        other in any_text(),
        dice in vec(any::<u8>(), 1..64),
        id_last in any::<bool>(),
    ) {
        let mut dice = dice.into_iter().cycle();
        let mut spelled = |text: &str| {
            let mut out = String::new();
            spell_text(text, &mut dice, &mut out);
            out
        };
        let (id_text, method_text, other_text) = (spelled(&id), spelled(&method), spelled(&other));
        let id_member = format!(r#""id":{id_text}"#);
        let params = format!(r#"{{"id":{other_text}}}"#);
        let rest = format!(r#""jsonrpc":"2.0","params":{params},"method":{method_text}"#);
        let text = if id_last {
            format!("{{{rest},{id_member}}}")
        } else {
            format!("{{{id_member},{rest}}}")
        };
        let doc = document(&text);
        let message = read(&doc).unwrap();
        prop_assert_eq!(message.method(), method.as_str());
        let read_id = message.id().unwrap();
        prop_assert_eq!(read_id.as_str(), Some(id.as_str()));
        let mut out = Vec::new();
        read_id.to_owned().write(&mut out);
        prop_assert_eq!(String::from_utf8(out).unwrap(), id_text);
    }
}

/// [RPC-05] equality is of type and value, not of spelling
#[test]
fn ids_are_equal_by_type_and_value() {
    let doc = document(r#"[1,"1","\u0031",-0,0,-1]"#);
    let ids: Vec<_> = doc.root().as_array().unwrap().iter().filter_map(Id::from_value).collect();
    assert_eq!(ids.len(), 6);
    assert_ne!(ids[0], ids[1]);
    assert_eq!(ids[1], ids[2]);
    assert_eq!(ids[3], ids[4]);
    assert_ne!(ids[0], ids[5]);
    let owned: std::collections::HashSet<_> = ids.iter().map(Id::to_owned).collect();
    assert_eq!(owned.len(), 4);
    assert_eq!(Id::from(1u64), ids[0]);
    assert_eq!(Id::from(-1i64), ids[5]);
    assert_eq!(Id::from(0i64), ids[3]);
    assert_eq!(Id::from("1"), ids[2]);
}

/// The parts of a message are found where they are.
#[test]
fn the_parts_are_handed_out() {
    let text =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":{"k":1}}}"#;
    let doc = document(text);
    let message = read(&doc).unwrap();
    assert_eq!(message.method(), "tools/call");
    assert_eq!(message.params().and_then(|params| params.get("name")?.as_str()), Some("t"));
    assert_eq!(message.meta().unwrap().to_json(), serde_json::json!({"k": 1}));
    let Message::Request(request) = message else { panic!("not a request") };
    let params = serde_json::json!({"name": "t", "_meta": {"k": 1}});
    assert_eq!(request.params_value().to_json(), params);
    let bare = Request { params: None, ..request };
    assert_eq!(bare.params_value().to_json(), serde_json::json!({}));
}
