//! Checks of form fields: that a schema makes sense, and that filled-in content fits it (MR-25). By
//! hand over the flat primitives; the general schema engine is not needed and not used.

use serde_json::Value;

use super::form::FormSchema;
use super::schema::{
    ChoiceSchema, MultiChoiceSchema, NumberSchema, NumberType, PrimitiveSchema, StringFormat,
    StringSchema,
};
use super::time::{is_date, is_date_time};
use super::{JsonObject, Num};

/// Whether what was filled in fits; the error names the field, never its value.
pub(crate) fn check_content(schema: &FormSchema, content: &JsonObject) -> Result<(), String> {
    for name in schema.required.iter().flatten() {
        if !content.contains_key(name) {
            return Err(format!("`{name}`: missing"));
        }
    }
    for (name, field) in schema.properties.iter() {
        let Some(value) = content.get(name) else { continue };
        check_value(field, value).map_err(|reason| format!("`{name}`: {reason}"))?;
    }
    Ok(())
}

/// Whether bounds, choices and default of a field fit together.
pub(crate) fn check_schema(schema: &PrimitiveSchema) -> Result<(), String> {
    let (bounds_fit, default) = match schema {
        PrimitiveSchema::String(schema) => (
            in_order(schema.min_length, schema.max_length),
            schema.default.clone().map(Value::String),
        ),
        PrimitiveSchema::Number(schema) => (
            in_order(schema.minimum.as_ref(), schema.maximum.as_ref()),
            schema.default.clone().map(|default| Value::Number(default.0)),
        ),
        PrimitiveSchema::Boolean(schema) => (true, schema.default.map(Value::Bool)),
        PrimitiveSchema::Choice(schema) => {
            check_choices(schema)?;
            (true, schema.default.clone().map(Value::String))
        }
        PrimitiveSchema::MultiChoice(schema) => {
            if schema.items.texts().next().is_none() {
                return Err("nothing to choose from".to_owned());
            }
            (in_order(schema.min_items, schema.max_items), schema.default.clone().map(Value::from))
        }
    };
    if !bounds_fit {
        return Err("lower bound above the upper one".to_owned());
    }
    match default.map(|default| check_value(schema, &default)) {
        Some(Err(reason)) => Err(format!("default: {reason}")),
        _ => Ok(()),
    }
}

fn check_choices(schema: &ChoiceSchema) -> Result<(), String> {
    if schema.values.is_some() == schema.options.is_some() {
        return Err("exactly one of `enum` and `oneOf`".to_owned());
    }
    if schema.texts().next().is_none() {
        return Err("nothing to choose from".to_owned());
    }
    match &schema.enum_names {
        Some(names) if schema.values.as_ref().map(Vec::len) != Some(names.len()) => {
            Err("`enumNames` must have as many entries as `enum`".to_owned())
        }
        _ => Ok(()),
    }
}

fn check_value(schema: &PrimitiveSchema, value: &Value) -> Result<(), String> {
    match (schema, value) {
        (PrimitiveSchema::String(schema), Value::String(text)) => check_string(schema, text),
        (PrimitiveSchema::Number(schema), Value::Number(number)) => {
            check_number(schema, &Num(number.clone()))
        }
        (PrimitiveSchema::Boolean(_), Value::Bool(_)) => Ok(()),
        (PrimitiveSchema::Choice(schema), Value::String(text)) => {
            match schema.texts().any(|choice| choice == text) {
                true => Ok(()),
                false => Err("not one of the choices".to_owned()),
            }
        }
        (PrimitiveSchema::MultiChoice(schema), Value::Array(values)) => {
            check_choice_list(schema, values)
        }
        _ => Err(format!("expected {}, got {}", expected(schema), kind(value))),
    }
}

fn check_string(schema: &StringSchema, text: &str) -> Result<(), String> {
    let chars = text.chars().count() as u64;
    if let Some(least) = schema.min_length.filter(|least| chars < *least) {
        return Err(format!("shorter than {least} characters"));
    }
    if let Some(most) = schema.max_length.filter(|most| chars > *most) {
        return Err(format!("longer than {most} characters"));
    }
    match schema.format.filter(|format| !has_format(text, *format)) {
        Some(format) => Err(format!("not of format `{format}`")),
        None => Ok(()),
    }
}

fn check_number(schema: &NumberSchema, number: &Num) -> Result<(), String> {
    if schema.r#type == NumberType::Integer && !number.is_integer() {
        return Err("expected integer, got number".to_owned());
    }
    if let Some(least) = schema.minimum.as_ref().filter(|least| number < *least) {
        return Err(format!("less than {least}"));
    }
    match schema.maximum.as_ref().filter(|most| number > *most) {
        Some(most) => Err(format!("greater than {most}")),
        None => Ok(()),
    }
}

fn check_choice_list(schema: &MultiChoiceSchema, values: &[Value]) -> Result<(), String> {
    let count = values.len() as u64;
    if let Some(least) = schema.min_items.filter(|least| count < *least) {
        return Err(format!("fewer than {least} entries"));
    }
    if let Some(most) = schema.max_items.filter(|most| count > *most) {
        return Err(format!("more than {most} entries"));
    }
    let is_choice = |value: &Value| {
        value.as_str().is_some_and(|text| schema.items.texts().any(|choice| choice == text))
    };
    match values.iter().all(is_choice) {
        true => Ok(()),
        false => Err("an entry is not one of the choices".to_owned()),
    }
}

fn has_format(text: &str, format: StringFormat) -> bool {
    match format {
        StringFormat::Email => is_email(text),
        StringFormat::Uri => crate::uri::is_valid(text),
        StringFormat::Date => is_date(text),
        StringFormat::DateTime => is_date_time(text),
    }
}

/// `local@domain`, both non-empty, without spaces or control characters: deliverability is only known
/// to who sends mail.
fn is_email(text: &str) -> bool {
    let printable = text.chars().all(|c| !c.is_whitespace() && !c.is_control());
    printable
        && text.rsplit_once('@').is_some_and(|(local, domain)| {
            !local.is_empty()
                && !domain.contains("..")
                && !domain.starts_with('.')
                && !domain.ends_with('.')
                && !domain.is_empty()
        })
}

fn in_order<T: PartialOrd>(least: Option<T>, most: Option<T>) -> bool {
    match (least, most) {
        (Some(least), Some(most)) => least <= most,
        _ => true,
    }
}

fn expected(schema: &PrimitiveSchema) -> &'static str {
    match schema {
        PrimitiveSchema::String(_) | PrimitiveSchema::Choice(_) => "string",
        PrimitiveSchema::Number(schema) => schema.r#type.as_str(),
        PrimitiveSchema::Boolean(_) => "boolean",
        PrimitiveSchema::MultiChoice(_) => "array of strings",
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
