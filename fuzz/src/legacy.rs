//! Bodies and names of the 2025 era: era choice, batches, responses, the ids of sessions and events.

use codec::document::{Document, Parser};
use codec::write;
use transport::mcp::legacy::{self, EventId, Incoming, SessionId, Version};

/// Most messages of a batch here.
const BATCH_MAX: usize = 8;

/// The same bytes as a body, as header values, and as a version.
pub fn legacy(data: &[u8]) {
    names(data);
    let modern = legacy::is_legacy(Some(b"2026-07-28"), data);
    let plain = legacy::is_legacy(None, data);
    assert!(plain || !modern, "a modern header makes nothing legacy");
    let mut document = Document::new();
    let parsed = document.parse(&mut Parser::default(), data.to_vec(), 0..data.len());
    assert!(parsed.is_ok() || !plain, "what is no JSON is of no era");
    let root = document.root();
    match root.as_array() {
        Some(elements) => {
            let batch = legacy::read_batch(&document, elements, BATCH_MAX);
            if let Ok(messages) = batch {
                assert!((1..=BATCH_MAX).contains(&messages.len()));
                assert_eq!(messages.len(), elements.len());
                messages.iter().flatten().for_each(one);
            }
        }
        None => legacy::read(&document, root).iter().for_each(one),
    }
}

fn one(incoming: &Incoming<'_>) {
    let Incoming::Response(response) = incoming else { return };
    let (Ok(value) | Err(value)) = response.outcome;
    let mut copy = Vec::new();
    value.write_json(&mut copy);
    if let Some(id) = response.id {
        write::response(&mut copy, &id, b"{}");
    }
    assert!(!copy.is_empty());
}

fn names(data: &[u8]) {
    if let Some(id) = SessionId::parse(data) {
        assert_eq!(id.to_string().as_bytes(), data, "one spelling");
    }
    if let Some(id) = EventId::parse(data) {
        assert_eq!(id.to_string().as_bytes(), data, "one spelling");
    }
    match Version::of_header(Some(data)) {
        Ok(version) => assert_eq!(version.name().as_bytes(), data),
        Err(error) => assert!(error.message.contains(Version::LATEST.name())),
    }
}

pub(crate) const CORPUS: &[&[u8]] = &[
    br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#,
    br#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"}]"#,
    br#"{"jsonrpc":"2.0","id":7,"result":{"action":"accept","content":{"a":1}}}"#,
    br#"{"jsonrpc":"2.0","id":"a","error":{"code":-1,"message":"no"}}"#,
    br#"[{"jsonrpc":"2.0","id":1,"result":{}},5]"#,
    b"0007.0123456789abcdef0123456789abcdef01234567",
    b"12-345",
    b"2025-03-26",
];

pub(crate) const DICTIONARY: &[&[u8]] = &[
    b"[",
    b"]",
    b",",
    b"-",
    b".",
    b"0",
    b"null",
    b"\"id\":",
    b"\"result\":{}",
    b"\"error\":{}",
    b"\"method\":\"initialize\"",
    b"\"jsonrpc\":\"2.0\"",
    b"\"params\":{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":5}}",
    b"2026-07-28",
    b"18446744073709551616",
];
