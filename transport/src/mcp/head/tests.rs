//! Which lines are found, and what repetition does.

use super::{Field, StandardHeaders};
use crate::http::{Event, Limits, Machine};
use crate::mcp::accept::Forms;

fn with<T>(lines: &str, read: impl FnOnce(StandardHeaders<'_>) -> T) -> T {
    let mut machine = Machine::new(Limits::default());
    let mut buf = format!("POST /mcp HTTP/1.1\r\nHost: a\r\n{lines}\r\n").into_bytes();
    assert_eq!(machine.poll(&mut buf), Event::Head, "{lines}");
    read(StandardHeaders::collect(machine.head().view(&buf)))
}

fn once(value: &str) -> Option<Field<'_>> {
    Some(Field { value: value.as_bytes(), repeated: false })
}

/// [HDR-01] [HDR-10] [HDR-11] [HDR-15] [HDR-16] names in any case, values stripped, case kept
#[test]
fn standard_headers() {
    let lines = "mcp-protocol-version: 2026-07-28\r\nMCP-METHOD:\t tools/call \r\nMcp-Name:  Tool\r\n\
                 Mcp-Session-Id: s\r\nLast-Event-ID: 7\r\nAuthorization: Bearer x\r\nORIGIN: null\r\n";
    with(lines, |found| {
        assert_eq!(found.version(), once("2026-07-28"));
        assert_eq!(found.method(), once("tools/call"));
        assert_eq!(found.name(), once("Tool"));
        assert_eq!(found.session(), once("s"));
        assert_eq!(found.last_event(), once("7"));
        assert_eq!(found.origin(), once("null"));
        assert_eq!((found.content_type(), found.accept(), found.has_params()), (None, None, false));
        assert_eq!(found.view().path(), "/mcp");
    });
}

/// Lines whose names only look like ours are not ours; an empty value is a value
#[test]
fn near_misses() {
    let lines = "Mcp-Namf: a\r\nMcp-Methods: b\r\nXcp-Method: c\r\nOrigio: d\r\nOccept: e\r\n\
                 Content-Typf: f\r\nLuthorization: g\r\nMcp-Param: h\r\nXMcp-Param-A: i\r\n";
    with(lines, |found| {
        let slots = [
            found.version(),
            found.method(),
            found.name(),
            found.session(),
            found.last_event(),
            found.origin(),
            found.content_type(),
            found.content_encoding(),
            found.accept(),
        ];
        assert!(slots.iter().all(Option::is_none), "{slots:?}");
        assert!(!found.has_params());
    });
    with("Mcp-Name:\r\n", |found| assert_eq!(found.name(), once("")));
}

/// [HDR-19] a second line is flagged, whether or not the values agree; the first value is kept
#[test]
fn repetition_is_flagged() {
    for name in ["Mcp-Name", "Mcp-Method", "MCP-Protocol-Version", "Mcp-Session-Id", "Origin"] {
        for second in ["a", "b"] {
            let lines = format!("{name}: a\r\nX: y\r\n{}: {second}\r\n", name.to_uppercase());
            with(&lines, |found| {
                let fields = [
                    found.name(),
                    found.method(),
                    found.version(),
                    found.session(),
                    found.origin(),
                ];
                let repeated: Vec<_> = fields.into_iter().flatten().collect();
                assert_eq!(repeated, [Field { value: b"a", repeated: true }], "{lines}");
            });
        }
    }
}

/// [PAR-06] [PAR-07] [PAR-12] parameter headers by name in any case, and all of them in order
#[test]
fn parameter_headers() {
    let lines =
        "mcp-param-region: eu\r\nMCP-Param-Shard: 1\r\nMcp-Param-SHARD: 1\r\nMcp-Param-: x\r\n";
    with(lines, |found| {
        assert!(found.has_params());
        assert_eq!(found.param("Region"), once("eu"));
        assert_eq!(found.param("shard"), Some(Field { value: b"1", repeated: true }));
        assert_eq!(found.param("dry"), None);
        let names: Vec<_> =
            found.params().map(|(name, _)| name.escape_ascii().to_string()).collect();
        assert_eq!(names, ["region", "Shard", "SHARD", ""]);
    });
    with("X: y\r\n", |found| assert_eq!((found.params().count(), found.param("x")), (0, None)));
    // Lengths that standard names have, too.
    with("Mcp-Param-ab: 1\r\nMcp-Param-abcdef: 2\r\n", |found| {
        assert_eq!((found.param("AB"), found.param("abcdef")), (once("1"), once("2")));
    });
}

/// [HTTP-15] [HTTP-16] [HTTP-22] the three content rules on the lines of a real head
#[test]
fn content_rules() {
    let json = "Content-Type: application/json; charset=utf-8\r\n";
    with(json, |found| assert!(found.has_json_content() && found.has_plain_content()));
    with(&format!("{json}{json}"), |found| assert!(!found.has_json_content()));
    with("", |found| assert!(!found.has_json_content()));
    with("Content-Encoding: gzip\r\n", |found| assert!(!found.has_plain_content()));
    with("Content-Encoding: identity\r\nContent-Encoding: br\r\n", |found| {
        assert!(!found.has_plain_content());
    });
    with("", |found| assert_eq!(found.accepted_forms(), Forms::ANY));
    with("Accept: application/json\r\n", |found| {
        assert_eq!(found.accepted_forms(), Forms { json: true, sse: false });
    });
    with("Accept: application/json\r\nAccept: text/event-stream\r\n", |found| {
        assert_eq!(found.accepted_forms(), Forms::ANY);
    });
    with("Accept: image/png\r\nAccept: text/html\r\n", |found| {
        assert!(found.accepted_forms().is_none());
    });
}

/// [HDR-15] names are compared in any case and letter by letter: of all characters that a token may have, only the two
/// cases of the expected one match
#[test]
fn names_are_compared_exactly() {
    let token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    for at in 0..b"mcp-name".len() {
        for byte in (0..=255u8).filter(token) {
            let mut name = *b"mcp-name";
            let expected = name[at];
            name[at] = byte;
            let same = byte.eq_ignore_ascii_case(&expected);
            assert_eq!(crate::http::is_named(&name, b"mcp-name"), same, "{}", char::from(byte));
        }
    }
}

/// What the protocol asks clients to send is read like every other form of it
#[test]
fn word_for_word() {
    for accept in ["application/json, text/event-stream", "text/event-stream,application/json"] {
        let lines = format!("Accept: {accept}\r\nContent-Type: application/json\r\n");
        with(&lines, |found| {
            assert_eq!(found.accepted_forms(), Forms { json: true, sse: true });
            assert!(found.has_json_content());
        });
    }
}
