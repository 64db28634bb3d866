//! `elicitation/create` in form mode: the form, its fields and the checks on it (EL-01, EL-03).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::form_check;
use super::schema::{
    BooleanSchema, ChoiceItems, ChoiceSchema, MultiChoiceSchema, NumberSchema, NumberType,
    PrimitiveSchema, StringFormat, StringSchema, titled_options,
};
use super::secrets::asks_for_secret;
use super::text::literal_text;
use super::{JsonObject, Num, OrderedMap};

literal_text! {
    /// The text `"form"`.
    pub struct FormMode = "form";
}
literal_text! {
    /// The text `"object"`.
    pub struct ObjectType = "object";
}

/// Keywords a schema given to [`ElicitForm::from_schema`] may have at its root.
const ROOT_KEYWORDS: [&str; 7] =
    ["$schema", "type", "properties", "required", "title", "description", "additionalProperties"];

/// A form for the user.
///
/// ```
/// # use ringmcp_codec as ringmcp;
/// use ringmcp::types::ElicitForm;
///
/// let form = ElicitForm::new("Who are you?")
///     .string("name", |field| field.required().max_length(40))
///     .integer("age", |field| field.minimum(0).title("Age in years"))
///     .choice("colour", ["red", "green"], |field| field.default("red"));
/// assert!(form.validate().is_ok());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ElicitForm {
    /// `"form"`, or left out, which means the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<FormMode>,
    /// What is asked and why, for people.
    pub message: String,
    /// The fields.
    pub requested_schema: FormSchema,
}

/// The schema of a form: an object of flat primitives.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FormSchema {
    /// JSON Schema dialect.
    #[serde(rename = "$schema", skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// Always `"object"`.
    pub r#type: ObjectType,
    /// The fields in the order they are shown.
    pub properties: OrderedMap<PrimitiveSchema>,
    /// Names of the fields that must be filled in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required: Option<Vec<String>>,
}

/// Why a form was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormError {
    /// A field asks for a password, key, token or payment data (EL-03).
    Secret {
        /// The field.
        field: String,
    },
    /// `required` names a field that is not there.
    RequiredUnknown {
        /// The name.
        field: String,
    },
    /// A schema holds something else than flat primitives (EL-01).
    Schema {
        /// What is wrong.
        reason: String,
    },
    /// Bounds, choices or the default of a field contradict each other.
    Field {
        /// The field.
        field: String,
        /// What is wrong.
        reason: String,
    },
}

/// A field under construction, in the closure of [`ElicitForm::string`] and its siblings.
#[derive(Debug, Clone)]
pub struct Field<S> {
    schema: S,
    required: bool,
}

impl ElicitForm {
    /// A form without fields; `message` says what is asked and why.
    pub fn new(message: impl Into<String>) -> Self {
        ElicitForm {
            mode: Some(FormMode),
            message: message.into(),
            requested_schema: FormSchema::default(),
        }
    }

    /// A form from a JSON Schema; refuses nesting and keywords a form cannot honour (EL-01). `title`,
    /// `description` and `additionalProperties` at the root have no meaning in a form and are dropped.
    pub fn from_schema(message: impl Into<String>, schema: Value) -> Result<Self, FormError> {
        let foreign = schema.as_object().and_then(|root| {
            root.keys().find(|keyword| !ROOT_KEYWORDS.contains(&keyword.as_str()))
        });
        if let Some(keyword) = foreign {
            let reason = format!("`{keyword}` has no place in a form");
            return Err(FormError::Schema { reason });
        }
        let requested_schema = serde_json::from_value(schema)
            .map_err(|error| FormError::Schema { reason: error.to_string() })?;
        let form = ElicitForm { requested_schema, ..ElicitForm::new(message) };
        form.validate()?;
        Ok(form)
    }

