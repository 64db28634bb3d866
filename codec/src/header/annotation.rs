//! `x-mcp-header` annotations: which arguments of a tool travel as `Mcp-Param-*` too (ledger 8b).
//! Runs at registration, so clarity of the fault outranks speed.

use std::collections::HashSet;
use std::fmt;

use serde_json::{Map, Value};

use super::param::ParamKind;
use super::value::is_token;

/// The annotation's keyword.
pub const ANNOTATION: &str = "x-mcp-header";

/// Deepest schema nesting that [`scan`] follows, in JSON levels; equals the message depth limit.
pub const SCHEMA_DEPTH_MAX: usize = 128;

/// One argument that is mirrored in a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    /// The part after `Mcp-Param-`, in the schema's own letter case; compared case-insensitively.
    pub name: String,
    /// Property names from the arguments object down to the value; never empty.
    pub path: Vec<String>,
    /// How header and argument are compared.
    pub kind: ParamKind,
}

/// The first annotation that makes a tool invalid (XH-05).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// JSON pointer (RFC 6901) to the annotated subschema; empty for the root.
    pub property: String,
    /// The rule it breaks.
    pub kind: ViolationKind,
}

/// The rules of ledger 8b, in checking order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViolationKind {
    /// Reached through anything but `properties` (XH-04).
    Unreachable,
    /// The annotation is not a string (XH-01).
    NotString,
    /// The annotation is empty or no RFC 9110 token (XH-01).
    NotToken,
    /// The property's `type` is not exactly `string`, `integer` or `boolean` (XH-03).
    Type,
    /// The name was used before, letter case aside (XH-02).
    Duplicate,
    /// Nesting beyond [`SCHEMA_DEPTH_MAX`]; an annotation might hide below.
    TooDeep,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = match self.kind {
            ViolationKind::Unreachable => {
                "x-mcp-header is allowed only where every step from the root is `properties`"
            }
            ViolationKind::NotString => "x-mcp-header must be a string",
            ViolationKind::NotToken => "x-mcp-header must be a non-empty header-name token",
            ViolationKind::Type => {
                "x-mcp-header needs a `type` of exactly string, integer or boolean"
            }
            ViolationKind::Duplicate => "x-mcp-header name is used twice (letter case is ignored)",
            ViolationKind::TooDeep => "schema is nested too deeply",
        };
        write!(f, "inputSchema{}: {reason}", self.property)
    }
}

impl std::error::Error for Violation {}

/// Collects the declarations of an `inputSchema` in document order (XH-01..04).
///
/// # Errors
/// The first [`Violation`]; the tool must then be refused (XH-05).
pub fn scan(schema: &Value) -> Result<Vec<Declaration>, Violation> {
    let mut scan = Scan::default();
    scan.schema(schema, true)?;
    Ok(scan.found)
}

/// Declarations whose header or property name looks like a secret or personal datum, which a header
/// would show to every intermediary and log (XH-06). A warning, not a fault.
pub fn lint(declarations: &[Declaration]) -> impl Iterator<Item = &Declaration> {
    declarations.iter().filter(|declaration| {
        declaration.path.iter().chain([&declaration.name]).any(|name| is_sensitive(name))
    })
}

#[derive(Default)]
struct Scan {
    found: Vec<Declaration>,
    names_lower: HashSet<String>,
    /// Every key and index from the root, for the pointer.
    steps: Vec<String>,
    /// The property names among `steps`, valid while the walk is reachable.
    path: Vec<String>,
}

impl Scan {
    /// `reachable`: every step so far was `properties`.
    fn schema(&mut self, schema: &Value, reachable: bool) -> Result<(), Violation> {
        if self.steps.len() > SCHEMA_DEPTH_MAX {
            return Err(self.violation(ViolationKind::TooDeep));
        }
        match schema {
            Value::Object(members) => {
                if let Some(annotation) = members.get(ANNOTATION) {
                    self.declare(annotation, members, reachable)?;
                }
                members.iter().try_for_each(|(key, value)| self.keyword(key, value, reachable))
            }
            // A list of schemas: allOf, prefixItems, draft-07 items.
            Value::Array(items) => items.iter().enumerate().try_for_each(|(index, item)| {
                self.step(index.to_string(), |scan| scan.schema(item, false))
            }),
            _ => Ok(()),
        }
    }

