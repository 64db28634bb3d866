//! Content blocks of tool results, prompt messages and resources embedded in them (CALL-09).

use serde::{Deserialize, Serialize};

use super::blob::{self, NotBase64};
use super::{Annotations, Meta, Resource, ResourceContents};

/// One block of content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Content {
    /// Text.
    Text(TextContent),
    /// A picture.
    Image(MediaContent),
    /// A sound.
    Audio(MediaContent),
    /// A resource by reference; it need not be listed (CALL-11).
    ResourceLink(Box<Resource>),
    /// A resource with its contents.
    Resource(Box<EmbeddedResource>),
}

/// Text for the reader.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TextContent {
    /// The text.
    pub text: String,
    /// Hints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Free metadata.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// An image or a sound.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MediaContent {
    /// The bytes as padded standard Base64.
    pub data: String,
    /// Media type.
    pub mime_type: String,
    /// Hints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Free metadata.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// A resource with its contents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EmbeddedResource {
    /// The contents.
    pub resource: ResourceContents,
    /// Hints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Free metadata.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl Content {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Content::Text(TextContent { text: text.into(), ..Default::default() })
    }

    /// A picture from its bytes, such as `image/png`.
    pub fn image(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        Content::Image(MediaContent::new(bytes, mime_type))
    }

    /// A sound from its bytes, such as `audio/wav`.
    pub fn audio(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        Content::Audio(MediaContent::new(bytes, mime_type))
    }

    /// A resource by reference.
    pub fn link(resource: Resource) -> Self {
        Content::ResourceLink(Box::new(resource))
    }

    /// A resource with its contents.
    pub fn embedded(resource: ResourceContents) -> Self {
        Content::Resource(Box::new(EmbeddedResource { resource, annotations: None, meta: None }))
    }

    /// Sets the hints.
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        let slot = match &mut self {
            Content::Text(text) => &mut text.annotations,
            Content::Image(media) | Content::Audio(media) => &mut media.annotations,
            Content::ResourceLink(resource) => &mut resource.annotations,
            Content::Resource(embedded) => &mut embedded.annotations,
        };
        *slot = Some(annotations);
        self
    }

    /// Sets the metadata.
    pub fn meta(mut self, meta: Meta) -> Self {
        let slot = match &mut self {
            Content::Text(text) => &mut text.meta,
            Content::Image(media) | Content::Audio(media) => &mut media.meta,
            Content::ResourceLink(resource) => &mut resource.meta,
            Content::Resource(embedded) => &mut embedded.meta,
        };
        *slot = Some(meta);
        self
    }

    /// The text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Content::Text(text) => Some(&text.text),
            _ => None,
        }
    }
}

impl MediaContent {
    /// Encodes `bytes`.
    pub fn new(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        MediaContent {
            data: blob::encode(bytes.as_ref()),
            mime_type: mime_type.into(),
            ..Default::default()
        }
    }

    /// The bytes.
    pub fn bytes(&self) -> Result<Vec<u8>, NotBase64> {
        blob::decode(&self.data)
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Content {
        Content::text(text)
    }
}

impl From<String> for Content {
    fn from(text: String) -> Content {
        Content::text(text)
    }
}

impl From<ResourceContents> for Content {
    fn from(resource: ResourceContents) -> Content {
        Content::embedded(resource)
    }
}
