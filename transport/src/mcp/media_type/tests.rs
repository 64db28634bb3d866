//! One row per form of `Content-Type` and `Content-Encoding`.

use super::{is_identity, is_json};

fn json(lines: &[&str]) -> bool {
    is_json(lines.iter().map(|line| line.as_bytes()))
}

/// [HTTP-15] `application/json` in any case, any well-formed parameters, UTF-8
#[test]
fn json_content() {
    let rows = [
        "application/json",
        "Application/JSON",
        "application/json; charset=utf-8",
        "application/json;charset=\"UTF-8\"",
        "application/json;CHARSET=Utf-8",
        "application/json;",
        "application/json ; a=b",
        "application/json;;a=b",
        "application/json; a=\"b;c, \\\"d\"",
    ];
    for value in rows {
        assert!(json(&[value]), "{value}");
    }
}

/// [HTTP-15] everything else is 415, also a second line
#[test]
fn other_content() {
    let rows = [
        "",
        " ",
        "json",
        "text/plain",
        "text/plain; a=application/json",
        "application/jsonp",
        "application/json5",
        "application/json-rpc",
        "application/vnd.api+json",
        "application/*",
        "*/*",
        "application /json",
        "application/json text/plain",
        "application/json, text/plain",
        "application/json, application/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json; charset=latin1",
        "application/json; charset=utf-16",
        "application/json; charset=\"utf-8",
        "application/json; charset=",
        "application/json; charset",
        "application/json; charset=utf-8; charset=utf-7",
        "application/json; charset =utf-8",
        "application/json; =x",
        "application/json; a=\"b\"c",
        "application/json; a=\"b\\\"",
    ];
    for value in rows {
        assert!(!json(&[value]), "{value}");
    }
    assert!(!json(&[]));
    assert!(!json(&["application/json", "application/json"]));
    assert!(!json(&["application/json", "text/plain"]));
}

/// [HTTP-22] a coded body is 415; `identity` is no coding
#[test]
fn content_encoding() {
    let plain = |lines: &[&str]| is_identity(lines.iter().map(|line| line.as_bytes()));
    for lines in [&[][..], &["identity"], &["Identity, identity"], &[""], &["", "identity"]] {
        assert!(plain(lines), "{lines:?}");
    }
    for lines in [&["gzip"][..], &["identity, gzip"], &["br"], &["identity", "deflate"], &["*"]] {
        assert!(!plain(lines), "{lines:?}");
    }
}
