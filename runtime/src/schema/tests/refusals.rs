//! Schemas that are not taken.

use std::io::ErrorKind;
use std::net::TcpListener;

use serde_json::{Value, json};

use crate::schema::{
    InputSchema, OutputSchema, SCHEMA_CHAIN_MAX, SCHEMA_DEPTH_MAX, SUBSCHEMAS_MAX, SchemaError,
};

fn refusal(schema: Value) -> SchemaError {
    match InputSchema::compile(&schema) {
        Ok(_) => panic!("taken: {schema}"),
        Err(error) => error,
    }
}

/// [TOOL-06] an input schema is an object with root `"type": "object"`, never null.
#[test]
fn input_roots() {
    for root in [json!(null), json!(true), json!([]), json!("object")] {
        assert_eq!(refusal(root), SchemaError::NotAnObject);
    }
    for root in
        [json!({}), json!({"type": "array"}), json!({"type": ["object"]}), json!({"$ref": "#"})]
    {
        assert_eq!(refusal(root), SchemaError::RootType);
    }
    for root in
        [json!({"type": "object"}), json!({"type": "object", "additionalProperties": false})]
    {
        assert!(InputSchema::compile(&root).is_ok());
    }
}

/// [TOOL-08] an output schema may have any root.
#[test]
fn output_roots() {
    let roots = [
        (json!({"type": "array", "items": {"type": "integer"}}), json!([1]), json!(["a"])),
        (json!({"type": "string"}), json!("a"), json!(null)),
        (json!({"anyOf": [{"type": "null"}, {"const": 0}]}), json!(null), json!(false)),
        (json!({"type": "object", "required": ["a"]}), json!({"a": 1}), json!({})),
    ];
    for (schema, good, bad) in roots {
        let schema = OutputSchema::compile(&schema).expect("a legal schema");
        assert_eq!(schema.check(&good), Ok(()));
        let told = schema.check(&bad).expect_err("a refusal");
        assert!(told.starts_with("structuredContent"), "{told}");
    }
    assert!(matches!(OutputSchema::compile(&json!(3)), Err(SchemaError::NotASchema)));
}

/// [JSC-01] 2020-12 is the default, five dialects are taken by `$schema`, others are refused by name.
#[test]
fn dialects() {
    // In 2020-12 `prefixItems` is a keyword, in draft-07 an unknown word; a list under `items` the other way round.
    let arrays = |dialect: Option<&str>| {
        let mut schema =
            json!({"type": "object", "properties": {"a": {"prefixItems": [{"type": "string"}]}}});
        if let Some(dialect) = dialect {
            schema["$schema"] = json!(dialect);
        }
        let schema = InputSchema::compile(&schema).expect("a legal schema");
        let document = super::document(r#"{"a": [1]}"#);
        schema.check(document.root().as_object().expect("an object")).is_err()
    };
    assert!(arrays(None));
    assert!(arrays(Some("https://json-schema.org/draft/2020-12/schema")));
    for older in [
        "https://json-schema.org/draft/2019-09/schema",
        "http://json-schema.org/draft-07/schema#",
        "http://json-schema.org/draft-06/schema#",
        "http://json-schema.org/draft-04/schema#",
    ] {
        assert!(!arrays(Some(older)), "{older}");
    }
    for unknown in [json!("https://example.com/dialect"), json!(""), json!(7)] {
        let error = refusal(json!({"type": "object", "$schema": unknown}));
        assert!(matches!(error, SchemaError::Dialect { .. }), "{error}");
    }
}

/// [JSC-02] a schema that breaks its meta-schema is refused, with the place.
#[test]
fn meta_schema() {
    let error = refusal(json!({"type": "object", "properties": {"a": {"type": "objekt"}}}));
    let SchemaError::Invalid { at, reason } = &error else { panic!("{error:?}") };
    assert_eq!(at, "/properties/a/type");
    assert!(reason.contains("objekt"), "{reason}");
    for bad in [
        json!({"type": "object", "required": "a"}),
        json!({"type": "object", "properties": []}),
        json!({"type": "object", "minProperties": -1}),
        json!({"type": "object", "properties": {"a": 3}}),
    ] {
        assert!(matches!(refusal(bad), SchemaError::Invalid { .. }));
    }
}

/// [JSC-03] a reference that leads out is refused and nothing connects.
#[test]
fn remote_references() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.set_nonblocking(true).expect("a socket option");
    let address = listener.local_addr().expect("a bound socket");
    for reference in [
        format!("http://{address}/x"),
        format!("//{address}/x#/a"),
        "other.json".to_owned(),
        "file:///etc/hostname".to_owned(),
        "urn:example:other".to_owned(),
    ] {
        for schema in [
            json!({"type": "object", "$ref": reference}),
            json!({"type": "object", "properties": {"a": {"items": {"$ref": reference}}}}),
            json!({"type": "object", "$defs": {"unused": {"$ref": reference}}}),
            json!({"type": "object", "$dynamicRef": reference}),
            json!({"type": "object", "$id": "http://example.com/", "allOf": [{"$ref": reference}]}),
        ] {
            let error = refusal(schema);
            assert!(matches!(error, SchemaError::RemoteReference { .. }), "{reference}: {error:?}");
            assert!(error.to_string().contains("nothing is fetched"));
        }
    }
    let error = refusal(json!({"type": "object", "$schema": format!("http://{address}/dialect")}));
    assert!(matches!(error, SchemaError::Dialect { .. }));
    let accepted = listener.accept().map(|_| ()).map_err(|error| error.kind());
    assert_eq!(accepted, Err(ErrorKind::WouldBlock), "somebody connected");
}

