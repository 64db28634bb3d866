//! The rules a conversation must keep before it is sent to a model (EL-06).

use std::collections::HashSet;
use std::fmt;

use super::sampling::{CreateMessageParams, SamplingContent, SamplingMessage};
use super::{Num, Role};

/// Why a sampling request was refused; `message` counts from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SamplingError {
    /// There are no messages.
    Empty,
    /// `maxTokens` is 0.
    MaxTokens,
    /// A model priority is outside 0..1.
    Priority {
        /// The member.
        field: &'static str,
    },
    /// A user message mixes tool results with other content.
    MixedResults {
        /// Index of the message.
        message: usize,
    },
    /// A `tool_use` outside an assistant message, or a `tool_result` outside a user message.
    WrongRole {
        /// Index of the message.
        message: usize,
    },
    /// A `tool_use` is not answered in the next message.
    Unanswered {
        /// Index of the message that asks.
        message: usize,
        /// Id of the `tool_use`.
        id: String,
    },
    /// A `tool_result` answers nothing the message before asked for, or answers it twice.
    Dangling {
        /// Index of the message that answers.
        message: usize,
        /// Its `toolUseId`.
        id: String,
    },
}

impl CreateMessageParams {
    /// Checks the conversation and the ranges.
    pub fn validate(&self) -> Result<(), SamplingError> {
        if self.messages.is_empty() {
            return Err(SamplingError::Empty);
        }
        if self.max_tokens == 0 {
            return Err(SamplingError::MaxTokens);
        }
        self.check_priorities()?;
        let mut asked: HashSet<&str> = HashSet::new();
        for (at, message) in self.messages.iter().enumerate() {
            answer(at, message, &mut asked)?;
            if let Some(id) = asked.iter().next() {
                // Only a message after the first can find something still open.
                return Err(SamplingError::Unanswered { message: at - 1, id: (*id).to_owned() });
            }
            ask(at, message, &mut asked)?;
        }
        match asked.iter().next() {
            Some(id) => Err(SamplingError::Unanswered {
                message: self.messages.len() - 1,
                id: (*id).to_owned(),
            }),
            None => Ok(()),
        }
    }

    fn check_priorities(&self) -> Result<(), SamplingError> {
        let Some(preferences) = &self.model_preferences else { return Ok(()) };
        let members = [
            ("costPriority", &preferences.cost_priority),
            ("speedPriority", &preferences.speed_priority),
            ("intelligencePriority", &preferences.intelligence_priority),
        ];
        let is_bad = |priority: &Option<Num>| priority.as_ref().is_some_and(|p| !p.is_unit_range());
        match members.into_iter().find(|(_, priority)| is_bad(priority)) {
            Some((field, _)) => Err(SamplingError::Priority { field }),
            None => Ok(()),
        }
    }
}

/// Takes the tool results of a message off what was asked for.
fn answer(
    at: usize,
    message: &SamplingMessage,
    asked: &mut HashSet<&str>,
) -> Result<(), SamplingError> {
    let blocks = message.content.as_slice();
    let results = blocks.iter().filter_map(|block| match block {
        SamplingContent::ToolResult(result) => Some(result.tool_use_id.as_str()),
        _ => None,
    });
    let mut count = 0;
    for id in results {
        count += 1;
        if message.role != Role::User {
            return Err(SamplingError::WrongRole { message: at });
        }
        if !asked.remove(id) {
            return Err(SamplingError::Dangling { message: at, id: id.to_owned() });
        }
    }
    match count == 0 || count == blocks.len() {
        true => Ok(()),
        false => Err(SamplingError::MixedResults { message: at }),
    }
}

/// Notes what a message asks for.
fn ask<'a>(
    at: usize,
    message: &'a SamplingMessage,
    asked: &mut HashSet<&'a str>,
) -> Result<(), SamplingError> {
    for block in message.content.as_slice() {
        let SamplingContent::ToolUse(tool_use) = block else { continue };
        if message.role != Role::Assistant {
            return Err(SamplingError::WrongRole { message: at });
        }
        asked.insert(&tool_use.id);
    }
    Ok(())
}

impl fmt::Display for SamplingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SamplingError::Empty => f.write_str("sampling messages: none"),
            SamplingError::MaxTokens => f.write_str("sampling maxTokens: must be at least 1"),
            SamplingError::Priority { field } => {
                write!(f, "sampling modelPreferences.{field}: must be within 0 and 1")
            }
            SamplingError::MixedResults { message } => {
                write!(f, "sampling messages[{message}]: tool results mixed with other content")
            }
            SamplingError::WrongRole { message } => write!(
                f,
                "sampling messages[{message}]: tool_use is for assistant, tool_result for user messages"
            ),
            SamplingError::Unanswered { message, id } => {
                write!(f, "sampling messages[{message}]: tool_use `{id}` is not answered next")
            }
            SamplingError::Dangling { message, id } => {
                write!(f, "sampling messages[{message}]: tool_result `{id}` answers no tool_use")
            }
        }
    }
}

impl std::error::Error for SamplingError {}
