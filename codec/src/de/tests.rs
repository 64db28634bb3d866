//! Deserialising against `serde_json` as the naive oracle, and the text of errors.

use std::borrow::Cow;
use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::Deserialize;
use serde_json::Value as Json;
use serde_json::value::RawValue;

use super::DeError;
use crate::testing::{any_json, document};

#[derive(Debug, PartialEq, Deserialize)]
enum Shape {
    Unit,
    One(u8),
    Two(u8, String),
    Named { side: f64 },
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    #[serde(borrow)]
    name: &'a str,
    #[serde(borrow, default)]
    note: Cow<'a, str>,
    count: u32,
    #[serde(default)]
    ratio: Option<f32>,
    #[serde(default)]
    shapes: Vec<Shape>,
    #[serde(default)]
    pair: Option<(i8, char)>,
    #[serde(default)]
    table: BTreeMap<u16, bool>,
    #[serde(flatten)]
    rest: BTreeMap<String, Json>,
}

#[derive(Debug, Deserialize)]
struct Rows<'a> {
    #[serde(borrow)]
    rows: Vec<Row<'a>>,
}

proptest! {
    /// Self-describing types come out as the oracle's.
    #[test]
    fn any_value_is_the_oracles(value in any_json()) {
        let text = serde_json::to_string(&value).unwrap();
        let doc = document(&text);
        prop_assert_eq!(doc.root().deserialize::<Json>().unwrap(), value);
        prop_assert!(doc.root().deserialize::<serde::de::IgnoredAny>().is_ok());
        let raw = doc.root().deserialize::<Box<RawValue>>().unwrap();
        prop_assert_eq!(raw.get(), text);
    }

    /// Typed reading accepts what the oracle accepts, and gives the same.
    #[test]
    fn typed_values_are_the_oracles(value in any_json()) {
        fn agree<T>(text: &str) -> Result<(), TestCaseError>
        where
            T: PartialEq + std::fmt::Debug + for<'de> Deserialize<'de>,
        {
            let doc = document(text);
            let oracle = serde_json::from_str::<T>(text).ok();
            let got = doc.root().deserialize::<T>().ok();
            // A whole number with a fraction is an integer here and not for the oracle.
            let allowed = oracle.is_none() && text.contains(".0");
            prop_assert!(got == oracle || allowed, "{:?} {:?}", got, oracle);
            Ok(())
        }
        let text = value.to_string();
        agree::<Option<i64>>(&text)?;
        agree::<u8>(&text)?;
        agree::<i128>(&text)?;
        agree::<f64>(&text)?;
        agree::<char>(&text)?;
        agree::<()>(&text)?;
        agree::<Vec<Option<String>>>(&text)?;
        agree::<(bool, u64)>(&text)?;
        agree::<BTreeMap<String, Json>>(&text)?;
        agree::<BTreeMap<i32, Json>>(&text)?;
        agree::<Shape>(&text)?;
    }
}

/// Strings are borrowed from the document, and every kind of field is filled.
#[test]
fn structs_borrow_from_the_document() {
    let text = r#"{"rows":[{"name":"a\u0062","note":"n","count":3.0,"ratio":1,"extra":{"x":[1]},
        "shapes":["Unit",{"One":7},{"Two":[1,"x"]},{"Named":{"side":2}}],
        "pair":[-1,"é"],"table":{"7":true}}]}"#;
    let doc = document(text);
    let rows: Rows<'_> = doc.root().deserialize().unwrap();
    let row = &rows.rows[0];
    assert_eq!(row.name, "ab");
    let range = doc.bytes().as_ptr_range();
    assert!(range.contains(&row.note.as_ptr()));
    assert_eq!(row.note, "n");
    assert_eq!((row.count, row.ratio, row.pair), (3, Some(1.0), Some((-1, 'é'))));
    let shapes =
        [Shape::Unit, Shape::One(7), Shape::Two(1, "x".into()), Shape::Named { side: 2.0 }];
    assert_eq!(row.shapes, shapes);
    assert_eq!(row.table, BTreeMap::from([(7, true)]));
    assert_eq!(row.rest, BTreeMap::from([("extra".into(), serde_json::json!({"x": [1]}))]));
}

