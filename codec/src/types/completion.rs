//! Completion of prompt and template arguments (LEDGER 11).

use serde::{Deserialize, Serialize};

use super::{Meta, OrderedMap, RequestMeta, ResultType};

/// Most values one answer may carry (CMP-03).
pub const COMPLETION_VALUES_MAX: usize = 100;

/// Parameters of `completion/complete` (CMP-02).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompleteParams {
    /// The envelope (ENV-01).
    #[serde(rename = "_meta")]
    pub meta: RequestMeta,
    /// What the argument belongs to.
    #[serde(rename = "ref")]
    pub reference: CompletionRef,
    /// The argument being typed.
    pub argument: CompletionArgument,
    /// Arguments given so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<CompletionContext>,
}

/// What a completed argument belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum CompletionRef {
    /// A prompt.
    #[serde(rename = "ref/prompt")]
    Prompt {
        /// Its name.
        name: String,
        /// Its name for people.
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    /// A resource template.
    #[serde(rename = "ref/resource")]
    Resource {
        /// URI or URI template.
        uri: String,
    },
}

/// The argument being typed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletionArgument {
    /// Its name.
    pub name: String,
    /// What was typed so far.
    pub value: String,
}

/// Arguments given so far (CMP-07).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CompletionContext {
    /// By name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<OrderedMap<String>>,
}

/// Result of `completion/complete`; never `input_required` (CMP-06), not cacheable.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompleteResult {
    /// Kind of result.
    #[serde(default = "ResultType::absent", skip_serializing_if = "ResultType::is_absent")]
    pub result_type: ResultType,
    /// The suggestions.
    pub completion: Completion,
    /// Free metadata.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// Suggestions, most relevant first.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Completion {
    /// At most [`COMPLETION_VALUES_MAX`].
    pub values: Vec<String>,
    /// How many there are in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Whether there are more than `values`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_more: Option<bool>,
}

impl Completion {
    /// All suggestions; keeps the first [`COMPLETION_VALUES_MAX`] and tells of the rest (CMP-03).
    pub fn new<V: Into<String>>(values: impl IntoIterator<Item = V>) -> Self {
        let mut completion = Completion {
            values: values.into_iter().map(Into::into).collect(),
            total: None,
            has_more: None,
        };
        completion.truncate();
        completion
    }

    /// Brings a hand-made answer within [`COMPLETION_VALUES_MAX`]. A `total` already set is kept if
    /// it is not less than what there was.
    pub fn truncate(&mut self) {
        let found = self.values.len();
        if found > COMPLETION_VALUES_MAX {
            let found = found as u64;
            self.values.truncate(COMPLETION_VALUES_MAX);
            self.total = Some(self.total.map_or(found, |total| total.max(found)));
            self.has_more = Some(true);
        }
    }
}

impl From<Completion> for CompleteResult {
    fn from(completion: Completion) -> CompleteResult {
        CompleteResult { completion, ..Default::default() }
    }
}
