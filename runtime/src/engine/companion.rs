//! The companion tokio runtime: for futures that need one, such as HTTP and database clients.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll};

use super::offload::OffloadError;
use super::wake::Portable;

/// The companion runtime: handed in, or started at its first use.
pub(crate) struct Companion {
    own: OnceLock<Option<tokio::runtime::Runtime>>,
    given: Option<tokio::runtime::Handle>,
    threads: usize,
}

impl Companion {
    /// Starts a multi-thread runtime of `threads` threads when it is first needed.
    pub(crate) fn lazy(threads: usize) -> Self {
        Self { own: OnceLock::new(), given: None, threads: threads.max(1) }
    }

    /// Uses a runtime the caller keeps running.
    pub(crate) fn given(handle: tokio::runtime::Handle) -> Self {
        Self { own: OnceLock::new(), given: Some(handle), threads: 0 }
    }

    fn handle(&self) -> Option<&tokio::runtime::Handle> {
        if let Some(handle) = &self.given {
            return Some(handle);
        }
        let start = || match self.start() {
            Ok(runtime) => Some(runtime),
            Err(e) => {
                tracing::error!("the companion tokio runtime cannot start: {e}");
                None
            }
        };
        self.own.get_or_init(start).as_ref().map(tokio::runtime::Runtime::handle)
    }

    fn start(&self) -> io::Result<tokio::runtime::Runtime> {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(self.threads)
            .thread_name("ringmcp-tokio")
            .enable_all()
            .build()
    }

    /// Runs `future` on the companion runtime. Dropping the answer aborts it.
    pub(crate) fn on_tokio<F>(&self, future: F) -> OnTokio<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let join = self.handle().map(|handle| handle.spawn(future));
        OnTokio { join, portable: Portable::default() }
    }
}

impl Drop for Companion {
    /// Without waiting for blocking work: a server that ends must end.
    fn drop(&mut self) {
        if let Some(runtime) = self.own.take().flatten() {
            runtime.shutdown_background();
        }
    }
}

/// The answer of a future that runs on the companion runtime.
#[must_use = "dropping it aborts the task"]
pub struct OnTokio<T> {
    join: Option<tokio::task::JoinHandle<T>>,
    portable: Portable,
}

impl<T> Future for OnTokio<T> {
    type Output = Result<T, OffloadError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { join, portable } = self.get_mut();
        let Some(handle) = join else {
            return Poll::Ready(Err(OffloadError::Closed));
        };
        let result = std::task::ready!(portable.with(cx, |cx| Pin::new(handle).poll(cx)));
        *join = None;
        Poll::Ready(
            result.map_err(|e| {
                if e.is_panic() { OffloadError::Panicked } else { OffloadError::Closed }
            }),
        )
    }
}

impl<T> Drop for OnTokio<T> {
    fn drop(&mut self) {
        if let Some(join) = &self.join {
            join.abort();
        }
    }
}
