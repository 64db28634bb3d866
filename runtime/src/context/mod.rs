//! What a handler sees of its request, and what it can do while it runs.

mod cancel;
mod emit;
mod input;

pub(crate) use cancel::Cancel;
pub use cancel::CancelToken;
pub(crate) use emit::Emitter;
pub use emit::{Amount, Progress};
pub use input::Ask;

use std::borrow::Cow;
use std::cell::RefCell;
#[cfg(feature = "tokio")]
use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use codec::message::Request;
use codec::meta::{Capability, ClientInfo, RequestMeta};
use codec::types::LoggingLevel;
use codec::value::Value;
use serde::Serialize;
use transport::http::HeadView;

use crate::Interrupt;
use crate::app::App;
use crate::dispatch::{Retry, Run};
use crate::engine::core::Core;
use crate::engine::deadline::Kind;
use crate::handler::Completion;
use crate::hooks::Principal;
use crate::legacy::outlet::Outlet;
use crate::limits::Limits;
use crate::notifier::Notifier;
use crate::offload::Offloaded;
use crate::server::Registrations;

/// One request, as its handler sees it.
///
/// Everything here is of this request alone (RPC-15). Dropping the handler's future is the request's cancellation:
/// when the client goes away, destructors run and nothing more is written.
pub struct Context<'r> {
    pub(crate) call: &'r Call<'r>,
}

/// The request behind a [`Context`]: borrowed from the connection's buffer for as long as the handler runs.
pub(crate) struct Call<'r> {
    pub(crate) request: &'r Request<'r>,
    pub(crate) version: &'r str,
    /// Where the client describes itself: the request's own `_meta`, or the handshake's parameters.
    pub(crate) hello: Option<Value<'r>>,
    pub(crate) log_level: Option<LoggingLevel>,
    pub(crate) head: Option<HeadView<'r>>,
    pub(crate) principal: Option<&'r Principal>,
    pub(crate) run: &'r Run<'r>,
    /// What the client has answered so far.
    pub(crate) retry: &'r Retry<'r>,
    pub(crate) emitter: &'r Rc<Emitter>,
    pub(crate) number: u64,
    pub(crate) body: &'r RefCell<Vec<u8>>,
    pub(crate) cancel: &'r Cancel,
    /// Where messages of the 2025 era go.
    pub(crate) outlet: Option<&'r dyn Outlet>,
    pub(crate) app: &'r App,
    pub(crate) core: &'r Rc<Core<App>>,
}

impl Call<'_> {
    /// Whether the client declares the capability; looked up when it is asked, which few requests do.
    pub(crate) fn declares(&self, capability: &Capability<'_>) -> bool {
        let declared = RequestMeta::from_message(self.hello).capabilities();
        declared.is_ok_and(|declared| codec::meta::declares(declared, capability))
    }
}

