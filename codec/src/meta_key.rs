//! The grammar of `_meta` keys (ENV-11) and of extension identifiers (ENV-15), and which keys the
//! protocol keeps for itself (ENV-13).

use std::fmt;

/// Keys without a prefix that the protocol defines for itself (ENV-13).
pub const RESERVED_BARE_KEYS: [&str; 4] = ["progressToken", "traceparent", "tracestate", "baggage"];

/// Second prefix labels that make a prefix the protocol's own (ENV-11).
const RESERVED_LABELS: [&str; 2] = ["modelcontextprotocol", "mcp"];

/// A well-formed key, split at its slash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetaKey<'a> {
    /// Dot-separated labels before the slash, without it.
    pub prefix: Option<&'a str>,
    /// What follows; may be empty.
    pub name: &'a str,
}

/// Why a key was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetaKeyError {
    /// A prefix label does not start with a letter, end with a letter or digit, or holds another
    /// character than letters, digits and hyphens.
    MalformedPrefix,
    /// The name does not start and end with a letter or digit, or holds another character than
    /// letters, digits, `-`, `_` and `.`.
    MalformedName,
    /// The key belongs to the protocol.
    Reserved,
    /// An extension identifier without a prefix.
    PrefixMissing,
}

/// Splits `key` by the grammar of ENV-11. Says nothing about reservation.
pub fn parse(key: &str) -> Result<MetaKey<'_>, MetaKeyError> {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    if prefix.is_some_and(|prefix| !prefix.split('.').all(is_label)) {
        return Err(MetaKeyError::MalformedPrefix);
    }
    if !is_name(name) {
        return Err(MetaKeyError::MalformedName);
    }
    Ok(MetaKey { prefix, name })
}

impl MetaKey<'_> {
    /// Whether the protocol keeps this key for itself: the second label of the prefix is
    /// `modelcontextprotocol` or `mcp`, or it is one of [`RESERVED_BARE_KEYS`].
    pub fn is_reserved(&self) -> bool {
        match self.prefix {
            Some(prefix) => {
                prefix.split('.').nth(1).is_some_and(|label| RESERVED_LABELS.contains(&label))
            }
            None => RESERVED_BARE_KEYS.contains(&self.name),
        }
    }
}

/// Whether a server's own code may set `key` in a `_meta`: well-formed and not reserved.
pub fn check_settable(key: &str) -> Result<(), MetaKeyError> {
    if parse(key)?.is_reserved() {
        return Err(MetaKeyError::Reserved);
    }
    Ok(())
}

/// Whether `id` may be a key of `capabilities.extensions`: the key grammar with a prefix (ENV-15).
/// Reserved prefixes pass, official extensions have one.
pub fn check_extension_id(id: &str) -> Result<(), MetaKeyError> {
    match parse(id)?.prefix {
        Some(_) => Ok(()),
        None => Err(MetaKeyError::PrefixMissing),
    }
}

fn is_label(label: &str) -> bool {
    let bytes = label.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'-')
}

fn is_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.first().is_none_or(u8::is_ascii_alphanumeric)
        && bytes.last().is_none_or(u8::is_ascii_alphanumeric)
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

impl fmt::Display for MetaKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MetaKeyError::MalformedPrefix => "`_meta` key: malformed prefix",
            MetaKeyError::MalformedName => "`_meta` key: malformed name after the prefix",
            MetaKeyError::Reserved => "`_meta` key: reserved by the protocol",
            MetaKeyError::PrefixMissing => {
                "extension identifier: prefix (such as `com.example/`) missing"
            }
        })
    }
}

impl std::error::Error for MetaKeyError {}

#[cfg(test)]
mod tests {
    use super::*;

    /// [ENV-11] the grammar and the reserved prefixes, one row per case.
    #[test]
    fn grammar_and_reservation() {
        let rows: &[(&str, Result<bool, MetaKeyError>)] = &[
            ("io.modelcontextprotocol/x", Ok(true)),
            ("dev.mcp/", Ok(true)),
            ("com.mcp.tools/x", Ok(true)),
            ("com.example.mcp/x", Ok(false)),
            ("mcp/x", Ok(false)),
            ("com.example/a-b_c.d", Ok(false)),
            ("plain", Ok(false)),
            ("", Ok(false)),
            ("traceparent", Ok(true)),
            ("com.example/traceparent", Ok(false)),
            ("1a.b/x", Err(MetaKeyError::MalformedPrefix)),
            ("a-.b/x", Err(MetaKeyError::MalformedPrefix)),
            ("a..b/x", Err(MetaKeyError::MalformedPrefix)),
            ("/x", Err(MetaKeyError::MalformedPrefix)),
            ("ä.b/x", Err(MetaKeyError::MalformedPrefix)),
            ("a.b/c/d", Err(MetaKeyError::MalformedName)),
            ("a.b/-c", Err(MetaKeyError::MalformedName)),
            ("c.", Err(MetaKeyError::MalformedName)),
            ("with space", Err(MetaKeyError::MalformedName)),
        ];
        for (key, expected) in rows {
            assert_eq!(parse(key).map(|key| key.is_reserved()), *expected, "{key:?}");
        }
    }

    /// [ENV-11] [ENV-15] builders refuse reserved keys; extensions need a prefix, official ones pass.
    #[test]
    fn settable_keys_and_extension_ids() {
        assert_eq!(check_settable("a.b/c"), Ok(()));
        assert_eq!(check_settable("io.modelcontextprotocol/c"), Err(MetaKeyError::Reserved));
        assert_eq!(check_extension_id("io.modelcontextprotocol/tasks"), Ok(()));
        assert_eq!(check_extension_id("tasks"), Err(MetaKeyError::PrefixMissing));
        assert_eq!(check_extension_id("1.b/tasks"), Err(MetaKeyError::MalformedPrefix));
    }
}
