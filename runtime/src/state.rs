//! `requestState`: what a handler wants to know again on the next round, sealed (ledger section 16d).

use std::sync::Arc;

use codec::error::RpcError;
use codec::state::{Binding, Codec, digest};
use codec::value::Value;

use crate::error::Error;

/// Remembers which states were used, where each may be used only once (RS-05).
///
/// Called on the cores: keep it short. Behind several replicas it must be shared between them.
pub trait ReplayStore: Send + Sync {
    /// Whether this is the first use of the state named `id`; it may be forgotten after `expires` (unix seconds).
    fn first_use(&self, id: &[u8; 16], expires: u64) -> bool;
}

/// How states are sealed and verified.
pub(crate) struct States {
    pub(crate) codec: Codec,
    pub(crate) replay: Option<Arc<dyn ReplayStore>>,
    /// The largest state that is looked at, in bytes as sent.
    pub(crate) bytes_max: usize,
}

/// What a state belongs to: the caller, the method and what it was called with (RS-04).
#[derive(Clone, Copy)]
pub(crate) struct Origin<'a> {
    pub(crate) principal: Option<&'a str>,
    pub(crate) method: &'a str,
    pub(crate) target: &'a str,
    /// What the handler is called with; an object.
    pub(crate) arguments: Value<'a>,
}

impl Origin<'_> {
    fn binding(&self) -> Binding<'_> {
        let arguments = self.arguments.to_json();
        Binding {
            principal: self.principal,
            method: self.method,
            target: digest(self.method, self.target, Some(&arguments)),
        }
    }
}

impl States {
    /// Verifies a state that a client sent back.
    ///
    /// # Errors
    /// One error for every cause (RS-03, RS-07); the log names the cause.
    pub(crate) fn open(
        &self,
        sealed: &str,
        origin: &Origin<'_>,
        now: u64,
    ) -> Result<Vec<u8>, RpcError> {
        if sealed.len() > self.bytes_max {
            tracing::info!(method = origin.method, cause = "TooLong", "requestState refused");
            return Err(refused());
        }
        match self.codec.open(sealed, &origin.binding(), now) {
            Ok(opened) => {
                let replayed = self
                    .replay
                    .as_ref()
                    .is_some_and(|store| !store.first_use(&opened.id, opened.expires));
                if replayed {
                    tracing::info!(
                        method = origin.method,
                        cause = "Replayed",
                        "requestState refused"
                    );
                    return Err(refused());
                }
                Ok(opened.state)
            }
            Err(fault) => {
                tracing::info!(method = origin.method, cause = ?fault.cause(), "requestState refused");
                Err(refused())
            }
        }
    }

    /// Seals what a handler wants to see again.
    ///
    /// # Errors
    /// `-32603`: too large, or no randomness; the log says which.
    pub(crate) fn seal(
        &self,
        state: &[u8],
        origin: &Origin<'_>,
        now: u64,
    ) -> Result<String, RpcError> {
        let sealed = self.codec.seal(state, &origin.binding(), now);
        match sealed {
            Ok(sealed) if sealed.len() <= self.bytes_max => Ok(sealed),
            Ok(sealed) => {
                let (bytes, most) = (sealed.len(), self.bytes_max);
                tracing::error!(
                    method = origin.method,
                    bytes,
                    most,
                    "a handler's requestState is too large"
                );
                Err(RpcError::internal())
            }
            Err(fault) => {
                tracing::error!(method = origin.method, %fault, "a handler's requestState cannot be sealed");
                Err(RpcError::internal())
            }
        }
    }
}

fn refused() -> RpcError {
    RpcError::invalid_params("Invalid or expired requestState")
        .with_data(&serde_json::json!({ "reason": "invalid_request_state" }))
}

/// Makes keys from an operator's secret.
///
/// # Errors
/// [`Error::Config`] for a secret that is too short.
pub(crate) fn keys(id: &str, secret: &[u8]) -> Result<codec::state::Keys, Error> {
    codec::state::Keys::new(id, secret)
        .map_err(|fault| Error::Config(format!("state key {id:?}: {fault}")))
}