impl<'r> Context<'r> {
    /// The method of the request.
    #[must_use]
    pub const fn method(&self) -> &'r str {
        self.call.request.method
    }

    /// The tool's or prompt's name, or the resource's URI.
    #[must_use]
    pub const fn target(&self) -> &'r str {
        self.call.run.target
    }

    /// The URI that is read; the same as [`target`](Self::target), for resources.
    #[must_use]
    pub const fn uri(&self) -> &'r str {
        self.call.run.target
    }

    /// The protocol revision of the request, such as `2026-07-28`.
    #[must_use]
    pub const fn protocol_version(&self) -> &'r str {
        self.call.version
    }

    /// The arguments, borrowed from the request: first occurrence of a repeated name wins (RPC-19).
    #[must_use]
    pub const fn arguments(&self) -> Value<'r> {
        self.call.run.arguments
    }

    /// The variables of a matched resource template, each percent-decoded once.
    #[must_use]
    pub const fn variables(&self) -> &'r [(&'r str, Cow<'r, str>)] {
        self.call.run.variables.as_slice()
    }

    /// `params._meta` of the request as sent.
    #[must_use]
    pub fn meta(&self) -> RequestMeta<'r> {
        RequestMeta::from_message(self.call.request.meta)
    }

    /// What the client says of itself; no decision may rest on it (ENV-08).
    #[must_use]
    pub fn client(&self) -> Option<ClientInfo<'r>> {
        RequestMeta::from_message(self.call.hello).client_info().ok().flatten()
    }

    /// Whether this request declares a client capability (ENV-07).
    #[must_use]
    pub fn client_can(&self, capability: &Capability<'_>) -> bool {
        self.call.declares(capability)
    }

    /// Ends the request with `-32021` unless it declares the capability (CALL-15).
    ///
    /// # Errors
    /// The [`Interrupt`] to pass on with `?`.
    pub fn require(&self, capability: &Capability<'_>) -> Result<(), Interrupt> {
        if self.client_can(capability) {
            return Ok(());
        }
        Err(Interrupt::rpc(codec::error::RpcError::missing_capability(std::slice::from_ref(
            capability,
        ))))
    }

    /// The first header line of this name; `None` on a transport without headers.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&'r [u8]> {
        self.call.head?.get(name)
    }

    /// Who the request is made for, where the server authenticates.
    #[must_use]
    pub const fn principal(&self) -> Option<&'r Principal> {
        self.call.principal
    }

    /// The lowest level of log messages that the request wants; `None` wants none (LOG-01).
    #[must_use]
    pub const fn log_level(&self) -> Option<LoggingLevel> {
        self.call.log_level
    }

    /// Reports progress; without a progress token in the request this does nothing. See [`Progress::report`].
    pub fn progress(&self, done: impl Into<Amount>, total: impl Into<Amount>) {
        self.progress_handle().report(done, total);
    }

    /// A handle that reports progress and logs from other tasks of this core.
    #[must_use]
    pub fn progress_handle(&self) -> Progress {
        Progress::new(Rc::clone(self.call.emitter), self.call.number)
    }

    /// Sends a log message on this request's stream, if the request wants its level (ledger section 12).
    pub fn log(&self, level: LoggingLevel, data: impl Serialize) {
        self.progress_handle().log(level, None, &data);
    }

    /// The same under a logger's name.
    pub fn log_as(&self, logger: &str, level: LoggingLevel, data: impl Serialize) {
        self.progress_handle().log(level, Some(logger), &data);
    }

    /// Lets go of the client's connection while the handler goes on: a client of revision 2025-11-25 in a session comes
    /// back for the rest (LEG-65). For any other client this does nothing.
    pub fn release_connection(&self) {
        if let Some(outlet) = self.call.outlet {
            outlet.release();
        }
    }

    /// Tells other threads and tasks that the request was cancelled; this future itself is just dropped.
    #[must_use]
    pub fn cancel_token(&self) -> CancelToken {
        self.call.cancel.token()
    }

    /// What is left of the handler's time.
    #[must_use]
    pub fn time_left(&self) -> Duration {
        self.call.cancel.time_left(self.call.core.clock.now_ms())
    }

    /// Waits at least this long, to the core's timer granularity (50 ms).
    pub async fn sleep(&self, duration: Duration) {
        let core = self.call.core;
        let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let deadline = core.deadline(None);
        deadline.arm(Kind::Sleep, core.clock.now_ms().saturating_add(millis));
        deadline.passed().await;
    }

    /// Runs blocking or heavy work on the offload pool.
    ///
    /// # Errors
    /// [`OffloadError::Full`](crate::OffloadError::Full) when the pool's queue is full, [`OffloadError::Panicked`](crate::OffloadError::Panicked) when the work panicked.
    pub fn offload<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Offloaded<T> {
        let job = self.call.app.offload.run(work);
        if job.is_refused() {
            self.call.core.counters.offload_refused.add(1);
        }
        job
    }

    /// Runs a future on the companion tokio runtime; dropping the returned future aborts it.
    ///
    /// # Errors
    /// As for [`offload`](Self::offload).
    #[cfg(feature = "tokio")]
    pub fn on_tokio<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> crate::offload::OnTokio<T> {
        self.call.app.offload.on_tokio(future)
    }

    /// Tells subscribers of changes.
    #[must_use]
    pub fn notifier(&self) -> &'r Notifier {
        &self.call.app.notifier
    }

    /// Adds, updates and removes tools, prompts and resources while the server runs.
    #[must_use]
    pub fn registrations(&self) -> Registrations {
        Registrations::new(self.call.app.registry.clone(), self.call.app.names)
    }

    /// The server's limits.
    #[must_use]
    pub fn limits(&self) -> &'r Limits {
        &self.call.app.limits
    }

    pub(crate) fn completion(&self) -> Completion<'r> {
        *self.call.run.completion.as_deref().expect("a completer is called with a completion")
    }

    pub(crate) fn body(&self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.call.body.borrow_mut());
    }
}
