//! Sentinel vectors and annotation tables of ledger 3c, 3d and 8b, with naive oracles.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// [PAR-01] [PAR-05] [HDR-17] the published vectors decode to their texts
#[test]
fn sentinel_vectors() {
    for (payload, text) in [
        ("SGVsbG8sIOS4lueVjA==", "Hello, 世界"),
        ("IHBhZGRlZCA=", " padded "),
        ("bGluZTEKbGluZTI=", "line1\nline2"),
        ("PT9iYXNlNjQ/bGl0ZXJhbD89", "=?base64?literal?="),
        ("5pel5pys6Kqe", "日本語"),
        ("SGVsbG8=", "Hello"),
        ("", ""),
    ] {
        let field = format!("=?base64?{payload}?=");
        assert_eq!(decode(field.as_bytes()).as_deref(), Ok(text), "{field}");
    }
    assert_eq!(decode(b"").as_deref(), Ok(""));
}

/// [PAR-02] a value without both markers, or with another letter case, is a literal
#[test]
fn near_sentinels_are_literals() {
    for literal in [
        "SGVsbG8=",
        "=?base64?SGVsbG8=",
        "SGVsbG8=?=",
        "=?BASE64?SGVsbG8=?=",
        "=?Base64?SGVsbG8=?=",
        "=?base64?=",
        "=?base64?",
        "=?base64SGVsbG8=?=",
        "?=",
    ] {
        assert_eq!(decode(literal.as_bytes()).as_deref(), Ok(literal));
    }
}

/// [PAR-03] [PAR-04] whatever is not strict Base64 of UTF-8 is a fault, not a literal
#[test]
fn broken_sentinels_are_refused() {
    for (field, fault) in [
        ("=?base64?SGVsbG8?=", HeaderFault::BadBase64),
        ("=?base64?SGVsbG8==?=", HeaderFault::BadBase64),
        ("=?base64?SGVs!!!bG8=?=", HeaderFault::BadBase64),
        ("=?base64?SGVs bG8=?=", HeaderFault::BadBase64),
        ("=?base64?_-8=?=", HeaderFault::BadBase64),
        ("=?base64?SGVsbG9=?=", HeaderFault::BadBase64),
        ("=?base64?=?=", HeaderFault::BadBase64),
        ("=?base64?/w==?=", HeaderFault::NotUtf8),
        ("=?base64?7aCA?=", HeaderFault::NotUtf8),
    ] {
        assert_eq!(decode(field.as_bytes()), Err(fault), "{field}");
    }
}

/// [HDR-16] [HDR-18] [PAR-11] blanks around a value fall away; illegal bytes are refused
#[test]
fn blanks_and_illegal_bytes() {
    assert_eq!(decode(b" \t tool \t").as_deref(), Ok("tool"));
    assert_eq!(decode(b" \t ").as_deref(), Ok(""));
    assert_eq!(decode(b"a\tb c").as_deref(), Ok("a\tb c"));
    assert_eq!(decode(b" =?base64?SGVsbG8=?= ").as_deref(), Ok("Hello"));
    for byte in 0..=u8::MAX {
        let expected = byte == b'\t' || (0x20..0x7F).contains(&byte);
        assert_eq!(legal(&[b'a', byte, b'b']), expected, "{byte:#x}");
        assert_eq!(decode(&[b'a', byte, b'b']).is_ok(), expected, "{byte:#x}");
    }
    assert_eq!(decode(b"caf\xE9"), Err(HeaderFault::IllegalCharacter));
    assert_eq!(decode("café".as_bytes()), Err(HeaderFault::IllegalCharacter));
}

proptest! {
    /// [PAR-01] [PAR-05] [HDR-17] every text survives encode and decode, and travels in legal bytes
    #[test]
    fn encode_round_trip(text in any::<String>()) {
        let field = encode(&text);
        prop_assert!(legal(field.as_bytes()));
        let decoded = decode(field.as_bytes());
        prop_assert_eq!(decoded.as_deref(), Ok(text.as_str()));
    }

    /// [PAR-01] [PAR-02] [PAR-03] [PAR-04] [HDR-16] [HDR-18] decode equals a slow reading of the rules
    #[test]
    fn decode_equals_oracle(
        value in prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..24),
            "[ \t]{0,2}(=\\?base64\\?)?[A-Za-z0-9+/_ -]{0,12}={0,2}(\\?=)?[ \t]{0,2}"
                .prop_map(String::into_bytes),
        ]
    ) {
        prop_assert_eq!(decode(&value).ok().map(|text| text.into_owned()), oracle(&value));
    }
}

