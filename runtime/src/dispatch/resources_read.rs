//! `resources/read`.

use codec::error::RpcError;
use codec::uri;
use codec::value::parse_empty_object;
use transport::mcp::ladder::Rung;
use transport::mcp::refusal::Refusal;

use super::retry::Retry;
use super::{Admitted, Plan, Run, Runner, text};
use crate::registry::ResourceMatch;

pub(super) fn plan<'r>(request: &Admitted<'r>) -> Result<Plan<'r>, Refusal> {
    let params = request.params();
    let uri = text(params, "uri")?;
    let mut retry = Retry::read(params)?;
    request.pass_guards(Some(uri), None, &[])?;
    retry.verify(request, uri, parse_empty_object())?;
    let not_found = || Refusal::at(Rung::Target, RpcError::resource_not_found(uri));
    // RES-08: what is no URI names nothing.
    if !uri::is_valid(uri) {
        return Err(not_found());
    }
    let (runner, variables) = match request.snapshot.resource(uri).ok_or_else(not_found)? {
        ResourceMatch::Exact(entry) => (Runner::Resource(entry), Vec::new()),
        ResourceMatch::Template(entry, variables) => (Runner::Template(entry), variables),
    };
    Ok(Plan::Run(Run {
        runner,
        target: uri,
        arguments: parse_empty_object(),
        variables,
        completion: None,
        retry,
    }))
}
