//! From a schema to its plan, where it has one: every keyword must be known here, or say nothing about validity.

use std::collections::HashMap;

use codec::value::Kind;
use serde_json::{Map, Value};

use super::{FIELDS_MAX, Field, Others, Plan, Shape, Use, kind_bit};
use crate::schema::SCHEMA_CHAIN_MAX;

/// Bounds of numbers up to 2^53 are exact as doubles.
const EXACT_MAX: i64 = 1 << 53;

const EVERY_KIND: u8 = kind_bit(Kind::Null)
    | kind_bit(Kind::Bool)
    | kind_bit(Kind::Integer)
    | kind_bit(Kind::Float)
    | kind_bit(Kind::String)
    | kind_bit(Kind::Array)
    | kind_bit(Kind::Object);

/// The dialect of plans, which is also the default one.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Keywords that say nothing about whether a value is valid. `format` only describes, in the dialect of plans.
const SILENT: [&str; 10] = [
    "$comment",
    "$defs",
    "default",
    "deprecated",
    "description",
    "examples",
    "format",
    "readOnly",
    "title",
    "writeOnly",
];

impl Plan {
    /// The plan of `schema`, a legal one of the default dialect; `None` if some keyword is beyond plans.
    pub(crate) fn draw(schema: &Value) -> Option<Plan> {
        let mut table = Table { root: schema, numbers: HashMap::new(), waiting: Vec::new() };
        table.number(schema);
        let mut shapes = Vec::new();
        // Shapes are numbered as they are met and drawn in that order: schemas may be recursive.
        while let Some(schema) = table.waiting.get(shapes.len()).copied() {
            shapes.push(table.shape(schema)?);
        }
        Some(Plan(shapes.into_boxed_slice()))
    }
}

struct Table<'s> {
    root: &'s Value,
    /// Address of a subschema -> number of its shape. The schema outlives the table and is not changed.
    numbers: HashMap<*const Value, usize>,
    waiting: Vec<&'s Value>,
}

impl<'s> Table<'s> {
    fn number(&mut self, schema: &'s Value) -> usize {
        *self.numbers.entry(schema).or_insert_with(|| {
            self.waiting.push(schema);
            self.waiting.len() - 1
        })
    }

    /// Follows references and "or null" to what has a shape of its own.
    fn follow(&mut self, mut schema: &'s Value) -> Option<Use> {
        let mut nullable = false;
        for _ in 0..SCHEMA_CHAIN_MAX {
            let Some(members) = schema.as_object() else { break };
            let (keyword, target) = if let Some(reference) = members.get("$ref") {
                ("$ref", self.target(reference.as_str()?)?)
            } else if let Some(branches) = members.get("anyOf") {
                nullable = true;
                ("anyOf", or_null(branches)?)
            } else {
                break;
            };
            if !members.keys().all(|name| name == keyword || is_silent(name)) {
                return None;
            }
            schema = target;
        }
        Some(Use { shape: self.number(schema), nullable })
    }

