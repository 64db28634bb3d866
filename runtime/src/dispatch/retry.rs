//! The fields of a further round: `inputResponses` and `requestState` (ledger sections 16c and 16d).

use codec::value::{Object, Value};
use transport::mcp::ladder::Rung;
use transport::mcp::refusal::Refusal;

use super::{Admitted, bad};
use crate::state::Origin;

/// What came back from the client, before and after rung 21.
#[derive(Default)]
pub(crate) struct Retry<'r> {
    pub(crate) responses: Option<Object<'r>>,
    sealed: Option<&'r str>,
    /// The payload of the verified state.
    pub(crate) state: Option<Vec<u8>>,
}

impl<'r> Retry<'r> {
    /// Rung 18: the fields' types (MR-20, RS-01).
    pub(super) fn read(params: Object<'r>) -> Result<Self, Refusal> {
        let responses = match params.get("inputResponses").map(|value| value.as_object()) {
            Some(None) => return Err(bad("params.inputResponses must be an object".to_owned())),
            found => found.flatten(),
        };
        let sealed = match params.get("requestState").map(|value| value.as_str()) {
            Some(None) => return Err(bad("params.requestState must be a string".to_owned())),
            found => found.flatten(),
        };
        Ok(Self { responses, sealed, state: None })
    }

    /// Rung 21: nothing runs on a state that does not verify (RS-02).
    pub(super) fn verify(
        &mut self,
        request: &Admitted<'r>,
        target: &str,
        arguments: Value<'_>,
    ) -> Result<(), Refusal> {
        let Some(sealed) = self.sealed else { return Ok(()) };
        let origin = Origin {
            principal: request.subject(),
            method: request.case.request.method,
            target,
            arguments,
        };
        let opened = request.app.states.open(sealed, &origin, request.now);
        self.state = Some(opened.map_err(|error| Refusal::at(Rung::RequestState, error))?);
        Ok(())
    }

    /// Whether this is not the first round: its result is not cacheable (CCH-07).
    pub(crate) fn is_retry(&self) -> bool {
        self.responses.is_some() || self.sealed.is_some()
    }
}
