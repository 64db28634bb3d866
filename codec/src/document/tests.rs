//! Documents against `serde_json` as the naive oracle, and the edges of the buffer.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value as Json;

use super::*;
use crate::error::code;
use crate::limits::PARSER_KEEP_NODES_MAX;
use crate::testing::{any_json, document, spell, try_document};

/// What a parse makes of `bytes[body]`: the value, and the buffer that comes back.
fn parse_within(bytes: &[u8], body: Range<usize>) -> (Result<Json, JsonError>, Vec<u8>) {
    let mut document = Document::new();
    let parsed = document.parse(&mut Parser::default(), bytes.to_vec(), body);
    let value = parsed.map(|()| document.root().to_json());
    assert_eq!(document.bytes().len(), bytes.len());
    (value, document.release())
}

proptest! {
    /// [RPC-01] whatever the spelling, the value is the one that was spelled; the bytes around the
    /// body come back unchanged.
    #[test]
    fn values_survive_every_spelling(
        value in any_json(),
        dice in vec(any::<u8>(), 1..64),
        head in vec(any::<u8>(), 0..80),
        tail in vec(any::<u8>(), 0..160),
    ) {
        let mut text = String::new();
        spell(&value, &mut dice.iter().copied().cycle(), &mut text);
        let body = head.len()..head.len() + text.len();
        let bytes = [&head, text.as_bytes(), &tail].concat();
        let (parsed, released) = parse_within(&bytes, body.clone());
        prop_assert_eq!(parsed, Ok(value));
        prop_assert_eq!(&released[..body.start], &head[..]);
        prop_assert_eq!(&released[body.end..], &tail[..]);
    }

    /// [RPC-01] damaged text is JSON here exactly where it is JSON for the oracle, and never a
    /// panic.
    #[test]
    fn acceptance_is_the_oracles(
        value in any_json(),
        dice in vec(any::<u8>(), 1..64),
        damage in vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..4),
    ) {
        let mut text = String::new();
        spell(&value, &mut dice.iter().copied().cycle(), &mut text);
        let mut bytes = text.into_bytes();
        for (at, byte, kind) in damage {
            const TOKENS: &[u8] = b"\"\\{}[]:,0-.eE+u \0tfn\x80\xff";
            if bytes.is_empty() {
                break;
            }
            let at = at.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes[at] = TOKENS[usize::from(byte) % TOKENS.len()],
                2 => bytes.insert(at, TOKENS[usize::from(byte) % TOKENS.len()]),
                _ => bytes.truncate(at),
            }
        }
        let oracle = serde_json::from_slice::<Json>(&bytes);
        let parsed = try_document(&bytes);
        prop_assert_eq!(parsed.is_ok(), oracle.is_ok(), "{:?} {:?}", parsed.err(), oracle.err());
    }

    /// [RPC-20] no bytes make the parser panic, and a failed parse leaves no value.
    #[test]
    fn noise_is_refused_quietly(bytes in vec(any::<u8>(), 0..300)) {
        let mut document = Document::new();
        let parsed = document.parse(&mut Parser::default(), bytes.clone(), 0..bytes.len());
        prop_assert!(parsed.is_ok() || document.root().is_null());
        prop_assert_eq!(parsed.is_ok(), serde_json::from_slice::<Json>(&bytes).is_ok());
    }
}

/// [RPC-19b] one byte order mark is skipped, two are not, half a mark is not one
#[test]
fn one_byte_order_mark_is_tolerated() {
    assert_eq!(document("\u{feff}{\"a\":1}").root().to_json(), serde_json::json!({"a": 1}));
    assert!(try_document("\u{feff}\u{feff}{}").is_err());
    assert!(try_document(b"\xEF\xBB{}").is_err());
    assert!(try_document("\u{feff}").is_err());
}

/// [RPC-20] [SEC-02] the configured depth is accepted, one more is not, and an absurd one costs
/// nothing
#[test]
fn depth_is_bounded() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(try_document(nested(128)).is_ok());
    assert_eq!(try_document(nested(129)).err(), Some(JsonError::TooDeep));
    assert_eq!(try_document(nested(100_000)).err(), Some(JsonError::TooDeep));
    assert_eq!(try_document("[".repeat(100_000)).err(), Some(JsonError::TooDeep));
    assert_eq!(try_document("{\"a\":".repeat(100_000)).err(), Some(JsonError::TooDeep));

    let mut document = Document::new();
    let mut deepest = Parser::new(usize::MAX);
    let at_ceiling = nested(DEPTH_MAX_CEILING).into_bytes();
    let len = at_ceiling.len();
    assert_eq!(document.parse(&mut deepest, at_ceiling, 0..len), Ok(()));
    // Readers recurse: the deepest legal document must not exhaust a thread's stack.
    assert_eq!(document.root().to_json(), document.root().deserialize::<Json>().unwrap());
    let mut text = Vec::new();
    document.root().write_json(&mut text);
    assert_eq!(text.len(), len);
}

