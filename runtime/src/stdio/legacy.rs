//! A client of the 2025 era on a stream of lines: the stream is its session, whatever the mode that HTTP has, from
//! `initialize` to the end (LEG-50). What its messages mean is `crate::legacy`'s.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use codec::document::Document;
use codec::id::OwnedId;
use codec::message::Request;
use codec::value::Object;
use transport::mcp::legacy::{self as era, Incoming, Version};

use super::channel::Channel;
use super::modern::{Way, error_line, error_of};
use super::running::Signals;
use crate::engine::wake::TaskWaker;
use crate::legacy::client::Client;
use crate::legacy::methods;
use crate::legacy::run::{Exchange, Reply};

/// Serves the message in the document. `None`: nothing is to be answered.
pub(super) async fn serve(
    channel: &Rc<Channel>,
    document: &Document,
    signals: &Rc<Signals>,
) -> Option<Vec<u8>> {
    channel.core.counters.requests.add(1);
    let known = channel.client.borrow().clone();
    if known.is_none()
        && let Ok(Incoming::Request(request)) = era::read(document, document.root())
        && request.method == "initialize"
    {
        return Some(introduce(channel, &request));
    }
    // LEG-54: before the handshake each request stands alone.
    let client = known.unwrap_or_else(|| Rc::new(Client::unknown(Version::ASSUMED)));
    let outlet = Way { out: &channel.out, signals };
    let exchange = Exchange {
        core: &channel.core,
        client: &client,
        principal: channel.principal.as_ref(),
        head: None,
        outlet: &outlet,
    };
    let mut served = std::pin::pin!(exchange.body(document));
    let reply = poll_fn(|cx| {
        if signals.abort.poll(cx).is_ready() {
            // The handler is dropped in the poll below, and whoever watches it is told.
            match era::read(document, document.root()) {
                Ok(Incoming::Request(request)) => client.cancel(&request.id),
                _ => client.cancel_all(),
            }
        }
        served.as_mut().poll(cx)
    })
    .await;
    match reply {
        Reply::Message(json) => Some(json),
        Reply::Accepted | Reply::Cancelled => None,
        Reply::Refused(refusal, id) => {
            Some(error_line(id.as_ref().map(OwnedId::as_id).as_ref(), &error_of(refusal)))
        }
    }
}

/// `initialize`: from here on the client is known (LEG-13), and told what changes.
fn introduce(channel: &Rc<Channel>, request: &Request<'_>) -> Vec<u8> {
    let core = &channel.core;
    let params = request.params.unwrap_or(Object::empty());
    let introduced = Client::introduced(params, &mut core.app.parser.borrow_mut());
    let client = match introduced {
        Ok(client) => Rc::new(client),
        Err(error) => return error_line(Some(&request.id), &error),
    };
    let snapshot = core.app.snapshots.load(&core.serve.registry);
    let mut body = Vec::new();
    methods::initialize(&mut body, &request.id, &core.serve, &snapshot, client.version, true);
    *channel.client.borrow_mut() = Some(Rc::clone(&client));
    tell(channel, client);
    body
}

/// Tells the client what changes, until the end of the stream.
fn tell(channel: &Rc<Channel>, client: Rc<Client>) {
    let Some(news) = &client.news else { return };
    // Before the answer to the handshake: whatever changes after it is told, however late the task below first runs.
    if news.begin(&channel.core, channel.principal.as_ref()).is_err() {
        return tracing::warn!("a client of 2025 is told no changes: no subscription is free");
    }
    let Some(entered) = channel.running.enter(None) else { return };
    let channel = Rc::clone(channel);
    let core = Rc::clone(&channel.core);
    core.spawn("news of a stream", move || async move {
        let Some(news) = &client.news else { return };
        let waker = TaskWaker::new(&channel.core.wakes);
        loop {
            let more = poll_fn(|cx| {
                let signals = &entered.signals;
                if signals.abort.poll(cx).is_ready() || signals.end.poll(cx).is_ready() {
                    return Poll::Ready(false);
                }
                if waker.with(cx, |cx| channel.out.poll_room(cx)).is_pending() {
                    return Poll::Pending;
                }
                match news.poll(cx) {
                    Poll::Ready(true) => Poll::Ready(true),
                    // Nothing will change here; a later subscription may.
                    Poll::Ready(false) | Poll::Pending => Poll::Pending,
                }
            });
            if !more.await {
                return news.end();
            }
            news.take(|message| {
                channel.out.send(message);
                channel.core.counters.events_delivered.add(1);
            });
        }
    });
}
