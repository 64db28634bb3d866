//! Requests of the 2025 era over HTTP: what their heads demand, whether they stand alone or name a session, and how
//! either is answered. What they mean is `crate::legacy`'s.

mod relay;

use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use codec::document::Document;
use codec::error::RpcError;
use codec::id::{Id, OwnedId};
use codec::message::Request;
use codec::value::Object;
use transport::mcp::accept::Forms;
use transport::mcp::head::StandardHeaders;
use transport::mcp::is_modern;
use transport::mcp::ladder::Rung;
use transport::mcp::legacy::{self, EventId, Incoming, SessionId, Version};
use transport::mcp::refusal::Refusal;

use super::answer::{self, Closing, Reply};
use super::connection::{Connection, Next};
use crate::LegacyMode;
use crate::app::App;
use crate::engine::core::Core;
use crate::hooks::{Answered, Principal};
use crate::io::Link;
use crate::legacy::client::{Client, asked_version};
use crate::legacy::desk::{Letter, Matter};
use crate::legacy::feed::{Answer, Feed};
use crate::legacy::methods;
use crate::legacy::run::{self, Exchange};
use relay::{Pipe, Relayed, relay};

/// How a POST is served.
enum Route {
    /// By itself, for a client of which nothing but this is known.
    Alone(Client),
    /// By the session that it names.
    Session(SessionId),
    /// Not at all, or at once.
    Done(Done),
}

/// An answer without anything to wait for.
struct Done {
    answer: Answer,
    /// The session that has begun.
    session: Option<SessionId>,
}

impl Done {
    fn refused(refusal: Refusal, id: Option<OwnedId>) -> Self {
        Self { answer: Answer::Refused(refusal, id), session: None }
    }
}

/// Serves a POST whose body is in the document.
pub(super) async fn post<L: Link>(
    connection: &mut Connection<'_, L>,
    mut document: Document,
    started: Option<Instant>,
) -> Next<L> {
    let closing = connection.closing();
    let route = route(connection, &document);
    let told = started.map(|started| Told { started, method: method_of(&document).to_owned() });
    let mut ahead = Vec::new();
    let Connection { core, link, machine, buf, out, waker, timer, deadline, principal, .. } =
        connection;
    let reply = Reply { core, minor: machine.head().minor, closing };
    let feed = Arc::new(Feed::new(core.serve.limits.emit_bytes));
    let pipe =
        Pipe { core, link, out, ahead: &mut ahead, waker, timer, deadline, reply, armed: false };
    let mut session = None;
    let relayed = match route {
        Route::Done(done) => {
            session = done.session;
            Relayed::Answer(done.answer)
        }
        Route::Session(id) => {
            *buf = document.bytes().to_vec();
            let message = Box::new((machine.head().clone(), std::mem::take(&mut document)));
            let principal = principal.as_deref().cloned();
            let matter = Matter::Post(message);
            Letter { session: id, principal, matter, feed: Arc::clone(&feed) }.send(core);
            relay(pipe, &feed, None).await
        }
        Route::Alone(client) => {
            let exchange = Exchange {
                core,
                client: &client,
                principal: principal.as_ref(),
                head: Some(machine.head().view(document.bytes())),
                outlet: &*feed,
            };
            let work = pin!(async { alone(&exchange, &document, &feed).await });
            relay(pipe, &feed, Some(work)).await
        }
    };
    let next = finish(connection, relayed, closing, session, told);
    if document.root().is_null() {
        connection.document = Document::new();
    } else {
        connection.buf = document.release();
        connection.document = document;
    }
    connection.machine.finish(&mut connection.buf);
    connection.buf.append(&mut ahead);
    next
}

/// Serves a GET or a DELETE, which have no body (LEG-62, LEG-63).
pub(super) async fn by_head<L: Link>(connection: &mut Connection<'_, L>) -> Next<L> {
    let view = connection.machine.head().view(&connection.buf);
    let is_get = view.method() == "GET";
    let matter = named(&StandardHeaders::collect(view), is_get);
    // A standing stream is the last thing on its connection.
    let closing = if is_get { Closing::Close } else { connection.closing() };
    let mut ahead = Vec::new();
    let Connection { core, link, machine, out, waker, timer, deadline, principal, .. } = connection;
    let reply = Reply { core, minor: machine.head().minor, closing };
    let relayed = match matter {
        Err(refusal) => Relayed::Answer(Answer::Refused(refusal, None)),
        Ok((session, matter)) => {
            let feed = Arc::new(Feed::new(core.serve.limits.emit_bytes));
            let principal = principal.as_deref().cloned();
            Letter { session, principal, matter, feed: Arc::clone(&feed) }.send(core);
            let pipe = Pipe {
                core,
                link,
                out,
                ahead: &mut ahead,
                waker,
                timer,
                deadline,
                reply,
                armed: false,
            };
            relay(pipe, &feed, None).await
        }
    };
    let next = finish(connection, relayed, closing, None, None);
    connection.machine.finish(&mut connection.buf);
    connection.buf.append(&mut ahead);
    next
}

