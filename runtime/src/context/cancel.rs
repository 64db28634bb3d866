//! Cancellation as other threads and tasks can see it.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Tells whether a request was cancelled. Cheap to clone, readable from any thread.
///
/// Only work that outlives the handler's future needs it, such as a job on the offload pool: the future itself is
/// dropped on cancellation.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// Whether the client has gone, the time is up, or the server is closing.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }
}

/// The request's side: a token is made only when a handler asks for one.
#[derive(Default)]
pub(crate) struct Cancel {
    token: RefCell<Option<CancelToken>>,
    ends_ms: u64,
}

impl Cancel {
    /// A request that may run until `ends_ms` on the core's clock.
    pub(crate) fn until(ends_ms: u64) -> Self {
        Self { token: RefCell::new(None), ends_ms }
    }

    pub(crate) fn token(&self) -> CancelToken {
        self.token.borrow_mut().get_or_insert_default().clone()
    }

    /// When the handler's time is over, on the core's clock.
    pub(crate) fn ends_ms(&self) -> u64 {
        self.ends_ms
    }

    pub(crate) fn time_left(&self, now_ms: u64) -> Duration {
        Duration::from_millis(self.ends_ms.saturating_sub(now_ms))
    }

    /// Tells whoever holds a token.
    pub(crate) fn cancel(&self) {
        if let Some(token) = self.token.borrow().as_ref() {
            token.cancel();
        }
    }
}
