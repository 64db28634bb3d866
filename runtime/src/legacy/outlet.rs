//! Where messages to one client go while a request of it runs. The rooms beside this one know no more of a transport.

use std::task::{Context, Poll};

/// The way to a client: the event stream of one POST, or the one line stream of a process.
pub(crate) trait Outlet {
    /// Sends one JSON message behind all that were sent before. Never waits.
    fn send(&self, json: &[u8]);

    /// Ready while the client keeps up; otherwise the task is woken when it has caught up. Notifications wait for it, and
    /// are thinned out meanwhile. The waker may go to another thread.
    fn poll_room(&self, cx: &mut Context<'_>) -> Poll<()>;

    /// Lets go of the client's connection, where the client can come back for what follows.
    fn release(&self) {}
}
