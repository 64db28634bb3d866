//! What the described server admits: authentication, guards, keys, hosts and origins.

use std::sync::Arc;
use std::time::Duration;

use codec::state::Protection;

use super::Builder;
use crate::hooks::{Answered, Denied, Observed, Principal, RequestHead};
use crate::hub::Bus;
use crate::state::ReplayStore;

/// Who may ask for what.
impl Builder {
    /// Sees the head of every request before its body is read; refuses it, or says who asks (ledger section 17).
    pub fn authenticate<F>(mut self, authenticator: F) -> Self
    where
        F: AsyncFn(&RequestHead<'_>) -> Result<Principal, Denied> + Send + Sync + 'static,
    {
        self.hooks.authenticator = Some(Box::new(authenticator));
        self
    }

    /// Sees every request that is well formed before its handler runs, and may refuse it: access control, rate limits
    /// (CALL-13, SEC-03). Guards run in the order they were added, on the core: keep them short.
    pub fn guard(
        mut self,
        guard: impl Fn(&Observed<'_>) -> Result<(), Denied> + Send + Sync + 'static,
    ) -> Self {
        self.hooks.guards.push(Box::new(guard));
        self
    }

    /// Sees every answer. Runs on the core: keep it short.
    pub fn observe(mut self, observer: impl Fn(&Answered<'_>) + Send + Sync + 'static) -> Self {
        self.hooks.observers.push(Box::new(observer));
        self
    }

    /// Whether a caller may hear of updates of a resource, or of an extension's key; asked when a subscription opens
    /// and again at every delivery (SUB-10).
    pub fn may_watch(
        mut self,
        rule: impl Fn(Option<&Principal>, &str) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.hooks.may_watch = Some(Arc::new(rule));
        self
    }

    /// Widens which updates a subscribed URI hears of: `(subscribed, updated) -> bool` (SUB-09).
    pub fn match_resources(
        mut self,
        matcher: impl Fn(&str, &str) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.matcher = Some(Arc::new(matcher));
        self
    }

    /// Carries events between servers that share it (SUB-19). In process by default.
    pub fn bus(mut self, bus: Arc<dyn Bus>) -> Self {
        self.bus = Some(bus);
        self
    }

    /// The secret that seals cursors and request states: at least 32 bytes, the same on every replica. The first key
    /// seals, further ones only verify: rotate by adding the new one in front (RS-06). Without any, each start draws a
    /// random key, and what was sealed before it is refused (RS-09).
    pub fn state_key(mut self, id: impl Into<String>, secret: impl Into<Vec<u8>>) -> Self {
        self.keys.push((id.into(), secret.into()));
        self
    }

    /// Encrypts request states instead of only signing them (RS-06, RS-10).
    pub fn encrypt_state(mut self) -> Self {
        self.protection = Protection::Encrypted;
        self
    }

    /// How long a request state stays valid; 600 s by default (RS-04).
    pub fn state_ttl(mut self, ttl: Duration) -> Self {
        self.state_ttl = ttl;
        self
    }

    /// Allows each request state only once (RS-05).
    pub fn one_shot_state(mut self, store: Arc<dyn ReplayStore>) -> Self {
        self.replay = Some(store);
        self
    }

    /// `Host` values that are answered, such as `mcp.example.com`; `*` allows all. By default a loopback address
    /// answers loopback names only, any other address answers all (HTTP-03, D-43).
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        self.hosts.push(host.into());
        self
    }

    /// `Origin` values that may call, such as `https://app.example.com`; `*` allows all. By default a loopback address
    /// allows loopback origins, any other address none (HTTP-02).
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        self.origins.push(origin.into());
        self
    }
}