    /// Adds a text field.
    pub fn string(
        self,
        name: impl Into<String>,
        build: impl FnOnce(Field<StringSchema>) -> Field<StringSchema>,
    ) -> Self {
        self.field(name, StringSchema::default(), PrimitiveSchema::String, build)
    }

    /// Adds a field for any number.
    pub fn number(
        self,
        name: impl Into<String>,
        build: impl FnOnce(Field<NumberSchema>) -> Field<NumberSchema>,
    ) -> Self {
        self.field(name, NumberSchema::new(NumberType::Number), PrimitiveSchema::Number, build)
    }

    /// Adds a field for a whole number.
    pub fn integer(
        self,
        name: impl Into<String>,
        build: impl FnOnce(Field<NumberSchema>) -> Field<NumberSchema>,
    ) -> Self {
        self.field(name, NumberSchema::new(NumberType::Integer), PrimitiveSchema::Number, build)
    }

    /// Adds a yes-or-no field.
    pub fn boolean(
        self,
        name: impl Into<String>,
        build: impl FnOnce(Field<BooleanSchema>) -> Field<BooleanSchema>,
    ) -> Self {
        self.field(name, BooleanSchema::default(), PrimitiveSchema::Boolean, build)
    }

    /// Adds a choice of one text.
    pub fn choice<V: Into<String>>(
        self,
        name: impl Into<String>,
        values: impl IntoIterator<Item = V>,
        build: impl FnOnce(Field<ChoiceSchema>) -> Field<ChoiceSchema>,
    ) -> Self {
        let values = Some(values.into_iter().map(Into::into).collect());
        let schema = ChoiceSchema { values, ..Default::default() };
        self.field(name, schema, PrimitiveSchema::Choice, build)
    }

    /// Adds a choice of one text, each with a name for people.
    pub fn titled_choice<V: Into<String>, T: Into<String>>(
        self,
        name: impl Into<String>,
        options: impl IntoIterator<Item = (V, T)>,
        build: impl FnOnce(Field<ChoiceSchema>) -> Field<ChoiceSchema>,
    ) -> Self {
        let options = Some(titled_options(options));
        let schema = ChoiceSchema { options, ..Default::default() };
        self.field(name, schema, PrimitiveSchema::Choice, build)
    }

    /// Adds a choice of any number of texts; see [`ChoiceItems::plain`] and [`ChoiceItems::titled`].
    pub fn multi_choice(
        self,
        name: impl Into<String>,
        items: ChoiceItems,
        build: impl FnOnce(Field<MultiChoiceSchema>) -> Field<MultiChoiceSchema>,
    ) -> Self {
        self.field(name, MultiChoiceSchema::new(items), PrimitiveSchema::MultiChoice, build)
    }

    /// Checks the form: no secrets, bounds and defaults that fit, `required` names that exist.
    pub fn validate(&self) -> Result<(), FormError> {
        let schema = &self.requested_schema;
        for (name, field) in schema.properties.iter() {
            if asks_for_secret(name) || field.title().is_some_and(asks_for_secret) {
                return Err(FormError::Secret { field: name.to_owned() });
            }
            if let Err(reason) = form_check::check_schema(field) {
                return Err(FormError::Field { field: name.to_owned(), reason });
            }
        }
        match schema.required.iter().flatten().find(|name| !schema.properties.contains_key(name)) {
            Some(name) => Err(FormError::RequiredUnknown { field: name.clone() }),
            None => Ok(()),
        }
    }

    /// Checks what the client filled in against the form: the client is not trusted (MR-25). Members
    /// the form does not have are ignored. The error names the field and what it should have been,
    /// never the value.
    pub fn check(&self, content: &JsonObject) -> Result<(), String> {
        form_check::check_content(&self.requested_schema, content)
    }

