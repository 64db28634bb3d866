//! Walks a schema before it is compiled and refuses what reaches outside or costs too much (JSC-03, JSC-04).
//!
//! Subschemas come in two sorts. Those under `properties`, `items` and the like look at a child of the value; a
//! document pays for them once per child. Those under `allOf`, `anyOf`, `$ref` and the like look at the *same* value:
//! they multiply, and a chain of references can double them at each step. [`Survey`] counts the second sort with
//! repetition, and finds references that never leave the value.

use std::collections::HashMap;

use jsonschema::{Draft, Uri, uri};
use serde_json::{Map, Value};

use super::{
    SCHEMA_CHAIN_MAX, SCHEMA_DEPTH_MAX, SCHEMAS_PER_VALUE_MAX, SUBSCHEMAS_MAX, SchemaError,
};

/// Refuses `schema`, whose dialect is `draft`, where it breaks a limit or a reference leads out of it.
pub(super) fn survey(schema: &Value, draft: Draft) -> Result<(), SchemaError> {
    within_depth(schema, SCHEMA_DEPTH_MAX)?;
    let mut survey = Survey::new(draft);
    survey.name_resources(schema, NAMELESS.to_owned())?;
    survey.weigh_everything(schema)
}

fn within_depth(value: &Value, left: usize) -> Result<(), SchemaError> {
    let left = left.checked_sub(1).ok_or(SchemaError::TooDeep)?;
    match value {
        Value::Array(items) => items.iter().try_for_each(|item| within_depth(item, left)),
        Value::Object(members) => members.values().try_for_each(|item| within_depth(item, left)),
        _ => Ok(()),
    }
}

/// What one subschema costs on the value it is applied to.
#[derive(Clone, Copy)]
struct Weight {
    /// Subschemas applied to that same value, itself included.
    schemas: u32,
    /// The longest chain of them.
    chain: u32,
}

enum Mark {
    Weighing,
    Weighed(Weight),
}

