//! Plans against the stock validator: what a plan lets pass is valid, and ordinary documents do pass.

use proptest::prelude::*;
use proptest::sample::select;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::handler::input_schema_of;
use crate::schema::InputSchema;
use crate::schema::plan::{FIELDS_MAX, Plan};

fn passes(schema: &Value, text: &str) -> bool {
    let document = super::document(text);
    let plan = Plan::draw(schema).expect("an ordinary schema");
    plan.fits(document.root().as_object().expect("an object"))
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only its schema is of use")]
struct Order {
    id: u64,
    /// Said in words.
    note: Option<String>,
    size: Size,
    lines: Vec<Line>,
    parent: Option<Box<Order>>,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only its schema is of use")]
enum Size {
    Small,
    Large,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only its schema is of use")]
struct Line {
    count: u8,
    price: f64,
    tags: std::collections::BTreeMap<String, bool>,
}

/// [JSC-02] what a type derives has a plan, and the plan settles what fits it: unknown members, members in any order,
/// absent options, recursion.
#[test]
fn derived_schemas_have_plans() {
    let schema = input_schema_of::<Order>();
    let line = r#"{"price":1,"count":255,"tags":{"a":true},"more":[{}]}"#;
    let order = |parent: &str| {
        format!(
            r#"{{"lines":[{line},{line}],"size":"Small","id":7,"note":null,"parent":{parent}}}"#
        )
    };
    assert!(passes(&schema, &order("null")));
    assert!(passes(&schema, &order(&order(r#"{"id":0,"size":"Large","lines":[]}"#))));
    for (good, bad) in [
        ("255", "256"),
        ("255", "-1"),
        ("\"id\":7", "\"id\":7.5"),
        ("\"id\":7,", ""),
        ("Small", "small"),
        ("true", "1"),
        ("\"note\":null", "\"note\":1"),
        ("\"price\":1", "\"price\":null"),
        ("\"parent\":null", "\"parent\":{}"),
    ] {
        let broken = order("null").replacen(good, bad, 1);
        assert!(!passes(&schema, &broken), "{broken}");
        let schema = InputSchema::compile(&schema).expect("a legal schema");
        let document = super::document(&broken);
        assert!(schema.check(document.root().as_object().expect("an object")).is_err());
    }
}

/// [RPC-19] a repeated member passes only where each of its values fits; otherwise the validator looks at the first.
#[test]
fn repeated_names_are_not_settled_by_the_last() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    assert!(passes(&schema, r#"{"a":1,"a":2}"#));
    assert!(!passes(&schema, r#"{"a":"x","a":2}"#));
    assert!(!passes(&schema, r#"{"a":1,"a":"x"}"#));
}

/// [JSC-04] objects of more fields than a plan ticks off, and keywords it does not know, have no plan.
#[test]
fn what_is_beyond_plans() {
    let wide = |fields: usize| {
        let named: serde_json::Map<String, Value> =
            (0..fields).map(|at| (format!("f{at}"), json!({"type": "integer"}))).collect();
        json!({"type": "object", "properties": named, "required": [format!("f{}", fields - 1)]})
    };
    assert!(passes(&wide(FIELDS_MAX), &format!(r#"{{"f{}":1}}"#, FIELDS_MAX - 1)));
    assert!(!passes(&wide(FIELDS_MAX), r#"{"f0":1}"#));
    assert!(Plan::draw(&wide(FIELDS_MAX + 1)).is_none());
    for beyond in [
        json!({"pattern": "a"}),
        json!({"uniqueItems": true}),
        json!({"minimum": 0.5}),
        json!({"maximum": 9_007_199_254_740_993_u64}),
        json!({"required": ["nowhere"]}),
        json!({"$ref": "#/$defs/round"}),
        json!({"$ref": "#/$defs/none"}),
        json!({"$id": "https://example.com/other"}),
        json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        json!({"anyOf": [{"type": "string"}, {"type": "null"}], "minLength": 1}),
        json!(false),
    ] {
        let round = json!({"anyOf": [{"$ref": "#/$defs/round"}, {"type": "null"}]});
        let schema =
            json!({"type": "object", "properties": {"a": beyond}, "$defs": {"round": round}});
        assert!(Plan::draw(&schema).is_none(), "{schema}");
    }
    let older = json!({"type": "object", "$schema": "http://json-schema.org/draft-07/schema#"});
    assert!(Plan::draw(&older).is_none());
}

const NAMES: [&str; 4] = ["a", "b", "c", "name"];

fn values() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-3..4_i64).prop_map(Value::from),
        select(vec![0.0, 1.0, 2.5, -2.0, 1e300]).prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        select(vec!["", "a", "é", "abc"]).prop_map(Value::from),
    ];
    scalar.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(select(NAMES.to_vec()), inner, 0..4)
                .prop_map(|members| json!(members)),
        ]
    })
}

fn schemas() -> impl Strategy<Value = Value> {
    let kinds = ["null", "boolean", "integer", "number", "string", "array", "object"];
    let leaf = prop_oneof![
        Just(json!(true)),
        Just(json!({"title": "any", "x-of-ours": 1})),
        Just(json!({"$ref": "#/$defs/tree"})),
        select(kinds.to_vec()).prop_map(|one| json!({"type": one})),
        (select(kinds.to_vec()), -2..3_i64, 0..3_i64)
            .prop_filter("different", |(one, ..)| *one != "number")
            .prop_map(|(one, least, more)| json!({"type": [one, "number"], "minimum": least, "maximum": least + more})),
        (0..3_u32, 0..3_u32).prop_map(|(least, more)| json!({"minLength": least, "maxLength": least + more})),
        prop::collection::vec(select(vec!["a", "é", "abc"]), 1..3).prop_map(|texts| json!({"enum": texts})),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        let fields = prop::collection::btree_map(select(NAMES.to_vec()), inner.clone(), 1..4);
        let object = (fields, inner.clone(), any::<bool>(), 0..3_u8).prop_map(|(fields, rest, first, others)| {
            let required: Vec<&str> = fields.keys().copied().filter(|_| first).take(1).collect();
            let rest = [json!(true), json!(false), rest][usize::from(others)].clone();
            json!({"type": ["object", "integer"], "properties": fields, "required": required, "additionalProperties": rest})
        });
        prop_oneof![
            object,
            (inner.clone(), 0..2_u32).prop_map(|(items, least)| json!({"type": "array", "items": items, "minItems": least, "maxItems": 3})),
            inner.prop_map(|one| json!({"anyOf": [one, {"type": "null"}]})),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// [JSC-02] whatever a plan settles the stock validator settles so too; what it leaves open is invalid, or holds a
    /// whole number written as a double.
    #[test]
    fn plans_agree_with_stock(schema in schemas(), value in values()) {
        let root = json!({"type": "object", "properties": {"a": schema}, "required": ["a"], "$defs": {
            "tree": {"type": ["object", "boolean"], "additionalProperties": {"$ref": "#/$defs/tree"}},
        }});
        let value = json!({"a": value});
        let stock = jsonschema::validator_for(&root).expect("the grammar makes legal schemas");
        let (text, valid) = (value.to_string(), stock.is_valid(&value));
        let settled = passes(&root, &text);
        prop_assert!(valid || !settled, "{} {}", root, text);
        let whole_doubles = text.contains(".0") || text.contains("e+");
        prop_assert!(settled || !valid || whole_doubles, "{} {}", root, text);
    }
}
