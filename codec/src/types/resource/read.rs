//! `resources/read`: what is asked, and what is answered.

use serde::{Deserialize, Serialize};

use super::super::{CacheScope, JsonObject, Meta, RequestMeta, ResultType, Retry};
use super::ResourceContents;

/// Parameters of `resources/read`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadResourceParams {
    /// The envelope (ENV-01).
    #[serde(rename = "_meta")]
    pub meta: RequestMeta,
    /// What to read.
    pub uri: String,
    /// Answers of an earlier round.
    #[serde(flatten)]
    pub retry: Retry,
}

/// Result of `resources/read`: never empty for a resource that does not exist (RES-06).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadResourceResult {
    /// Kind of result.
    #[serde(default = "ResultType::absent", skip_serializing_if = "ResultType::is_absent")]
    pub result_type: ResultType,
    /// One item, or several for a directory and the like.
    pub contents: Vec<ResourceContents>,
    /// How long the result may be cached, in milliseconds (CCH-01).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
    /// Who may share it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_scope: Option<CacheScope>,
    /// Free metadata.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Every other member.
    #[serde(flatten)]
    pub extra: JsonObject,
}

impl ReadResourceResult {
    /// The contents of one read.
    pub fn new(contents: impl IntoIterator<Item = ResourceContents>) -> Self {
        ReadResourceResult { contents: contents.into_iter().collect(), ..Default::default() }
    }

    /// How long the result may be cached, and by whom; defaults are the server's (CCH-03).
    pub fn cache(mut self, ttl_ms: u64, scope: CacheScope) -> Self {
        self.ttl_ms = Some(ttl_ms);
        self.cache_scope = Some(scope);
        self
    }
}

impl From<ResourceContents> for ReadResourceResult {
    fn from(contents: ResourceContents) -> ReadResourceResult {
        ReadResourceResult::new([contents])
    }
}

impl From<Vec<ResourceContents>> for ReadResourceResult {
    fn from(contents: Vec<ResourceContents>) -> ReadResourceResult {
        ReadResourceResult::new(contents)
    }
}
