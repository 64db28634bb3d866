//! Values that arrive as text, template variables and prompt arguments, read as the types that handlers ask for: a
//! field of type `u32` takes `"7"`.

use std::borrow::Cow;

use serde::de::value::{Error, MapDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};

/// Reads a struct or a map from named texts.
pub(super) fn from_texts<'t, T: DeserializeOwned>(
    texts: impl Iterator<Item = (&'t str, Cow<'t, str>)>,
) -> Result<T, Error> {
    T::deserialize(MapDeserializer::new(texts.map(|(name, text)| (name, Text(text)))))
}

/// One text; asked for a number or a flag, it is parsed.
struct Text<'t>(Cow<'t, str>);

impl<'de> IntoDeserializer<'de, Error> for Text<'_>
where
    Self: 'de,
{
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! parsed {
    ($($method:ident $visit:ident)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self.0.parse() {
                Ok(value) => visitor.$visit(value),
                // The visitor says what it would have taken.
                Err(_) => self.deserialize_any(visitor),
            }
        }
    )+};
}

impl<'de> Deserializer<'de> for Text<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str(&self.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_enum(self.0.as_ref().into_deserializer())
    }

    parsed! {
        deserialize_bool visit_bool
        deserialize_i8 visit_i8
        deserialize_i16 visit_i16
        deserialize_i32 visit_i32
        deserialize_i64 visit_i64
        deserialize_i128 visit_i128
        deserialize_u8 visit_u8
        deserialize_u16 visit_u16
        deserialize_u32 visit_u32
        deserialize_u64 visit_u64
        deserialize_u128 visit_u128
        deserialize_f32 visit_f32
        deserialize_f64 visit_f64
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use serde::Deserialize;

    use super::from_texts;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Order {
        Newest,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Page {
        number: u32,
        exact: bool,
        order: Order,
        ratio: Option<f64>,
        name: String,
    }

    fn read<T: serde::de::DeserializeOwned>(
        texts: &[(&'static str, &'static str)],
    ) -> Result<T, serde::de::value::Error> {
        from_texts(texts.iter().map(|(name, text)| (*name, Cow::Borrowed(*text))))
    }

    /// [RES-10] [PRM-03] texts fill typed fields; what does not parse is refused, text stays text.
    #[test]
    fn typed_fields() {
        let texts = [
            ("number", "7"),
            ("exact", "true"),
            ("order", "newest"),
            ("ratio", "0.5"),
            ("name", "7"),
        ];
        let page = Page {
            number: 7,
            exact: true,
            order: Order::Newest,
            ratio: Some(0.5),
            name: "7".to_owned(),
        };
        assert_eq!(read::<Page>(&texts), Ok(page));
        for (at, wrong) in [(0, "-1"), (1, "yes"), (2, "oldest"), (3, "half")] {
            let mut texts = texts;
            texts[at].1 = wrong;
            assert!(read::<Page>(&texts).is_err(), "{wrong}");
        }
        let map = read::<std::collections::BTreeMap<String, String>>(&[("a", "1")]);
        assert_eq!(map, Ok([("a".to_owned(), "1".to_owned())].into()));
    }
}
