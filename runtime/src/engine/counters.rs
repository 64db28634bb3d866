//! What a server counts. Each core writes only its own block, with plain loads and stores; a snapshot sums the blocks.

use std::sync::atomic::{AtomicU64, Ordering};

/// Rungs of the request ladder that can refuse a request, for [`Counters::rejected`].
pub(crate) const RUNGS_MAX: usize = transport::mcp::ladder::LADDER.len();

/// One number of one core. Only the owning core writes it, so a relaxed store is enough and no bus is locked; any
/// thread may read it.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Owning core only.
    pub(crate) fn add(&self, n: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
    }

    /// Owning core only, for the gauges.
    pub(crate) fn sub(&self, n: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_sub(n), Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident $([$len:expr])?;)*) => {
        /// A moment's sum over all cores. Gauges say "now", everything else counts since the start.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Counters {
            $($(#[$doc])* pub $name: counters!(@sum $($len)?),)*
        }

        /// The block of one core, on cache lines of its own.
        #[derive(Debug, Default)]
        #[repr(align(128))]
        pub(crate) struct CoreCounters {
            $(pub(crate) $name: counters!(@own $($len)?),)*
        }

        impl Counters {
            /// Adds what one core has counted so far.
            pub(crate) fn absorb(&mut self, core: &CoreCounters) {
                $(counters!(@add self.$name, core.$name, $($len)?);)*
            }
        }
    };
    (@sum) => { u64 };
    (@sum $len:expr) => { [u64; $len] };
    (@own) => { Counter };
    (@own $len:expr) => { [Counter; $len] };
    (@add $to:expr, $from:expr,) => { $to = $to.wrapping_add($from.get()) };
    (@add $to:expr, $from:expr, $len:expr) => {
        for (to, from) in $to.iter_mut().zip(&$from) {
            *to = to.wrapping_add(from.get());
        }
    };
}

counters! {
    /// Gauge: connections open now.
    connections_open;
    /// Connections accepted.
    connections_accepted;
    /// Connections turned away because the core had its limit of them.
    connections_refused;
    /// Errors of accept(2), such as no descriptors left.
    accept_errors;
    /// JSON-RPC requests and notifications that reached the ladder.
    requests;
    /// HTTP answers by status class: index 0 is 1xx, index 4 is 5xx.
    responses [5];
    /// Requests refused, by the rung of the ladder that refused them.
    rejected [RUNGS_MAX];
    /// Gauge: subscription streams open now.
    subscriptions_open;
    /// Gauge: sessions of the 2025 era now.
    sessions_open;
    /// Sessions of the 2025 era that ended because they were idle.
    sessions_expired;
    /// Events written to subscription streams.
    events_delivered;
    /// Handlers given up because they took too long.
    handler_timeouts;
    /// Handlers dropped because their client left.
    disconnect_cancellations;
    /// Connections closed because they accepted nothing for the write timeout.
    write_timeouts;
    /// Connections closed because a request head did not arrive in time.
    head_timeouts;
    /// Connections closed because a request body did not arrive in time.
    body_timeouts;
    /// Kept connections closed because no further request came.
    idle_timeouts;
    /// Panics caught, in handlers and in connection tasks.
    panics;
    /// Gauge: handlers waiting in a sleep now.
    handlers_sleeping;
    /// Polls of a handler that held the core longer than the threshold.
    stalls;
    /// Offloaded jobs refused because the queue was full.
    offload_refused;
}
