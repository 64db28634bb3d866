//! Where the letters of a session arrive: on its core, whichever core's connection they came on.

use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use codec::document::Document;
use codec::error::{RpcError, code};
use transport::http::Head;
use transport::mcp::ladder::Rung;
use transport::mcp::legacy::{EventId, SessionId, Version};
use transport::mcp::refusal::Refusal;

use super::feed::{Answer, Feed};
use super::outlet::Outlet;
use super::run::{Exchange, Reply};
use super::session::{PostStream, Session};
use super::streams::STANDING;
use crate::app::{App, ResponseMode};
use crate::engine::core::Core;
use crate::engine::deadline::Kind;
use crate::engine::wake::TaskWaker;
use crate::hooks::Principal;
use crate::hub::Full;
use crate::io::Shutdown;

/// What a connection sends to the session that a request names. It may go to another thread.
pub(crate) struct Letter {
    pub(crate) session: SessionId,
    pub(crate) principal: Option<Principal>,
    pub(crate) matter: Matter,
    /// Where the answer goes.
    pub(crate) feed: Arc<Feed>,
}

/// What is wanted of the session.
pub(crate) enum Matter {
    /// A POST: its head, and the body parsed behind it.
    Post(Box<(Head, Document)>),
    /// A GET: the standing stream, or the rest of the stream whose last event is named.
    Stand(Option<EventId>),
    /// A DELETE.
    End,
}

impl Letter {
    /// Brings the letter to the session's core.
    pub(crate) fn send(self, core: &Rc<Core<App>>) {
        let home = usize::from(self.session.core);
        if home == core.id {
            return self.open(core);
        }
        let feed = Arc::clone(&self.feed);
        match core.serve.cores.get().and_then(|cores| cores.get(home)) {
            None => feed.settle(no_session()),
            Some(mailbox) => {
                if mailbox.post(Box::new(move |core: &Rc<Core<App>>| self.open(core))).is_err() {
                    feed.settle(busy());
                }
            }
        }
    }

    /// On the session's core.
    fn open(self, core: &Rc<Core<App>>) {
        let Self { session: id, principal, matter, feed } = self;
        let principal = principal.map(Rc::new);
        let session = core.app.sessions.get(&id, core.clock.now_ms());
        // LEG-68: to anybody else it does not exist.
        let session = session.filter(|session| session.belongs_to(principal.as_ref()));
        let Some(session) = session else { return feed.settle(no_session()) };
        match matter {
            Matter::Post(message) => post(core, session, principal, message, feed),
            Matter::Stand(None) => stand(core, session, principal, feed),
            Matter::Stand(Some(last)) => resume(core, session, principal, last, feed),
            Matter::End => {
                core.app.sessions.end(core, &id);
                feed.settle(Answer::Ended);
            }
        }
    }
}

/// LEG-61
fn no_session() -> Answer {
    let error = RpcError::invalid_request("There is no such session: send initialize");
    Answer::Refused(Refusal::at(Rung::Era, error).with_status(404), None)
}

fn busy() -> Answer {
    let error = RpcError::invalid_request("The session's core is busy: try again");
    let refusal = Refusal::at(Rung::Handler, error).with_status(503);
    Answer::Refused(refusal.with_header("Retry-After", "1"), None)
}

/// As many subscriptions as there may be, of the process or of this caller (SUB-17).
fn full() -> Answer {
    let error = RpcError::new(code::INTERNAL_ERROR, Full::MESSAGE);
    let refusal = Refusal::at(Rung::Handler, error).with_status(503);
    Answer::Refused(refusal.with_header("Retry-After", "1"), None)
}

/// Serves a body as a task of its own: a client that loses its connection has not cancelled anything (LEG-21).
fn post(
    core: &Rc<Core<App>>,
    session: Rc<Session>,
    principal: Option<Rc<Principal>>,
    message: Box<(Head, Document)>,
    feed: Arc<Feed>,
) {
    let owner = Rc::clone(core);
    let held = core.links.hold(Shutdown::new(session.clone()));
    let busy = session.busy(core);
    core.spawn("request of a session", move || async move {
        let _in_use = (held, busy);
        let (head, document) = &*message;
        let view = head.view(document.bytes());
        if let Err(error) = agrees(&session, view.get("mcp-protocol-version")) {
            return feed.settle(Answer::Refused(Refusal::at(Rung::VersionSupported, error), None));
        }
        let stream = PostStream::new(Rc::clone(&session), feed);
        let exchange = Exchange {
            core: &owner,
            client: &session.client,
            principal: principal.as_ref(),
            head: Some(view),
            outlet: &stream,
        };
        let mut serving = std::pin::pin!(exchange.body(document));
        let first = poll_fn(|cx| Poll::Ready(serving.as_mut().poll(cx))).await;
        let reply = match first {
            Poll::Ready(reply) => reply,
            Poll::Pending => {
                if owner.serve.mode != ResponseMode::Json {
                    stream.begin();
                }
                serving.await
            }
        };
        if owner.serve.mode == ResponseMode::Sse && matches!(reply, Reply::Message(_)) {
            stream.begin();
        }
        finish(&stream, reply);
    });
}

