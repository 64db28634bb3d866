//! The one erased shape of every handler: tools, prompts, resources, completions, custom methods.
//!
//! A handler is an `async` closure or function over a [`Context`] and typed arguments. It is erased once, at
//! registration; its future is `!Send` and lives on the connection's core from the first poll to its drop.

mod completion;
mod future;
mod method;
mod prompt;
mod resource;
mod text;
mod tool;

pub(crate) use completion::completer;
pub use completion::{Completion, Completions};
pub(crate) use future::HandlerFuture;
pub(crate) use method::method;
pub use prompt::PromptOutput;
pub(crate) use prompt::{prompt, prompt_arguments};
pub use resource::ResourceOutput;
pub(crate) use resource::{resource, template};
pub use tool::{NoArgs, Structured, ToolOutput};
pub(crate) use tool::{input_schema_of, tool};

use codec::error::RpcError;
use codec::types::{CacheScope, InputRequired};
use serde_json::{Map, Value};

use crate::context::Context;

/// Anything that answers a request: written once per kind of handler, over the user's closure.
pub(crate) trait Handler: Send + Sync + 'static {
    /// Starts the call. Arguments, URI and variables are the context's.
    fn call<'a>(&'a self, ctx: &'a Context<'a>) -> HandlerFuture<'a>;
}

/// Members that the server writes itself: a result that brings one as a free member would repeat the name.
const SERVERS_MEMBERS: [&str; 6] =
    ["resultType", "_meta", "ttlMs", "cacheScope", "inputRequests", "requestState"];

/// Takes names away from a result's free members that stand elsewhere: the server's and the type's `own`.
fn drop_repeated(extra: &mut Map<String, Value>, own: &[&str]) {
    if !extra.is_empty() {
        extra.retain(|name, _| {
            !SERVERS_MEMBERS.contains(&name.as_str()) && !own.contains(&name.as_str())
        });
    }
}

/// Writes the members of a result. What cannot be serialised leaves nothing behind and is logged.
fn write_members(ctx: &Context<'_>, result: &impl serde::Serialize) {
    let mut written = true;
    ctx.body(|body| written = crate::render::members(body, result));
    if !written {
        tracing::error!(
            method = ctx.method(),
            target = ctx.target(),
            "a result cannot be written as JSON"
        );
    }
}

/// How a handler ended.
pub(crate) enum Outcome {
    /// The members of the result stand in the context's body.
    Complete(Finish),
    /// The client is asked for input first (ledger section 16).
    Input(Box<InputRequired>),
    /// A JSON-RPC error: in band, but for a missing client capability (ERR-08).
    Error(RpcError),
}

/// What a complete result carries beside its own members. Most carry nothing: what is large is boxed, since an outcome is
/// moved through every layer between the handler and the answer.
#[derive(Default)]
pub(crate) struct Finish {
    /// The handler's `_meta`.
    pub(crate) meta: Option<Box<Map<String, Value>>>,
    /// `structuredContent`, for the output schema.
    pub(crate) structured: Option<Box<Value>>,
    /// The tool reports a failure of its own.
    pub(crate) is_error: bool,
    /// Caching that the handler chose, field by field (CCH-03).
    pub(crate) cache: CacheHint,
}

/// How long, and for whom, a result may be cached (ledger section 14). Unset fields take the next source's value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheHint {
    /// Milliseconds that the result stays fresh.
    pub ttl_ms: Option<u64>,
    /// Whether the result may be shared between callers.
    pub scope: Option<CacheScope>,
}

impl CacheHint {
    /// A result that anyone may share for `ttl_ms` milliseconds.
    #[must_use]
    pub const fn public(ttl_ms: u64) -> Self {
        Self { ttl_ms: Some(ttl_ms), scope: Some(CacheScope::Public) }
    }

    /// A result that its own caller may keep for `ttl_ms` milliseconds.
    #[must_use]
    pub const fn private(ttl_ms: u64) -> Self {
        Self { ttl_ms: Some(ttl_ms), scope: Some(CacheScope::Private) }
    }

    /// This hint, with the gaps filled from `next`.
    pub(crate) fn or(self, next: Self) -> Self {
        Self { ttl_ms: self.ttl_ms.or(next.ttl_ms), scope: self.scope.or(next.scope) }
    }
}
