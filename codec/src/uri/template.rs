//! RFC 6570 templates: parsing and expansion. What a template matches is worked out once, at parse
//! time, in shape.rs; a template that could match in two ways is refused there.
//!
//! All eight expansions are here with string values: `{v}`, `{+v}`, `{#v}`, `{.v}`, `{/v}`, `{;v}`,
//! `{?v}`, `{&v}`. The value modifiers `*` and `:n` are refused: an exploded list has no one string to
//! pass on, and a prefix does not determine its value.

use std::borrow::Cow;
use std::fmt;

use super::URI_BYTES_MAX;
use super::percent::{self, Keep};
use super::shape::Shape;

/// Longest accepted template text, in bytes (RES-10).
pub const TEMPLATE_BYTES_MAX: usize = 4 * 1024;

/// Most variables in one template.
pub const VARIABLES_MAX: usize = 64;

/// Why a text is refused as a resource template. All are mistakes of the server's author.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateError {
    /// Longer than [`TEMPLATE_BYTES_MAX`].
    TooLong,
    /// More than [`VARIABLES_MAX`] variables.
    TooManyVariables,
    /// A brace without its partner, or nested braces.
    Brace,
    /// A character that RFC 6570 section 2.1 forbids outside expressions, or a bare `%`.
    Literal,
    /// One of the operators `= , ! @ |`, which RFC 6570 reserves.
    Operator,
    /// An empty or ill-formed variable name.
    Name,
    /// The `*` or `:n` modifier.
    Modifier,
    /// The same name twice.
    Duplicate,
    /// Two variables without a literal between them, or two `{+v}`: a URI could match in several ways.
    Ambiguous,
    /// `{?v}`, `{&v}` or `{#v}` where no query or fragment can start or continue.
    Misplaced,
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TemplateError::TooLong => "template is longer than 4096 bytes",
            TemplateError::TooManyVariables => "template has more than 64 variables",
            TemplateError::Brace => "unbalanced or nested brace",
            TemplateError::Literal => "character not allowed outside an expression",
            TemplateError::Operator => "operator is reserved by RFC 6570",
            TemplateError::Name => "variable name is empty or malformed",
            TemplateError::Modifier => {
                "modifiers `*` and `:n` cannot be matched back to one string; use `{+name}` for \
                 several path segments"
            }
            TemplateError::Duplicate => "variable occurs twice",
            TemplateError::Ambiguous => {
                "variables need a literal between them, and `{+name}` may occur once"
            }
            TemplateError::Misplaced => {
                "`{?name}` must end the template or precede `#`; `{&name}` must follow `{?name}` or \
                 a literal query; `{#name}` must come last"
            }
        })
    }
}

impl std::error::Error for TemplateError {}

/// A parsed resource template (RES-03, RES-10).
#[derive(Debug, Clone)]
pub struct Template {
    source: String,
    pieces: Vec<Piece>,
    names: Vec<String>,
    shape: Shape,
}

impl Template {
    /// Parses and checks a template.
    ///
    /// # Errors
    /// [`TemplateError`], the first fault found.
    pub fn parse(source: &str) -> Result<Template, TemplateError> {
        if source.len() > TEMPLATE_BYTES_MAX {
            return Err(TemplateError::TooLong);
        }
        let mut names = Vec::new();
        let pieces = pieces(source, &mut names)?;
        let shape = Shape::of(&pieces, &names)?;
        Ok(Template { source: source.to_owned(), pieces, names, shape })
    }

    /// The text it was parsed from.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// Variable names in template order.
    pub fn variables(&self) -> impl ExactSizeIterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The variables of `uri` in template order, each percent-decoded exactly once, or `None` when the
    /// URI is no instance. Linear in the URI; one longer than [`URI_BYTES_MAX`] matches nothing.
    ///
    /// Every variable takes at least one character and is present, except those of `{?v}` and `{&v}`:
    /// they may be empty, absent, and in any order, while an undeclared or repeated query parameter is
    /// no match. `{+v}` and `{#v}` take any characters. All others stop at `/`, `?` and `#` (and at `&`
    /// in a query), but an encoded `%2F` does decode to `/`: a value is never safe as a file name.
    /// Where two variables meet at a literal that both could contain, the left one is shortest.
    #[must_use]
    pub fn match_uri<'a>(&'a self, uri: &'a str) -> Option<Vec<(&'a str, Cow<'a, str>)>> {
        if uri.len() > URI_BYTES_MAX {
            return None;
        }
        let values = self.shape.match_uri(uri, self.names.len())?;
        let named = self.names.iter().map(String::as_str).zip(values);
        Some(named.filter_map(|(name, value)| Some((name, value?))).collect())
    }

    /// Expands the template (RFC 6570 section 3.2); a variable that `values` lacks is undefined and
    /// leaves no trace. The first of two entries with one name wins.
    pub fn expand<N: AsRef<str>, V: AsRef<str>>(&self, values: &[(N, V)]) -> String {
        let mut out = String::with_capacity(self.source.len());
        for piece in &self.pieces {
            match piece {
                Piece::Literal(text) => out.push_str(text),
                Piece::Expression { operator, variables } => {
                    let mut lead = operator.first();
                    for name in variables.clone().map(|index| &self.names[index]) {
                        let found = values.iter().find(|(known, _)| known.as_ref() == name);
                        let Some((_, value)) = found else { continue };
                        out.push_str(lead);
                        lead = operator.separator();
                        operator.write_value(name, value.as_ref(), &mut out);
                    }
                }
            }
        }
        out
    }
}

