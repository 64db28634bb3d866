//! `tools/call`.

use codec::error::RpcError;
use codec::value::Object;
use transport::mcp::ladder::Rung;
use transport::mcp::params;
use transport::mcp::refusal::Refusal;

use super::retry::Retry;
use super::{Admitted, Plan, Run, Runner, object, text};
use crate::handler::CacheHint;
use crate::render;

pub(super) fn plan<'r>(request: &Admitted<'r>, body: &mut Vec<u8>) -> Result<Plan<'r>, Refusal> {
    let params = request.params();
    let name = text(params, "name")?;
    let arguments = object(params, "arguments")?;
    let members = arguments.as_object().unwrap_or(Object::empty());
    let mut retry = Retry::read(params)?;

    let tool = request.snapshot.tools.get(name);
    if let (Some(tool), Some(headers)) = (tool, request.headers)
        && !tool.header_params.is_empty()
    {
        params::check(&headers, &tool.header_params, members)
            .map_err(|error| Refusal::at(Rung::ParamHeaders, error))?;
    }
    let scopes = tool.map_or(&[][..], |tool| &tool.scopes);
    request.pass_guards(Some(name), Some(members), scopes)?;
    retry.verify(request, name, arguments)?;
    // Disabled tools are not in the snapshot's listing: they answer like unknown ones (CALL-02).
    let tool = tool.ok_or_else(|| Refusal::at(Rung::Target, RpcError::unknown_tool(name)))?;

    if let Err(fault) = tool.input.check(members) {
        // An execution error that the model can read and mend, not a protocol error (CALL-03, D-03).
        render::text_result(body, &format!("Invalid arguments: {fault}"), true);
        return Ok(Plan::Ready(CacheHint::default()));
    }
    Ok(Plan::Run(Run {
        runner: Runner::Tool(tool),
        target: name,
        arguments,
        variables: Vec::new(),
        completion: None,
        retry,
    }))
}
