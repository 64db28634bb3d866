//! Where a document breaks its schema and what is wrong there, in a line a model can act on (CALL-03).
//!
//! Names and values in it are the caller's own, clipped and escaped; what the schema allows is the server's.

use std::fmt::Write;

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::json::{Node, Object};
use jsonschema::paths::{Location, LocationSegment};
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use super::tape::{Tape, Visit, is_unbelievable};
use super::{FAULT_TEXT_CHARS_MAX, FAULTS_TOLD_MAX};

/// Characters of one member name in a path, and of one value a schema names.
const PART_CHARS_MAX: usize = 48;

/// Characters of one path.
const PATH_CHARS_MAX: usize = 80;

/// The first faults of the document behind `visit`, whose root is called `root`. Never empty.
pub(super) fn tell(validator: &Validator<Tape>, visit: &Visit<'_>, root: &str) -> String {
    let mut told = String::new();
    let errors = validator.iter_errors(visit.root());
    for error in errors.filter(is_believable).take(FAULTS_TOLD_MAX) {
        if !told.is_empty() {
            told.push_str("; ");
        }
        told.push_str(&path(root, error.instance_path()));
        told.push_str(": ");
        told.push_str(&unexpected_member(&error, visit).unwrap_or_else(|| text(&error, root)));
    }
    if told.is_empty() {
        told = format!("{root}: does not match the schema in too many ways to tell them");
    }
    clip(&told, FAULT_TEXT_CHARS_MAX)
}

/// `arguments.rows[3].id`
fn path(root: &str, location: &Location) -> String {
    let mut path = root.to_owned();
    for segment in location.segments() {
        // Writing to a String cannot fail.
        let _ = match segment {
            LocationSegment::Index(index) => write!(path, "[{index}]"),
            LocationSegment::Property(name) if is_plain(&name) => write!(path, ".{name}"),
            LocationSegment::Property(name) => write!(path, "[{}]", quoted(&name)),
        };
    }
    clip_middle(path)
}

/// A long path keeps its start and its end: the end says more.
fn clip_middle(path: String) -> String {
    let chars = path.chars().count();
    if chars <= PATH_CHARS_MAX {
        return path;
    }
    let half = PATH_CHARS_MAX / 2;
    path.chars().take(half).chain(['…']).chain(path.chars().skip(chars - half)).collect()
}

fn is_plain(name: &str) -> bool {
    (1..=PART_CHARS_MAX).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$'))
}

/// What is wrong, without where; for places within, the document's root is called `root`.
pub(super) fn text(error: &ValidationError<'_>, root: &str) -> String {
    let value = shown(error.instance());
    match error.kind() {
        Kind::Type { kind: TypeKind::Single(one) } => format!("{value} is not of type \"{one}\""),
        Kind::Type { kind: TypeKind::Multiple(types) } => {
            let types: Vec<String> = types.iter().map(|one| format!("\"{one}\"")).collect();
            format!("{value} is not of type {}", types.join(" or "))
        }
        Kind::Required { property } => format!("{} is required", shown(property)),
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            format!("{} not allowed", listed(unexpected))
        }
        Kind::Enum { options } => format!("{value} is not one of {}", choices(options)),
        Kind::Constant { expected_value } => format!("{value} is not {}", shown(expected_value)),
        Kind::Minimum { limit } => format!("{value} is less than {limit}"),
        Kind::Maximum { limit } => format!("{value} is greater than {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("{value} is not greater than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("{value} is not less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("{value} is not a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("{value} is shorter than {limit} characters"),
        Kind::MaxLength { limit } => format!("{value} is longer than {limit} characters"),
        Kind::Pattern { pattern } => {
            format!("{value} does not match the pattern {}", quoted(pattern))
        }
        Kind::Format { format } => format!("{value} is not a valid {}", quoted(format)),
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            alternatives(&value, context, root)
        }
        Kind::PropertyNames { error } => {
            format!("a member's name is refused: {}", text(error, root))
        }
        other => format!("{value} {}", plain(other)),
    }
}

