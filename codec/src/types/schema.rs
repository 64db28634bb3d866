//! The flat primitive schemas a form may consist of (EL-01). Nesting cannot be written in these types,
//! and is refused when read.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::text::{closed_text, literal_text};
use super::{JsonObject, Num};

/// The schema of one form field.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum PrimitiveSchema {
    /// A text.
    String(StringSchema),
    /// A number.
    Number(NumberSchema),
    /// Yes or no.
    Boolean(BooleanSchema),
    /// One of several texts.
    Choice(ChoiceSchema),
    /// Any of several texts.
    MultiChoice(MultiChoiceSchema),
}

literal_text! {
    /// The text `"string"`.
    pub struct StringType = "string";
}
literal_text! {
    /// The text `"boolean"`.
    pub struct BooleanType = "boolean";
}
literal_text! {
    /// The text `"array"`.
    pub struct ArrayType = "array";
}

closed_text! {
    /// Formats a text may have.
    pub enum StringFormat {
        /// An e-mail address.
        Email = "email",
        /// A URI.
        Uri = "uri",
        /// A day, `YYYY-MM-DD`.
        Date = "date",
        /// A point in time (RFC 3339).
        DateTime = "date-time",
    }
}

closed_text! {
    /// The two kinds of number.
    pub enum NumberType {
        /// Any number.
        Number = "number",
        /// A whole one.
        Integer = "integer",
    }
}

/// Schema of a text field.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StringSchema {
    /// Always `"string"`.
    pub r#type: StringType,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Fewest characters (Unicode scalar values).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_length: Option<u64>,
    /// Most characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u64>,
    /// Format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<StringFormat>,
    /// Value to start from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

/// Schema of a number field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NumberSchema {
    /// Any number or a whole one.
    pub r#type: NumberType,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Least value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum: Option<Num>,
    /// Greatest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum: Option<Num>,
    /// Value to start from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Num>,
}

/// Schema of a yes-or-no field.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BooleanSchema {
    /// Always `"boolean"`.
    pub r#type: BooleanType,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Value to start from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<bool>,
}

/// Schema of a field with one of several texts: exactly one of `enum` and `oneOf` is set.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChoiceSchema {
    /// Always `"string"`.
    pub r#type: StringType,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The texts, without names for people.
    #[serde(rename = "enum", skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<String>>,
    /// The texts with names for people.
    #[serde(rename = "oneOf", skip_serializing_if = "Option::is_none")]
    pub options: Option<Vec<TitledOption>>,
    /// Names of `enum` in the form of older revisions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enum_names: Option<Vec<String>>,
    /// Value to start from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

/// Schema of a field with any of several texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MultiChoiceSchema {
    /// Always `"array"`.
    pub r#type: ArrayType,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The texts.
    pub items: ChoiceItems,
    /// Fewest texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_items: Option<u64>,
    /// Most texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_items: Option<u64>,
    /// Value to start from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Vec<String>>,
}

/// What a multiple choice chooses from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ChoiceItems {
    /// Texts without names for people.
    Plain(PlainItems),
    /// Texts with names for people.
    Titled(TitledItems),
}

/// `{type:"string", enum:[…]}`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlainItems {
    /// Always `"string"`.
    pub r#type: StringType,
    /// The texts.
    #[serde(rename = "enum")]
    pub values: Vec<String>,
}

/// `{anyOf:[{const,title}…]}`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TitledItems {
    /// The texts with their names.
    #[serde(rename = "anyOf")]
    pub options: Vec<TitledOption>,
}

/// A text with its name for people.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TitledOption {
    /// The text on the wire.
    pub r#const: String,
    /// Its name.
    pub title: String,
}

impl PrimitiveSchema {
    /// Name for people.
    pub fn title(&self) -> Option<&str> {
        match self {
            PrimitiveSchema::String(schema) => schema.title.as_deref(),
            PrimitiveSchema::Number(schema) => schema.title.as_deref(),
            PrimitiveSchema::Boolean(schema) => schema.title.as_deref(),
            PrimitiveSchema::Choice(schema) => schema.title.as_deref(),
            PrimitiveSchema::MultiChoice(schema) => schema.title.as_deref(),
        }
    }
}

impl NumberSchema {
    /// Any number (`Number`) or a whole one (`Integer`), without bounds.
    pub fn new(r#type: NumberType) -> Self {
        NumberSchema {
            r#type,
            title: None,
            description: None,
            minimum: None,
            maximum: None,
            default: None,
        }
    }
}

impl ChoiceSchema {
    /// The texts on the wire, in order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let plain = self.values.iter().flatten().map(String::as_str);
        plain.chain(self.options.iter().flatten().map(|option| option.r#const.as_str()))
    }
}

impl MultiChoiceSchema {
    /// A choice of any number of `items`.
    pub fn new(items: ChoiceItems) -> Self {
        MultiChoiceSchema {
            r#type: ArrayType,
            title: None,
            description: None,
            items,
            min_items: None,
            max_items: None,
            default: None,
        }
    }
}

impl ChoiceItems {
    /// Texts with their names.
    pub fn titled<V: Into<String>, T: Into<String>>(
        options: impl IntoIterator<Item = (V, T)>,
    ) -> Self {
        ChoiceItems::Titled(TitledItems { options: titled_options(options) })
    }

    /// Texts without names.
    pub fn plain<V: Into<String>>(values: impl IntoIterator<Item = V>) -> Self {
        let values = values.into_iter().map(Into::into).collect();
        ChoiceItems::Plain(PlainItems { r#type: StringType, values })
    }

    /// The texts on the wire, in order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let (plain, titled): (&[String], &[TitledOption]) = match self {
            ChoiceItems::Plain(items) => (&items.values, &[]),
            ChoiceItems::Titled(items) => (&[], &items.options),
        };
        let titled = titled.iter().map(|option| option.r#const.as_str());
        plain.iter().map(String::as_str).chain(titled)
    }
}

pub(crate) fn titled_options<V: Into<String>, T: Into<String>>(
    options: impl IntoIterator<Item = (V, T)>,
) -> Vec<TitledOption> {
    let option =
        |(value, title): (V, T)| TitledOption { r#const: value.into(), title: title.into() };
    options.into_iter().map(option).collect()
}

impl<'de> Deserialize<'de> for PrimitiveSchema {
    /// Strict, unlike the rest of the types: a keyword outside EL-01 would not be honoured.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = JsonObject::deserialize(deserializer)?;
        let is_choice = object.contains_key("enum") || object.contains_key("oneOf");
        let kind = object.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        let value = Value::Object(object);
        let schema = match kind.as_str() {
            "string" if is_choice => serde_json::from_value(value).map(PrimitiveSchema::Choice),
            "string" => serde_json::from_value(value).map(PrimitiveSchema::String),
            "number" | "integer" => serde_json::from_value(value).map(PrimitiveSchema::Number),
            "boolean" => serde_json::from_value(value).map(PrimitiveSchema::Boolean),
            "array" => serde_json::from_value(value).map(PrimitiveSchema::MultiChoice),
            _ => return Err(D::Error::custom("form field: only flat primitives are allowed")),
        };
        schema.map_err(D::Error::custom)
    }
}
