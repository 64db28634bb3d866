//! Rust types out of tape values: a serde `Deserializer` that borrows strings from the document and
//! never parses twice.
//!
//! It differs from `serde_json` in two points: of a repeated member name the first counts instead
//! of the last or an error (ledger RPC-19), and a whole number written with a fraction or an
//! exponent (`5.0`) is accepted where an integer is asked for, as JSON Schema has it.

mod access;
mod error;
mod raw;
#[cfg(test)]
mod tests;

use crate::value::{Value, View};
use serde::de::{self, Deserializer, Visitor};
use serde::forward_to_deserialize_any;

pub use error::DeError;

/// The doubles that are exact as integers of 64 bits: from -2^63, below 2^64.
const WHOLE_MIN: f64 = -9_223_372_036_854_775_808.0;
const WHOLE_END: f64 = 18_446_744_073_709_551_616.0;

macro_rules! whole_numbers {
    ($($method:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
                self.visit_whole(visitor)
            }
        )*
    };
}

impl<'de> Deserializer<'de> for Value<'de> {
    type Error = DeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        match self.view() {
            View::Object(object) => access::visit_object(object, visitor),
            View::Array(array) => access::visit_array(array, visitor),
            View::String(text) => visitor.visit_borrowed_str(text),
            View::Bool(flag) => visitor.visit_bool(flag),
            View::I64(number) => visitor.visit_i64(number),
            View::U64(number) => visitor.visit_u64(number),
            View::F64(number) => visitor.visit_f64(number),
            View::Null => visitor.visit_unit(),
        }
    }

    whole_numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        if self.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        match self.as_str() {
            Some(text) => visitor.visit_borrowed_bytes(text.as_bytes()),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DeError> {
        if name == raw::TOKEN {
            return raw::visit(self, visitor);
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeError> {
        access::visit_enum(self, visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool f32 f64 char str string unit unit_struct seq tuple tuple_struct map struct identifier
    }
}

impl<'de> Value<'de> {
    /// A double without a fraction counts as an integer.
    fn visit_whole<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        match self.view() {
            View::I64(number) => visitor.visit_i64(number),
            View::F64(number)
                if number.fract() == 0.0 && (WHOLE_MIN..WHOLE_END).contains(&number) =>
            {
                if number < 0.0 {
                    visitor.visit_i64(number as i64)
                } else {
                    visitor.visit_u64(number as u64)
                }
            }
            _ => self.deserialize_any(visitor),
        }
    }
}

impl<'de> de::IntoDeserializer<'de, DeError> for Value<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}
