//! What is decided on the head alone, before the body is read: rungs 1 to 5 of the ladder (D-49).

use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context as Task, Poll};

use codec::error::RpcError;
use transport::http::{HeadView, Waiting};
use transport::mcp::accept::Forms;
use transport::mcp::head::{Places, StandardHeaders};
use transport::mcp::ladder::Rung;
use transport::mcp::origin;
use transport::mcp::refusal::Refusal;

use super::answer;
use super::connection::{Connection, Next, write};
use crate::LegacyMode;
use crate::app::App;
use crate::dispatch::denied;
use crate::engine::deadline::Kind;
use crate::engine::guard;
use crate::hooks::{Denied, Principal, RequestHead};
use crate::io::{Link, Peer, PooledFuture};

/// Refuses the request, or accepts its body.
pub(super) async fn check<L: Link>(connection: &mut Connection<'_, L>) -> Next<L> {
    match climb(connection).await {
        Ok(()) => {
            connection.machine.accept_body();
            Next::Keep
        }
        Err(Refused::Gone) => {
            connection.core.counters.disconnect_cancellations.add(1);
            Next::Gone
        }
        Err(Refused::Session) => Box::pin(super::legacy::by_head(connection)).await,
        Err(Refused::NotFound) => refuse(connection, None),
        Err(Refused::Rung(refusal)) => refuse(connection, Some(refusal)),
    }
}

enum Refused {
    /// Another path: no JSON-RPC here (HTTP-23).
    NotFound,
    Rung(Refusal),
    /// A GET or DELETE of the 2025 era: there is no body to wait for.
    Session,
    /// Nobody is left to be answered.
    Gone,
}

/// Answers at once; the body is skipped as it arrives, where that is possible.
fn refuse<L: Link>(connection: &mut Connection<'_, L>, refusal: Option<Refusal>) -> Next<L> {
    let closing = connection.closing();
    match refusal {
        None => answer::plain(connection, 404, closing),
        Some(refusal) => answer::refusal(connection, refusal, closing),
    }
    connection.machine.finish(&mut connection.buf);
    match closing {
        answer::Closing::KeepAlive => Next::Keep,
        answer::Closing::Close => Next::Close,
    }
}

async fn climb<L: Link>(connection: &mut Connection<'_, L>) -> Result<(), Refused> {
    let app = &connection.core.serve;
    let view = connection.machine.head().view(&connection.buf);
    connection.places = Places::find(view);
    let headers = StandardHeaders::at(view, &connection.places);
    host_and_origin(app, &headers).map_err(Refused::Rung)?;
    // CONNECT names an authority, not a path (RFC 9110, 9.3.6): rung 2 answers it.
    if !view.is_path(&app.path) && !view.is_method("CONNECT") {
        return Err(Refused::NotFound);
    }
    http_method(view, app.legacy).map_err(Refused::Rung)?;
    let is_post = view.is_method("POST");
    let forms = media_types(&headers);
    if app.hooks.authenticator.is_some() {
        authenticate(connection).await?;
    }
    if !is_post {
        return Err(Refused::Session);
    }
    connection.forms = forms.map_err(|(status, why)| {
        let refusal = Refusal::at(Rung::MediaType, RpcError::invalid_request(why));
        Refused::Rung(refusal.with_status(status))
    })?;
    Ok(())
}

/// Rung 1 (HTTP-02, HTTP-03).
fn host_and_origin(app: &App, headers: &StandardHeaders<'_>) -> Result<(), Refusal> {
    let what = match app.guard.check(headers.view().host(), headers.origin()) {
        Ok(()) => return Ok(()),
        Err(origin::Refusal::Host) => {
            "This server does not answer to this Host; the operator can allow it"
        }
        Err(origin::Refusal::Origin) => {
            "This Origin may not call this server; the operator can allow it"
        }
    };
    Err(Refusal::at(Rung::HostOrigin, RpcError::invalid_request(what)))
}

