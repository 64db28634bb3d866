//! The ways out of a core that a handler has: the blocking pool, and with the feature `tokio` a companion runtime.

#[cfg(feature = "tokio")]
use std::future::Future;

use crate::engine::offload::{OffloadHandle, offload};
use crate::error::Error;
use crate::limits::Limits;

#[cfg(feature = "tokio")]
pub use crate::engine::offload::OnTokio;
pub use crate::engine::offload::{OffloadError, Offloaded};

/// The pools of one server.
pub(crate) struct Pools {
    blocking: OffloadHandle,
    #[cfg(feature = "tokio")]
    companion: crate::engine::offload::Companion,
}

impl Pools {
    pub(crate) fn start(
        limits: &Limits,
        #[cfg(feature = "tokio")] tokio: Option<tokio::runtime::Handle>,
    ) -> Result<Self, Error> {
        Ok(Self {
            blocking: OffloadHandle::start(limits.offload_threads, limits.offload_queue)?,
            #[cfg(feature = "tokio")]
            companion: match tokio {
                Some(handle) => crate::engine::offload::Companion::given(handle),
                None => crate::engine::offload::Companion::lazy(limits.offload_threads),
            },
        })
    }

    pub(crate) fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Offloaded<T> {
        offload(&self.blocking, work)
    }

    #[cfg(feature = "tokio")]
    pub(crate) fn on_tokio<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> OnTokio<T> {
        self.companion.on_tokio(future)
    }

    pub(crate) fn close(&self) {
        self.blocking.close();
    }
}
