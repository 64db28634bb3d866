//! A document, held against another reader of JSON: the same texts are JSON for both, of the same value.

use codec::{Document, JsonError, Parser, Value};
use serde_json::Value as Json;

/// The body lies between other bytes, as in a connection's buffer.
pub fn json(data: &[u8]) {
    let buffer = [b"\"{", data, b"\\u0041\"}"].concat();
    let body = 2..2 + data.len();
    let mut document = Document::new();
    let parsed = document.parse(&mut Parser::default(), buffer.clone(), body);
    assert_eq!(document.bytes(), buffer, "nothing is written to");

    let text = data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data);
    let oracle = serde_json::from_slice::<Json>(text);
    match (parsed, oracle) {
        (Ok(()), Ok(value)) => {
            let ours = document.root().to_json();
            assert!(repeats_names(document.root()) || same(&ours, &value), "{ours} {value}");
        }
        (Err(fault), Err(_)) => {
            let is_text = std::str::from_utf8(text).is_ok();
            assert_eq!(fault == JsonError::NotUtf8, !is_text, "{fault:?}");
            if let JsonError::Syntax { at } | JsonError::NumberRange { at } = fault {
                assert!(at <= text.len());
            }
        }
        // The other one allows a level less.
        (_, Err(error)) if error.to_string().starts_with("recursion limit") => {}
        (ours, oracle) => panic!("{ours:?} {oracle:?}"),
    }
}

/// The other reader keeps the last of the members that have one name.
fn repeats_names(value: Value<'_>) -> bool {
    let below = |object: codec::Object<'_>| object.iter().any(|(_, value)| repeats_names(value));
    value.as_object().is_some_and(|object| object.has_duplicate_keys() || below(object))
        || value.as_array().is_some_and(|array| array.iter().any(repeats_names))
}

/// The other reader takes `-0` for a double, and may miss the nearest double by one.
fn same(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Number(one), Json::Number(other)) => {
            let (near, far) = (one.as_f64().unwrap_or(0.0), other.as_f64().unwrap_or(1.0));
            let close = (near - far).abs() <= near.abs() * 4.0 * f64::EPSILON;
            one == other || (close && (near == 0.0 || one.is_f64()))
        }
        (Json::Array(one), Json::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Json::Object(one), Json::Object(other)) => {
            let member = |(name, value): (&String, &Json)| {
                other.get(name).is_some_and(|other| same(value, other))
            };
            one.len() == other.len() && one.iter().all(member)
        }
        _ => one == other,
    }
}

pub(crate) const CORPUS: &[&[u8]] = &[
    br#"{"a":[1,-2,3.5e-7,true,false,null,{"b":"c\\d\"e\u00e9\ud83e\udd80"}],"long name of a member":""}"#,
    b"[0,-0,0.0,18446744073709551615,18446744073709551616,-9223372036854775808,-9223372036854775809]",
    b"[123456789012345678901234567890,0.30000000000000004,1e308,1E-320,9007199254740993.0]",
    b"  \t\r\n{ \"a\" : [ ] , \"b\" : { } }\n",
    b"\xef\xbb\xbf\"plain text that is longer than one chunk \xc3\xa9 \xf0\x9f\xa6\x80\"",
    b"\"\\n\"",
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
    b" ",
    b"\n",
    b"\\u0000",
    b"\\ud83e\\udd80",
    b"\\ud800",
    b"\\\"",
    b"1e400",
    b"-0",
    b"0.1",
    b"e+",
    b"true",
    b"false",
    b"null",
    b"\xff",
    b"\xc3\xa9",
    b"\0",
    b"\x1f",
    b"\x7f",
    b"0123456789012345678",
    b"sixteen bytes ..",
];