/// Rung 2 (HTTP-12): POST, and what sessions have besides (LEG-17, LEG-62, LEG-63).
fn http_method(view: HeadView<'_>, legacy: LegacyMode) -> Result<(), Refusal> {
    if view.is_method("POST") {
        return Ok(());
    }
    let (what, allow) = match (view.method(), legacy) {
        ("GET" | "DELETE", LegacyMode::Sessions) => return Ok(()),
        (_, LegacyMode::Sessions) => {
            ("Only POST, GET and DELETE are served here", "POST, GET, DELETE")
        }
        _ => ("Only POST is served here", "POST"),
    };
    let error = RpcError::invalid_request(what);
    Err(Refusal::at(Rung::HttpMethod, error).with_header("Allow", allow))
}

/// Rung 3. A panic of the authenticator refuses the request.
async fn authenticate<L: Link>(connection: &mut Connection<'_, L>) -> Result<(), Refused> {
    // In a box of its own: most heads have no need of it.
    let verdict = match PooledFuture::new(ask(connection)).await {
        Asked::Answer(Ok(verdict)) => verdict,
        Asked::Answer(Err(panic)) => {
            connection.core.counters.panics.add(1);
            tracing::error!(%panic, "the authenticator panicked");
            Err(Denied::unavailable())
        }
        Asked::TimedOut => Err(Denied::unavailable()),
        Asked::Gone => return Err(Refused::Gone),
    };
    match verdict {
        Ok(principal) => {
            connection.principal = Some(principal);
            Ok(())
        }
        Err(refused) => {
            let mut refusal = denied(refused);
            refusal.rung = Rung::Authorization;
            Err(Refused::Rung(refusal))
        }
    }
}

enum Asked {
    Answer(Result<Result<Rc<Principal>, Denied>, guard::Panic>),
    TimedOut,
    /// The client left first (SSE-09).
    Gone,
}

/// Asks the authenticator, which has as long as a handler, and is dropped when its client leaves.
async fn ask<L: Link>(connection: &mut Connection<'_, L>) -> Asked {
    let Connection { core, link, machine, buf, out, timer, waker, deadline, waiting, .. } =
        connection;
    let (Some(authenticator), Some(link)) = (&core.serve.hooks.authenticator, link.as_mut()) else {
        return Asked::Gone;
    };
    let head = RequestHead { view: machine.head().view(buf), peer: link.peer_addr() };
    let mut asked = pin!(guard::catch_future(|| authenticator.authenticate(&head)));
    let mut poll = |cx: &Task<'_>| waker.with(cx, |cx| asked.as_mut().poll(cx));
    if let Poll::Ready(answer) = poll_fn(|cx| Poll::Ready(poll(cx))).await {
        return Asked::Answer(answer);
    }
    // The head has arrived: what follows is not its sender's time.
    *waiting = Waiting::Nothing;
    deadline.disarm();
    // Earlier answers do not wait for this one.
    if !out.is_empty() {
        let (written, mut empty) = write(link, std::mem::take(out), core, deadline).await;
        empty.clear();
        *out = empty;
        if !written {
            return Asked::Gone;
        }
    }
    let limit = core.serve.limits.handler_timeout.as_millis() as u64;
    timer.arm(Kind::Handler, core.clock.now_ms() + limit);
    let mut peer = pin!(link.watch());
    let mut watches = true;
    let asked = poll_fn(|cx| {
        if let Poll::Ready(answer) = poll(cx) {
            return Poll::Ready(Asked::Answer(answer));
        }
        if watches && let Poll::Ready(seen) = peer.as_mut().poll(cx) {
            if seen == Peer::Gone {
                return Poll::Ready(Asked::Gone);
            }
            // The body has come, and hides what comes behind it.
            watches = false;
        }
        timer.poll_fired(cx).map(|_| Asked::TimedOut)
    })
    .await;
    timer.disarm();
    asked
}

/// Rung 4 (HTTP-15, HTTP-16, HTTP-22); else the status of the refusal, and why.
fn media_types(headers: &StandardHeaders<'_>) -> Result<Forms, (u16, &'static str)> {
    if !headers.has_json_content() {
        return Err((415, "Content-Type must be application/json in UTF-8"));
    }
    if !headers.has_plain_content() {
        return Err((415, "Content-Encoding is not supported: send the body as it is"));
    }
    let forms = headers.accepted_forms();
    if forms.is_none() {
        return Err((406, "Accept allows neither application/json nor text/event-stream"));
    }
    Ok(forms)
}
