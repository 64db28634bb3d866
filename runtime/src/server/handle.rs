//! A running server, as the program that embeds it sees it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use super::Registrations;
use crate::app::App;
use crate::engine::counters::Counters;
use crate::engine::worker::Workers;
use crate::error::Error;
use crate::notifier::Notifier;

/// A running server. Clone it, send it to any thread; dropping it leaves the server running, [`drain`](Self::drain)
/// ends it.
#[derive(Clone)]
pub struct Handle {
    app: Arc<App>,
    pub(super) workers: Arc<Workers<App>>,
}

impl Handle {
    pub(super) fn new(app: Arc<App>, workers: Workers<App>) -> Self {
        Self { app, workers: Arc::new(workers) }
    }

    /// Where the server listens; a requested port 0 is the port it got.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.workers.addr()
    }

    /// The endpoint's URL.
    #[must_use]
    pub fn url(&self) -> Option<String> {
        self.address().map(|address| format!("http://{address}{}", self.app.path))
    }

    /// `io_uring` or `epoll`: what the workers run on.
    #[must_use]
    pub fn driver(&self) -> String {
        self.workers.driver().to_string()
    }

    /// Worker threads.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.workers.mailboxes().len()
    }

    /// Tells subscribers of changes, from any thread.
    #[must_use]
    pub fn notifier(&self) -> Notifier {
        self.app.notifier.clone()
    }

    /// Adds, updates and removes tools, prompts and resources.
    #[must_use]
    pub fn registrations(&self) -> Registrations {
        Registrations::new(self.app.registry.clone(), self.app.names)
    }

    /// What the server has counted so far, over all cores.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.workers.counters()
    }

    /// Begins to end the server: no connection is accepted any more, running requests may finish within `deadline`,
    /// every subscription gets its closing result (SSE-14, SUB-14). Returns at once; wait with [`join`](Self::join).
    pub fn drain(&self, deadline: Duration) {
        self.workers.drain(u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX));
    }

    /// Waits until the server has ended; every clone may wait.
    ///
    /// # Errors
    /// A worker was lost to a panic outside any request.
    pub fn join(&self) -> Result<(), Error> {
        let ended = self.workers.join();
        self.app.offload.close();
        ended.map_err(|text| Error::System(std::io::Error::other(text)))
    }
}
