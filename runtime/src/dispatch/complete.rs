//! `completion/complete`.

use codec::error::RpcError;
use codec::value::{Object, parse_empty_object};
use transport::mcp::ladder::Rung;
use transport::mcp::refusal::Refusal;

use super::retry::Retry;
use super::{Admitted, Plan, Run, Runner, bad};
use crate::handler::{CacheHint, Completion};
use crate::registry::Completers;

pub(super) fn plan<'r>(request: &Admitted<'r>, body: &mut Vec<u8>) -> Result<Plan<'r>, Refusal> {
    let params = request.params();
    let reference = required(params, "ref")?;
    let argument = required(params, "argument")?;
    let (name, value) =
        (member(argument, "argument", "name")?, member(argument, "argument", "value")?);
    let context = match params.get("context") {
        None => None,
        Some(context) => filled_in(context.as_object())?,
    };
    let (target, kind) = match member(reference, "ref", "type")? {
        "ref/prompt" => (member(reference, "ref", "name")?, Kind::Prompt),
        "ref/resource" => (member(reference, "ref", "uri")?, Kind::Resource),
        _ => return Err(bad("params.ref.type must be ref/prompt or ref/resource".to_owned())),
    };
    request.pass_guards(Some(target), None, &[])?;
    let completers = find(request, kind, target)?;
    let Some(completer) = completers.get(name) else {
        // A known reference without a completer for this argument suggests nothing (CMP-04).
        body.extend_from_slice(br#""completion":{"values":[]}"#);
        return Ok(Plan::Ready(CacheHint::default()));
    };
    Ok(Plan::Run(Run {
        runner: Runner::Completer(&**completer),
        target,
        arguments: parse_empty_object(),
        variables: Vec::new(),
        completion: Some(Box::new(Completion::new(name, value, context))),
        retry: Retry::default(),
    }))
}

#[derive(Clone, Copy)]
enum Kind {
    Prompt,
    Resource,
}

/// CMP-04: unknown prompts and templates are refused. A reference to a resource may be a template's text, or a URI
/// that a template or a resource answers.
fn find<'r>(
    request: &Admitted<'r>,
    kind: Kind,
    target: &'r str,
) -> Result<&'r Completers, Refusal> {
    static NONE: std::sync::LazyLock<Completers> = std::sync::LazyLock::new(Completers::new);
    let snapshot = request.snapshot;
    let found = match kind {
        Kind::Prompt => snapshot.prompts.get(target).map(|prompt| &prompt.completers),
        Kind::Resource => match snapshot.templates.get(target) {
            Some(template) => Some(&template.completers),
            None => match snapshot.resource(target) {
                Some(crate::registry::ResourceMatch::Template(template, _)) => {
                    Some(&template.completers)
                }
                Some(crate::registry::ResourceMatch::Exact(_)) => Some(&*NONE),
                None => None,
            },
        },
    };
    found.ok_or_else(|| {
        let error = match kind {
            Kind::Prompt => RpcError::unknown_prompt(target),
            Kind::Resource => RpcError::resource_not_found(target),
        };
        Refusal::at(Rung::Target, error)
    })
}

/// `context.arguments`: a map from string to string (CMP-02).
fn filled_in(context: Option<Object<'_>>) -> Result<Option<Object<'_>>, Refusal> {
    let Some(context) = context else {
        return Err(bad("params.context must be an object".to_owned()));
    };
    let Some(arguments) = context.get("arguments") else { return Ok(None) };
    let arguments = arguments.as_object();
    match arguments {
        Some(map) if map.iter().all(|(_, value)| value.as_str().is_some()) => Ok(Some(map)),
        _ => Err(bad("params.context.arguments must map strings to strings".to_owned())),
    }
}

fn required<'r>(params: Object<'r>, name: &str) -> Result<Object<'r>, Refusal> {
    params
        .get(name)
        .and_then(|value| value.as_object())
        .ok_or_else(|| bad(format!("params.{name} must be an object")))
}

fn member<'r>(object: Object<'r>, of: &str, name: &str) -> Result<&'r str, Refusal> {
    object
        .get(name)
        .and_then(|value| value.as_str())
        .ok_or_else(|| bad(format!("params.{of}.{name} must be a string")))
}