    /// What `#` and `#/$defs/name` refer to.
    fn target(&self, reference: &str) -> Option<&'s Value> {
        if reference == "#" {
            return Some(self.root);
        }
        let name = reference.strip_prefix("#/$defs/")?;
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        self.root.get("$defs")?.get(name).filter(|_| name.bytes().all(plain))
    }

    fn shape(&mut self, schema: &'s Value) -> Option<Shape> {
        let mut shape = Shape {
            kinds: EVERY_KIND,
            least: None,
            most: None,
            chars: None,
            choices: Vec::new(),
            count: (0, usize::MAX),
            items: None,
            fields: Vec::new(),
            required: 0,
            others: Others::Any,
        };
        if *schema == Value::Bool(true) {
            return Some(shape);
        }
        let members = schema.as_object()?;
        for (keyword, value) in members.iter().filter(|(keyword, _)| !is_silent(keyword)) {
            self.keyword(&mut shape, keyword, value)?;
        }
        require(&mut shape, members.get("required"))?;
        (shape.fields.len() <= FIELDS_MAX).then_some(shape)
    }

    fn keyword(&mut self, shape: &mut Shape, keyword: &str, value: &'s Value) -> Option<()> {
        match keyword {
            "type" => shape.kinds &= kinds(value)?,
            "minimum" => shape.least = Some(bound(value)?),
            "maximum" => shape.most = Some(bound(value)?),
            "minLength" => shape.chars.get_or_insert((0, usize::MAX)).0 = size(value)?,
            "maxLength" => shape.chars.get_or_insert((0, usize::MAX)).1 = size(value)?,
            "minItems" => shape.count.0 = size(value)?,
            "maxItems" => shape.count.1 = size(value)?,
            "enum" => {
                let texts = value.as_array()?.iter().map(|one| one.as_str().map(Box::from));
                shape.choices = texts.collect::<Option<_>>()?;
                shape.kinds &= kind_bit(Kind::String);
            }
            "items" => shape.items = Some(self.follow(value)?),
            "additionalProperties" => shape.others = self.others(value)?,
            "properties" => shape.fields = self.fields(value.as_object()?)?,
            // After the fields are known.
            "required" => {}
            "$schema" if value.as_str() == Some(DIALECT) => {}
            _ => return None,
        }
        Some(())
    }

    fn others(&mut self, value: &'s Value) -> Option<Others> {
        Some(match value {
            Value::Bool(true) => Others::Any,
            Value::Bool(false) => Others::None,
            schema => Others::Each(self.follow(schema)?),
        })
    }

    fn fields(&mut self, members: &'s Map<String, Value>) -> Option<Vec<Field>> {
        let field =
            |(name, schema): (&'s String, &'s Value)| Some(Field::new(name, self.follow(schema)?));
        members.iter().map(field).collect()
    }
}

/// Ticks the required fields; one that has no schema under `properties` is beyond plans.
fn require(shape: &mut Shape, names: Option<&Value>) -> Option<()> {
    for name in names.map_or(Some(&[][..]), |names| names.as_array().map(|names| &names[..]))? {
        let (at, _) = shape.field(name.as_str()?, 0)?;
        shape.required |= 1_u64.checked_shl(u32::try_from(at).ok()?)?;
    }
    Some(())
}

fn is_silent(keyword: &str) -> bool {
    SILENT.contains(&keyword) || keyword.starts_with("x-")
}

/// The other one of two alternatives of which one is `null`.
fn or_null(branches: &Value) -> Option<&Value> {
    let is_null = |branch: &Value| {
        branch.as_object().is_some_and(|members| members.len() == 1)
            && branch.get("type").and_then(Value::as_str) == Some("null")
    };
    match branches.as_array()?.as_slice() {
        [one, null] if is_null(null) => Some(one),
        [null, one] if is_null(null) => Some(one),
        _ => None,
    }
}

fn kinds(value: &Value) -> Option<u8> {
    match value {
        Value::String(name) => kinds_named(name),
        Value::Array(names) => {
            names.iter().try_fold(0, |kinds, name| Some(kinds | kinds_named(name.as_str()?)?))
        }
        _ => None,
    }
}

fn kinds_named(name: &str) -> Option<u8> {
    Some(match name {
        "null" => kind_bit(Kind::Null),
        "boolean" => kind_bit(Kind::Bool),
        "integer" => kind_bit(Kind::Integer),
        "number" => kind_bit(Kind::Integer) | kind_bit(Kind::Float),
        "string" => kind_bit(Kind::String),
        "array" => kind_bit(Kind::Array),
        "object" => kind_bit(Kind::Object),
        _ => return None,
    })
}

fn bound(value: &Value) -> Option<i64> {
    value.as_i64().filter(|bound| (-EXACT_MAX..=EXACT_MAX).contains(bound))
}

fn size(value: &Value) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}
