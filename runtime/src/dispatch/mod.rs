//! From an admitted request to what answers it: one file a method, rungs 17 to 23 of the ladder in each.
//!
//! [`plan`] reads the parameters and finds the handler; it runs none. The connection runs what the plan says and
//! [`finish`] turns the outcome into the answer's bytes.

mod complete;
mod custom;
mod discover;
mod finish;
mod listen;
mod lists;
mod prompts_get;
mod resources_read;
mod retry;
mod tools_call;

pub(crate) use discover::capabilities;
pub(crate) use finish::{Answer, check_result, error_answer, finish, vetted};
pub(crate) use listen::{access, access_of};
pub(crate) use retry::Retry;

use std::borrow::Cow;
use std::rc::Rc;

use codec::error::RpcError;
use codec::message::Request;
use codec::value::{Object, Value, parse_empty_object};
use transport::mcp::head::StandardHeaders;
use transport::mcp::ladder::Rung;
use transport::mcp::method::Method;
use transport::mcp::refusal::Refusal;

use crate::app::App;
use crate::handler::{CacheHint, Completion, Handler};
use crate::hooks::{Denied, Observed, Principal};
use crate::hub::Filter;
use crate::io::SharedText;
use crate::registry::{PromptEntry, ResourceEntry, Snapshot, TemplateEntry, ToolEntry};

/// What the connection does for a request.
pub(crate) enum Plan<'r> {
    /// Nothing: the members of the result stand in the body.
    Ready(CacheHint),
    /// As `Ready`, but a part of the result is written from where it lies.
    Around(CacheHint, Splice),
    /// Run a handler.
    Run(Run<'r>),
    /// Open a subscription with this honoured filter.
    Listen(Filter),
}

/// A text that belongs into an answer and is not copied there.
pub(crate) struct Splice {
    /// The bytes of the answer before it.
    pub(crate) at: usize,
    pub(crate) text: SharedText,
}

impl Splice {
    /// Copies it there after all.
    pub(crate) fn copy_into(self, answer: &mut Vec<u8>) {
        let after = answer.split_off(self.at);
        answer.extend_from_slice(self.text.as_bytes());
        answer.extend_from_slice(&after);
    }
}

/// A handler with its inputs.
pub(crate) struct Run<'r> {
    pub(crate) runner: Runner<'r>,
    /// The tool's or prompt's name, or the resource's URI.
    pub(crate) target: &'r str,
    /// An object.
    pub(crate) arguments: Value<'r>,
    pub(crate) variables: Vec<(&'r str, Cow<'r, str>)>,
    /// Boxed, since few requests have one and all that wait would have room for it.
    pub(crate) completion: Option<Box<Completion<'r>>>,
    pub(crate) retry: Retry<'r>,
}

