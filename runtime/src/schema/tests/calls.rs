//! Arguments that are not taken, and the words for it.

use serde_json::{Value, json};

use crate::schema::{FAULT_TEXT_CHARS_MAX, InputSchema};

fn check(schema: &Value, text: &str) -> Result<(), String> {
    let schema = InputSchema::compile(schema).expect("a legal schema");
    let document = super::document(text);
    schema.check(document.root().as_object().expect("an object"))
}

fn told(properties: Value, text: &str) -> String {
    check(&json!({"type": "object", "properties": properties}), text).expect_err("a refusal")
}

/// [CALL-03] missing, ill-typed and unexpected arguments are named.
#[test]
fn faults_are_named() {
    let rows =
        json!({"rows": {"type": "array", "items": {"properties": {"id": {"type": "integer"}}}}});
    let text = r#"{"rows": [{"id": 1}, {"id": 2}, {}, {"id": "x"}]}"#;
    assert_eq!(told(rows, text), r#"arguments.rows[3].id: "x" is not of type "integer""#);
    let required = json!({"type": "object", "required": ["a", "b"]});
    assert_eq!(check(&required, r#"{"a": 1}"#), Err(r#"arguments: "b" is required"#.to_owned()));
    let closed = json!({"type": "object", "additionalProperties": false});
    assert_eq!(check(&closed, "{}"), Ok(()));
    assert_eq!(
        check(&closed, r#"{"x y": 1}"#),
        Err(r#"arguments: "x y" is not allowed"#.to_owned())
    );
}

/// [CALL-03] every keyword has its words, and none of them needs the whole value.
#[test]
fn words() {
    let cases = [
        (json!({"enum": ["a", "b"]}), r#""c""#, r#""c" is not one of ["a","b"]"#),
        (json!({"const": 1}), "2", "2 is not 1"),
        (json!({"minimum": 1}), "0", "0 is less than 1"),
        (json!({"maximum": 1}), "2", "2 is greater than 1"),
        (json!({"exclusiveMinimum": 1}), "1", "1 is not greater than 1"),
        (json!({"exclusiveMaximum": 1}), "1", "1 is not less than 1"),
        (json!({"multipleOf": 2}), "3", "3 is not a multiple of 2"),
        (json!({"minLength": 2}), r#""é""#, r#""é" is shorter than 2 characters"#),
        (json!({"maxLength": 1}), r#""ab""#, r#""ab" is longer than 1 characters"#),
        (json!({"pattern": "^a"}), r#""b""#, r#""b" does not match the pattern "^a""#),
        (json!({"type": ["null", "string"]}), "1", r#"1 is not of type "null" or "string""#),
        (json!({"minItems": 1}), "[]", "the array has fewer than 1 items"),
        (json!({"maxItems": 1}), "[1,2]", "the array has more than 1 items"),
        (json!({"uniqueItems": true}), "[1,1.0]", "the array has items that are the same"),
        (json!({"minProperties": 1}), "{}", "the object has fewer than 1 members"),
        (json!({"maxProperties": 0}), r#"{"b":1}"#, "the object has more than 0 members"),
        (
            json!({"contains": {"const": 1}}),
            "[2]",
            "the array has no item, or not the right number of items, that the schema asks for",
        ),
        (json!({"not": {"type": "integer"}}), "1", "1 matches what is excluded"),
        (json!(false), "1", "1 is not allowed"),
        (json!({"prefixItems": [true], "items": false}), "[1,2]", "2 is not allowed"),
        (
            json!({"oneOf": [{"minimum": 1}, {"minimum": 2}]}),
            "3",
            "3 matches more than one of the alternatives, of which one is allowed",
        ),
        (
            json!({"propertyNames": {"maxLength": 1}}),
            r#"{"bb":1}"#,
            r#"a member's name is refused: "bb" is longer than 1 characters"#,
        ),
        (json!({"unevaluatedProperties": false}), r#"{"b":1}"#, r#""b" is not allowed"#),
        (json!({"unevaluatedItems": false}), "[1]", "the array has more items than allowed"),
        (json!({"dependentRequired": {"b": ["c"]}}), r#"{"b":1}"#, r#""c" is required"#),
    ];
    for (schema, value, expected) in cases {
        let told = told(json!({"a": schema}), &format!(r#"{{"a":{value}}}"#));
        assert!(told.ends_with(expected), "{schema}: {told}");
        assert!(told.starts_with("arguments.a"), "{schema}: {told}");
    }
}

/// [CALL-03] of alternatives the nearest one is explained.
#[test]
fn alternatives() {
    let schema = json!({"a": {"anyOf": [
        {"type": "string"},
        {"type": "object", "properties": {"op": {"enum": ["add"]}, "n": {"type": "integer"}}}]}});
    let told = told(schema, r#"{"a": {"op": "add", "n": "1"}}"#);
    assert_eq!(
        told,
        r#"arguments.a: the object matches none of the 2 alternatives (nearest: arguments.a.n: "1" is not of type "integer")"#
    );
}

/// [CALL-03] [SEC-13] the text is one short line whatever the caller sends.
#[test]
fn the_text_is_bounded() {
    let long = "x\u{1}\n\"é".repeat(10_000);
    let text = json!({&long: &long, "b": [&long, &long]}).to_string();
    for schema in [
        json!({"type": "object", "additionalProperties": false}),
        json!({"type": "object", "additionalProperties": {"type": "integer"}}),
        json!({"type": "object", "additionalProperties": {"enum": [&long]}}),
        json!({"type": "object", "additionalProperties": {"const": [&long]}}),
        json!({"type": "object", "propertyNames": {"maxLength": 0}}),
        json!({"type": "object", "unevaluatedProperties": false}),
        json!({"type": "object", "maxProperties": 1}),
        json!({"type": "object", "required": [&long, &format!("{long}1"), &format!("{long}2")]}),
    ] {
        let told = check(&schema, &text).expect_err("a refusal");
        assert!(told.chars().count() <= FAULT_TEXT_CHARS_MAX, "{told}");
        assert!(!told.chars().any(char::is_control), "{told:?}");
        assert!(told.starts_with("arguments"), "{told}");
    }
}

/// [CALL-03] at most three faults are told.
#[test]
fn three_faults() {
    let told = told(json!({"a": {"items": {"type": "null"}}}), r#"{"a": [1, 2, 3, 4, 5]}"#);
    let expected =
        (0..3).map(|at| format!(r#"arguments.a[{at}]: {} is not of type "null""#, at + 1));
    assert_eq!(told, expected.collect::<Vec<_>>().join("; "));
}

/// [RPC-19] of a repeated name the first member counts, in lookups, in walks and in counts.
#[test]
fn first_of_repeated_names() {
    let typed = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    assert_eq!(check(&typed, r#"{"a": 1, "a": "x"}"#), Ok(()));
    assert!(check(&typed, r#"{"a": "x", "a": 1}"#).is_err());
    let walked = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    assert_eq!(check(&walked, r#"{"a": 1, "b": 2, "a": "x"}"#), Ok(()));
    let counted = json!({"type": "object", "maxProperties": 1});
    assert_eq!(check(&counted, r#"{"a": 1, "a": 2}"#), Ok(()));
    let twice = json!({"type": "object", "properties": {"a": {"const": {"b": 1}}}});
    assert_eq!(check(&twice, r#"{"a": {"b": 1, "b": 2}}"#), Ok(()));
    let unique = json!({"type": "object", "properties": {"a": {"uniqueItems": true}}});
    assert!(check(&unique, r#"{"a": [{"b": 1}, {"b": 1, "b": 2}]}"#).is_err());
}

/// [JSC-01] numbers are compared by value: 1 is 1.0, and neighbours beyond 2^53 differ.
#[test]
fn numbers_by_value() {
    let with = |schema: Value| json!({"type": "object", "properties": {"a": schema}});
    for (schema, value, valid) in [
        (json!({"const": 1}), "1.0", true),
        (json!({"const": 1.0}), "1", true),
        (json!({"const": 0}), "-0.0", true),
        (json!({"type": "integer"}), "1.0", true),
        (json!({"type": "integer"}), "1.5", false),
        (json!({"type": "integer"}), "1e2", true),
        (json!({"const": 9_007_199_254_740_993_u64}), "9007199254740992", false),
        (json!({"const": 9_007_199_254_740_993_u64}), "9007199254740992.0", false),
        (json!({"const": 18_446_744_073_709_551_615_u64}), "18446744073709551615", true),
        (json!({"maximum": 9_007_199_254_740_992_u64}), "9007199254740993", false),
        (json!({"uniqueItems": true}), "[9007199254740992, 9007199254740993]", true),
        (json!({"uniqueItems": true}), "[1, 2, 1.0]", false),
    ] {
        let text = format!(r#"{{"a":{value}}}"#);
        assert_eq!(check(&with(schema.clone()), &text).is_ok(), valid, "{schema} {value}");
    }
}
