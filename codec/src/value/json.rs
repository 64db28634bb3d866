//! A value in other forms: text, `serde_json::Value`, any serde serialiser. Of a repeated name the
//! first member is kept.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use super::Value;
use crate::document::Node;
use crate::write;

impl Value<'_> {
    /// An owned copy.
    pub fn to_json(self) -> serde_json::Value {
        use serde_json::Value as Json;
        if let Some(object) = self.as_object() {
            return Json::Object(
                object.members().map(|(name, value)| (name.to_owned(), value.to_json())).collect(),
            );
        }
        if let Some(array) = self.as_array() {
            return Json::Array(array.iter().map(Value::to_json).collect());
        }
        match self.head() {
            Node::String(text) => Json::String(text.to_owned()),
            Node::Bool(flag) => Json::Bool(flag),
            _ => self.as_number().map_or(Json::Null, Json::Number),
        }
    }

    /// Appends the value as compact JSON.
    pub fn write_json(self, out: &mut Vec<u8>) {
        match self.head() {
            Node::Object { .. } => {
                out.push(b'{');
                let members = self.as_object().into_iter().flatten();
                for (at, (name, value)) in members.enumerate() {
                    if at > 0 {
                        out.push(b',');
                    }
                    write::key(out, name);
                    value.write_json(out);
                }
                out.push(b'}');
            }
            Node::Array { .. } => {
                out.push(b'[');
                let elements = self.as_array().into_iter().flatten();
                for (at, value) in elements.enumerate() {
                    if at > 0 {
                        out.push(b',');
                    }
                    value.write_json(out);
                }
                out.push(b']');
            }
            Node::String(text) => write::string(out, text),
            Node::Null => out.extend_from_slice(b"null"),
            Node::Bool(flag) => write::bool(out, flag),
            Node::I64(number) => write::int(out, number),
            Node::U64(number) => write::uint(out, number),
            Node::F64(number) => write::double(out, number),
        }
    }
}

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.head() {
            Node::Object { .. } => {
                let mut map = serializer.serialize_map(None)?;
                for (name, value) in self.as_object().into_iter().flatten() {
                    map.serialize_entry(name, &value)?;
                }
                map.end()
            }
            Node::Array { len, .. } => {
                let mut seq = serializer.serialize_seq(Some(len))?;
                for value in self.as_array().into_iter().flatten() {
                    seq.serialize_element(&value)?;
                }
                seq.end()
            }
            Node::String(text) => serializer.serialize_str(text),
            Node::Null => serializer.serialize_unit(),
            Node::Bool(flag) => serializer.serialize_bool(flag),
            Node::I64(number) => serializer.serialize_i64(number),
            Node::U64(number) => serializer.serialize_u64(number),
            Node::F64(number) => serializer.serialize_f64(number),
        }
    }
}

impl std::fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = Vec::new();
        self.write_json(&mut text);
        f.write_str(&String::from_utf8_lossy(&text))
    }
}

impl std::fmt::Debug for super::Object<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl std::fmt::Debug for super::Array<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
