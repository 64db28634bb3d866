//! Contents of resources: text or bytes.

use serde::{Deserialize, Serialize};

use super::super::Meta;
use super::super::blob::{self, NotBase64};

/// Contents of one resource: exactly one of text and blob (RES-04).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, try_from = "AnyContents")]
pub enum ResourceContents {
    /// Text.
    Text(TextResourceContents),
    /// Bytes.
    Blob(BlobResourceContents),
}

/// Contents that are text.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TextResourceContents {
    /// URI of the resource or of a part of it.
    pub uri: String,
    /// Media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The text.
    pub text: String,
    /// Free metadata.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// Contents that are bytes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BlobResourceContents {
    /// URI of the resource or of a part of it.
    pub uri: String,
    /// Media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The bytes as padded standard Base64.
    pub blob: String,
    /// Free metadata.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// Either kind of contents, as read before the choice is made.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnyContents {
    uri: String,
    mime_type: Option<String>,
    text: Option<String>,
    blob: Option<String>,
    #[serde(rename = "_meta")]
    meta: Option<Meta>,
}

impl ResourceContents {
    /// Text contents.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        ResourceContents::Text(TextResourceContents {
            uri: uri.into(),
            text: text.into(),
            ..Default::default()
        })
    }

    /// Binary contents from their bytes.
    pub fn blob(uri: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        ResourceContents::Blob(BlobResourceContents {
            uri: uri.into(),
            blob: blob::encode(bytes.as_ref()),
            ..Default::default()
        })
    }

    /// Sets the media type.
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        let slot = match &mut self {
            ResourceContents::Text(text) => &mut text.mime_type,
            ResourceContents::Blob(blob) => &mut blob.mime_type,
        };
        *slot = Some(mime_type.into());
        self
    }

    /// Sets the metadata.
    pub fn meta(mut self, meta: Meta) -> Self {
        let slot = match &mut self {
            ResourceContents::Text(text) => &mut text.meta,
            ResourceContents::Blob(blob) => &mut blob.meta,
        };
        *slot = Some(meta);
        self
    }

    /// URI of the resource or of a part of it.
    pub fn uri(&self) -> &str {
        match self {
            ResourceContents::Text(text) => &text.uri,
            ResourceContents::Blob(blob) => &blob.uri,
        }
    }
}

impl BlobResourceContents {
    /// The bytes.
    pub fn bytes(&self) -> Result<Vec<u8>, NotBase64> {
        blob::decode(&self.blob)
    }
}

impl TryFrom<AnyContents> for ResourceContents {
    type Error = &'static str;

    fn try_from(any: AnyContents) -> Result<Self, Self::Error> {
        let AnyContents { uri, mime_type, meta, .. } = any;
        match (any.text, any.blob) {
            (Some(text), None) => {
                Ok(ResourceContents::Text(TextResourceContents { uri, mime_type, text, meta }))
            }
            (None, Some(blob)) => {
                Ok(ResourceContents::Blob(BlobResourceContents { uri, mime_type, blob, meta }))
            }
            _ => Err("resource contents: exactly one of `text` and `blob`"),
        }
    }
}