/// What answers, borrowed from the request's snapshot: alive for the whole call, whatever happens to the registry.
#[derive(Clone, Copy)]
pub(crate) enum Runner<'r> {
    Tool(&'r ToolEntry),
    Prompt(&'r PromptEntry),
    Resource(&'r ResourceEntry),
    Template(&'r TemplateEntry),
    Completer(&'r dyn Handler),
    Custom(&'r dyn Handler),
}

impl<'r> Runner<'r> {
    pub(crate) fn handler(self) -> &'r dyn Handler {
        match self {
            Self::Tool(entry) => &*entry.handler,
            Self::Prompt(entry) => &*entry.handler,
            Self::Resource(entry) => &*entry.handler,
            Self::Template(entry) => &*entry.handler,
            Self::Completer(handler) | Self::Custom(handler) => handler,
        }
    }
}

/// A request as the planners see it.
pub(crate) struct Admitted<'r> {
    pub(crate) request: Request<'r>,
    /// What its client declares.
    pub(crate) capabilities: Option<Object<'r>>,
    /// The whole message.
    pub(crate) root: Value<'r>,
    pub(crate) app: &'r App,
    pub(crate) snapshot: &'r Snapshot,
    pub(crate) headers: Option<StandardHeaders<'r>>,
    pub(crate) principal: Option<&'r Rc<Principal>>,
    /// Unix seconds.
    pub(crate) now: u64,
}

impl<'r> Admitted<'r> {
    pub(crate) fn params(&self) -> Object<'r> {
        self.request.params.unwrap_or(Object::empty())
    }

    pub(crate) fn subject(&self) -> Option<&'r str> {
        self.principal.map(|principal| &*principal.subject)
    }

    /// Rung 20: scopes, then the program's guards (AUTH-12, CALL-13, SEC-03).
    pub(crate) fn pass_guards(
        &self,
        name: Option<&'r str>,
        arguments: Option<Object<'r>>,
        scopes: &[String],
    ) -> Result<(), Refusal> {
        if !scopes.is_empty() && !self.has_scopes(scopes) {
            return Err(denied(Denied::insufficient_scope(scopes)));
        }
        let observed = Observed {
            method: self.request.method,
            name,
            arguments,
            principal: self.principal.map(|principal| &**principal),
        };
        self.app.hooks.guards.iter().try_for_each(|guard| guard(&observed)).map_err(denied)
    }

    fn has_scopes(&self, scopes: &[String]) -> bool {
        self.principal
            .is_some_and(|principal| scopes.iter().all(|scope| principal.scopes.contains(scope)))
    }
}

/// A refusal in the authenticator's or a guard's words, at rung 20; rung 3 sets its own.
pub(crate) fn denied(denied: Denied) -> Refusal {
    let mut refusal = Refusal::without_error(Rung::Scope, denied.status);
    if let Some(challenge) = &denied.challenge {
        refusal = refusal.with_header("WWW-Authenticate", challenge.clone());
    }
    if let Some(wait) = denied.retry_after {
        refusal = refusal.with_header("Retry-After", wait.as_secs().max(1).to_string());
    }
    refusal.with_body(denied.body())
}

/// Rungs 17 to 23. For requests that need no handler the result's members are written to `body`.
pub(crate) fn plan<'r>(request: &Admitted<'r>, body: &mut Vec<u8>) -> Result<Plan<'r>, Refusal> {
    match Method::from_name(request.request.method) {
        Some(Method::ToolsCall) => tools_call::plan(request, body),
        Some(Method::ToolsList) => lists::tools(request, body),
        Some(Method::Discover) => discover::plan(request, body),
        Some(Method::Listen) => listen::plan(request),
        Some(Method::ResourcesRead) => resources_read::plan(request),
        Some(Method::PromptsGet) => prompts_get::plan(request),
        Some(Method::PromptsList) => lists::prompts(request, body),
        Some(Method::ResourcesList) => lists::resources(request, body),
        Some(Method::TemplatesList) => lists::templates(request, body),
        Some(Method::Complete) => complete::plan(request, body),
        None => custom::plan(request),
    }
}

/// A required string parameter (rung 18).
pub(crate) fn text<'r>(params: Object<'r>, name: &'static str) -> Result<&'r str, Refusal> {
    match params.get(name).map(|value| value.as_str()) {
        Some(Some(text)) => Ok(text),
        Some(None) => Err(bad(format!("params.{name} must be a string"))),
        None => Err(bad(format!("params.{name} is missing"))),
    }
}

/// An optional object parameter; `null` counts as absent (rung 18).
pub(crate) fn object<'r>(params: Object<'r>, name: &'static str) -> Result<Value<'r>, Refusal> {
    match params.get(name) {
        None => Ok(parse_empty_object()),
        Some(value) if value.is_null() => Ok(parse_empty_object()),
        Some(value) if value.as_object().is_some() => Ok(value),
        Some(_) => Err(bad(format!("params.{name} must be an object"))),
    }
}

fn bad(text: String) -> Refusal {
    Refusal::at(Rung::Params, RpcError::invalid_params(text))
}