    /// A keyword nobody knows may still be the target of a `$ref`, so it counts as a schema;
    /// only keywords that hold instance data or names are passed over.
    fn keyword(&mut self, key: &str, value: &Value, reachable: bool) -> Result<(), Violation> {
        if DATA_KEYWORDS.contains(&key) {
            return Ok(());
        }
        let Some(members) = value.as_object().filter(|_| MAP_KEYWORDS.contains(&key)) else {
            return self.step(key.to_owned(), |scan| scan.schema(value, false));
        };
        // The keys of such a map are names: a property may itself be called `x-mcp-header`.
        let properties = reachable && key == "properties";
        self.step(key.to_owned(), |scan| {
            members.iter().try_for_each(|(name, child)| {
                scan.path.push(name.clone());
                let outcome = scan.step(name.clone(), |scan| scan.schema(child, properties));
                scan.path.pop();
                outcome
            })
        })
    }

    fn declare(
        &mut self,
        annotation: &Value,
        schema: &Map<String, Value>,
        reachable: bool,
    ) -> Result<(), Violation> {
        if !reachable {
            return Err(self.violation(ViolationKind::Unreachable));
        }
        let Some(name) = annotation.as_str() else {
            return Err(self.violation(ViolationKind::NotString));
        };
        if !is_token(name) {
            return Err(self.violation(ViolationKind::NotToken));
        }
        let kind = match schema.get("type").and_then(Value::as_str) {
            // The root is the arguments object itself, whatever its type says.
            _ if self.path.is_empty() => return Err(self.violation(ViolationKind::Type)),
            Some("string") => ParamKind::String,
            Some("integer") => ParamKind::Integer,
            Some("boolean") => ParamKind::Boolean,
            _ => return Err(self.violation(ViolationKind::Type)),
        };
        if !self.names_lower.insert(name.to_ascii_lowercase()) {
            return Err(self.violation(ViolationKind::Duplicate));
        }
        self.found.push(Declaration { name: name.to_owned(), path: self.path.clone(), kind });
        Ok(())
    }

    fn step(
        &mut self,
        key: String,
        inside: impl FnOnce(&mut Scan) -> Result<(), Violation>,
    ) -> Result<(), Violation> {
        self.steps.push(key);
        let outcome = inside(self);
        self.steps.pop();
        outcome
    }

    fn violation(&self, kind: ViolationKind) -> Violation {
        let escaped = self.steps.iter().map(|step| step.replace('~', "~0").replace('/', "~1"));
        Violation { property: escaped.flat_map(|step| ["/".to_owned(), step]).collect(), kind }
    }
}

fn is_sensitive(name: &str) -> bool {
    let mut words = Vec::new();
    let mut after_lower = false;
    for ch in name.chars() {
        // A word starts after punctuation and at a camelCase hump.
        if !ch.is_alphanumeric() || (after_lower && ch.is_uppercase()) || words.is_empty() {
            words.push(String::new());
        }
        after_lower = ch.is_lowercase();
        if ch.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(ch.to_lowercase());
        }
    }
    let joined = words.concat();
    words.iter().any(|word| SENSITIVE_WORDS.contains(&word.as_str()))
        || SENSITIVE_PARTS.iter().any(|part| joined.contains(part))
}

/// Keywords whose value is instance data, a set of names, or a URI: an `x-mcp-header` in there is no
/// annotation.
const DATA_KEYWORDS: &[&str] = &[
    ANNOTATION,
    "$vocabulary",
    "const",
    "default",
    "dependentRequired",
    "enum",
    "example",
    "examples",
    "required",
];

/// Keywords whose value maps names to schemas.
const MAP_KEYWORDS: &[&str] = &[
    "$defs",
    "definitions",
    "dependencies",
    "dependentSchemas",
    "patternProperties",
    "properties",
];

/// Flagged as a whole word.
const SENSITIVE_WORDS: &[&str] = &[
    "auth", "cookie", "cvv", "email", "iban", "jwt", "key", "phone", "pin", "pwd", "ssn", "token",
];

/// Flagged anywhere in the name.
const SENSITIVE_PARTS: &[&str] = &[
    "accesstoken",
    "apikey",
    "authorization",
    "credential",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "secret",
];
