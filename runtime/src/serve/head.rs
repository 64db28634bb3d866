//! What is decided on the head alone, before the body is read: rungs 1 to 5 of the ladder (D-49).

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use codec::error::RpcError;
use transport::http::HeadView;
use transport::mcp::head::StandardHeaders;
use transport::mcp::ladder::Rung;
use transport::mcp::origin;
use transport::mcp::refusal::Refusal;

use super::answer;
use super::connection::{Connection, Next};
use crate::app::App;
use crate::dispatch::denied;
use crate::engine::deadline::Kind;
use crate::engine::guard;
use crate::hooks::{Denied, RequestHead};
use crate::io::Link;

/// Refuses the request, or accepts its body.
pub(super) async fn check<L: Link>(connection: &mut Connection<L>) -> Next<L> {
    match climb(connection).await {
        Ok(()) => {
            connection.machine.accept_body();
            Next::Keep
        }
        Err(refused) => refuse(connection, refused),
    }
}

enum Refused {
    /// Another path: no JSON-RPC here (HTTP-23).
    NotFound,
    Rung(Refusal),
}

/// Answers at once; the body is skipped as it arrives, where that is possible.
fn refuse<L: Link>(connection: &mut Connection<L>, refused: Refused) -> Next<L> {
    let closing = connection.closing();
    match refused {
        Refused::NotFound => answer::plain(connection, 404, closing),
        Refused::Rung(refusal) => answer::refusal(connection, refusal, closing),
    }
    connection.machine.finish(&mut connection.buf);
    match closing {
        answer::Closing::KeepAlive => Next::Keep,
        answer::Closing::Close => Next::Close,
    }
}

async fn climb<L: Link>(connection: &mut Connection<L>) -> Result<(), Refused> {
    let app = &connection.core.serve;
    let view = connection.machine.head().view(&connection.buf);
    host_and_origin(app, view).map_err(Refused::Rung)?;
    // CONNECT names an authority, not a path (RFC 9110, 9.3.6): rung 2 answers it.
    if view.path() != app.path && view.method() != "CONNECT" {
        return Err(Refused::NotFound);
    }
    http_method(view).map_err(Refused::Rung)?;
    if app.hooks.authenticator.is_some() {
        authenticate(connection).await.map_err(Refused::Rung)?;
    }
    let view = connection.machine.head().view(&connection.buf);
    media_types(&StandardHeaders::collect(view)).map_err(Refused::Rung)
}

/// Rung 1 (HTTP-02, HTTP-03).
fn host_and_origin(app: &App, view: HeadView<'_>) -> Result<(), Refusal> {
    let what = match app.guard.check(view.host(), view.all("origin")) {
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

/// Rung 2 (HTTP-12).
fn http_method(view: HeadView<'_>) -> Result<(), Refusal> {
    if view.method() == "POST" {
        return Ok(());
    }
    let error = RpcError::invalid_request("Only POST is served here");
    Err(Refusal::at(Rung::HttpMethod, error).with_header("Allow", "POST"))
}

/// Rung 3. The authenticator has as long as a handler; a panic in it refuses the request.
async fn authenticate<L: Link>(connection: &mut Connection<L>) -> Result<(), Refusal> {
    let core = &connection.core;
    let Some(authenticator) = &core.serve.hooks.authenticator else { return Ok(()) };
    let head = RequestHead {
        view: connection.machine.head().view(&connection.buf),
        peer: connection.link.as_ref().and_then(Link::peer_addr),
    };
    let limit = core.serve.limits.handler_timeout.as_millis() as u64;
    let (timer, waker) = (&connection.timer, &connection.waker);
    timer.arm(Kind::Handler, core.clock.now_ms() + limit);
    let mut asked = pin!(guard::catch_future(authenticator.authenticate(&head)));
    let answer = poll_fn(|cx| {
        if let Poll::Ready(answer) = waker.with(cx, |cx| asked.as_mut().poll(cx)) {
            return Poll::Ready(Some(answer));
        }
        timer.poll_fired(cx).map(|_| None)
    })
    .await;
    timer.disarm();
    let verdict = match answer {
        Some(Ok(verdict)) => verdict,
        Some(Err(panic)) => {
            core.counters.panics.add(1);
            tracing::error!(%panic, "the authenticator panicked");
            Err(Denied::unavailable())
        }
        None => Err(Denied::unavailable()),
    };
    match verdict {
        Ok(principal) => {
            connection.principal = Some(principal);
            Ok(())
        }
        Err(refused) => {
            let mut refusal = denied(refused);
            refusal.rung = Rung::Authorization;
            Err(refusal)
        }
    }
}

/// Rung 4 (HTTP-15, HTTP-16, HTTP-22).
fn media_types(headers: &StandardHeaders<'_>) -> Result<(), Refusal> {
    let refuse = |what| Refusal::at(Rung::MediaType, RpcError::invalid_request(what));
    if !headers.has_json_content() {
        return Err(refuse("Content-Type must be application/json in UTF-8"));
    }
    if !headers.has_plain_content() {
        return Err(refuse("Content-Encoding is not supported: send the body as it is"));
    }
    if headers.accepted_forms().is_none() {
        let refusal = refuse("Accept allows neither application/json nor text/event-stream");
        return Err(refusal.with_status(406));
    }
    Ok(())
}
