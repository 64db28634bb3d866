//! Objects, arrays and enums as serde walks them. The place of an error is added here, one step for
//! each level it leaves.

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};

use super::DeError;
use crate::value::{Array, Elements, Members, Object, Value};

pub(super) fn visit_object<'de, V: Visitor<'de>>(
    object: Object<'de>,
    visitor: V,
) -> Result<V::Value, DeError> {
    visitor.visit_map(ObjectAccess { members: object.members(), name: "", value: None })
}

pub(super) fn visit_array<'de, V: Visitor<'de>>(
    array: Array<'de>,
    visitor: V,
) -> Result<V::Value, DeError> {
    let mut access = ArrayAccess { elements: array.iter(), index: 0 };
    let value = visitor.visit_seq(&mut access)?;
    if access.elements.len() > 0 {
        return Err(DeError::custom(format_args!(
            "expected {} elements, got {}",
            access.index,
            array.len()
        )));
    }
    Ok(value)
}

/// A string is a variant without content; an object of one member is a variant and its content.
pub(super) fn visit_enum<'de, V: Visitor<'de>>(
    value: Value<'de>,
    visitor: V,
) -> Result<V::Value, DeError> {
    if let Some(name) = value.as_str() {
        return visitor.visit_enum(Variant { name, content: None });
    }
    let mut members = value.as_object().into_iter().flat_map(Object::members);
    match (members.next(), members.next()) {
        (Some((name, content)), None) => {
            visitor.visit_enum(Variant { name, content: Some(content) })
        }
        (Some(_), Some(_)) => Err(DeError::custom("expected an object of one member")),
        _ => Err(DeError::custom(format_args!("expected a variant, got {}", value.kind().name()))),
    }
}

struct ObjectAccess<'de> {
    members: Members<'de>,
    /// Of the member that was read last.
    name: &'de str,
    /// Its value, until that is read too.
    value: Option<Value<'de>>,
}

impl<'de> MapAccess<'de> for ObjectAccess<'de> {
    type Error = DeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, DeError> {
        let Some((name, value)) = self.members.next() else { return Ok(None) };
        (self.name, self.value) = (name, Some(value));
        seed.deserialize(Name(name)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, DeError> {
        let Some(value) = self.value.take() else {
            return Err(DeError::custom("a value was asked for before its name"));
        };
        seed.deserialize(value).map_err(|error: DeError| error.under(self.name))
    }

    fn size_hint(&self) -> Option<usize> {
        self.members.size_hint().1
    }
}

struct ArrayAccess<'de> {
    elements: Elements<'de>,
    index: usize,
}

impl<'de> SeqAccess<'de> for &mut ArrayAccess<'de> {
    type Error = DeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, DeError> {
        let Some(value) = self.elements.next() else { return Ok(None) };
        let index = self.index;
        self.index += 1;
        seed.deserialize(value).map(Some).map_err(|error: DeError| error.at(index))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.elements.len())
    }
}

/// A member name: a string, and a number or boolean where the map's keys are of that type.
#[derive(Clone, Copy)]
struct Name<'de>(&'de str);

macro_rules! parsed_names {
    ($($method:ident $visit:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
                match self.0.parse() {
                    Ok(key) => visitor.$visit(key),
                    Err(_) => visitor.visit_borrowed_str(self.0),
                }
            }
        )*
    };
}

impl<'de> Deserializer<'de> for Name<'de> {
    type Error = DeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        visitor.visit_borrowed_str(self.0)
    }

    parsed_names! {
        deserialize_bool visit_bool
        deserialize_i8 visit_i8 deserialize_i16 visit_i16 deserialize_i32 visit_i32
        deserialize_i64 visit_i64 deserialize_i128 visit_i128
        deserialize_u8 visit_u8 deserialize_u16 visit_u16 deserialize_u32 visit_u32
        deserialize_u64 visit_u64 deserialize_u128 visit_u128
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, DeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeError> {
        visitor.visit_enum(Variant { name: self.0, content: None })
    }

    serde::forward_to_deserialize_any! {
        f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}

struct Variant<'de> {
    name: &'de str,
    content: Option<Value<'de>>,
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = DeError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), DeError> {
        let variant = seed.deserialize(BorrowedStrDeserializer::<DeError>::new(self.name))?;
        Ok((variant, self))
    }
}

impl<'de> Variant<'de> {
    fn content(&self, expected: &'static str) -> Result<Value<'de>, DeError> {
        let missing = || DeError::invalid_type(Unexpected::UnitVariant, &expected);
        self.content.ok_or_else(missing)
    }
}

impl<'de> VariantAccess<'de> for Variant<'de> {
    type Error = DeError;

    fn unit_variant(self) -> Result<(), DeError> {
        match self.content {
            None => Ok(()),
            Some(content) => de::Deserialize::deserialize(content),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, DeError> {
        let content = self.content("a variant with content")?;
        seed.deserialize(content).map_err(|error: DeError| error.under(self.name))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, DeError> {
        let content = self.content("a variant with an array")?;
        let array = content.as_array().ok_or_else(|| {
            DeError::custom(format_args!("expected an array, got {}", content.kind().name()))
        });
        visit_array(array?, visitor).map_err(|error| error.under(self.name))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeError> {
        let content = self.content("a variant with members")?;
        content.deserialize_any(visitor).map_err(|error| error.under(self.name))
    }
}
