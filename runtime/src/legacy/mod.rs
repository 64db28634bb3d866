//! The 2025 era: its clients, its sessions, and the shim that serves handlers of several rounds to them (ledger
//! section 20). The rules that need no server are in `transport::mcp::legacy`.
//!
//! [`client`], [`news`], [`run`], [`turns`], [`shim`], [`methods`] and [`shapes`] know no transport: they send through an
//! [`outlet::Outlet`]. [`sessions`], [`session`], [`streams`], [`feed`] and [`desk`] are those of HTTP.

pub(crate) mod client;
pub(crate) mod desk;
pub(crate) mod feed;
pub(crate) mod methods;
pub(crate) mod news;
pub(crate) mod outlet;
pub(crate) mod run;
mod session;
mod sessions;
mod shapes;
mod shim;
mod streams;
mod turns;

#[cfg(test)]
mod tests;

pub(crate) use sessions::Sessions;

/// How clients of the 2025 era, those that send no envelope, are served beside modern ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LegacyMode {
    /// Each request on its own, without a session: any replica behind any load balancer may answer it. Clients cannot
    /// be asked for input, nor told anything unasked (LEG-10 to LEG-30).
    #[default]
    Stateless,
    /// With sessions: `Mcp-Session-Id`, the standing stream, resumption, and requests from server to client (LEG-60 to
    /// LEG-69, LEG-80 to LEG-83). A session lives in the process that began it.
    Sessions,
    /// Not at all: such requests are refused with the versions that are served (LEG-40, LEG-41).
    Reject,
}