/// LEG-12 within a session.
fn agrees(session: &Session, header: Option<&[u8]>) -> Result<(), RpcError> {
    match header {
        None => Ok(()),
        Some(name) if name == session.client.version.name().as_bytes() => Ok(()),
        header => Version::of_header(header).map(|_| ()),
    }
}

/// The answer: a body if nothing was sent before it, else the last event of its stream.
fn finish(stream: &PostStream, reply: Reply) {
    let Some(number) = stream.number() else {
        return stream.feed.settle(match reply {
            Reply::Message(json) => Answer::Json(json),
            Reply::Accepted | Reply::Cancelled => Answer::Accepted,
            Reply::Refused(refusal, id) => Answer::Refused(refusal, id),
        });
    };
    let streams = &mut *stream.session.streams.borrow_mut();
    match reply {
        Reply::Message(json) => streams.push(number, &json),
        Reply::Refused(refusal, id) => {
            let mut json = Vec::new();
            let error = refusal.error.unwrap_or_else(RpcError::internal);
            let id = id.as_ref().map(codec::id::OwnedId::as_id);
            codec::write::error_response(&mut json, id.as_ref(), &error);
            streams.push(number, &json);
        }
        Reply::Accepted | Reply::Cancelled => {}
    }
    streams.end(number);
}

/// Opens the standing stream (LEG-63).
fn stand(
    core: &Rc<Core<App>>,
    session: Rc<Session>,
    principal: Option<Rc<Principal>>,
    feed: Arc<Feed>,
) {
    if !can_be_told(core, &session, principal.as_ref()) {
        return feed.settle(full());
    }
    if !session.streams.borrow_mut().stand(Arc::clone(&feed)) {
        let error = RpcError::invalid_request("This session has its standing stream already");
        return feed.settle(Answer::Refused(Refusal::at(Rung::Era, error).with_status(409), None));
    }
    tell(core, session, principal, feed);
}

/// Takes up a stream where the client lost it (LEG-65).
fn resume(
    core: &Rc<Core<App>>,
    session: Rc<Session>,
    principal: Option<Rc<Principal>>,
    last: EventId,
    feed: Arc<Feed>,
) {
    if last.stream == STANDING && !can_be_told(core, &session, principal.as_ref()) {
        return feed.settle(full());
    }
    let resumed = session.streams.borrow_mut().resume(last, &feed);
    if resumed.is_err() {
        let error = RpcError::invalid_request("Last-Event-ID: not all later events are kept");
        return feed.settle(Answer::Refused(Refusal::at(Rung::Era, error), None));
    }
    if last.stream == STANDING {
        tell(core, session, principal, feed);
    }
}

fn can_be_told(core: &Rc<Core<App>>, session: &Session, principal: Option<&Rc<Principal>>) -> bool {
    session.client.news.as_ref().is_some_and(|news| news.begin(core, principal).is_ok())
}

/// Tells what changes, for as long as this reader stays and its grant holds (AUTH-16).
fn tell(
    core: &Rc<Core<App>>,
    session: Rc<Session>,
    principal: Option<Rc<Principal>>,
    feed: Arc<Feed>,
) {
    if core.draining.get() {
        return session.streams.borrow_mut().part(STANDING);
    }
    let owner = Rc::clone(core);
    let busy = session.busy(core);
    core.spawn("standing stream", move || async move {
        let _in_use = busy;
        let Some(news) = &session.client.news else { return };
        let (waker, grant) = (TaskWaker::new(&owner.wakes), owner.deadline(None));
        if let Some(at) = principal.and_then(|principal| principal.expires_at) {
            let left_ms = at.saturating_sub(owner.clock.unix_secs()).saturating_mul(1000);
            grant.arm(Kind::Sleep, owner.clock.now_ms().saturating_add(left_ms));
        }
        loop {
            let more = poll_fn(|cx| {
                waker.with(cx, |cx| {
                    let streams = session.streams.borrow();
                    let reads = streams.reader(STANDING).is_some_and(|now| Arc::ptr_eq(now, &feed));
                    if !reads || feed.poll_left(cx).is_ready() {
                        return Poll::Ready(false);
                    }
                    if grant.poll_fired(cx).is_ready() {
                        drop(streams);
                        session.streams.borrow_mut().part(STANDING);
                        return Poll::Ready(false);
                    }
                    if feed.poll_room(cx).is_pending() {
                        return Poll::Pending;
                    }
                    match news.poll(cx) {
                        Poll::Ready(true) => Poll::Ready(true),
                        // Nothing will change here: the stream stays for as long as it is wanted.
                        Poll::Ready(false) | Poll::Pending => Poll::Pending,
                    }
                })
            });
            if !more.await {
                break;
            }
            news.take(|message| {
                session.streams.borrow_mut().push(STANDING, message);
                owner.counters.events_delivered.add(1);
            });
        }
    });
}
