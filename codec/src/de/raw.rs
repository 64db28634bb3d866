//! `serde_json::value::RawValue` fields: the source text is gone after the parse, so the value is
//! written again.

use serde::de::value::{MapDeserializer, StrDeserializer};
use serde::de::{Error, Visitor};

use super::DeError;
use crate::value::Value;

/// The name under which `RawValue` asks a deserialiser for text. Private to `serde_json`; a test
/// notices when it changes.
pub(super) const TOKEN: &str = "$serde_json::private::RawValue";

pub(super) fn visit<'de, V: Visitor<'de>>(
    value: Value<'de>,
    visitor: V,
) -> Result<V::Value, DeError> {
    let mut text = Vec::new();
    value.write_json(&mut text);
    let text = String::from_utf8(text).map_err(DeError::custom)?;
    let pair = (StrDeserializer::<DeError>::new(TOKEN), text);
    visitor.visit_map(MapDeserializer::new(std::iter::once(pair)))
}
