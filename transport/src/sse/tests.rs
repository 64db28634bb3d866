//! Frames through a strict event-stream parser, written from the specification's algorithm.

use proptest::prelude::*;

use super::{comment, message};
use crate::http::respond;

/// [SSE-04] [SSE-05] the exact bytes of a frame: an event line, one data line, an empty line
#[test]
fn frame_bytes() {
    let mut out = Vec::new();
    message(&mut out, br#"{"a":"b\n"}"#);
    assert_eq!(out, b"event: message\ndata: {\"a\":\"b\\n\"}\n\n");
}

/// [SSE-10] a comment is a line of its own and stays one line
#[test]
fn comment_bytes() {
    let mut out = Vec::new();
    comment(&mut out, "keepalive");
    comment(&mut out, "a\r\ndata: b\n\n");
    assert_eq!(out, b": keepalive\n\n: a  data: b  \n\n");
    assert_eq!(parse(&out), []);
}

/// [SSE-04] white space between tokens may hold line ends; the frame still has one data line
#[test]
fn pretty_printed_json_stays_on_one_line() {
    let mut out = Vec::new();
    message(&mut out, b"{\r\n  \"a\": 1\n}");
    assert_eq!(out.iter().filter(|byte| **byte == b'\n').count(), 3);
    let events = parse(&out);
    let value: serde_json::Value = serde_json::from_str(&events[0].1).expect("JSON");
    assert_eq!(value, serde_json::json!({"a": 1}));
}

proptest! {
    /// [SSE-04] [SSE-05] [SSE-10] any texts, as JSON, with comments between, each frame one chunk
    #[test]
    fn every_frame_arrives(texts in proptest::collection::vec(any::<String>(), 0..8)) {
        let (mut plain, mut chunked) = (Vec::new(), Vec::new());
        for text in &texts {
            let json = serde_json::to_vec(text).expect("a string is JSON");
            message(&mut plain, &json);
            comment(&mut plain, text);
            respond::chunk(&mut chunked, |out| message(out, &json));
        }
        let events = parse(&plain);
        prop_assert_eq!(events.len(), texts.len());
        for ((name, data), text) in events.iter().zip(&texts) {
            prop_assert_eq!(name, "message");
            let back: String = serde_json::from_str(data).expect("JSON");
            prop_assert_eq!(&back, text);
        }
        prop_assert_eq!(unchunk(&chunked).len(), texts.len());
    }
}

/// Event name and data of every dispatched event; panics on a field a modern stream never has.
fn parse(stream: &[u8]) -> Vec<(String, String)> {
    let text = std::str::from_utf8(stream).expect("event streams are UTF-8");
    assert!(text.is_empty() || text.ends_with("\n\n"), "every frame is ended");
    assert!(!text.contains('\r'), "a CR would end a line");
    let (mut events, mut name, mut data) = (Vec::new(), String::new(), Vec::new());
    for line in text.split('\n') {
        match line.split_once(": ") {
            None if line.is_empty() => {
                if !data.is_empty() {
                    events.push((std::mem::take(&mut name), data.join("\n")));
                    data.clear();
                }
            }
            Some(("", _)) => {}
            Some(("event", value)) => name = value.to_owned(),
            Some(("data", value)) => data.push(value),
            other => panic!("unexpected line {other:?}"),
        }
    }
    events
}

/// The data of each chunk, in order.
fn unchunk(mut body: &[u8]) -> Vec<&[u8]> {
    let mut chunks = Vec::new();
    while let Some(end) = body.windows(2).position(|pair| pair == b"\r\n") {
        let digits = std::str::from_utf8(&body[..end]).expect("hexadecimal");
        let size = usize::from_str_radix(digits, 16).expect("hexadecimal");
        let data = &body[end + 2..];
        assert!(data[..size].ends_with(b"\n\n"), "a chunk is a whole frame");
        assert!(data[size..].starts_with(b"\r\n"));
        chunks.push(&data[..size]);
        body = &data[size + 2..];
    }
    chunks
}