/// [RPC-19] a repeated field is read from its first member, not refused
#[test]
fn the_first_of_a_repeated_field_counts() {
    let doc = document(r#"{"rows":[],"rows":7,"other":1}"#);
    assert_eq!(doc.root().deserialize::<Rows<'_>>().unwrap().rows, []);
}

/// Whole doubles are integers where one is asked for, within the type's range.
#[test]
fn whole_doubles_are_integers() {
    let integer = |text: &str| document(text).root().deserialize::<i64>().ok();
    assert_eq!(integer("5.0"), Some(5));
    assert_eq!(integer("-5e2"), Some(-500));
    assert_eq!(integer("-0"), Some(0));
    assert_eq!(integer("-0.0"), Some(0));
    assert_eq!(integer("5.5"), None);
    assert_eq!(integer("1e18"), Some(1_000_000_000_000_000_000));
    assert_eq!(integer("1e19"), None);
    assert_eq!(integer("-9223372036854775809"), Some(i64::MIN));
    assert_eq!(integer("1e300"), None);
    assert_eq!(document("1e19").root().deserialize::<u64>().ok(), Some(10_000_000_000_000_000_000));
    assert_eq!(document("1e20").root().deserialize::<u64>().ok(), None);
    assert_eq!(document("256.0").root().deserialize::<u8>().ok(), None);
}

/// [SEC-13] errors name the place and the type, and repeat at most a clip of the document
#[test]
fn errors_name_the_place() {
    fn error<'a, T: Deserialize<'a>>(doc: &'a crate::Document) -> String {
        let error: DeError = doc.root().deserialize::<T>().err().expect("the value fits");
        error.under("arguments").to_string()
    }
    let row =
        |members: &str| document(format!(r#"{{"rows":[{{"name":"a","count":1}},{{{members}}}]}}"#));
    let rows = |members: &str| error::<Rows<'_>>(&row(members));
    assert_eq!(rows(r#""name":"a""#), "arguments.rows[1]: member \"count\" is missing");
    assert_eq!(
        rows(r#""name":7,"count":1"#),
        "arguments.rows[1].name: expected a borrowed string, got integer"
    );
    let ids = document(r#"{"rows":[0,1,2,{"id":"x"}]}"#);
    assert_eq!(
        error::<BTreeMap<String, (u8, u8, u8, BTreeMap<String, u64>)>>(&ids),
        "arguments.rows[3].id: expected u64, got string"
    );
    assert_eq!(
        error::<Vec<u8>>(&document("[1,256]")),
        "arguments[1]: expected u8, got integer `256`"
    );
    assert_eq!(error::<(u8, u8)>(&document("[1,2,3]")), "arguments: expected 2 elements, got 3");
    assert_eq!(
        error::<Vec<Shape>>(&document(r#"[{"Two":[1,7]}]"#)),
        "arguments[0].Two[1]: expected a string, got integer"
    );
    assert_eq!(
        error::<Shape>(&document(r#""Other""#)),
        "arguments: expected one of Unit, One, Two, Named, got \"Other\""
    );
    let long = document(format!(r#"{{"{0}":"{0}"}}"#, "k".repeat(5000)));
    assert!(error::<BTreeMap<String, u8>>(&long).len() < 500);
    let deep = document(
        "{\"a\u{1}\":".replace('\u{1}', "\\u0001").repeat(100) + "\"\"" + &"}".repeat(100),
    );
    #[derive(Deserialize)]
    #[serde(transparent)]
    struct Deep {
        _members: BTreeMap<String, Deep>,
    }
    let text = error::<Deep>(&deep);
    assert!(text.len() < 1000 && !text.chars().any(char::is_control), "{text}");
}
