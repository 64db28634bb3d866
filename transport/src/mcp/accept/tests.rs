//! One row per form of `Accept`.

use super::{Forms, parse};

const BOTH: Forms = Forms::ANY;
const JSON: Forms = Forms { json: true, sse: false };
const SSE: Forms = Forms { json: false, sse: true };
const NONE: Forms = Forms { json: false, sse: false };

/// [HTTP-16] one line: media types, wildcards, weights, precedence, leniency
#[test]
fn one_line() {
    let rows = [
        ("application/json, text/event-stream", BOTH),
        ("text/event-stream, application/json", BOTH),
        ("application/json , text/event-stream", BOTH),
        ("application/json,text/event-stream", BOTH),
        ("APPLICATION/JSON, TEXT/EVENT-STREAM", BOTH),
        ("application/json;q=0.9, text/event-stream;q=0.1", BOTH),
        ("application/json; q=1; ext=\"a, b\", text/event-stream", BOTH),
        ("application/json;charset=utf-8, text/event-stream", BOTH),
        ("*/*", BOTH),
        ("*/*;q=0.1", BOTH),
        ("text/html, */*;q=0.1", BOTH),
        ("application/*, text/*", BOTH),
        ("Application/*", JSON),
        ("application/json", JSON),
        ("application/json;q=0.001", JSON),
        ("text/event-stream", SSE),
        ("text/*", SSE),
        ("image/png", NONE),
        ("image/png, text/html;q=0.9", NONE),
        ("application/xml", NONE),
        ("application/jsonp", NONE),
        ("application/json;q=0", NONE),
        ("application/json;Q=0.000, text/event-stream", SSE),
        ("application/json;q=0, */*", SSE),
        ("*/*, application/json;q=0", SSE),
        ("text/*;q=0, */*", JSON),
        ("text/*;q=0, text/event-stream, */*;q=0", SSE),
        ("*/*;q=0", NONE),
        ("*/*;q=0, application/json", JSON),
        ("application/json;q=0, application/json", JSON),
        ("application/json, application/json;q=0", JSON),
        // Leniency: nothing readable is no statement, an odd weight is no refusal.
        ("", BOTH),
        (" , ,", BOTH),
        ("garbage", BOTH),
        ("garbage, image/png", NONE),
        ("/json", BOTH),
        ("application/", BOTH),
        ("application/json;q=", JSON),
        ("application/json;q=high", JSON),
        ("application/json;", JSON),
        ("application/json;q=\"0", JSON),
        (",application/json,,", JSON),
        ("*/json", NONE),
    ];
    for (value, expected) in rows {
        assert_eq!(parse([value.as_bytes()]), expected, "{value}");
        assert_eq!(parse([value.as_bytes()]).is_none(), expected == NONE);
    }
}

/// [HTTP-16] no line, several lines, an empty line beside a full one
#[test]
fn several_lines() {
    let rows: [(&[&str], Forms); 5] = [
        (&[], BOTH),
        (&["application/json", "text/event-stream"], BOTH),
        (&["image/png", "text/html"], NONE),
        (&["", "application/json"], JSON),
        (&["", ""], BOTH),
    ];
    for (lines, expected) in rows {
        assert_eq!(parse(lines.iter().map(|line| line.as_bytes())), expected, "{lines:?}");
    }
}