/// One stretch of a template.
#[derive(Debug, Clone)]
pub(super) enum Piece {
    /// Text as it stands in a URI: non-ASCII characters are already escaped. Never empty.
    Literal(String),
    /// `{operator variable,variable}`; `variables` index [`Template::variables`].
    Expression { operator: Operator, variables: std::ops::Range<usize> },
}

/// RFC 6570 section 2.2 and the table of appendix A.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Simple,
    Reserved,
    Fragment,
    Label,
    Path,
    Matrix,
    Query,
    Continuation,
}

impl Operator {
    /// What precedes the first defined variable.
    pub(super) fn first(self) -> &'static str {
        match self {
            Operator::Simple | Operator::Reserved => "",
            Operator::Fragment => "#",
            Operator::Label => ".",
            Operator::Path => "/",
            Operator::Matrix => ";",
            Operator::Query => "?",
            Operator::Continuation => "&",
        }
    }

    /// What precedes each further variable.
    pub(super) fn separator(self) -> &'static str {
        match self {
            Operator::Simple | Operator::Reserved | Operator::Fragment => ",",
            Operator::Label => ".",
            Operator::Path => "/",
            Operator::Matrix => ";",
            Operator::Query | Operator::Continuation => "&",
        }
    }

    fn write_value(self, name: &str, value: &str, out: &mut String) {
        if matches!(self, Operator::Matrix | Operator::Query | Operator::Continuation) {
            out.push_str(name);
            if self != Operator::Matrix || !value.is_empty() {
                out.push('=');
            }
        }
        let keep = match self {
            Operator::Reserved | Operator::Fragment => Keep::Reserved,
            _ => Keep::Unreserved,
        };
        percent::encode(value, keep, out);
    }
}

fn pieces(source: &str, names: &mut Vec<String>) -> Result<Vec<Piece>, TemplateError> {
    let mut pieces = Vec::new();
    let mut rest = source;
    while !rest.is_empty() {
        let end = rest.find('{').unwrap_or(rest.len());
        if end > 0 {
            pieces.push(Piece::Literal(literal(&rest[..end])?));
        }
        let Some(expression) = rest[end..].strip_prefix('{') else { break };
        let (inside, after) = expression.split_once('}').ok_or(TemplateError::Brace)?;
        pieces.push(self::expression(inside, names)?);
        rest = after;
    }
    Ok(pieces)
}

/// RFC 6570 section 2.1, apostrophe allowed: it is reserved, and the grammar left it out by mistake.
fn literal(text: &str) -> Result<String, TemplateError> {
    for (at, ch) in text.char_indices() {
        match ch {
            '}' => return Err(TemplateError::Brace),
            '%' if percent::triplet(&text.as_bytes()[at..]).is_none() => {
                return Err(TemplateError::Literal);
            }
            '\0'..=' ' | '"' | '<' | '>' | '\\' | '^' | '`' | '|' | '\x7F' => {
                return Err(TemplateError::Literal);
            }
            _ => {}
        }
    }
    let mut encoded = String::with_capacity(text.len());
    percent::encode(text, Keep::Reserved, &mut encoded);
    Ok(encoded)
}

fn expression(inside: &str, names: &mut Vec<String>) -> Result<Piece, TemplateError> {
    let (operator, list) = match inside.as_bytes().first() {
        None => return Err(TemplateError::Name),
        Some(b'{') => return Err(TemplateError::Brace),
        Some(b'=' | b',' | b'!' | b'@' | b'|') => return Err(TemplateError::Operator),
        Some(b'+') => (Operator::Reserved, &inside[1..]),
        Some(b'#') => (Operator::Fragment, &inside[1..]),
        Some(b'.') => (Operator::Label, &inside[1..]),
        Some(b'/') => (Operator::Path, &inside[1..]),
        Some(b';') => (Operator::Matrix, &inside[1..]),
        Some(b'?') => (Operator::Query, &inside[1..]),
        Some(b'&') => (Operator::Continuation, &inside[1..]),
        Some(_) => (Operator::Simple, inside),
    };
    let start = names.len();
    for name in list.split(',') {
        if name.ends_with('*') || name.contains(':') {
            return Err(TemplateError::Modifier);
        }
        if !is_name(name) {
            return Err(if name.contains('{') {
                TemplateError::Brace
            } else {
                TemplateError::Name
            });
        }
        if names.iter().any(|known| known == name) {
            return Err(TemplateError::Duplicate);
        }
        if names.len() == VARIABLES_MAX {
            return Err(TemplateError::TooManyVariables);
        }
        names.push(name.to_owned());
    }
    Ok(Piece::Expression { operator, variables: start..names.len() })
}

/// RFC 6570 section 2.3: runs of letters, digits, `_` and triplets, joined by single dots.
fn is_name(name: &str) -> bool {
    name.split('.').all(|run| {
        let mut bytes = run.as_bytes();
        while let [first, rest @ ..] = bytes {
            bytes = if first.is_ascii_alphanumeric() || *first == b'_' {
                rest
            } else if percent::triplet(bytes).is_some() {
                &bytes[3..]
            } else {
                return false;
            };
        }
        !run.is_empty()
    })
}
