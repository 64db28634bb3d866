//! Bytes in and out of the process: the [`Link`] every connection speaks through, its TCP and in-memory forms,
//! the listener, and the pooled boxes of handlers' futures. All the unsafe of this crate lives in this room.
//!
//! Nothing here knows HTTP or MCP. A data operation in flight is never dropped by a caller that goes on using the
//! link; what may be dropped is [`Link::watch`], and what ends an operation early is [`Shutdown`].

pub(crate) mod link;
mod listener;
pub(crate) mod mem;
mod pooled;
mod shared;
mod tcp;

#[cfg(test)]
mod tests;

pub(crate) use link::{Ends, How, Link, Peer, Shutdown};
pub(crate) use listener::{BindError, Bound, Listener, REFUSAL, bind};
pub(crate) use pooled::{PooledFuture, shed_blocks};
pub(crate) use shared::SharedText;
pub(crate) use tcp::TcpLink;

/// Lets the other ready tasks of this core run once. A future that wakes itself would be polled again before them, so
/// the turn goes through a task of its own, which queues behind them.
pub(crate) async fn step_aside() {
    monoio::spawn(async {}).await;
}