/// Decodes, and accepts only what encodes back to the very same text.
fn oracle(value: &[u8]) -> Option<String> {
    let mut text: String = value.iter().map(|&byte| char::from(byte)).collect();
    text = text.trim_matches([' ', '\t']).to_owned();
    if text.chars().any(|ch| ch != '\t' && !(' '..='~').contains(&ch)) {
        return None;
    }
    if text.len() < 11 || !text.starts_with("=?base64?") || !text.ends_with("?=") {
        return Some(text);
    }
    let payload = &text[9..text.len() - 2];
    let bytes = STANDARD.decode(payload).ok()?;
    if STANDARD.encode(&bytes) != payload {
        return None;
    }
    String::from_utf8(bytes).ok()
}

/// [XH-01] tokens are exactly the RFC 9110 characters
#[test]
fn tokens() {
    assert!(!is_token(""));
    for byte in 0..128u8 {
        let ch = char::from(byte);
        let separator = "\"(),/:;<=>?@[\\]{} ".contains(ch) || ch.is_control();
        assert_eq!(is_token(&ch.to_string()), !separator, "{ch:?}");
    }
    assert!(!is_token("Région"));
    assert!(!is_token("a\r\n"));
}

/// [PAR-08] [PAR-10] integers compare as numbers, in strict decimal, within 2^53-1
#[test]
fn numbers() {
    let safe = 9_007_199_254_740_991;
    for (header, body, expected) in [
        ("42", Number::I64(42), true),
        ("42.0", Number::I64(42), true),
        ("42.000", Number::U64(42), true),
        ("42", Number::F64(42.0), true),
        ("042", Number::I64(42), true),
        ("-42", Number::I64(-42), true),
        ("0", Number::I64(0), true),
        ("00", Number::I64(0), true),
        ("-0", Number::I64(0), true),
        ("-0.0", Number::F64(-0.0), true),
        ("9007199254740991", Number::I64(safe), true),
        ("-9007199254740991", Number::F64(-(safe as f64)), true),
        ("43", Number::I64(42), false),
        ("-42", Number::I64(42), false),
        ("42", Number::I64(-42), false),
        ("42.5", Number::I64(42), false),
        ("42.5", Number::F64(42.5), false),
        ("0x2a", Number::I64(42), false),
        ("4.2e1", Number::I64(42), false),
        ("+42", Number::I64(42), false),
        (" 42", Number::I64(42), false),
        ("42 ", Number::I64(42), false),
        ("4 2", Number::I64(42), false),
        ("42.", Number::I64(42), false),
        (".0", Number::I64(0), false),
        ("42.0.0", Number::I64(42), false),
        ("--42", Number::I64(42), false),
        ("-", Number::I64(0), false),
        ("", Number::I64(0), false),
        ("４２", Number::I64(42), false),
        ("9007199254740993", Number::I64(9_007_199_254_740_993), false),
        ("9007199254740992", Number::F64(9_007_199_254_740_992.0), false),
        ("18446744073709551658", Number::I64(42), false),
        ("18446744073709551615", Number::U64(u64::MAX), false),
        ("1", Number::F64(f64::NAN), false),
        ("1", Number::F64(f64::INFINITY), false),
    ] {
        assert_eq!(number_matches(header, body), expected, "{header:?} {body:?}");
    }
}

proptest! {
    /// [PAR-08] number_matches equals a comparison of normalised decimal texts
    #[test]
    fn numbers_equal_oracle(header in "-?[0-9]{0,3}(\\.[0-9]{0,2})?", body in -200i64..200) {
        let normal = || {
            let (whole, fraction) = header.split_once('.').unwrap_or((header.as_str(), "0"));
            if fraction.is_empty() || !fraction.trim_matches('0').is_empty() || whole.is_empty() {
                return None;
            }
            whole.parse::<i64>().ok()
        };
        prop_assert_eq!(number_matches(&header, Number::I64(body)), normal() == Some(body));
    }
}

