//! What the core's tests share: parsed documents, arbitrary JSON values, and a speller that writes
//! one value in many ways.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value as Json;

use crate::document::{Document, JsonError, Parser};

/// The document of that text.
pub(crate) fn document(text: impl AsRef<[u8]>) -> Document {
    try_document(text).expect("the test's text is JSON")
}

pub(crate) fn try_document(text: impl AsRef<[u8]>) -> Result<Document, JsonError> {
    let bytes = text.as_ref().to_vec();
    let body = 0..bytes.len();
    let mut document = Document::new();
    document.parse(&mut Parser::default(), bytes, body)?;
    Ok(document)
}

/// Any JSON value without repeated member names.
pub(crate) fn any_json() -> impl Strategy<Value = Json> {
    let number = prop_oneof![
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        (-1000i64..1000).prop_map(Json::from),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Json::from),
    ];
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        number,
        any_text().prop_map(Json::from),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..8).prop_map(Json::from),
            vec((any_text(), inner), 0..8).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

/// Text with characters of every class a parser or writer treats on its own.
pub(crate) fn any_text() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        4 => prop::char::range(' ', '~'),
        1 => prop::char::range('\0', '\u{1f}'),
        1 => prop::sample::select("\"\\/\u{7f}\u{2028}ß\u{ffff}🦀".chars().collect::<Vec<_>>()),
        1 => any::<char>(),
    ];
    prop_oneof![vec(character.clone(), 0..12), vec(character, 12..80),]
        .prop_map(|characters| characters.into_iter().collect())
}

/// Writes a value with white space and escapes chosen by `dice`.
pub(crate) fn spell(value: &Json, dice: &mut impl Iterator<Item = u8>, out: &mut String) {
    space(dice, out);
    match value {
        Json::Object(members) => {
            out.push('{');
            for (at, (name, value)) in members.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                space(dice, out);
                spell_text(name, dice, out);
                space(dice, out);
                out.push(':');
                spell(value, dice, out);
            }
            out.push('}');
        }
        Json::Array(elements) => {
            out.push('[');
            for (at, value) in elements.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                spell(value, dice, out);
            }
            out.push(']');
        }
        Json::String(text) => spell_text(text, dice, out),
        scalar => out.push_str(&scalar.to_string()),
    }
    space(dice, out);
}

/// Writes a string with its quotes, some characters escaped that need not be.
pub(crate) fn spell_text(text: &str, dice: &mut impl Iterator<Item = u8>, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        let must = matches!(character, '"' | '\\' | '\0'..='\u{1f}');
        match dice.next().unwrap_or_default() % 8 {
            1 if character == '/' => out.push_str("\\/"),
            2 if must && (character == '"' || character == '\\') => {
                out.push('\\');
                out.push(character);
            }
            _ if must => escape_units(character, out),
            3 => escape_units(character, out),
            _ => out.push(character),
        }
    }
    out.push('"');
}

fn escape_units(character: char, out: &mut String) {
    for unit in character.encode_utf16(&mut [0; 2]) {
        out.push_str(&format!("\\u{unit:04x}"));
    }
}

fn space(dice: &mut impl Iterator<Item = u8>, out: &mut String) {
    out.push_str(
        ["", "", "", "", " ", "\n", "\r\n\t", "  "]
            [usize::from(dice.next().unwrap_or_default() % 8)],
    );
}
