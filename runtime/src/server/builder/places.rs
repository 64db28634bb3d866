//! What the described server runs: path, workers, driver, address.

use super::Builder;
use crate::engine::driver::Driver;
use crate::error::Error;
use crate::in_process::InProcess;
use crate::server::Piped;
use crate::server::start::{self, Bound};

/// Where and how it runs.
impl Builder {
    /// The endpoint's path, `/mcp` by default; compared exactly (HTTP-23).
    pub fn path(mut self, path: impl Into<String>) -> Self {
        let path = path.into();
        if path.starts_with('/') && !path.contains(['?', '#', ' ']) {
            self.path = path;
        } else {
            self.blame(format!("path {path:?}: must start with / and hold no ?, # or blank"));
        }
        self
    }

    /// Worker threads, each with a core of its own; as many as the process may use by default.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers.max(1));
        self
    }

    /// Pins each worker to a CPU.
    pub fn pin(mut self, on: bool) -> Self {
        self.pin = on;
        self
    }

    /// io_uring or epoll; io_uring where the kernel allows it by default.
    pub fn driver(mut self, driver: Driver) -> Self {
        self.driver = driver;
        self
    }

    /// Called on a core's thread when the core holds much less than it did: connections, streams or handlers have ended,
    /// and what they held is freed. For allocators that keep freed memory until they are told that the peak is over. At
    /// most once a second; meanwhile the core serves nobody, so keep it short.
    pub fn after_peak(mut self, hook: impl Fn() + Send + Sync + 'static) -> Self {
        self.hooks.after_peak = Some(Box::new(hook));
        self
    }

    /// The tokio runtime that [`Context::on_tokio`](crate::Context::on_tokio) uses; without it one is started at the first use.
    #[cfg(feature = "tokio")]
    pub fn tokio(mut self, handle: tokio::runtime::Handle) -> Self {
        self.tokio = Some(handle);
        self
    }

    /// The whole server on the calling thread, without a socket: for tests. Its path is the builder's.
    ///
    /// # Errors
    /// As for [`Bound::start`], but for the machine's part.
    pub fn in_process(self) -> Result<InProcess, Error> {
        start::in_process(self)
    }

    /// The address to listen on, such as `127.0.0.1:8080`; port 0 takes a free one.
    pub fn bind(self, address: impl Into<String>) -> Bound {
        Bound { builder: self, address: address.into() }
    }

    /// The standard input and output of this process instead of an address: one client, which has started it (ledger
    /// section 6). Nothing else may write to standard output; logs belong on standard error (STD-02).
    pub fn stdio(self) -> Piped {
        Piped::stdio(self)
    }

    /// Any pair of streams instead of an address, such as the two halves of a Unix socket: one client, one message a line
    /// each way (STD-12). Each is read and written by a thread of its own and may block. A reader that never ends keeps
    /// its thread, so shut the stream down when the server has ended.
    pub fn stream(
        self,
        reader: impl std::io::Read + Send + 'static,
        writer: impl std::io::Write + Send + 'static,
    ) -> Piped {
        Piped::new(self, Box::new(reader), Box::new(writer))
    }
}
