//! The thread-per-core engine: worker threads, their clocks, deadlines, mailboxes and counters, and what lets a
//! handler leave its core. It moves connections and time; it knows neither HTTP nor MCP.

pub(crate) mod clock;
#[cfg(feature = "tokio")]
pub(crate) mod companion;
pub(crate) mod core;
pub(crate) mod counters;
pub(crate) mod deadline;
pub(crate) mod driver;
pub(crate) mod ebb;
pub(crate) mod guard;
mod life;
pub(crate) mod listen;
pub(crate) mod mailbox;
pub(crate) mod offload;
pub(crate) mod pool;
pub(crate) mod rounds;
pub(crate) mod slab;
pub(crate) mod stall;
pub(crate) mod turn;
pub(crate) mod wake;
pub(crate) mod worker;

#[cfg(test)]
pub(crate) mod tests;
