//! A body from bytes to an answer: document, message, envelope, copies, response.

use codec::meta::{Capability, RequestMeta, declares};
use codec::{Document, Message, Parser, RpcError, Value, message as room, write};

/// The body is followed by itself, as a pipelined request would be.
pub fn message(data: &[u8]) {
    let mut parser = Parser::default();
    let mut document = Document::new();
    let buffer = [data, data].concat();
    let parsed = document.parse(&mut parser, buffer, 0..data.len());
    assert_eq!(&document.bytes()[data.len()..], data, "what follows the body is left alone");

    let mut answer = Vec::new();
    match parsed {
        Err(error) => write::error_response(&mut answer, None, &RpcError::from(error)),
        Ok(()) => {
            copies_agree(document.root());
            respond(&document, data, &mut answer);
        }
    }
    let len = answer.len();
    let mut reread = Document::new();
    reread.parse(&mut parser, answer, 0..len).expect("every answer is JSON");
    let refused = room::read(&reread).expect_err("an answer is no request");
    assert!(refused.id.is_none() && refused.reason.contains("response"));
    assert_eq!(document.release().len(), 2 * data.len());
}

/// The written copy reads back as the same value, and is written the same again.
fn copies_agree(value: Value<'_>) {
    let (mut once, mut twice) = (Vec::new(), Vec::new());
    value.write_json(&mut once);
    let mut document = Document::new();
    document.parse(&mut Parser::default(), once.clone(), 0..once.len()).expect("copies are JSON");
    document.root().write_json(&mut twice);
    assert_eq!(once, twice);
    assert_eq!(value.to_json(), document.root().to_json());
}

fn respond(document: &Document, data: &[u8], answer: &mut Vec<u8>) {
    let outcome = room::read(document);
    let id = match &outcome {
        Ok(message) => message.id(),
        Err(malformed) => malformed.id,
    };
    if let Some(id) = id {
        let mut echo = Vec::new();
        id.to_owned().write(&mut echo);
        assert!(data.windows(echo.len()).any(|part| part == echo), "ids are repeated as sent");
    }
    match outcome {
        Ok(message) => {
            envelope(&message);
            let id = id.unwrap_or("".into());
            write::response(answer, &id, b"{}");
        }
        Err(malformed) => write::error_response(answer, id.as_ref(), &RpcError::from(malformed)),
    }
}

fn envelope(message: &Message<'_>) {
    let meta = RequestMeta::from_message(message.meta());
    let _ = (meta.claim(), meta.client_info().is_ok(), meta.log_level(), meta.progress_token());
    let _ = (meta.traceparent(), meta.tracestate(), meta.baggage());
    if let Ok(capabilities) = meta.capabilities() {
        let url = declares(capabilities, &Capability::ElicitationUrl);
        let declared = capabilities.get("elicitation").is_some();
        assert!(declared || !url, "nothing is declared by silence");
    }
}

pub(crate) const CORPUS: &[&[u8]] = &[
    concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","#,
        r#""params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
        r#""io.modelcontextprotocol/clientCapabilities":{"elicitation":{"url":{}}},"#,
        r#""progressToken":"p"}}}"#,
    )
    .as_bytes(),
    concat!(
        r#"{"method":"tools\/call","params":{"name":"a\u0062\n","arguments":{"x":[1.5e3,-0,"#,
        r#"true,null,{}]}},"jsonrpc":"2.0","id":"\ud83e\udd80\""}"#,
    )
    .as_bytes(),
    br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"\\"}}"#,
    br#"{"jsonrpc":"2.0","id":-9223372036854775808,"result":{}}"#,
    b"\xef\xbb\xbf[{}, \"\xc3\xa9\", 18446744073709551616]",
    br#"{"jsonrpc":"2.0","id":"a","id":"b","method":7,"params":[]}"#,
];

pub(crate) const DICTIONARY: &[&[u8]] = &[
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\"",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"\\\"",
    b"1e400",
    b"-0",
    b"null",
    b"\xff",
    b"\0",
    b"\"id\":",
    b"\"method\":",
    b"\"jsonrpc\":\"2.0\"",
    b"\"params\":{",
    b"\"_meta\":{",
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
];