/// [PAR-06] [PAR-07] [PAR-08] [PAR-09] [PAR-10] [PAR-11] [SEC-02] one parameter against its argument
#[test]
fn parameters() {
    use Argument as A;
    use ParamKind as K;
    let long = vec![b'a'; PARAM_BYTES_MAX + 1];
    let longest = vec![b'a'; PARAM_BYTES_MAX];
    let longest_text = "a".repeat(PARAM_BYTES_MAX);
    let illegal = ParamFault::Unreadable(HeaderFault::IllegalCharacter);
    type Case<'a> = (ParamKind, Option<&'a [u8]>, Argument<'a>, Result<(), ParamFault>);
    let cases: &[Case<'_>] = &[
        (K::String, Some(b"eu"), A::String("eu"), Ok(())),
        (K::String, Some(b" eu "), A::String("eu"), Ok(())),
        (K::String, Some(b""), A::String(""), Ok(())),
        (K::String, Some(b"=?base64??="), A::String(""), Ok(())),
        (K::String, Some(b"EU"), A::String("eu"), Err(ParamFault::Different)),
        // NFC header, NFD body.
        (K::String, Some(b"=?base64?w6k=?="), A::String("\u{e9}"), Ok(())),
        (K::String, Some(b"=?base64?w6k=?="), A::String("e\u{301}"), Err(ParamFault::Different)),
        (K::String, None, A::String("eu"), Err(ParamFault::Missing)),
        (K::String, None, A::Absent, Ok(())),
        (K::String, Some(b"eu"), A::Absent, Err(ParamFault::Unexpected)),
        (K::String, Some(b""), A::Absent, Err(ParamFault::Unexpected)),
        (K::Boolean, Some(b"true"), A::Boolean(true), Ok(())),
        (K::Boolean, Some(b"false"), A::Boolean(false), Ok(())),
        (K::Boolean, Some(b"True"), A::Boolean(true), Err(ParamFault::Different)),
        (K::Boolean, Some(b"1"), A::Boolean(true), Err(ParamFault::Different)),
        (K::Boolean, None, A::Boolean(false), Err(ParamFault::Missing)),
        (K::Integer, Some(b"42.0"), A::Number(Number::I64(42)), Ok(())),
        (K::Integer, Some(b"41"), A::Number(Number::I64(42)), Err(ParamFault::Different)),
        (K::Integer, None, A::Number(Number::I64(42)), Err(ParamFault::Missing)),
        (
            K::Integer,
            Some(b"9007199254740993"),
            A::Number(Number::I64(9_007_199_254_740_993)),
            Err(ParamFault::OutOfRange),
        ),
        (K::Integer, None, A::Number(Number::F64(1e300)), Err(ParamFault::OutOfRange)),
        // Another type than declared: argument validation answers.
        (K::Integer, Some(b"x"), A::String("x"), Ok(())),
        (K::Integer, Some(b"1.5"), A::Number(Number::F64(1.5)), Ok(())),
        (K::String, None, A::Other, Ok(())),
        (K::Boolean, None, A::Number(Number::I64(1)), Ok(())),
        // Unreadable, whatever the body says.
        (K::String, Some(b"caf\xE9"), A::String("x"), Err(illegal)),
        (K::Integer, Some(b"caf\xE9"), A::String("x"), Err(illegal)),
        (K::String, Some(b"caf\xE9"), A::Absent, Err(illegal)),
        (K::String, Some(&longest), A::String(&longest_text), Ok(())),
        (K::String, Some(&long), A::String("x"), Err(ParamFault::Unreadable(HeaderFault::TooLong))),
    ];
    for (kind, field, argument, expected) in cases {
        assert_eq!(check_param(*kind, *field, *argument), *expected, "{kind:?} {argument:?}");
    }
}

/// [XH-03] [XH-04] declarations are found in order, with their paths, through nested properties
#[test]
fn scan_collects() {
    let schema = json!({"type": "object", "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "plain": {"type": "number", "default": {"x-mcp-header": "not one"}},
        "a": {"type": "object", "properties": {"b": {"properties": {
            "c": {"type": "integer", "x-mcp-header": "Deep", "enum": [{"x-mcp-header": 5}]},
        }}}},
        "x-mcp-header": {"type": "boolean", "x-mcp-header": "Flag"},
    }, "required": ["x-mcp-header"], "dependentRequired": {"x-mcp-header": ["a"]}});
    let found = scan(&schema).expect("a valid schema");
    let found: Vec<_> = found.iter().map(|d| (d.name.as_str(), d.path.join("."), d.kind)).collect();
    assert_eq!(
        found,
        [
            ("Region", "region".to_owned(), ParamKind::String),
            ("Deep", "a.b.c".to_owned(), ParamKind::Integer),
            ("Flag", "x-mcp-header".to_owned(), ParamKind::Boolean),
        ]
    );
    for bare in [json!({}), json!(true), json!({"properties": {"a": true}})] {
        assert_eq!(scan(&bare), Ok(vec![]));
    }
}