    fn field<S>(
        mut self,
        name: impl Into<String>,
        schema: S,
        wrap: impl FnOnce(S) -> PrimitiveSchema,
        build: impl FnOnce(Field<S>) -> Field<S>,
    ) -> Self {
        let name = name.into();
        let field = build(Field { schema, required: false });
        let required = self.requested_schema.required.get_or_insert_default();
        required.retain(|known| *known != name);
        if field.required {
            required.push(name.clone());
        }
        if required.is_empty() {
            self.requested_schema.required = None;
        }
        self.requested_schema.properties.insert(name, wrap(field.schema));
        self
    }
}

impl<S> Field<S> {
    /// Makes it one that must be filled in.
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }
}

/// The two members every kind of field has.
macro_rules! described {
    ($($schema:ty),+) => { $(
        impl Field<$schema> {
            /// Sets the name for people.
            pub fn title(mut self, title: impl Into<String>) -> Self {
                self.schema.title = Some(title.into());
                self
            }

            /// Says what it means.
            pub fn description(mut self, description: impl Into<String>) -> Self {
                self.schema.description = Some(description.into());
                self
            }
        }
    )+ };
}
described!(StringSchema, NumberSchema, BooleanSchema, ChoiceSchema, MultiChoiceSchema);

impl Field<StringSchema> {
    /// Sets the fewest characters.
    pub fn min_length(mut self, chars: u64) -> Self {
        self.schema.min_length = Some(chars);
        self
    }

    /// Sets the most characters.
    pub fn max_length(mut self, chars: u64) -> Self {
        self.schema.max_length = Some(chars);
        self
    }

    /// Sets the format.
    pub fn format(mut self, format: StringFormat) -> Self {
        self.schema.format = Some(format);
        self
    }

    /// Sets the value to start from.
    pub fn default(mut self, value: impl Into<String>) -> Self {
        self.schema.default = Some(value.into());
        self
    }
}

impl Field<NumberSchema> {
    /// Sets the least value.
    pub fn minimum(mut self, value: impl Into<Num>) -> Self {
        self.schema.minimum = Some(value.into());
        self
    }

    /// Sets the greatest value.
    pub fn maximum(mut self, value: impl Into<Num>) -> Self {
        self.schema.maximum = Some(value.into());
        self
    }

    /// Sets the value to start from.
    pub fn default(mut self, value: impl Into<Num>) -> Self {
        self.schema.default = Some(value.into());
        self
    }
}

impl Field<BooleanSchema> {
    /// Sets the value to start from.
    pub fn default(mut self, value: bool) -> Self {
        self.schema.default = Some(value);
        self
    }
}

impl Field<ChoiceSchema> {
    /// Sets the text to start from.
    pub fn default(mut self, value: impl Into<String>) -> Self {
        self.schema.default = Some(value.into());
        self
    }

    /// Names the texts in the way of older revisions, for clients that know no other.
    pub fn enum_names<V: Into<String>>(mut self, names: impl IntoIterator<Item = V>) -> Self {
        self.schema.enum_names = Some(names.into_iter().map(Into::into).collect());
        self
    }
}

impl Field<MultiChoiceSchema> {
    /// Sets the fewest texts.
    pub fn min_items(mut self, count: u64) -> Self {
        self.schema.min_items = Some(count);
        self
    }

    /// Sets the most texts.
    pub fn max_items(mut self, count: u64) -> Self {
        self.schema.max_items = Some(count);
        self
    }

    /// Sets the texts to start from.
    pub fn default<V: Into<String>>(mut self, values: impl IntoIterator<Item = V>) -> Self {
        self.schema.default = Some(values.into_iter().map(Into::into).collect());
        self
    }
}

impl std::fmt::Display for FormError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FormError::Secret { field } => {
                write!(f, "form field `{field}`: asks for a secret, use URL mode")
            }
            FormError::RequiredUnknown { field } => {
                write!(f, "form `required`: there is no field `{field}`")
            }
            FormError::Schema { reason } => write!(f, "form schema: {reason}"),
            FormError::Field { field, reason } => write!(f, "form field `{field}`: {reason}"),
        }
    }
}

impl std::error::Error for FormError {}
