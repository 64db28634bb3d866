//! What the hubs of one server share: their inboxes, the kinds of keys, the matcher, the places. Made once at
//! start-up; the bus feeds it and every core takes its own inbox from it.

use std::sync::Arc;

use super::bus::Bus;
use super::event::Event;
use super::inbox::Inbox;
use super::seats::Seats;
use super::topic::Kinds;
use crate::engine::guard;

/// Widens the match of resource URIs: `(subscribed, updated) -> bool`, asked only where the two differ
/// (LEDGER SUB-09, D-15). It runs on the cores, once per subscribed URI of the core and updated URI: cheap and
/// without side effects. A panic in it is a no.
pub(crate) type Matcher = Arc<dyn Fn(&str, &str) -> bool + Send + Sync>;

/// The start-up choices of subscriptions.
pub(crate) struct ExchangeConfig {
    pub(crate) cores: usize,
    pub(crate) kinds: Kinds,
    pub(crate) matcher: Option<Matcher>,
    /// The server's identity in closing results, a JSON object. LEDGER SUB-14.
    pub(crate) server_info: Option<Box<str>>,
    /// Open at once in the whole process. LEDGER SUB-17.
    pub(crate) subscriptions_max: usize,
    /// Open at once for one authenticated principal.
    pub(crate) subscriptions_per_principal_max: usize,
}

/// The shared half of one server's subscriptions.
pub(crate) struct Exchange {
    pub(super) kinds: Arc<Kinds>,
    pub(super) matcher: Option<Matcher>,
    pub(super) seats: Arc<Seats>,
    pub(super) server_info: Option<Box<str>>,
    inboxes: Box<[Arc<Inbox>]>,
}

impl Exchange {
    /// Joins the bus; leaves it, but for an empty sink, when dropped.
    pub(crate) fn new(config: ExchangeConfig, bus: &dyn Bus) -> Arc<Exchange> {
        let kinds = Arc::new(config.kinds);
        let wide = config.matcher.is_some();
        let inboxes = (0..config.cores).map(|_| Inbox::new(Arc::clone(&kinds), wide)).collect();
        let exchange = Arc::new(Exchange {
            kinds,
            matcher: config.matcher,
            seats: Seats::new(config.subscriptions_max, config.subscriptions_per_principal_max),
            server_info: config.server_info,
            inboxes,
        });
        let member = Arc::downgrade(&exchange);
        bus.subscribe(Box::new(move |event| {
            if let Some(exchange) = member.upgrade() {
                exchange.offer(event);
            }
        }));
        exchange
    }

    /// Hands an event to every core that has interest in it, from any thread.
    pub(crate) fn offer(&self, event: &Event) {
        for inbox in &self.inboxes {
            inbox.offer(event);
        }
    }

    /// The inbox of one core. Panics beyond the number of cores it was made for.
    pub(crate) fn inbox(&self, core: usize) -> &Arc<Inbox> {
        &self.inboxes[core]
    }

    pub(crate) fn kinds(&self) -> &Arc<Kinds> {
        &self.kinds
    }

    /// Subscriptions open now, on all cores.
    #[cfg(test)]
    pub(crate) fn open_count(&self) -> usize {
        self.seats.taken()
    }

    /// Asks the matcher.
    pub(super) fn matches(&self, subscribed: &str, updated: &str) -> bool {
        let Some(matcher) = &self.matcher else { return false };
        guard::catch(|| matcher(subscribed, updated)).unwrap_or_else(|panic| {
            tracing::warn!(%panic, "the resource matcher panicked: taken as no match");
            false
        })
    }
}