/// [JSC-03] references within the schema work: pointers, anchors, embedded resources, meta-schemas.
#[test]
fn local_references() {
    let cases = [
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"type": "integer"}}}),
        json!({"type": "object", "properties": {"a": {"$ref": "#n"}}, "$defs": {"x": {"$anchor": "n", "type": "integer"}}}),
        json!({"type": "object", "$id": "http://example.com/root.json", "properties": {"a": {"$ref": "n.json"}},
               "$defs": {"x": {"$id": "n.json", "type": "integer"}}}),
        json!({"type": "object", "$id": "http://example.com/root.json", "properties": {"a": {"$ref": "n.json#/$defs/deep"}},
               "$defs": {"x": {"$id": "n.json", "$defs": {"deep": {"type": "integer"}}}}}),
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/a~1b%25"}}, "$defs": {"a/b%": {"type": "integer"}}}),
        json!({"type": "object", "$schema": "http://json-schema.org/draft-07/schema#",
               "properties": {"a": {"$ref": "#/definitions/n"}}, "definitions": {"n": {"type": "integer"}}}),
    ];
    for schema in cases {
        let compiled =
            InputSchema::compile(&schema).unwrap_or_else(|error| panic!("{schema}: {error}"));
        for (text, valid) in [(r#"{"a": 1}"#, true), (r#"{"a": "1"}"#, false)] {
            let document = super::document(text);
            let args = document.root().as_object().expect("an object");
            assert_eq!(compiled.check(args).is_ok(), valid, "{schema} {text}");
        }
    }
    let meta = json!({"type": "object", "properties": {"a": {"$ref": "https://json-schema.org/draft/2020-12/schema"}}});
    let meta = InputSchema::compile(&meta).expect("the meta-schema is at hand");
    let document = super::document(r#"{"a": {"type": "objekt"}}"#);
    assert!(meta.check(document.root().as_object().expect("an object")).is_err());
    for broken in ["#/$defs/none", "#none", "#/%zz"] {
        let error = refusal(json!({"type": "object", "$ref": broken}));
        assert!(matches!(error, SchemaError::BrokenReference { .. }), "{error:?}");
    }
}

/// [JSC-04] depth and number of subschemas are bounded.
#[test]
fn size() {
    let nested = |levels: usize| (0..levels).fold(json!({}), |inner, _| json!({"items": inner}));
    let with = |inner: Value| json!({"type": "object", "properties": {"a": inner}});
    assert!(InputSchema::compile(&with(nested(SCHEMA_DEPTH_MAX - 3))).is_ok());
    assert_eq!(refusal(with(nested(SCHEMA_DEPTH_MAX - 2))), SchemaError::TooDeep);
    assert_eq!(refusal(with(nested(1_000))), SchemaError::TooDeep);
    let wide = |count: usize| {
        let properties = (0..count).map(|at| (at.to_string(), json!({"type": "null"})));
        json!({"type": "object", "properties": properties.collect::<serde_json::Map<_, _>>()})
    };
    assert!(InputSchema::compile(&wide(SUBSCHEMAS_MAX - 1)).is_ok());
    assert_eq!(refusal(wide(SUBSCHEMAS_MAX)), SchemaError::TooManySubschemas);
}

/// [JSC-04] what multiplies on one value is refused: doubling references, doubling `anyOf`, long chains.
#[test]
fn cost() {
    for keyword in ["anyOf", "oneOf", "allOf"] {
        let mut defs = serde_json::Map::new();
        defs.insert("0".to_owned(), json!({"type": "integer"}));
        for level in 1..30 {
            let below = json!({"$ref": format!("#/$defs/{}", level - 1)});
            defs.insert(level.to_string(), json!({keyword: [below, below]}));
        }
        let schema =
            json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/29"}}, "$defs": defs});
        assert_eq!(refusal(schema), SchemaError::TooCostly);
    }
    let chain = |length: u32| {
        (1..length).fold(json!({"type": "integer"}), |inner, _| json!({"not": inner}))
    };
    let with = |inner: Value| json!({"type": "object", "properties": {"a": inner}});
    assert!(InputSchema::compile(&with(chain(SCHEMA_CHAIN_MAX))).is_ok());
    assert_eq!(refusal(with(chain(SCHEMA_CHAIN_MAX + 1))), SchemaError::TooCostly);
}

/// [JSC-04] a reference that never leaves its value is refused, one that descends is not.
#[test]
fn recursion() {
    for endless in [
        json!({"type": "object", "$ref": "#"}),
        json!({"type": "object", "anyOf": [{"$ref": "#"}, {"type": "null"}]}),
        json!({"type": "object", "$ref": "#/$defs/a",
               "$defs": {"a": {"not": {"$ref": "#/$defs/b"}}, "b": {"if": {"$ref": "#/$defs/a"}}}}),
        json!({"type": "object", "dependentSchemas": {"a": {"$ref": "#"}}}),
    ] {
        assert_eq!(refusal(endless), SchemaError::EndlessReference);
    }
    let tree = json!({"type": "object", "required": ["v"], "properties": {
        "v": {"type": "integer"}, "left": {"$ref": "#"}, "right": {"$ref": "#"}}});
    let tree = InputSchema::compile(&tree).expect("a tree");
    for (text, valid) in [
        (r#"{"v": 1, "left": {"v": 2, "right": {"v": 3}}}"#, true),
        (r#"{"v": 1, "left": {"v": 2, "right": {"v": "3"}}}"#, false),
    ] {
        let document = super::document(text);
        assert_eq!(tree.check(document.root().as_object().expect("an object")).is_ok(), valid);
    }
}

/// [JSC-04] patterns run in linear time; those that cannot are refused by their text.
#[test]
fn patterns() {
    let with = |pattern: &str| json!({"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}});
    for refused in [r"^(?=a)b", r"(?<!a)b", r"(a)\1", "a{1000}{1000}", "(", "[z-a]"] {
        let error = refusal(with(refused));
        let SchemaError::Pattern { pattern } = &error else { panic!("{refused}: {error:?}") };
        assert_eq!(pattern, refused);
    }
    let in_names = json!({"type": "object", "patternProperties": {"^(?=a)b": {}}});
    assert!(matches!(refusal(in_names), SchemaError::Pattern { .. }));
    let schema = InputSchema::compile(&with("^(a+)+$")).expect("linear");
    let document = super::document(&format!(r#"{{"a": "{}!"}}"#, "a".repeat(100_000)));
    assert!(schema.check(document.root().as_object().expect("an object")).is_err());
}
