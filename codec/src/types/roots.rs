//! `roots/list` (deprecated): the client's folders (EL-08).

use serde::{Deserialize, Serialize};

use super::Meta;

/// Parameters of `roots/list`; `{}` on the wire when there is no metadata (D-27).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ListRootsParams {
    /// Free metadata.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// The client's folders: untrusted hints, not grants.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ListRootsResult {
    /// All of them.
    pub roots: Vec<Root>,
}

/// One folder or file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Root {
    /// A `file://` URI.
    pub uri: String,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Free metadata.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl ListRootsResult {
    /// The roots whose URI is a `file://` one; the protocol allows no other.
    pub fn files(&self) -> impl Iterator<Item = &Root> {
        self.roots.iter().filter(|root| root.uri.starts_with("file://"))
    }
}
