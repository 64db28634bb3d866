//! The work of one check has an end, whatever schema and document do to each other.

use codec::limits::DEPTH_MAX_CEILING;
use codec::{Document, Parser};
use serde_json::{Value, json};

use crate::schema::{InputSchema, OutputSchema, SCHEMA_CHAIN_MAX};

/// Few enough for an unoptimised build, many more than the documents here are worth.
const STEPS: u64 = 2_000_000;

/// An expression tree whose alternatives all descend before they are told apart.
fn expressions(ops: &[&str]) -> Value {
    let forms = ops.iter().map(|op| {
        json!({"type": "object", "required": ["args", "op"], "properties": {
            "args": {"type": "array", "items": {"$ref": "#/$defs/expr"}}, "op": {"enum": [op, [op]]}}})
    });
    let mut forms: Vec<Value> = forms.collect();
    forms.push(json!({"type": "integer"}));
    json!({"type": "object", "required": ["e"], "properties": {"e": {"$ref": "#/$defs/expr"}},
           "$defs": {"expr": {"anyOf": forms}}})
}

fn nested(levels: usize, leaf: &str) -> String {
    let (open, close) = (r#"{"op":"z","args":["#, "]}");
    format!(r#"{{"e":{}{leaf}{}}}"#, open.repeat(levels), close.repeat(levels))
}

fn check(schema: &Value, text: &str) -> Result<(), String> {
    let schema = InputSchema::compile(schema).expect("a legal schema");
    let document = super::document(text);
    schema.check_within(document.root().as_object().expect("an object"), STEPS)
}

/// [JSC-04] recursive alternatives: 5^60 ways to descend, and still an answer, right where it can be right.
#[test]
fn recursive_alternatives() {
    let schema = expressions(&["a", "b", "c", "d", "z"]);
    assert_eq!(check(&schema, &nested(60, "1")), Ok(()));
    let told = check(&schema, &nested(60, "\"x\"")).expect_err("a refusal");
    assert!(
        told.starts_with("arguments.e: the value matches none of the 6 alternatives (nearest: "),
        "{told}"
    );
    let told = check(&schema, &nested(2, "\"x\"")).expect_err("a refusal");
    assert!(
        told.ends_with(r#"(nearest: arguments.e.args[0].args[0]: "x" is not of type "integer")"#),
        "{told}"
    );
    let output = OutputSchema::compile(&schema).expect("a legal schema");
    let value: Value = serde_json::from_str(&nested(5, "\"x\"")).expect("JSON");
    assert!(output.check(&value).is_err());
}

/// [JSC-04] a document with very many faults is told in the time of a few.
#[test]
fn very_many_faults() {
    let faults = vec!["0"; 200_000].join(",");
    let items = json!({"type": "object", "properties": {"a": {"anyOf": [
        {"items": {"type": "string"}}, {"items": {"type": "null"}}, {"type": "boolean"}]}}});
    let told = check(&items, &format!(r#"{{"a":[{faults}]}}"#)).expect_err("a refusal");
    assert_eq!(
        told,
        r#"arguments.a: the value matches none of the 3 alternatives (nearest: arguments.a[0]: 0 is not of type "string")"#
    );
    let plain = json!({"type": "object", "properties": {"a": {"items": {"type": "string"}}}});
    let told = check(&plain, &format!(r#"{{"a":[{faults}]}}"#)).expect_err("a refusal");
    assert!(
        told.starts_with(r#"arguments.a[0]: 0 is not of type "string"; arguments.a[1]"#),
        "{told}"
    );
}

/// [JSC-04] `uniqueItems` on items made to collide as doubles, and objects with many members, cost what they weigh.
#[test]
fn large_collections() {
    let unique = json!({"type": "object", "properties": {"a": {"uniqueItems": true}}});
    let first = 1_u64 << 63;
    let items: Vec<String> = (first..first + 50_000).map(|number| number.to_string()).collect();
    assert_eq!(check(&unique, &format!(r#"{{"a":[{}]}}"#, items.join(","))), Ok(()));
    let members: Vec<String> = (0..50_000).map(|at| format!(r#""k{at}":{at}"#)).collect();
    let object = format!("{{{}}}", members.join(","));
    let closed = json!({"type": "object", "properties": {"k7": {"type": "integer"}}, "additionalProperties": {"minimum": 0}});
    assert_eq!(check(&closed, &object), Ok(()));
    // Members in another order: each is looked up, which is quadratic until the fuel ends it.
    let mut backwards = members.clone();
    backwards.reverse();
    let both = format!(r#"{{"a":[{object},{{{}}}]}}"#, backwards.join(","));
    let told = check(&unique, &both).expect_err("a refusal");
    assert_eq!(told, "arguments: too much work to check against the schema");
}

/// Stack a thread needs for any check: the deepest document a configuration may allow, times the longest chain.
const STACK_BYTES: usize = 8 << 20;

/// [JSC-04] [RPC-20] the deepest document under the longest chain does not end the stack.
#[test]
fn deepest_document_and_longest_chain() {
    let again = json!({"properties": {"c": {"$ref": "#/$defs/t"}}, "items": {"$ref": "#/$defs/t"}});
    let link = |inner: Value, at: u32| match at % 2 {
        0 => json!({"allOf": [inner, true]}),
        _ => json!({"anyOf": [inner, false]}),
    };
    // One link is the reference itself.
    let chain = (0..SCHEMA_CHAIN_MAX - 2).fold(again, link);
    let schema = json!({"type": "object", "properties": {"c": {"$ref": "#/$defs/t"}}, "$defs": {"t": chain}});
    let schema = InputSchema::compile(&schema).expect("within the bounds");
    let levels = DEPTH_MAX_CEILING - 2;
    let text = format!(r#"{{"c":{}1{}}}"#, "[".repeat(levels), "]".repeat(levels));
    let checking = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        let mut document = Document::new();
        let body = 0..text.len();
        let mut parser = Parser::new(DEPTH_MAX_CEILING);
        document.parse(&mut parser, text.into_bytes(), body).expect("within the depth");
        schema.check(document.root().as_object().expect("an object"))
    });
    assert_eq!(checking.expect("a thread").join().expect("no overflow"), Ok(()));
}
