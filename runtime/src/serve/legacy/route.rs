//! What a head of the 2025 era demands: whether its POST stands alone, names a session or begins one, and what its GET or
//! DELETE wants.

use std::rc::Rc;

use codec::document::Document;
use codec::error::RpcError;
use codec::id::OwnedId;
use codec::message::Request;
use codec::value::Object;
use transport::mcp::accept::Forms;
use transport::mcp::head::StandardHeaders;
use transport::mcp::is_modern;
use transport::mcp::ladder::Rung;
use transport::mcp::legacy::{self, EventId, Incoming, SessionId, Version};
use transport::mcp::refusal::Refusal;

use crate::LegacyMode;
use crate::app::App;
use crate::engine::core::Core;
use crate::hooks::Principal;
use crate::io::Link;
use crate::legacy::client::{Client, asked_version};
use crate::legacy::desk::Matter;
use crate::legacy::feed::Answer;
use crate::legacy::methods;
use crate::serve::connection::Connection;

/// How a POST is served.
pub(super) enum Route {
    /// By itself, for a client of which nothing but this is known.
    Alone(Client),
    /// By the session that it names.
    Session(SessionId),
    /// Not at all, or at once.
    Done(Done),
}

/// An answer without anything to wait for.
pub(super) struct Done {
    pub(super) answer: Answer,
    /// The session that has begun.
    pub(super) session: Option<SessionId>,
}

impl Done {
    fn refused(refusal: Refusal, id: Option<OwnedId>) -> Self {
        Self { answer: Answer::Refused(refusal, id), session: None }
    }
}

/// By the head, and by whether it is a handshake.
pub(super) fn route<L: Link>(connection: &Connection<'_, L>, document: &Document) -> Route {
    let view = connection.machine.head().view(document.bytes());
    let headers = StandardHeaders::at(view, &connection.places);
    let version = headers.version().map(|field| field.value);
    let request = match legacy::read(document, document.root()) {
        Ok(Incoming::Request(request)) => Some(request),
        _ => None,
    };
    let id = request.map(|request| request.id.to_owned());
    let refuse = |refusal| Route::Done(Done::refused(refusal, id.clone()));
    // LEG-10
    if connection.forms != Forms::ANY {
        let what = "Accept must allow both application/json and text/event-stream";
        return refuse(not_acceptable(what));
    }
    let sessions = connection.core.serve.legacy == LegacyMode::Sessions;
    let handshake = request.filter(|request| request.method == "initialize");
    match handshake {
        Some(request) if !sessions || headers.session().is_none() => {
            return Route::Done(introduce(
                &connection.core,
                connection.principal.as_ref(),
                &request,
            ));
        }
        _ => {}
    }
    // LEG-15: a ping needs nothing.
    let ping = request.is_some_and(|request| request.method == "ping");
    if sessions && (headers.session().is_some() || !ping) {
        return session_of(&headers).map_or_else(refuse, Route::Session);
    }
    match Version::of_header(version) {
        Ok(version) => Route::Alone(Client::unknown(version)),
        Err(error) => refuse(Refusal::at(Rung::VersionSupported, error)),
    }
}

/// `initialize`: the client is remembered where there are sessions (LEG-13, LEG-60).
fn introduce(
    core: &Rc<Core<App>>,
    principal: Option<&Rc<Principal>>,
    request: &Request<'_>,
) -> Done {
    let in_band = |error: RpcError| {
        let mut body = Vec::new();
        codec::write::error_response(&mut body, Some(&request.id), &error);
        Done { answer: Answer::Json(body), session: None }
    };
    let params = request.params.unwrap_or(Object::empty());
    let snapshot = core.app.snapshots.load(&core.serve.registry);
    let unasked = core.serve.legacy == LegacyMode::Sessions;
    let mut body = Vec::new();
    if !unasked {
        return match asked_version(params) {
            Err(error) => in_band(error),
            Ok(version) => {
                methods::initialize(&mut body, &request.id, &core.serve, &snapshot, version, false);
                Done { answer: Answer::Json(body), session: None }
            }
        };
    }
    let client = match Client::introduced(params, &mut core.app.parser.borrow_mut()) {
        Ok(client) => client,
        Err(error) => return in_band(error),
    };
    let version = client.version;
    match core.app.sessions.begin(core, client, principal) {
        Ok(session) => {
            methods::initialize(&mut body, &request.id, &core.serve, &snapshot, version, true);
            Done { answer: Answer::Json(body), session: Some(session) }
        }
        Err(why) => {
            tracing::warn!(?why, "no session was begun");
            let error =
                RpcError::new(codec::error::code::INTERNAL_ERROR, "No session is to be had");
            let refusal = Refusal::at(Rung::Handler, error).with_status(503);
            let refusal = refusal.with_header("Retry-After", "1");
            Done::refused(refusal, Some(request.id.to_owned()))
        }
    }
}

/// What a GET or a DELETE wants, of which session.
pub(super) fn named(
    headers: &StandardHeaders<'_>,
    is_get: bool,
) -> Result<(SessionId, Matter), Refusal> {
    let version = headers.version().map(|field| field.value);
    if version.is_some_and(is_modern) {
        let error = RpcError::invalid_request("This revision has nothing but POST");
        return Err(Refusal::at(Rung::HttpMethod, error).with_header("Allow", "POST"));
    }
    Version::of_header(version).map_err(|error| Refusal::at(Rung::VersionSupported, error))?;
    if is_get && !headers.accepted_forms().sse {
        return Err(not_acceptable("Accept must allow text/event-stream"));
    }
    let session = session_of(headers)?;
    if !is_get {
        return Ok((session, Matter::End));
    }
    let last = match headers.last_event() {
        None => None,
        Some(field) => Some(EventId::parse(field.value).ok_or_else(|| {
            Refusal::at(Rung::Era, RpcError::invalid_request("Last-Event-ID names no event"))
        })?),
    };
    Ok((session, Matter::Stand(last)))
}

/// LEG-61
fn session_of(headers: &StandardHeaders<'_>) -> Result<SessionId, Refusal> {
    let Some(field) = headers.session().filter(|field| !field.repeated) else {
        let error = RpcError::invalid_request("Send initialize first, then its Mcp-Session-Id");
        return Err(Refusal::at(Rung::Era, error).with_status(400));
    };
    SessionId::parse(field.value).ok_or_else(|| {
        let error = RpcError::invalid_request("There is no such session: send initialize");
        Refusal::at(Rung::Era, error).with_status(404)
    })
}

fn not_acceptable(what: &'static str) -> Refusal {
    Refusal::at(Rung::MediaType, RpcError::invalid_request(what)).with_status(406)
}