/// [XH-01] [XH-02] [XH-03] [XH-05] every violation names its property and its rule
#[test]
fn scan_refuses() {
    use ViolationKind as V;
    let string = |name: Value| json!({"type": "string", "x-mcp-header": name});
    let cases = [
        (string(json!("")), V::NotToken),
        (string(json!("a b")), V::NotToken),
        (string(json!("a\r\n")), V::NotToken),
        (string(json!("Région")), V::NotToken),
        (string(json!(5)), V::NotString),
        (string(json!(null)), V::NotString),
        (json!({"type": "number", "x-mcp-header": "A"}), V::Type),
        (json!({"type": ["string"], "x-mcp-header": "A"}), V::Type),
        (json!({"type": "array", "x-mcp-header": "A"}), V::Type),
        (json!({"x-mcp-header": "A"}), V::Type),
        (string(json!("OTHER")), V::Duplicate),
    ];
    for (property, kind) in cases {
        let schema = json!({"type": "object", "properties": {
            "first": string(json!("Other")),
            "a/b~c": property,
        }});
        let violation = scan(&schema).expect_err("a violation");
        let expected = Violation { property: "/properties/a~1b~0c".to_owned(), kind };
        assert_eq!(violation, expected);
        assert!(violation.to_string().contains("inputSchema/properties/a~1b~0c: "));
    }
    let root = scan(&json!({"type": "string", "x-mcp-header": "A"})).expect_err("the root");
    assert_eq!(root, Violation { property: String::new(), kind: V::Type });
}

/// [XH-04] under any keyword but `properties` an annotation is refused, one case a keyword
#[test]
fn scan_refuses_unreachable() {
    let annotated = json!({"type": "string", "x-mcp-header": "A"});
    let single = [
        "items",
        "contains",
        "not",
        "if",
        "then",
        "else",
        "additionalProperties",
        "propertyNames",
        "unevaluatedItems",
        "unevaluatedProperties",
        "additionalItems",
        "contentSchema",
        "x-vendor",
    ];
    let lists = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];
    let maps = ["$defs", "definitions", "patternProperties", "dependentSchemas", "dependencies"];
    let wrapped = single
        .map(|key| (key, annotated.clone(), String::new()))
        .into_iter()
        .chain(lists.map(|key| (key, json!([true, annotated]), "/1".to_owned())))
        .chain(maps.map(|key| (key, json!({"n": annotated}), "/n".to_owned())));
    for (key, value, suffix) in wrapped {
        for (schema, prefix) in [
            (json!({ key: value }), ""),
            (json!({"properties": {"p": {key: value}}}), "/properties/p"),
            (json!({"properties": {"p": {key: {"properties": {"q": annotated}}}}}), ""),
        ] {
            let violation = scan(&schema).expect_err(key);
            assert_eq!(violation.kind, ViolationKind::Unreachable, "{key}");
            let pointer = &violation.property;
            assert!(
                prefix.is_empty() || *pointer == format!("{prefix}/{key}{suffix}"),
                "{pointer}"
            );
        }
    }
}

/// [XH-04] [SEC-04] nesting beyond the bound is refused instead of overflowing the stack
#[test]
fn scan_is_bounded() {
    let mut schema = json!({"type": "string", "x-mcp-header": "A"});
    for _ in 0..=SCHEMA_DEPTH_MAX {
        schema = json!({"properties": {"p": schema}});
    }
    assert_eq!(scan(&schema).expect_err("too deep").kind, ViolationKind::TooDeep);
}

/// [XH-06] names that look like secrets are pointed out, others are left alone
#[test]
fn lint_flags_secrets() {
    let names = [
        ("password", true),
        ("userPassword", true),
        ("api_key", true),
        ("apiKey", true),
        ("APIKEY", true),
        ("access-token", true),
        ("key", true),
        ("clientSecret", true),
        ("région", false),
        ("monkey", false),
        ("tokenizer", false),
        ("keyboard", false),
        ("tenant", false),
    ];
    for (name, expected) in names {
        let in_path = Declaration {
            name: "H".to_owned(),
            path: vec!["outer".to_owned(), name.to_owned()],
            kind: ParamKind::String,
        };
        let in_name =
            Declaration { name: name.to_owned(), path: vec!["p".to_owned()], ..in_path.clone() };
        for declaration in [in_path, in_name] {
            assert_eq!(lint(&[declaration]).count() == 1, expected, "{name}");
        }
    }
}
