//! The rules of the 2025 era that need no server.

use codec::document::{Document, Parser};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn document(value: &Value) -> Document {
    let (mut document, text) = (Document::new(), value.to_string().into_bytes());
    let whole = 0..text.len();
    document.parse(&mut Parser::default(), text, whole).expect("JSON");
    document
}

const MODERN: &[u8] = b"2026-07-28";
const PV: &str = "io.modelcontextprotocol/protocolVersion";

fn request(method: &str, claim: Option<Value>) -> Value {
    let mut message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": {} });
    if let Some(claim) = claim {
        message["params"]["_meta"] = json!({ PV: claim });
    }
    message
}

/// [LEG-42] [LEG-01] [LEG-02] [LEG-03] [LEG-04] [LEG-06] the claim decides, then the header, never the method alone.
#[test]
fn eras() {
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let response = json!({ "jsonrpc": "2.0", "id": 1, "result": {} });
    for (version, message, legacy) in [
        (None, request("tools/list", None), true),
        (Some(&b"2025-11-25"[..]), request("tools/list", None), true),
        (Some(b"1999-01-01"), request("tools/list", None), true),
        (Some(MODERN), request("tools/list", None), false),
        (Some(b"2031-01-01"), request("tools/list", None), false),
        (None, request("tools/list", Some(json!("2026-07-28"))), false),
        (None, request("tools/list", Some(json!("2025-11-25"))), false),
        (None, request("tools/list", Some(json!("v999.0.0"))), false),
        (None, request("tools/list", Some(json!(5))), false),
        (None, request("initialize", None), true),
        (Some(MODERN), request("initialize", None), false),
        (None, request("initialize", Some(json!("2026-07-28"))), false),
        (None, request("initialize", Some(json!("v999.0.0"))), false),
        (None, request("initialize", Some(json!("2025-11-25"))), true),
        (None, request("initialize", Some(json!(5))), true),
        (None, note.clone(), true),
        (Some(MODERN), note, false),
        (None, response.clone(), true),
        (Some(MODERN), response, false),
        (None, json!([request("tools/list", None)]), true),
        (Some(MODERN), json!([]), false),
        (None, json!({ "jsonrpc": "1.0" }), false),
        (None, json!(5), false),
    ] {
        assert_eq!(is_legacy(version, message.to_string().as_bytes()), legacy, "{message}");
    }
    assert!(!is_legacy(None, b"{"));
}

/// [LEG-13] [LEG-05] [LEG-12] versions: the same one where it is served, else the latest, never a modern one.
#[test]
fn versions() {
    for version in Version::ALL {
        assert_eq!(Version::negotiate(version.name()), version);
        assert_eq!(Version::of_header(Some(version.name().as_bytes())).ok(), Some(version));
    }
    for asked in ["2026-07-28", "1.0.0", "2024-10-07", ""] {
        assert_eq!(Version::negotiate(asked), Version::V2025_11_25, "{asked}");
    }
    assert_eq!(Version::of_header(None).ok(), Some(Version::V2025_03_26));
    let fault = Version::of_header(Some(b"1999-01-01")).expect_err("not served");
    assert!(Version::ALL.iter().all(|version| fault.message.contains(version.name())));
}

/// [LEG-22] an array is bounded, not empty, and holds neither a handshake nor a modern message.
#[test]
fn batches() {
    let ping = request("ping", None);
    let read_all = |value: &Value| {
        let document = document(value);
        let array = document.root().as_array().expect("an array");
        read_batch(&document, array, 100).map(|messages| messages.len()).map_err(|error| error.code)
    };
    assert_eq!(read_all(&json!([ping, 5, { "jsonrpc": "2.0", "id": 1, "result": {} }])), Ok(3));
    assert_eq!(read_all(&Value::from(vec![ping.clone(); 100])), Ok(100));
    for refused in [
        json!([]),
        Value::from(vec![ping.clone(); 101]),
        json!([ping, request("initialize", None)]),
        json!([request("tools/list", Some(json!("2026-07-28")))]),
        json!([request("tools/list", Some(json!(5)))]),
    ] {
        assert_eq!(read_all(&refused), Err(-32600));
    }
}

/// [LEG-60] [SEC-10] a session's id is visible ASCII, has one spelling, and keeps its secret out of logs.
#[test]
fn session_ids() {
    let id = SessionId { core: 7, secret: [0xab; SECRET_BYTES] };
    let text = id.to_string();
    assert!(text.bytes().all(|byte| (0x21..=0x7e).contains(&byte)));
    const { assert!(SECRET_BYTES * 8 >= 128) };
    assert_eq!(SessionId::parse(text.as_bytes()), Some(id));
    for wrong in ["", "7.ab", &text[1..], &text.to_uppercase(), &format!("{text}0")] {
        assert_eq!(SessionId::parse(wrong.as_bytes()), None, "{wrong}");
    }
    assert!(!format!("{id:?}").contains("ab"));
}

proptest! {
    /// [LEG-65] event ids come back as they were written, and nothing else is one.
    #[test]
    fn event_ids(stream: u64, sequence: u64, other in "[0-9+ -]{0,12}") {
        let id = EventId { stream, sequence };
        prop_assert_eq!(EventId::parse(id.to_string().as_bytes()), Some(id));
        if let Some(read) = EventId::parse(other.as_bytes()) {
            prop_assert_eq!(read.to_string(), other);
        }
    }

    /// [LEG-60] so do the ids of sessions.
    #[test]
    fn session_ids_of_any_kind(core: u16, secret: [u8; SECRET_BYTES], other: Vec<u8>) {
        let id = SessionId { core, secret };
        prop_assert_eq!(SessionId::parse(id.to_string().as_bytes()), Some(id));
        if let Some(read) = SessionId::parse(&other) {
            prop_assert_eq!(read.to_string().into_bytes(), other);
        }
    }
}
