//! What a core does with its life: accept, tick, answer the bell, and in the end drain.

use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::Poll;

use super::clock::TICK;
use super::core::{Core, Serve};
use super::deadline::Kind;
use super::ebb;
use super::mailbox::Inbox;
use crate::io::{Link, Listener, REFUSAL, TcpLink};

/// After a drain's deadline the sockets are shut down; their tasks then have this long to end.
const STRAGGLERS_MS: u64 = 1000;

/// Errors of accept come ten a second while descriptors are out; the log hears of them once in this time.
const ACCEPT_WARN_EVERY_MS: u64 = 10_000;

/// Serves until a drain is ordered, then drains. When this returns, no task of the core has an operation in flight,
/// unless it ignored its socket's end for longer than allowed.
pub(super) async fn live<S: Serve>(
    core: &Rc<Core<S>>,
    inbox: Inbox<S>,
    listener: Option<Listener>,
    nonblocking: bool,
) {
    let stop = listener.as_ref().map(Listener::stop_handle);
    let accepting = listener.map(|listener| monoio::spawn(accept(core.clone(), listener)));
    let ticking = monoio::spawn(tick(core.clone()));
    let reading = monoio::spawn(answer_bell(core.clone(), inbox, nonblocking));
    let carrier = core.clone();
    let carrying = monoio::spawn(async move { carrier.turns.carry(&carrier.finished).await });

    let within_ms = poll_fn(|cx| core.poll_drain(cx)).await;
    core.draining.set(true);
    if let (Some(stop), Some(accepting)) = (stop, accepting) {
        stop.stop();
        accepting.await;
    }
    core.contain("drain", || S::draining(core));
    core.deadlines.fire_all(Kind::Idle);
    core.deadlines.fire_all(Kind::Quiet);
    core.clock.refresh();
    if !empty_within(core, within_ms).await {
        tracing::warn!(core = core.id, open = core.links.len(), "drain deadline passed");
        core.links.end_all();
        core.contain("drain", || S::ending(core));
        if !empty_within(core, STRAGGLERS_MS).await {
            tracing::error!(core = core.id, open = core.links.len(), "connections left behind");
        }
    }
    core.finished.set(true);
    core.wakes.bell().ring();
    core.turns.call();
    carrying.await;
    reading.await;
    ticking.await;
}

/// Waits until no connection is open. False when the time passed first, which a further order may shorten.
async fn empty_within<S: Serve>(core: &Rc<Core<S>>, ms: u64) -> bool {
    let deadline = core.deadline(None);
    let mut ends_ms = core.clock.now_ms().saturating_add(ms);
    deadline.arm(Kind::Drain, ends_ms);
    poll_fn(|cx| {
        if core.links.poll_empty(cx).is_ready() {
            return Poll::Ready(true);
        }
        while let Poll::Ready(ms) = core.poll_drain(cx) {
            let sooner_ms = core.clock.now_ms().saturating_add(ms);
            if sooner_ms < ends_ms {
                ends_ms = sooner_ms;
                deadline.arm(Kind::Drain, ends_ms);
            }
        }
        deadline.poll_fired(cx).map(|_| false)
    })
    .await
}

async fn accept<S: Serve>(core: Rc<Core<S>>, listener: Listener) {
    let quiet_until_ms = Cell::new(0);
    let failed = |e: &io::Error| {
        core.counters.accept_errors.add(1);
        let now = core.clock.now_ms();
        if now >= quiet_until_ms.get() {
            quiet_until_ms.set(now + ACCEPT_WARN_EVERY_MS);
            let errors = core.counters.accept_errors.get();
            tracing::warn!(core = core.id, errors, "cannot accept connections: {e}");
        }
    };
    listener.run(|link| admit(&core, link), failed).await;
}

/// Takes a connection in, or turns it away when the core has its limit of them.
fn admit<S: Serve>(core: &Rc<Core<S>>, link: TcpLink) {
    if core.links.len() >= core.connections_max {
        core.counters.connections_refused.add(1);
        link.refuse(REFUSAL);
        return;
    }
    core.counters.connections_accepted.add(1);
    // Boxed on its way into the task, which would keep it three times.
    let parts = Box::new((core.links.enter(link.shutdown_handle()), core.clone(), link));
    core.spawn("connection", move || {
        let (open, owner, link) = *parts;
        S::connection(owner, link, open)
    });
}

/// Moves the core's time on.
async fn tick<S: Serve>(core: Rc<Core<S>>) {
    while !core.finished.get() {
        monoio::time::sleep(TICK).await;
        core.clock.refresh();
        core.contain("deadline", || {
            core.deadlines.tick(core.clock.now_ms());
        });
        core.contain("ebb", || ebb::tick(&core));
    }
}

async fn answer_bell<S: Serve>(core: Rc<Core<S>>, inbox: Inbox<S>, nonblocking: bool) {
    if let Err(e) = inbox.run(core.clone(), nonblocking).await {
        // A core that hears nothing any more cannot be told to end: it ends now.
        tracing::error!(core = core.id, "mailbox lost, the core drains: {e}");
        core.order_drain(0);
    }
}
