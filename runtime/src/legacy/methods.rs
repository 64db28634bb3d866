//! The methods that only the 2025 era has (REM-01): the handshake, `ping`, `logging/setLevel`, `resources/subscribe` and
//! `resources/unsubscribe`. Its other methods are the modern ones.

use std::rc::Rc;

use codec::error::RpcError;
use codec::meta::LoggingLevel;
use codec::types::ServerCapabilities;
use codec::value::{Object, Value};
use codec::write;
use transport::mcp::legacy::Version;
use transport::mcp::method::Method;

use super::client::Client;
use super::shapes;
use crate::app::{App, AppSurface};
use crate::dispatch;
use crate::engine::core::Core;
use crate::hooks::Principal;
use crate::registry::Snapshot;
use codec::id::Id;
use transport::mcp::ladder::Surface;

/// Writes the result of `initialize` (LEG-13). `unasked`: whether the client can be told anything unasked; where it
/// cannot, nothing of the kind is promised (LEG-27).
pub(crate) fn initialize(
    body: &mut Vec<u8>,
    id: &Id<'_>,
    app: &App,
    snapshot: &Snapshot,
    version: Version,
    unasked: bool,
) {
    shapes::begin(body, id);
    write::key(body, "protocolVersion");
    write::string(body, version.name());
    body.push(b',');
    write::key(body, "capabilities");
    write::serialize(body, &capabilities(app, snapshot, unasked));
    body.push(b',');
    write::key(body, "serverInfo");
    body.extend_from_slice(app.info_json.as_bytes());
    if let Some(instructions) = &app.instructions {
        body.push(b',');
        write::key(body, "instructions");
        write::string(body, instructions);
    }
    shapes::end(body, None);
}

fn capabilities(app: &App, snapshot: &Snapshot, unasked: bool) -> ServerCapabilities {
    let mut offered = dispatch::capabilities(app, snapshot);
    // Extensions are negotiated by the envelope.
    offered.extensions = None;
    if !unasked {
        offered.logging = None;
        offered.tools = offered.tools.map(|_| Default::default());
        offered.prompts = offered.prompts.map(|_| Default::default());
        offered.resources = offered.resources.map(|_| Default::default());
    }
    offered
}

/// Whether a request of this method is served in this era: what the handshake announced, and no method that came
/// later (LEG-30).
pub(super) fn is_served(app: &App, snapshot: &Snapshot, method: &str) -> bool {
    match Method::from_name(method) {
        Some(Method::Discover | Method::Listen) => false,
        Some(_) => AppSurface { app, snapshot }.serves(method),
        None => app.methods.get(method).is_some_and(|custom| custom.extension.is_none()),
    }
}

/// A request to the session itself, whose result is empty; `None` for any other.
pub(super) fn own(
    core: &Rc<Core<App>>,
    client: &Client,
    principal: Option<&Rc<Principal>>,
    method: &str,
    params: Option<Object<'_>>,
) -> Option<Result<(), RpcError>> {
    let params = params.unwrap_or(Object::empty());
    Some(match method {
        "ping" => Ok(()),
        "logging/setLevel" if core.serve.logging => set_level(client, params),
        "resources/subscribe" => subscribe(core, client, principal, params),
        "resources/unsubscribe" => unsubscribe(core, client, principal, params),
        _ => return None,
    })
}

/// LEG-25
fn set_level(client: &Client, params: Object<'_>) -> Result<(), RpcError> {
    let level = params.get("level").and_then(Value::as_str).and_then(LoggingLevel::parse);
    let level =
        level.ok_or_else(|| RpcError::invalid_params("params.level is no logging level"))?;
    // A client whose level nobody keeps is sent no log messages.
    if client.level.get().is_some() {
        client.level.set(Some(level));
    }
    Ok(())
}

/// LEG-26
fn subscribe(
    core: &Rc<Core<App>>,
    client: &Client,
    principal: Option<&Rc<Principal>>,
    params: Object<'_>,
) -> Result<(), RpcError> {
    let news = watchable(core, client, "resources/subscribe")?;
    news.subscribe(core, principal, uri(params)?)
}

fn unsubscribe(
    core: &Rc<Core<App>>,
    client: &Client,
    principal: Option<&Rc<Principal>>,
    params: Object<'_>,
) -> Result<(), RpcError> {
    let news = watchable(core, client, "resources/unsubscribe")?;
    news.unsubscribe(core, principal, uri(params)?);
    Ok(())
}

fn watchable<'c>(
    core: &Rc<Core<App>>,
    client: &'c Client,
    method: &str,
) -> Result<&'c super::news::News, RpcError> {
    let snapshot = core.app.snapshots.load(&core.serve.registry);
    let served = core.serve.supported(&snapshot).subscribe;
    client.news.as_ref().filter(|_| served).ok_or_else(|| RpcError::method_not_found(method))
}

fn uri(params: Object<'_>) -> Result<&str, RpcError> {
    let uri = params.get("uri").and_then(Value::as_str);
    let uri = uri.ok_or_else(|| RpcError::invalid_params("params.uri must be a string"))?;
    if uri.len() > crate::hub::KEY_BYTES_MAX {
        return Err(RpcError::invalid_params("params.uri is too long"));
    }
    Ok(uri)
}
