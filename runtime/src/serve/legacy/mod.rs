//! Requests of the 2025 era over HTTP: what their heads demand, whether they stand alone or name a session, and how
//! either is answered. What they mean is `crate::legacy`'s.

mod relay;
mod route;
mod standing;

use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use codec::document::Document;
use codec::error::RpcError;
use codec::id::{Id, OwnedId};
use transport::mcp::head::StandardHeaders;
use transport::mcp::legacy::SessionId;

use super::answer::{self, Closing, Reply};
use super::connection::{Connection, Next};
use crate::app::ResponseMode;
use crate::hooks::Answered;
use crate::io::Link;
use crate::legacy::desk::{Letter, Matter};
use crate::legacy::feed::{Answer, Feed};
use crate::legacy::run::{self, Exchange};
use relay::{Asked, Pipe, Relayed, part, relay};
use route::{Route, named, route};
pub(super) use standing::{Standing, run as stand_by};

/// Serves a POST whose body is in the document.
pub(super) async fn post<L: Link>(
    connection: &mut Connection<'_, L>,
    started: Option<Instant>,
) -> Next<L> {
    let mut document = std::mem::take(&mut connection.document);
    let closing = connection.closing();
    let route = route(connection, &document);
    let told = started.map(|started| Told { started, method: method_of(&document).to_owned() });
    let mut ahead = Vec::new();
    let (pipe, Asked { head, buf, principal }) = part(connection, &mut ahead, closing);
    let core = pipe.core;
    let feed = Arc::new(Feed::new(core.serve.limits.emit_bytes));
    let mut session = None;
    let relayed = match route {
        Route::Done(done) => {
            session = done.session;
            Relayed::Answer(done.answer)
        }
        Route::Session(id) => {
            *buf = document.bytes().to_vec();
            let message = Box::new((head.clone(), std::mem::take(&mut document)));
            let principal = principal.map(Rc::as_ref).cloned();
            let matter = Matter::Post(message);
            Letter { session: id, principal, matter, feed: Arc::clone(&feed) }.send(core);
            relay(pipe, &feed, None).await
        }
        Route::Alone(client) => {
            let exchange = Exchange {
                core,
                client: &client,
                principal,
                head: Some(head.view(document.bytes())),
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
    let matter = named(&StandardHeaders::at(view, &connection.places), is_get);
    // A standing stream is the last thing on its connection.
    let closing = if is_get { Closing::Close } else { connection.closing() };
    let mut ahead = Vec::new();
    let relayed = match matter {
        Err(refusal) => Relayed::Answer(Answer::Refused(refusal, None)),
        Ok((session, matter)) => {
            let (pipe, asked) = part(connection, &mut ahead, closing);
            let feed = Arc::new(Feed::new(pipe.core.serve.limits.emit_bytes));
            let principal = asked.principal.map(Rc::as_ref).cloned();
            Letter { session, principal, matter, feed: Arc::clone(&feed) }.send(pipe.core);
            match relay(Pipe { hands_over: is_get, ..pipe }, &feed, None).await {
                Relayed::Opened(events) => return stand(connection, feed, &events),
                relayed => relayed,
            }
        }
    };
    let next = finish(connection, relayed, closing, None, None);
    connection.machine.finish(&mut connection.buf);
    connection.buf.append(&mut ahead);
    next
}

/// The link leaves with the stream: what waits for ever should hold little.
fn stand<L: Link>(connection: &mut Connection<'_, L>, feed: Arc<Feed>, events: &[u8]) -> Next<L> {
    let Some(link) = connection.link.take() else { return Next::Gone };
    let minor = connection.machine.head().minor;
    let reply = Reply { core: &connection.core, minor, closing: Closing::Close };
    let mut head = std::mem::take(&mut connection.out);
    reply.stream_head(&mut head);
    reply.events(&mut head, events);
    Next::Stand(Box::new(Standing { link, head, feed, chunked: minor > 0 }))
}

/// A body outside a session, answered through its feed.
async fn alone(exchange: &Exchange<'_>, document: &Document, feed: &Feed) {
    let streams = exchange.core.serve.mode == ResponseMode::Sse;
    match exchange.body(document).await {
        run::Reply::Message(json) if streams || feed.is_open() => {
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
        // What was opened is written by somebody else.
        Relayed::Gone | Relayed::Opened(_) => return Next::Gone,
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