/// What a GET or a DELETE wants, of which session.
fn named(headers: &StandardHeaders<'_>, is_get: bool) -> Result<(SessionId, Matter), Refusal> {
    let version = headers.version.map(|field| field.value);
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
    let last = match headers.last_event {
        None => None,
        Some(field) => Some(EventId::parse(field.value).ok_or_else(|| {
            Refusal::at(Rung::Era, RpcError::invalid_request("Last-Event-ID names no event"))
        })?),
    };
    Ok((session, Matter::Stand(last)))
}

/// LEG-61
fn session_of(headers: &StandardHeaders<'_>) -> Result<SessionId, Refusal> {
    let Some(field) = headers.session.filter(|field| !field.repeated) else {
        let error = RpcError::invalid_request("Mcp-Session-Id must be sent, once");
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

/// By the head, and by whether it is a handshake.
fn route<L: Link>(connection: &Connection<'_, L>, document: &Document) -> Route {
    let view = connection.machine.head().view(document.bytes());
    let headers = StandardHeaders::collect(view);
    let version = headers.version.map(|field| field.value);
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
        Some(request) if !sessions || headers.session.is_none() => {
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
    if sessions && (headers.session.is_some() || !ping) {
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

/// A body outside a session, answered through its feed.
async fn alone(exchange: &Exchange<'_>, document: &Document, feed: &Feed) {
    match exchange.body(document).await {
        run::Reply::Message(json) if feed.is_open() => {
            feed.events(|out| transport::sse::message(out, &json));
            feed.end();
        }
        run::Reply::Message(json) => feed.settle(Answer::Json(json)),
        run::Reply::Accepted => feed.settle(Answer::Accepted),
        // Nobody is there to cancel it, so there is always an answer.
        run::Reply::Cancelled => feed.end(),
        run::Reply::Refused(refusal, id) if feed.is_open() => {
            let mut json = Vec::new();
            let error = refusal.error.unwrap_or_else(RpcError::internal);
            let id = id.as_ref().map(OwnedId::as_id);
            codec::write::error_response(&mut json, id.as_ref(), &error);
            feed.events(|out| transport::sse::message(out, &json));
            feed.end();
        }
        run::Reply::Refused(refusal, id) => feed.settle(Answer::Refused(refusal, id)),
    }
}

/// What observers are told.
struct Told {
    started: Instant,
    method: String,
}

/// Writes the answer that was relayed, and says what becomes of the connection.
fn finish<L: Link>(
    connection: &mut Connection<'_, L>,
    relayed: Relayed,
    closing: Closing,
    session: Option<SessionId>,
    told: Option<Told>,
) -> Next<L> {
    let closing = if connection.core.draining.get() { Closing::Close } else { closing };
    let reply = Reply { core: &connection.core, minor: connection.machine.head().minor, closing };
    let out = &mut connection.out;
    let mut last = closing;
    let (status, code, rung) = match relayed {
        Relayed::Gone => return Next::Gone,
        Relayed::Streamed => {
            last = reply.stream_closing();
            (200, None, None)
        }
        Relayed::Answer(Answer::Accepted) => {
            reply.accepted(out);
            (202, None, None)
        }
        Relayed::Answer(Answer::Ended) => {
            reply.no_content(out);
            (204, None, None)
        }
        Relayed::Answer(Answer::Json(body)) => {
            match session {
                Some(id) => reply.json_of_session(out, &body, &id.to_string()),
                None => reply.json(out, 200, &body),
            }
            (200, told.as_ref().and_then(|_| code_of(&body)), None)
        }
        Relayed::Answer(Answer::Refused(refusal, id)) => {
            let code = refusal.error.as_ref().map(|error| error.code);
            let told = (refusal.status, code, Some(refusal.rung as u8));
            let id: Option<Id<'_>> = id.as_ref().map(OwnedId::as_id);
            answer::refused(&reply, out, refusal, id.as_ref());
            told
        }
    };
    if let Some(Told { started, method }) = told {
        let micros = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        let answered = Answered { method: &method, name: None, status, code, rung, micros };
        answer::observe(&connection.core, &answered);
    }
    match last {
        Closing::KeepAlive => Next::Keep,
        Closing::Close => Next::Close,
    }
}

/// The code of an error in band.
fn code_of(body: &[u8]) -> Option<i32> {
    let message: serde_json::Value = serde_json::from_slice(body).ok()?;
    i32::try_from(message["error"]["code"].as_i64()?).ok()
}

fn method_of(document: &Document) -> &str {
    let method = document.root().as_object().and_then(|message| message.get("method")?.as_str());
    method.unwrap_or_default()
}
