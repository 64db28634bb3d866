//! MCP over HTTP on the engine: a connection's requests, one after the other, from bytes to bytes.
//!
//! Read in this order: [`connection`] reads and frames, [`head`] decides what can be decided on the head, [`request`] climbs
//! the ladder and dispatches, [`call`] and [`drive`] run a handler, [`answer`] writes; [`listen`] hands the link to a
//! subscription.

mod answer;
mod call;
mod connection;
mod drive;
mod head;
mod listen;
mod request;
mod snapshot;

#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use codec::document::Parser;

use crate::app::App;
use crate::engine::core::{Core, CoreParts, Serve};
use crate::engine::deadline::Kind;
use crate::engine::listen as subscription;
use crate::hub::Hub;
use crate::io::{Link, TcpLink};
use connection::Handover;
use snapshot::SnapshotCache;

/// What the server keeps on each core.
pub(crate) struct Local {
    pub(crate) parser: RefCell<Parser>,
    pub(crate) hub: Rc<Hub>,
    pub(crate) snapshots: SnapshotCache,
    /// Handlers running now, against `requests_per_core`.
    pub(crate) running: Cell<usize>,
}

impl Serve for App {
    type Local = Local;

    fn local(&self, parts: &CoreParts) -> Local {
        Local {
            parser: RefCell::new(Parser::new(self.limits.json_depth)),
            hub: Hub::new(self.exchange.clone(), parts.id, parts.counters.clone()),
            snapshots: SnapshotCache::new(&self.registry),
            running: Cell::new(0),
        }
    }

    async fn connection(core: Rc<Core<Self>>, link: TcpLink) {
        serve(core, link).await;
    }

    fn nudged(core: &Rc<Core<Self>>, _bits: u32) {
        core.app.hub.deliver();
    }

    fn draining(core: &Rc<Core<Self>>) {
        core.app.hub.end_all();
        core.deadlines.fire_all(Kind::Idle);
    }

    /// Handlers and authenticators whose task does not look at its socket now are given up as if their time were over.
    fn ending(core: &Rc<Core<Self>>) {
        core.deadlines.fire_all(Kind::Handler);
        core.deadlines.fire_all(Kind::KeepAlive);
    }
}

/// Serves one peer to its end. The request machine is a future of its own, freed before a subscription begins: an
/// idle stream holds only what it needs.
pub(crate) async fn serve<L: Link>(core: Rc<Core<App>>, link: L) {
    if let Some(handover) = Box::pin(connection::serve(core.clone(), link)).await {
        let Handover { link, head, subscription, pace } = *handover;
        subscription::run(&core, link, head, subscription, pace).await;
    }
}
