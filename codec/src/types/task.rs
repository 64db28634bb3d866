//! The tasks extension, `io.modelcontextprotocol/tasks` (LEDGER 19): long calls that outlive a request.

use serde::{Deserialize, Serialize};

use super::text::{closed_text, literal_text};
use super::{
    ErrorObject, InputRequests, InputResponses, JsonObject, Meta, RequestMeta, ResultType,
};

/// The key of `capabilities.extensions` (TSK-01).
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

closed_text! {
    /// Where a task stands; the last three are final (TSK-07).
    pub enum TaskStatus {
        /// Running.
        Working = "working",
        /// Waiting for the client.
        InputRequired = "input_required",
        /// Done; a result of the tool that says it failed is done as well (TSK-09).
        Completed = "completed",
        /// Given up on the client's wish.
        Cancelled = "cancelled",
        /// Ended by a JSON-RPC error.
        Failed = "failed",
    }
}

literal_text! {
    /// The text `"task"`, a `resultType` of this extension alone (TSK-04).
    pub struct TaskResultType = "task";
}

/// The members every task answer has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// Unguessable name (TSK-06).
    pub task_id: String,
    /// Where it stands.
    pub status: TaskStatus,
    /// The same for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_message: Option<String>,
    /// ISO 8601 in UTC.
    pub created_at: String,
    /// ISO 8601 in UTC; changes with the status (TSK-22).
    pub last_updated_at: String,
    /// How long it is kept, in milliseconds; `None` is null on the wire and means without limit.
    #[serde(deserialize_with = "Option::deserialize")]
    pub ttl_ms: Option<u64>,
    /// How often to ask, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poll_interval_ms: Option<u64>,
}

/// A task with what its status adds (TSK-08).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DetailedTask {
    /// The common members.
    #[serde(flatten)]
    pub task: Task,
    /// What is asked; set iff `input_required`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_requests: Option<InputRequests>,
    /// What the call would have returned; set iff `completed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<JsonObject>,
    /// The error of the call; set iff `failed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorObject>,
}

/// Result of a `tools/call` that became a task (TSK-04).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateTaskResult {
    /// Always `"task"`.
    pub result_type: TaskResultType,
    /// The task, flat.
    #[serde(flatten)]
    pub task: Task,
    /// Free metadata.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// Result of `tasks/get`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GetTaskResult {
    /// Kind of result: complete.
    pub result_type: ResultType,
    /// The task, flat.
    #[serde(flatten)]
    pub task: DetailedTask,
    /// Free metadata.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// Parameters of `tasks/get` and `tasks/cancel`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskParams {
    /// The envelope (ENV-01).
    #[serde(rename = "_meta")]
    pub meta: RequestMeta,
    /// Which task.
    pub task_id: String,
}

/// Parameters of `tasks/update` (TSK-11).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdateTaskParams {
    /// The envelope (ENV-01).
    #[serde(rename = "_meta")]
    pub meta: RequestMeta,
    /// Which task.
    pub task_id: String,
    /// Answers to what it asked; may be partial.
    pub input_responses: InputResponses,
}

impl TaskStatus {
    /// Whether nothing can change any more (TSK-07).
    pub fn is_final(self) -> bool {
        matches!(self, TaskStatus::Completed | TaskStatus::Cancelled | TaskStatus::Failed)
    }
}
