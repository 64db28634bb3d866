//! Icons and where they may come from (TOOL-12).

use std::fmt;

use serde::{Deserialize, Serialize};

use super::text::closed_text;

closed_text! {
    /// Background an icon is drawn for.
    pub enum IconTheme {
        /// A light one.
        Light = "light",
        /// A dark one.
        Dark = "dark",
    }
}

/// A picture a client may show beside a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Icon {
    /// An `https:` or `data:` URI.
    pub src: String,
    /// Media type, if the source does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Sizes it can be used at: `"48x48"`, or `"any"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Vec<String>>,
    /// Background it is drawn for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theme: Option<IconTheme>,
}

/// Why an icon was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IconError {
    /// `src` is neither an `https:` URI with a host nor a `data:` URI.
    Source,
    /// An entry of `sizes` is neither `WIDTHxHEIGHT` nor `any`.
    Size,
}

impl Icon {
    /// An icon at an `https:` or `data:` URI; other schemes are refused.
    pub fn new(src: impl Into<String>) -> Result<Self, IconError> {
        let icon = Icon { src: src.into(), mime_type: None, sizes: None, theme: None };
        icon.validate()?;
        Ok(icon)
    }

    /// Sets the media type.
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Adds a size: `"48x48"`, or `"any"`.
    pub fn size(mut self, size: impl Into<String>) -> Result<Self, IconError> {
        self.sizes.get_or_insert_default().push(size.into());
        self.validate()?;
        Ok(self)
    }

    /// Sets the background it is drawn for.
    pub fn theme(mut self, theme: IconTheme) -> Self {
        self.theme = Some(theme);
        self
    }

    /// Checks source and sizes.
    pub fn validate(&self) -> Result<(), IconError> {
        if !is_allowed_source(&self.src) {
            return Err(IconError::Source);
        }
        match self.sizes.iter().flatten().all(|size| is_size(size)) {
            true => Ok(()),
            false => Err(IconError::Size),
        }
    }
}

fn is_allowed_source(src: &str) -> bool {
    let Some((scheme, rest)) = src.split_once(':') else { return false };
    if src.bytes().any(|b| b.is_ascii_control() || b == b' ') {
        return false;
    }
    scheme.eq_ignore_ascii_case("data")
        || (scheme.eq_ignore_ascii_case("https")
            && rest
                .strip_prefix("//")
                .is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/')))
}

fn is_size(size: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    size == "any" || size.split_once('x').is_some_and(|(w, h)| is_number(w) && is_number(h))
}

impl fmt::Display for IconError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            IconError::Source => "icon.src: must be an `https:` or `data:` URI",
            IconError::Size => "icon.sizes: must be `WIDTHxHEIGHT` or `any`",
        })
    }
}

impl std::error::Error for IconError {}
