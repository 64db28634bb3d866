//! `server/discover`.

use codec::types::ServerCapabilities;
use codec::write;
use transport::mcp::refusal::Refusal;

use super::{Admitted, Plan};
use crate::app::App;
use crate::registry::Snapshot;

pub(super) fn plan<'r>(request: &Admitted<'r>, body: &mut Vec<u8>) -> Result<Plan<'r>, Refusal> {
    request.pass_guards(None, None, &[])?;
    body.extend_from_slice(br#""supportedVersions":"#);
    write::serialize(body, codec::meta::SUPPORTED);
    body.extend_from_slice(br#","capabilities":"#);
    write::serialize(body, &capabilities(request.app, request.snapshot));
    if let Some(instructions) = &request.app.instructions {
        body.extend_from_slice(br#","instructions":"#);
        write::string(body, instructions);
    }
    Ok(Plan::Ready(request.app.cache.discover))
}

/// What is advertised is what works (DSC-04, DSC-05, SUB-21).
pub(crate) fn capabilities(app: &App, snapshot: &Snapshot) -> ServerCapabilities {
    let supported = app.supported(snapshot);
    let mut capabilities = ServerCapabilities::default();
    if snapshot.serves.tools {
        capabilities = capabilities.tools(supported.tools);
    }
    if snapshot.serves.prompts {
        capabilities = capabilities.prompts(supported.prompts);
    }
    if snapshot.serves.resources {
        capabilities = capabilities.resources(supported.subscribe, supported.resources);
    }
    if snapshot.serves.completions {
        capabilities = capabilities.completions();
    }
    if app.logging {
        capabilities = capabilities.logging();
    }
    if !app.extensions.is_empty() {
        capabilities.extensions = Some(app.extensions.clone().into_iter().collect());
    }
    capabilities
}
