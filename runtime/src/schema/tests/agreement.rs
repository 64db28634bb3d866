//! The validator over the tape against the stock validator over `serde_json`, on random schemas and documents.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use crate::schema::fuel::Fuel;
use crate::schema::tape::{Tape, Visit};
use crate::schema::{CHECK_STEPS_MAX, FAULTS_COLLECTED_MAX, compile::compile, fault};

const NAMES: &[&str] = &["a", "b", "ab", "é"];

fn scalar() -> impl Strategy<Value = Value> {
    let texts = select(vec!["", "a", "ab", "b", "é", "🦀🦀", "x\"\\\n"]);
    prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|flag| json!(flag)),
        (-3..4i64).prop_map(|number| json!(number)),
        select(vec![0.5, 1.0, -0.0, 2.0, 1e300, 1e19, -2.5]).prop_map(|number| json!(number)),
        select(vec![u64::MAX, 1 << 53, (1 << 53) + 1]).prop_map(|number| json!(number)),
        texts.prop_map(|text| json!(text)),
    ]
}

fn members(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop::collection::vec((select(NAMES), value), 0..4).prop_map(|members| {
        Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    })
}

fn document() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 40, 20, |inner| {
        prop_oneof![
            3 => prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            1 => prop::collection::vec(inner.clone(), 17..20).prop_map(Value::Array),
            3 => members(inner),
        ]
    })
}

/// One assertion that needs no subschema.
fn leaf() -> impl Strategy<Value = Value> {
    let types = select(vec!["null", "boolean", "integer", "number", "string", "array", "object"]);
    let number =
        (select(vec!["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]), scalar())
            .prop_filter("a number", |(_, limit)| limit.is_number());
    let counts =
        ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];
    prop_oneof![
        Just(json!(true)),
        Just(json!(false)),
        types.clone().prop_map(|one| json!({"type": one})),
        (types.clone(), types)
            .prop_filter("different", |(one, two)| one != two)
            .prop_map(|(one, two)| json!({"type": [one, two]})),
        number.prop_map(|(keyword, limit)| json!({keyword: limit})),
        (select(counts.to_vec()), 0..4u32).prop_map(|(keyword, limit)| json!({keyword: limit})),
        select(vec![0.5, 1.0, 2.0, 3.0]).prop_map(|number| json!({"multipleOf": number})),
        select(vec!["^a", "b$", "^.$", "é|x", r"\n"])
            .prop_map(|pattern| json!({"pattern": pattern})),
        document().prop_map(|value| json!({"const": value})),
        prop::collection::vec(document(), 1..4).prop_map(|values| json!({"enum": values})),
        Just(json!({"uniqueItems": true})),
        prop::collection::vec(select(NAMES), 0..3).prop_map(|mut names| {
            names.sort_unstable();
            names.dedup();
            json!({"required": names})
        }),
        Just(json!({"dependentRequired": {"a": ["b"]}})),
        Just(json!({"$ref": "#/$defs/tree"})),
        Just(json!({"$ref": "#/$defs/small"})),
    ]
}

fn schema() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(3, 24, 4, |inner| {
        let list = prop::collection::vec(inner.clone(), 1..4);
        let one = select(vec![
            "items",
            "contains",
            "additionalProperties",
            "not",
            "unevaluatedProperties",
            "unevaluatedItems",
        ]);
        prop_oneof![
            (one, inner.clone()).prop_map(|(keyword, schema)| json!({keyword: schema})),
            (select(vec!["allOf", "anyOf", "oneOf", "prefixItems"]), list)
                .prop_map(|(keyword, schemas)| json!({keyword: schemas})),
            (members(inner.clone()), inner.clone()).prop_map(
                |(named, rest)| json!({"properties": named, "additionalProperties": rest})
            ),
            members(inner.clone()).prop_map(|named| json!({"dependentSchemas": named})),
            inner.clone().prop_map(|schema| json!({"patternProperties": {"^a": schema}})),
            Just(json!({"propertyNames": {"maxLength": 1}})),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(one, two, three)| json!({"if": one, "then": two, "else": three})),
            (inner.clone(), inner).prop_map(|(one, two)| merged(one, two)),
        ]
    })
}

/// Two schemas' keywords side by side, so that they meet in one object.
fn merged(one: Value, two: Value) -> Value {
    match (one, two) {
        (Value::Object(one), Value::Object(mut two)) => {
            two.extend(one);
            Value::Object(two)
        }
        (one, _) => one,
    }
}

fn rooted(schema: Value) -> Value {
    let mut root = Map::new();
    root.insert("allOf".to_owned(), json!([schema]));
    root.insert("$defs".to_owned(), json!({
        "tree": {"type": ["object", "integer"], "additionalProperties": {"$ref": "#/$defs/tree"}},
        "small": {"anyOf": [{"type": "null"}, {"maxLength": 1, "type": "string"}]},
    }));
    Value::Object(root)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// [JSC-01] [JSC-02] the tape and `serde_json` are judged alike, and a refusal always has words.
    #[test]
    fn tape_agrees_with_stock(schema in schema(), value in document()) {
        let schema = rooted(schema);
        let stock = jsonschema::validator_for(&schema).expect("the grammar makes legal schemas");
        let ours = compile::<Tape>(&schema).expect("the grammar stays within the bounds");
        let document = super::document(&value.to_string());
        let visit = Visit::of_value(document.root(), Fuel::new(CHECK_STEPS_MAX, u32::MAX));
        let valid = ours.is_valid(visit.root());
        prop_assert!(!visit.fuel.is_spent());
        prop_assert_eq!(valid, stock.is_valid(&value), "{} {}", schema, value);
        if !valid {
            let visit = Visit::of_value(document.root(), Fuel::new(CHECK_STEPS_MAX, FAULTS_COLLECTED_MAX));
            let told = fault::tell(&ours, &visit, "root");
            prop_assert!(told.starts_with("root"), "{}", told);
            prop_assert!(!told.contains("too many ways"), "{}", told);
            let places: Vec<String> = stock.iter_errors(&value).map(|e| e.instance_path().to_string()).collect();
            let visit = Visit::of_value(document.root(), Fuel::new(CHECK_STEPS_MAX, u32::MAX));
            let own: Vec<String> = ours.iter_errors(visit.root()).map(|e| e.instance_path().to_string()).collect();
            prop_assert_eq!(own, places);
        }
    }
}
