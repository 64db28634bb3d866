//! Values against `serde_json` as the naive oracle, and the rule for repeated names.

use std::collections::HashMap;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value as Json;

use super::*;
use crate::testing::{any_json, document};

proptest! {
    /// Every way out of the tape gives the text and the value the oracle gives.
    #[test]
    fn copies_are_the_oracles(value in any_json()) {
        let text = serde_json::to_string(&value).unwrap();
        let parsed = document(&text);
        let mut written = Vec::new();
        parsed.root().write_json(&mut written);
        prop_assert_eq!(std::str::from_utf8(&written), Ok(text.as_str()));
        prop_assert_eq!(serde_json::to_string(&parsed.root()).unwrap(), text);
        prop_assert_eq!(parsed.root().to_json(), value);
    }

    /// [RPC-19] of a repeated name the first member counts in every reading, at every size.
    #[test]
    fn the_first_of_a_name_counts(names in vec(0..60u8, 0..80)) {
        let members: Vec<String> =
            names.iter().enumerate().map(|(at, name)| format!("\"k{name}\":{at}")).collect();
        let parsed = document(format!("{{{}}}", members.join(",")));
        let object = parsed.root().as_object().unwrap();

        let mut first = HashMap::new();
        for (at, name) in names.iter().enumerate() {
            first.entry(format!("k{name}")).or_insert(at);
        }
        prop_assert_eq!(object.has_duplicate_keys(), first.len() != names.len());
        prop_assert_eq!(object.iter().count(), names.len());
        for (name, at) in &first {
            prop_assert_eq!(object.get(name).and_then(Value::as_u64), Some(*at as u64));
        }
        let owned = |(name, at): (&str, Value<'_>)| (name.into(), at.as_u64().unwrap() as usize);
        let members: HashMap<String, usize> = object.members().map(owned).collect();
        prop_assert_eq!(object.members().count(), first.len());
        prop_assert_eq!(&members, &first);
        prop_assert_eq!(&parsed.root().deserialize::<HashMap<String, usize>>().unwrap(), &first);
        let mut written = Vec::new();
        parsed.root().write_json(&mut written);
        let reread: HashMap<String, usize> = serde_json::from_slice(&written).unwrap();
        prop_assert_eq!(&reread, &first);
    }
}

/// The getters give a value to the kinds they are for, and none to the others.
#[test]
fn getters_tell_kinds_apart() {
    let parsed = document(r#"[null,true,-7,7,7.5,"s",[1,[2]],{"a":{"b":2},"c":3}]"#);
    let elements = parsed.root().as_array().unwrap();
    assert_eq!((elements.len(), elements.iter().len()), (8, 8));
    let kinds: Vec<_> = elements.iter().map(|value| value.kind().name()).collect();
    let expected = ["null", "boolean", "integer", "integer", "number", "string", "array", "object"];
    assert_eq!(kinds, expected);
    let count = |is: fn(Value<'_>) -> bool| elements.iter().filter(|value| is(*value)).count();
    assert_eq!(count(|value| value.is_null()), 1);
    assert_eq!(count(|value| value.as_bool().is_some()), 1);
    assert_eq!(count(|value| value.as_i64().is_some()), 2);
    assert_eq!(count(|value| value.as_u64().is_some()), 1);
    assert_eq!(count(|value| value.as_f64().is_some()), 3);
    assert_eq!(count(|value| value.as_number().is_some()), 3);
    assert_eq!(count(|value| value.as_str().is_some()), 1);
    assert_eq!(count(|value| value.as_array().is_some()), 1);
    assert_eq!(count(|value| value.as_object().is_some()), 1);
}

/// Walking past nested values lands on the next member, and missing names are absent.
#[test]
fn lookups_step_over_what_is_nested() {
    let parsed = document(r#"{"a":{"b":[{"c":1},2]},"c":{},"b":3}"#);
    let object = parsed.root().as_object().unwrap();
    assert_eq!(object.get("b").and_then(Value::as_i64), Some(3));
    assert!(object.get("c").and_then(Value::as_object).is_some_and(Object::is_empty));
    assert!(object.get("d").is_none());
    assert_eq!(format!("{:?}", object.get("a").unwrap()), r#"{"b":[{"c":1},2]}"#);
}

/// Absent arguments are the empty object.
#[test]
fn the_empty_object_is_empty() {
    assert_eq!(parse_empty_object().to_json(), Json::Object(Default::default()));
    assert!(parse_empty_object().as_object().is_some_and(|object| object.iter().next().is_none()));
    assert!(Object::empty().get("a").is_none());
}

/// [SEC-07] a large object with no repeated name is checked in far less than quadratic time.
#[test]
fn large_objects_are_checked_in_near_linear_time() {
    let members: Vec<String> = (0..200_000).map(|at| format!("\"{at}\":0")).collect();
    let unique = document(format!("{{{}}}", members.join(",")));
    assert!(!unique.root().as_object().unwrap().has_duplicate_keys());
    let repeated = document(format!("{{{},\"7\":1}}", members.join(",")));
    assert!(repeated.root().as_object().unwrap().has_duplicate_keys());
    assert_eq!(repeated.root().as_object().unwrap().members().count(), 200_000);
}
