//! Annotations of content and resources: for whom, how important, how fresh (CALL-10).

use std::fmt;

use serde::{Deserialize, Serialize};

use super::time::is_iso_8601;
use super::{Num, Role};

/// Hints about a piece of content or a resource.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    /// For whom it is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audience: Option<Vec<Role>>,
    /// 0 (optional) to 1 (required).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<Num>,
    /// ISO 8601 time of the last change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

/// Why annotations were refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnnotationsError {
    /// `priority` is outside 0..1.
    Priority,
    /// `lastModified` is no ISO 8601 date or date and time.
    LastModified,
}

impl Annotations {
    /// No hints.
    pub fn new() -> Self {
        Annotations::default()
    }

    /// Sets for whom it is meant.
    pub fn audience(mut self, audience: impl IntoIterator<Item = Role>) -> Self {
        self.audience = Some(audience.into_iter().collect());
        self
    }

    /// Sets the importance, 0 to 1.
    pub fn priority(mut self, priority: impl Into<Num>) -> Result<Self, AnnotationsError> {
        self.priority = Some(priority.into());
        self.validate()?;
        Ok(self)
    }

    /// Sets the time of the last change, such as `2026-07-28T12:00:00Z` or `2026-07-28`.
    pub fn last_modified(mut self, time: impl Into<String>) -> Result<Self, AnnotationsError> {
        self.last_modified = Some(time.into());
        self.validate()?;
        Ok(self)
    }

    /// Checks ranges and formats.
    pub fn validate(&self) -> Result<(), AnnotationsError> {
        if self.priority.as_ref().is_some_and(|priority| !priority.is_unit_range()) {
            return Err(AnnotationsError::Priority);
        }
        match self.last_modified.as_deref().is_none_or(is_iso_8601) {
            true => Ok(()),
            false => Err(AnnotationsError::LastModified),
        }
    }
}

impl fmt::Display for AnnotationsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AnnotationsError::Priority => "annotations.priority: must be within 0 and 1",
            AnnotationsError::LastModified => "annotations.lastModified: must be ISO 8601",
        })
    }
}

impl std::error::Error for AnnotationsError {}