struct Survey<'s> {
    id_keyword: &'static str,
    /// Absolute URI without fragment -> root of that resource.
    resources: HashMap<String, &'s Value>,
    /// (resource, anchor) -> subschema.
    anchors: HashMap<(String, &'s str), &'s Value>,
    /// Address of a subschema -> URI of the resource it lies in. The schema outlives the survey and is not changed.
    bases: HashMap<usize, String>,
    marks: HashMap<usize, Mark>,
    /// Subschemas that look at children, still to be weighed.
    waiting: Vec<(&'s Value, String)>,
}

impl<'s> Survey<'s> {
    fn new(draft: Draft) -> Self {
        Survey {
            id_keyword: if draft == Draft::Draft4 { "id" } else { "$id" },
            resources: HashMap::new(),
            anchors: HashMap::new(),
            bases: HashMap::new(),
            marks: HashMap::new(),
            waiting: Vec::new(),
        }
    }

    /// First pass: where every resource and anchor of the document is. Depth was checked before.
    fn name_resources(&mut self, schema: &'s Value, base: String) -> Result<(), SchemaError> {
        self.resources.entry(base.clone()).or_insert(schema);
        let Value::Object(members) = schema else {
            return Ok(());
        };
        if self.bases.len() >= SUBSCHEMAS_MAX {
            return Err(SchemaError::TooManySubschemas);
        }
        let base = self.enter(members, schema, base);
        self.bases.insert(address(schema), base.clone());
        children(members).try_for_each(|(_, child)| self.name_resources(child, base.clone()))
    }

    /// The resource `schema` lies in, after looking at its own identifier and anchors.
    fn enter(
        &mut self,
        members: &'s Map<String, Value>,
        schema: &'s Value,
        base: String,
    ) -> String {
        let mut base = base;
        match members.get(self.id_keyword).and_then(Value::as_str) {
            Some(id) if id.starts_with('#') => {
                self.anchors.insert((base.clone(), &id[1..]), schema);
            }
            Some(id) => {
                if let Some(own) = resolve(&base, id) {
                    base = own;
                    self.resources.insert(base.clone(), schema);
                }
            }
            None => {}
        }
        for keyword in ["$anchor", "$dynamicAnchor"] {
            if let Some(anchor) = members.get(keyword).and_then(Value::as_str) {
                self.anchors.insert((base.clone(), anchor), schema);
            }
        }
        base
    }

    /// Second pass: weighs the root, then everything found to look at a child of some value.
    fn weigh_everything(&mut self, schema: &'s Value) -> Result<(), SchemaError> {
        self.waiting.push((schema, self.bases.get(&address(schema)).cloned().unwrap_or_default()));
        while let Some((schema, base)) = self.waiting.pop() {
            self.weigh(schema, &base, SCHEMA_CHAIN_MAX)?;
        }
        Ok(())
    }

    fn weigh(
        &mut self,
        schema: &'s Value,
        base: &str,
        chain_left: u32,
    ) -> Result<Weight, SchemaError> {
        let mut weight = Weight { schemas: 1, chain: 1 };
        let Value::Object(members) = schema else {
            return Ok(weight);
        };
        match self.marks.get(&address(schema)) {
            Some(Mark::Weighed(known)) => return Ok(*known),
            Some(Mark::Weighing) => return Err(SchemaError::EndlessReference),
            None => {}
        }
        if self.marks.len() >= SUBSCHEMAS_MAX {
            return Err(SchemaError::TooManySubschemas);
        }
        let chain_left = chain_left.checked_sub(1).ok_or(SchemaError::TooCostly)?;
        self.marks.insert(address(schema), Mark::Weighing);
        let base = self.bases.get(&address(schema)).cloned().unwrap_or_else(|| base.to_owned());
        for (place, child) in children(members) {
            match place {
                Place::Child => self.waiting.push((child, base.clone())),
                Place::Same => weight.add(self.weigh(child, &base, chain_left)?)?,
            }
        }
        for reference in references(members) {
            if let Some((target, base)) = self.follow(&base, reference)? {
                weight.add(self.weigh(target, &base, chain_left)?)?;
            }
        }
        self.marks.insert(address(schema), Mark::Weighed(weight));
        Ok(weight)
    }

    /// The subschema `reference` names and the resource it lies in; `None` for a dialect's own meta-schema, which the
    /// validator carries with it.
    fn follow(
        &self,
        base: &str,
        reference: &'s str,
    ) -> Result<Option<(&'s Value, String)>, SchemaError> {
        let remote = || SchemaError::RemoteReference { reference: reference.to_owned() };
        let broken = || SchemaError::BrokenReference { reference: reference.to_owned() };
        let (head, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource = if head.is_empty() {
            base.to_owned()
        } else {
            resolve(base, head).ok_or_else(remote)?
        };
        let Some(root) = self.resources.get(&resource).copied() else {
            return if is_meta_schema(&resource) { Ok(None) } else { Err(remote()) };
        };
        if fragment.is_empty() {
            return Ok(Some((root, resource)));
        }
        let fragment = percent_decoded(fragment).ok_or_else(broken)?;
        let target = if fragment.starts_with('/') {
            root.pointer(&fragment)
        } else {
            // Looked up by value: the decoded name need not live as long as the schema.
            self.anchors
                .iter()
                .find(|((place, name), _)| *place == resource && *name == fragment)
                .map(|(_, target)| *target)
        };
        target.map(|target| Some((target, resource))).ok_or_else(broken)
    }
}

impl Weight {
    fn add(&mut self, part: Weight) -> Result<(), SchemaError> {
        self.schemas += part.schemas;
        self.chain = self.chain.max(part.chain + 1);
        if self.schemas > SCHEMAS_PER_VALUE_MAX || self.chain > SCHEMA_CHAIN_MAX {
            return Err(SchemaError::TooCostly);
        }
        Ok(())
    }
}

#[derive(Clone, Copy)]
enum Place {
    /// Applied to the value the parent schema is applied to.
    Same,
    /// Applied to a member, an item or a member's name; or kept for reference only.
    Child,
}

/// The subschemas of one schema object, of every dialect at once: what a dialect does not know is walked in vain.
fn children(members: &Map<String, Value>) -> impl Iterator<Item = (Place, &Value)> {
    members.iter().flat_map(|(keyword, value)| {
        let (place, values) = match keyword.as_str() {
            "allOf" | "anyOf" | "oneOf" => (Place::Same, items(value)),
            "not" | "if" | "then" | "else" => (Place::Same, one(value)),
            "dependentSchemas" | "dependencies" => (Place::Same, named(value)),
            "properties" | "patternProperties" | "$defs" | "definitions" => {
                (Place::Child, named(value))
            }
            "prefixItems" => (Place::Child, items(value)),
            "items" if value.is_array() => (Place::Child, items(value)),
            "items"
            | "additionalItems"
            | "unevaluatedItems"
            | "contains"
            | "additionalProperties"
            | "unevaluatedProperties"
            | "propertyNames"
            | "contentSchema" => (Place::Child, one(value)),
            _ => (Place::Child, Vec::new()),
        };
        values.into_iter().map(move |value| (place, value))
    })
}

fn one(value: &Value) -> Vec<&Value> {
    vec![value]
}

fn items(value: &Value) -> Vec<&Value> {
    value.as_array().map_or_else(Vec::new, |items| items.iter().collect())
}

fn named(value: &Value) -> Vec<&Value> {
    value.as_object().map_or_else(Vec::new, |members| members.values().collect())
}

fn references(members: &Map<String, Value>) -> impl Iterator<Item = &str> {
    ["$ref", "$dynamicRef", "$recursiveRef"]
        .into_iter()
        .filter_map(|keyword| members.get(keyword).and_then(Value::as_str))
}

/// Where the references of a schema without an identifier start from.
const NAMELESS: &str = "json-schema:///";

fn resolve(base: &str, reference: &str) -> Option<String> {
    let base = Uri::parse(base).ok()?;
    let resolved = uri::resolve_against(&base, reference).ok()?;
    let text = resolved.as_str();
    Some(text.split_once('#').map_or(text, |(head, _)| head).to_owned())
}

fn is_meta_schema(resource: &str) -> bool {
    Draft::from_schema_uri(resource) != Draft::Unknown
        || [
            "https://json-schema.org/draft/2020-12/meta/",
            "https://json-schema.org/draft/2019-09/meta/",
        ]
        .iter()
        .any(|prefix| resource.starts_with(prefix))
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        let value = digit(rest.next())? * 16 + digit(rest.next())?;
        bytes.push(u8::try_from(value).ok()?);
    }
    String::from_utf8(bytes).ok()
}

fn address(schema: &Value) -> usize {
    std::ptr::from_ref(schema) as usize
}
