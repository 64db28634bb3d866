//! The small grammars of header values: Accept, Content-Type, Content-Encoding, Host, Origin.

use transport::mcp::head::Field;
use transport::mcp::origin::{Guard, HostPolicy, OriginPolicy};
use transport::mcp::{accept, media_type};

/// Every grammar gets the same bytes, as one line and as several.
pub fn lists(data: &[u8]) {
    let lines = || data.split(|byte| *byte == b'\n');
    let upper = data.to_ascii_uppercase();

    assert_eq!(accept::parse([data]), accept::parse([&upper[..]]), "media types have no case");
    assert_eq!(media_type::is_json([data]), media_type::is_json([&upper[..]]));
    assert!(!media_type::is_json([data, data]), "two lines are refused");
    let _ =
        (accept::parse(lines()), media_type::is_json(lines()), media_type::is_identity(lines()));

    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Ok(policy) = HostPolicy::parse(&[text]) {
        assert!(policy.allows(Some(text)), "a listed host is served");
        assert!(policy.allows(Some(&text.to_ascii_uppercase())), "in any case");
    }
    if let Ok(policy) = OriginPolicy::parse(&[text]) {
        assert!(text.ends_with(":*") || policy.allows(data), "a listed origin is served");
    }
    let guard = Guard::new::<&str>(true, &[], &[]).expect("the defaults are well formed");
    let passes = guard.check(Some(text), Some(Field { value: data, repeated: false })).is_ok();
    assert!(!passes, "nothing is both a host and an origin");
}

pub(crate) const CORPUS: &[&[u8]] = &[
    b"application/json;q=0.9, text/event-stream;q=0, */*;q=0.1",
    b"application/json; charset=\"utf-8\"; a=\"b,;\\\"c\"",
    b"text/*\napplication/*;q=1.000",
    b"gzip, identity",
    b"localhost:8080",
    b"[::1]:80",
    b"https://app.example:*",
    b"http://127.0.0.1",
    b"null",
];

pub(crate) const DICTIONARY: &[&[u8]] = &[
    b"*",
    b"/",
    b";",
    b"q=",
    b"q=0",
    b",",
    b"\"",
    b"\\",
    b"=",
    b"://",
    b":",
    b"[",
    b"]",
    b"@",
    b"charset=",
    b"%41",
    b"application/json",
    b"localhost",
    b":99999",
];
