//! MCP over HTTP on the engine: a connection's requests, one after the other, from bytes to bytes.
//!
//! Read in this order: [`kept`] waits for a request, [`connection`] frames it with what [`workspace`] lends, [`head`]
//! decides what can be decided on the head, [`request`] climbs the ladder and dispatches, [`call`] and [`drive`] run a
//! handler, [`answer`] writes; [`listen`] hands the link to a subscription. [`apart`] runs the handlers of other transports.

mod answer;
mod apart;
mod call;
mod connection;
mod drive;
mod head;
mod kept;
mod large;
mod legacy;
mod listen;
mod request;
mod snapshot;
mod workspace;

#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use codec::document::Parser;

use crate::app::App;
use crate::engine::core::LinkGuard;
use crate::engine::core::{Core, CoreParts, Serve};
use crate::engine::deadline::Kind;
use crate::engine::listen as subscription;
use crate::engine::rounds;
use crate::hub::Hub;
use crate::io::{Link, PooledFuture, TcpLink};
use crate::legacy::Sessions;
pub(crate) use answer::observe;
pub(crate) use apart::{Apart, ApartEnd};
pub(crate) use call::{Running, version};
use connection::{Handover, Then};
use kept::{Heard, Kept};
use large::LargeInput;
pub(crate) use request::named;
use snapshot::SnapshotCache;
use workspace::Workspaces;

/// What the server keeps on each core.
pub(crate) struct Local {
    pub(crate) parser: RefCell<Parser>,
    pub(crate) hub: Rc<Hub>,
    pub(crate) snapshots: SnapshotCache,
    pub(crate) workspaces: Workspaces,
    pub(crate) large: LargeInput,
    /// Handlers running now, against `requests_per_core`.
    pub(crate) running: Cell<usize>,
    /// Of clients of the 2025 era.
    pub(crate) sessions: Sessions,
}

impl Serve for App {
    type Local = Local;

    fn local(&self, parts: &CoreParts) -> Local {
        Local {
            parser: RefCell::new(Parser::new(self.limits.json_depth)),
            hub: Hub::new(self.exchange.clone(), parts.id, parts.counters.clone()),
            snapshots: SnapshotCache::new(&self.registry),
            workspaces: Workspaces::default(),
            large: LargeInput::default(),
            running: Cell::new(0),
            sessions: Sessions::default(),
        }
    }

    fn connection(
        core: Rc<Core<Self>>,
        link: TcpLink,
        open: LinkGuard,
    ) -> impl Future<Output = ()> {
        serve(core, link, open)
    }

    fn nudged(core: &Rc<Core<Self>>, _bits: u32) {
        if core.app.hub.deliver() {
            let (owner, hub) = (Rc::clone(core), Rc::clone(&core.app.hub));
            core.spawn("telling", move || rounds::go_on(owner, hub));
        }
    }

    fn draining(core: &Rc<Core<Self>>) {
        core.app.hub.end_all();
        core.app.sessions.part_all();
        core.deadlines.fire_all(Kind::Idle);
    }

    fn shed(core: &Rc<Core<Self>>) {
        core.app.workspaces.shed();
    }

    fn ebbed(core: &Rc<Core<Self>>) {
        if let Some(hook) = &core.serve.hooks.after_peak {
            hook();
        }
    }

    /// Handlers and authenticators whose task does not look at its socket now are given up as if their time were over.
    fn ending(core: &Rc<Core<Self>>) {
        core.deadlines.fire_all(Kind::Handler);
        core.deadlines.fire_all(Kind::KeepAlive);
    }
}

/// Serves one peer to its end. This future is all that a connection is while nothing happens on it: whatever is large is
/// boxed for as long as it runs, and a stream that opens goes on as a task of its own, no larger than it needs.
// Not an async function: that would keep each argument twice.
pub(crate) fn serve<L: Link + 'static>(
    core: Rc<Core<App>>,
    link: L,
    open: LinkGuard,
) -> impl Future<Output = ()> {
    let mut kept = Kept::new(&core, link);
    async move {
        loop {
            match kept.hear(&core).await {
                Heard::Bytes => {}
                Heard::Silence => return Box::pin(kept.close(&core)).await,
                Heard::Gone => return,
            }
            match PooledFuture::new(connection::serve(&core, &mut kept)).await {
                Then::Rest => {}
                Then::Close => return Box::pin(kept.close(&core)).await,
                Then::Gone => return,
                Then::Listen(handover) => {
                    kept.part(&core);
                    let owner = Rc::clone(&core);
                    return core.spawn("subscription", move || {
                        let Handover { link, head, subscription, pace } = *handover;
                        subscription::run(owner, link, open, head, subscription, pace)
                    });
                }
                Then::Stand(standing) => {
                    kept.part(&core);
                    let owner = Rc::clone(&core);
                    return core
                        .spawn("standing stream", move || legacy::stand_by(owner, open, standing));
                }
            }
        }
    }
}
