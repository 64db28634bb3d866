//! Methods of extensions.

use codec::error::RpcError;
use codec::meta::{Capability, declares};
use codec::value::parse_empty_object;
use transport::mcp::ladder::Rung;
use transport::mcp::refusal::Refusal;

use super::retry::Retry;
use super::{Admitted, Plan, Run, Runner};

pub(super) fn plan<'r>(request: &Admitted<'r>) -> Result<Plan<'r>, Refusal> {
    let name = request.request.method;
    let method = request
        .app
        .methods
        .get(name)
        .ok_or_else(|| Refusal::at(Rung::Method, RpcError::method_not_found(name)))?;
    if let Some(extension) = &method.extension {
        let needed = Capability::Extension(extension);
        let declared = request.capabilities;
        if !declared.is_some_and(|declared| declares(declared, &needed)) {
            let error = RpcError::missing_capability(&[needed]);
            return Err(Refusal::at(Rung::ClientCapability, error));
        }
    }
    request.pass_guards(None, Some(request.params()), &[])?;
    let params = request.root.as_object().and_then(|message| message.get("params"));
    let params = params.unwrap_or(parse_empty_object());
    Ok(Plan::Run(Run {
        runner: Runner::Custom(&*method.handler),
        target: name,
        arguments: params,
        variables: Vec::new(),
        completion: None,
        retry: Retry::default(),
    }))
}
