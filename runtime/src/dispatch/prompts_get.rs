//! `prompts/get`.

use codec::error::RpcError;
use codec::value::Object;
use transport::mcp::ladder::Rung;
use transport::mcp::refusal::Refusal;

use super::retry::Retry;
use super::{Admitted, Plan, Run, Runner, bad, object, text};
use crate::registry::PromptEntry;

pub(super) fn plan<'r>(request: &Admitted<'r>) -> Result<Plan<'r>, Refusal> {
    let params = request.params();
    let name = text(params, "name")?;
    let arguments = object(params, "arguments")?;
    let members = arguments.as_object().unwrap_or(Object::empty());
    // PRM-03: a map from string to string.
    if let Some((argument, _)) = members.iter().find(|(_, value)| value.as_str().is_none()) {
        return Err(bad(format!(
            "params.arguments.{} must be a string",
            codec::error::clip(argument)
        )));
    }
    let mut retry = Retry::read(params)?;
    request.pass_guards(Some(name), Some(members), &[])?;
    retry.verify(request, name, arguments)?;
    let prompt = request
        .snapshot
        .prompts
        .get(name)
        .ok_or_else(|| Refusal::at(Rung::Target, RpcError::unknown_prompt(name)))?;
    require_arguments(prompt, members)?;
    Ok(Plan::Run(Run {
        runner: Runner::Prompt(prompt),
        target: name,
        arguments,
        variables: Vec::new(),
        completion: None,
        retry,
    }))
}

/// PRM-04; unknown further arguments are ignored (PRM-08).
fn require_arguments(prompt: &PromptEntry, arguments: Object<'_>) -> Result<(), Refusal> {
    let missing = prompt.def.arguments.iter().flatten().find(|argument| {
        argument.required == Some(true) && arguments.get(&argument.name).is_none()
    });
    match missing {
        None => Ok(()),
        Some(argument) => {
            let text = format!("Missing required prompt argument: {}", argument.name);
            Err(Refusal::at(Rung::Target, RpcError::invalid_params(text)))
        }
    }
}
