//! `subscriptions/listen`: reads the filter; the connection opens the subscription.

use std::rc::Rc;

use codec::error::RpcError;
use transport::mcp::ladder::Rung;
use transport::mcp::refusal::Refusal;

use super::{Admitted, Plan};
use crate::app::App;
use crate::hooks::Principal;
use crate::hub::{Access, Filter, FilterLimits, Subject};

pub(super) fn plan<'r>(request: &Admitted<'r>) -> Result<Plan<'r>, Refusal> {
    let kinds = request.app.exchange.kinds();
    let limits =
        FilterLimits { keys_max: request.app.limits.uris_per_listen, ..FilterLimits::default() };
    let asked = Filter::parse(request.request.params, kinds, limits)
        .map_err(|fault| Refusal::at(Rung::Params, RpcError::invalid_params(fault.0)))?;
    request.pass_guards(None, None, &[])?;
    let access = access(request);
    let supported = request.app.supported(request.snapshot);
    Ok(Plan::Listen(asked.honoured(supported, kinds, access.as_ref())))
}

/// The opener's rights, asked at open and at every delivery (SUB-10).
pub(crate) fn access(request: &Admitted<'_>) -> Option<Access> {
    access_of(request.app, request.principal)
}

/// The same for whoever a session of the 2025 era belongs to.
pub(crate) fn access_of(app: &App, principal: Option<&Rc<Principal>>) -> Option<Access> {
    let rule = app.hooks.may_watch.clone()?;
    let principal: Option<Rc<Principal>> = principal.cloned();
    Some(Rc::new(move |subject: Subject<'_>| match subject {
        Subject::Resource(uri) => rule(principal.as_deref(), uri),
        Subject::Extension { key, .. } => rule(principal.as_deref(), key),
    }))
}