/// [RPC-01] [RPC-04] [RPC-20] what each fault is called, and the code that answers it
#[test]
fn faults_have_names() {
    use JsonError::*;
    let table: &[(&[u8], JsonError)] = &[
        (b"", Syntax { at: 0 }),
        (b"   ", Syntax { at: 2 }),
        (b"{\"a\":\"\xff\"}", NotUtf8),
        (b"\"\xed\xa0\x80\"", NotUtf8),
        (b"{\"a\":tru}", Syntax { at: 5 }),
        (b"{\"a\":1}}", Syntax { at: 7 }),
        (b"{} \0", Syntax { at: 3 }),
        (b"{\"a\" 1}", Syntax { at: 5 }),
        (b"[\"\\x\"]", Syntax { at: 2 }),
        (b"[\"\\ud800\"]", Syntax { at: 2 }),
        (b"[\"\\udc00\"]", Syntax { at: 2 }),
        (b"[\"\\ud800\\u0041\"]", Syntax { at: 2 }),
        (b"{\"id\":1e400}", NumberRange { at: 6 }),
        (b"[-1e400]", NumberRange { at: 1 }),
        (b"1e400", NumberRange { at: 0 }),
        (b"[1, 1e999999999999]", NumberRange { at: 4 }),
        (b"[01]", Syntax { at: 2 }),
        (b"[--1]", Syntax { at: 2 }),
        (b"[1.]", Syntax { at: 3 }),
    ];
    for (text, fault) in table {
        let name = String::from_utf8_lossy(text);
        assert_eq!(try_document(text).err(), Some(*fault), "{name}");
    }
    assert_eq!(NumberRange { at: 0 }.code(), code::INVALID_REQUEST);
    assert_eq!(Syntax { at: 0 }.code(), code::PARSE_ERROR);
    assert_eq!(TooDeep.code(), code::PARSE_ERROR);
}

/// [RPC-20] integers beyond 64 bits are doubles, the largest of each kind are exact
#[test]
fn integers_keep_their_value() {
    let parsed = document("[9223372036854775807,-9223372036854775808,18446744073709551615]");
    let numbers: Vec<_> = parsed.root().as_array().unwrap().iter().collect();
    assert_eq!(numbers[0].as_i64(), Some(i64::MAX));
    assert_eq!(numbers[1].as_i64(), Some(i64::MIN));
    assert_eq!(numbers[2].as_u64(), Some(u64::MAX));
    assert_eq!(numbers[2].as_i64(), None);
    let parsed = document("[18446744073709551616,-9223372036854775809]");
    assert!(parsed.root().as_array().unwrap().iter().all(|number| number.as_i64().is_none()));
    assert!(parsed.root().as_array().unwrap().iter().all(|number| number.as_f64().is_some()));
}

/// A document is reused after success, failure and release; nothing of an earlier parse shines
/// through.
#[test]
fn documents_are_reused() {
    let mut parser = Parser::default();
    let mut document = Document::new();
    assert!(document.root().is_null());
    for _ in 0..3 {
        document.parse(&mut parser, b"{\"a\":\"\\n\"}".to_vec(), 0..10).unwrap();
        assert_eq!(document.root().as_object().unwrap().get("a").unwrap().as_str(), Some("\n"));
        assert!(document.parse(&mut parser, b"{\"a\":".to_vec(), 0..5).is_err());
        assert!(document.root().is_null());
        assert_eq!(document.release(), b"{\"a\":");
        assert!(document.root().is_null());
        assert!(document.bytes().is_empty());
    }
}

/// What a huge document needed does not stay in the pool.
#[test]
fn huge_documents_leave_no_huge_pool() {
    let mut document = Document::new();
    let text = format!("[{}\"\\n\"]", "0,".repeat(1 << 21));
    let len = text.len();
    document.parse(&mut Parser::default(), text.into_bytes(), 0..len).unwrap();
    assert_eq!(document.root().as_array().unwrap().len(), (1 << 21) + 1);
    assert!(document.backing.capacity() > DOCUMENT_KEEP_NODES_MAX);
    document.release();
    assert_eq!(document.backing.capacity(), 0);
}

/// [SEC-07] the tape of a large document serves the next one, of any owner; one beyond the bound does not stay.
#[test]
fn one_large_tape_is_kept() {
    let mut parser = Parser::default();
    let mut read = |elements: usize| {
        let text = format!("[{}0]", "0,".repeat(elements));
        let len = text.len();
        let mut document = Document::new();
        document.parse(&mut parser, text.into_bytes(), 0..len).unwrap();
        assert_eq!(document.root().as_array().unwrap().len(), elements + 1);
        document.release_to(&mut parser);
        assert!(document.backing.capacity() <= DOCUMENT_KEEP_NODES_MAX);
        parser.spare.capacity()
    };
    assert_eq!(read(10), 0);
    let kept = read(PARSER_KEEP_NODES_MAX / 4);
    assert!((PARSER_KEEP_NODES_MAX / 4..=PARSER_KEEP_NODES_MAX).contains(&kept), "{kept}");
    assert_eq!(read(10), kept, "a small document leaves it alone");
    assert_eq!(read(PARSER_KEEP_NODES_MAX / 4), kept, "it went out and came back");
    assert_eq!(read(PARSER_KEEP_NODES_MAX), 0, "grown beyond the bound");
}

/// A document moves between threads with its tape.
#[test]
fn documents_move_between_threads() {
    let document = document("{\"a\":[\"\\u0062\",\"c\"]}");
    let moved = std::thread::spawn(move || document.root().to_json()).join().unwrap();
    assert_eq!(moved, serde_json::json!({"a": ["b", "c"]}));
}