/// Faults whose text depends on few or no values.
fn plain(kind: &Kind) -> String {
    match kind {
        Kind::MaxItems { limit } => format!("has more than {limit} items"),
        Kind::MinItems { limit } => format!("has fewer than {limit} items"),
        Kind::MaxProperties { limit } => format!("has more than {limit} members"),
        Kind::MinProperties { limit } => format!("has fewer than {limit} members"),
        Kind::UniqueItems => "has items that are the same".to_owned(),
        Kind::AdditionalItems { .. } | Kind::UnevaluatedItems { .. } => {
            "has more items than allowed".to_owned()
        }
        Kind::Contains => {
            "has no item, or not the right number of items, that the schema asks for".to_owned()
        }
        Kind::OneOfMultipleValid { .. } => {
            "matches more than one of the alternatives, of which one is allowed".to_owned()
        }
        Kind::Not { .. } => "matches what is excluded".to_owned(),
        Kind::FalseSchema => "is not allowed".to_owned(),
        Kind::ContentEncoding { content_encoding } => {
            format!("is not encoded as {}", quoted(content_encoding))
        }
        Kind::ContentMediaType { content_media_type } => {
            format!("is no {}", quoted(content_media_type))
        }
        other => format!("breaks \"{}\"", other.keyword()),
    }
}

/// Of several alternatives the one that got furthest into the document is the likely intention; it is followed to the
/// end, since what lies between says no more than that there are alternatives.
fn alternatives(value: &str, context: &[Vec<ValidationError<'static>>], root: &str) -> String {
    let lead = format!("{value} matches none of the {} alternatives", context.len());
    let Some(mut nearest) = nearest(context) else {
        return lead;
    };
    while let Some(within) = branches(nearest).and_then(self::nearest) {
        nearest = within;
    }
    let place = path(root, nearest.instance_path());
    format!("{lead} (nearest: {place}: {})", text(nearest, root))
}

fn nearest<'e>(
    context: &'e [Vec<ValidationError<'static>>],
) -> Option<&'e ValidationError<'static>> {
    let firsts = context.iter().filter_map(|branch| branch.first());
    let depth = |error: &&ValidationError<'_>| error.instance_path().segments().count();
    firsts.filter(|error| is_believable(error)).max_by_key(depth)
}

fn branches<'e>(error: &'e ValidationError<'_>) -> Option<&'e [Vec<ValidationError<'static>>]> {
    match error.kind() {
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => Some(context),
        _ => None,
    }
}

/// Whether the fuel lasted until the fault was found. It did for one about alternatives if it did for any fault of
/// theirs: those are looked for only after all of them were refused.
fn is_believable(error: &ValidationError<'_>) -> bool {
    let shown_before_the_end = !is_unbelievable(error.instance());
    shown_before_the_end
        || branches(error).is_some_and(|branches| {
            branches.iter().flatten().take(FAULTS_TOLD_MAX).any(is_believable)
        })
}

/// Where no member at all is allowed, the validator shows the value of the first one and keeps its name to itself.
fn unexpected_member(error: &ValidationError<'_>, visit: &Visit<'_>) -> Option<String> {
    let closed = matches!(error.kind(), Kind::FalseSchema)
        && error.schema_path().as_str().ends_with("/additionalProperties");
    let object = closed.then(|| visit.find(error.instance_path())).flatten()?.as_object()?;
    let (name, _) = object.members().next()?;
    Some(format!("{} is not allowed", quoted(name)))
}

fn shown(value: &Value) -> String {
    match value {
        unbelievable if is_unbelievable(unbelievable) => "the value".to_owned(),
        Value::Array(_) => "the array".to_owned(),
        Value::Object(_) => "the object".to_owned(),
        Value::String(text) => quoted(text),
        scalar => scalar.to_string(),
    }
}

/// As a JSON string, clipped: control characters are escaped, so the text stays one line.
fn quoted(text: &str) -> String {
    Value::String(clip(text, PART_CHARS_MAX)).to_string()
}

fn listed(names: &[String]) -> String {
    let some: Vec<String> = names.iter().take(FAULTS_TOLD_MAX).map(|name| quoted(name)).collect();
    let more = if names.len() > FAULTS_TOLD_MAX { ", …" } else { "" };
    format!("{}{more} {}", some.join(", "), if names.len() == 1 { "is" } else { "are" })
}

fn choices(options: &Value) -> String {
    clip(&options.to_string(), 2 * PART_CHARS_MAX)
}

fn clip(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        None => text.to_owned(),
        // One character is given up for the mark.
        Some(_) => text.chars().take(chars_max - 1).chain(['…']).collect(),
    }
}
