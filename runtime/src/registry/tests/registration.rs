//! Definitions that are not taken.

use codec::types::{Annotations, Icon, Prompt, PromptArgument, Resource, Tool};
use serde_json::{Value, json};

use super::*;
use crate::registry::{RegistrationFault as Fault, Thing};
use crate::schema::SchemaError;

fn refusal<E>(entry: Result<E, RegistrationError>) -> RegistrationError {
    match entry {
        Ok(_) => panic!("taken"),
        Err(error) => error,
    }
}

/// [TOOL-06] [JSC-01] [JSC-02] [JSC-03] a refused schema is told with the tool's name and which schema it is.
#[test]
fn schemas() {
    let error = refusal(tool_with(json!({"type": "array"})));
    assert_eq!(error.reason(), &Fault::InputSchema(SchemaError::RootType));
    assert_eq!(
        error.to_string(),
        r#"tool "probe": inputSchema: the schema must say "type": "object" at its root"#
    );
    for schema in [
        json!({"type": "object", "$schema": "https://example.com/dialect"}),
        json!({"type": "object", "properties": {"a": {"type": "objekt"}}}),
        json!({"type": "object", "$ref": "http://127.0.0.1:1/x"}),
    ] {
        assert!(matches!(refusal(tool_with(schema.clone())).reason(), Fault::InputSchema(_)));
        let mut def = Tool::new("probe");
        def.output_schema = schema.as_object().cloned();
        let error = refusal(tool_of(def));
        assert!(matches!(error.reason(), Fault::OutputSchema(_)));
        assert!(error.to_string().starts_with(r#"tool "probe": outputSchema: "#), "{error}");
    }
}

/// [TOOL-09] names: the table, lenient and strict; letter case tells names apart.
#[test]
fn names() {
    let long = "n".repeat(128);
    let too_long = "n".repeat(129);
    let cases: [(&str, bool); 9] = [
        ("get", true),
        ("Get", true),
        ("a.b-c_D9", true),
        (&long, true),
        ("a b", false),
        ("a,b", false),
        ("a/b", false),
        ("é", false),
        (&too_long, false),
    ];
    for (name, good) in cases {
        assert!(tool_of(Tool::new(name)).is_ok(), "{name}");
        let strict = ToolEntry::new(Tool::new(name), never(), Vec::new(), Names::Strict);
        assert_eq!(strict.is_ok(), good, "{name}");
        let strict = PromptEntry::new(Prompt::new(name), never(), Completers::new(), Names::Strict);
        assert_eq!(strict.is_ok(), good, "{name}");
    }
    assert_eq!(refusal(tool_of(Tool::new(""))).reason(), &Fault::Name);
    let both = registry(["get".to_owned(), "Get".to_owned()]);
    assert_eq!(names_in(both.snapshot().tools.array()), ["get", "Get"]);
}

/// [XH-01] [XH-02] [XH-03] [XH-05] an annotation that breaks the rules refuses the tool, named.
#[test]
fn header_annotations() {
    let with = |properties: Value| tool_with(json!({"type": "object", "properties": properties}));
    for value in [json!(""), json!("a b"), json!("a\r\n"), json!("Région"), json!(5)] {
        let error = refusal(with(json!({"region": {"type": "string", "x-mcp-header": value}})));
        assert!(matches!(error.reason(), Fault::Header(_)), "{value}");
        assert!(
            error.to_string().starts_with(r#"tool "probe": inputSchema/properties/region: "#),
            "{error}"
        );
    }
    for schema_type in
        [json!("number"), json!(["string"]), json!("array"), json!("object"), json!("null")]
    {
        let error = refusal(with(json!({"a": {"type": schema_type, "x-mcp-header": "A"}})));
        assert!(matches!(error.reason(), Fault::Header(_)), "{schema_type}");
    }
    refusal(with(json!({"a": {"x-mcp-header": "A"}})));
    refusal(with(json!({
        "a": {"type": "string", "x-mcp-header": "Region"}, "b": {"type": "string", "x-mcp-header": "region"}})));
    let entry = with(json!({
        "a": {"type": "object", "properties": {"b": {"type": "object", "properties": {
            "c": {"type": "integer", "x-mcp-header": "Deep"}}}}},
        "d": {"type": "boolean", "x-mcp-header": "Flag"}}));
    let entry = entry.map_err(|error| error.to_string()).expect("a legal tool");
    let declared =
        entry.header_params.iter().map(|param| (param.name.as_str(), param.path.join(".")));
    assert_eq!(
        declared.collect::<Vec<_>>(),
        [("Deep", "a.b.c".to_owned()), ("Flag", "d".to_owned())]
    );
}

/// [XH-04] an annotation reached through anything but `properties` refuses the tool.
#[test]
fn header_annotations_out_of_reach() {
    let leaf = json!({"type": "string", "x-mcp-header": "A"});
    for keyword in [
        "items",
        "contains",
        "additionalProperties",
        "unevaluatedProperties",
        "unevaluatedItems",
        "propertyNames",
        "not",
        "if",
        "then",
        "else",
    ] {
        for schema in [
            json!({"type": "object", keyword: leaf}),
            json!({"type": "object", "properties": {"a": {keyword: {"properties": {"b": leaf}}}}}),
        ] {
            assert!(matches!(refusal(tool_with(schema)).reason(), Fault::Header(_)), "{keyword}");
        }
    }
    for keyword in ["allOf", "anyOf", "oneOf", "prefixItems"] {
        let schema = json!({"type": "object", keyword: [{"properties": {"a": leaf}}]});
        assert!(matches!(refusal(tool_with(schema)).reason(), Fault::Header(_)), "{keyword}");
    }
    for keyword in ["patternProperties", "dependentSchemas", "$defs", "definitions"] {
        let schema = json!({"type": "object", keyword: {"a": leaf}});
        assert!(matches!(refusal(tool_with(schema)).reason(), Fault::Header(_)), "{keyword}");
    }
}

/// [TOOL-12] [CALL-10] icons and annotations out of range are refused.
#[test]
fn icons_and_annotations() {
    let icon = |src: &str| Icon { src: src.to_owned(), mime_type: None, sizes: None, theme: None };
    for (src, good) in [
        ("https://example.com/i.png", true),
        ("data:image/png;base64,AA==", true),
        ("javascript:alert(1)", false),
        ("http://example.com/i.png", false),
        ("file:///i.png", false),
    ] {
        assert_eq!(tool_of(Tool::new("t").icon(icon(src))).is_ok(), good, "{src}");
        assert_eq!(prompt(Prompt::new("p").icon(icon(src)), &[]).is_ok(), good, "{src}");
    }
    for (priority, good) in [(0.0, true), (1.0, true), (1.1, false), (-0.1, false)] {
        let annotations: Annotations =
            serde_json::from_value(json!({"priority": priority})).expect("annotations");
        let def = Resource {
            uri: "test://a".to_owned(),
            name: "a".to_owned(),
            annotations: Some(annotations),
            ..Resource::default()
        };
        assert_eq!(
            ResourceEntry::new(def, never(), CacheHint::default()).is_ok(),
            good,
            "{priority}"
        );
    }
}

/// [TOOL-05] [TOOL-11] members of older revisions and unset hints are not listed.
#[test]
fn legacy_members() {
    let mut def = Tool::new("t");
    def.extra.insert("execution".to_owned(), json!({"taskSupport": "optional"}));
    def.extra.insert("x-own".to_owned(), json!(1));
    let entry = tool_of(def).expect("a legal tool");
    assert_eq!(
        &*entry.json,
        r#"{"name":"t","inputSchema":{"type":"object","additionalProperties":false},"x-own":1}"#
    );
}

/// [PRM-02] [CMP-02] prompt arguments are unique, completers stand for arguments and variables that exist.
#[test]
fn arguments_and_completers() {
    let two = Prompt::new("p").argument(PromptArgument::new("a")).argument("b");
    assert!(prompt(two.clone(), &["a", "b"]).is_ok());
    let error = refusal(prompt(two.clone(), &["c"]));
    assert_eq!(
        (error.thing(), error.reason()),
        (Thing::Prompt, &Fault::UnknownArgument("c".to_owned()))
    );
    let error = refusal(prompt(two.argument("a"), &[]));
    assert_eq!(error.reason(), &Fault::DuplicateArgument("a".to_owned()));
    assert!(template("test://{id}", &["id"]).is_ok());
    assert_eq!(
        refusal(template("test://{id}", &["other"])).reason(),
        &Fault::UnknownArgument("other".to_owned())
    );
}

/// [RES-08] [RES-10] [RES-11] URIs and templates are checked.
#[test]
fn uris_and_templates() {
    for uri in
        ["not a uri", "", "relative/path", "test://\0", "1test://a", "test://a b", "test://%zz"]
    {
        let error = refusal(resource(uri));
        assert_eq!((error.thing(), error.reason()), (Thing::Resource, &Fault::Uri), "{uri}");
    }
    for uri in ["test://static/a", "file:///a/b", "urn:example:a", "https://example.com/?q#f"] {
        assert!(resource(uri).is_ok(), "{uri}");
    }
    for text in ["test://{", "test://{a}{", "test://{a b}"] {
        assert!(matches!(refusal(template(text, &[])).reason(), Fault::Template(_)), "{text}");
    }
}
