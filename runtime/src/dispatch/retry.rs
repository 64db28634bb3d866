//! The fields of a further round: `inputResponses` and `requestState` (ledger sections 16c and 16d).

use std::borrow::Cow;

use codec::value::{Object, Value};
use transport::mcp::ladder::Rung;
use transport::mcp::refusal::Refusal;

use super::{Admitted, bad};
use crate::state::Origin;

/// What came back from the client, before and after rung 21.
#[derive(Default)]
pub(crate) struct Retry<'r> {
    pub(crate) responses: Option<Object<'r>>,
    state: State<'r>,
}

/// The field `requestState`.
#[derive(Default)]
enum State<'r> {
    #[default]
    Absent,
    Sealed(&'r str),
    /// The payload of the verified state.
    Opened(Cow<'r, [u8]>),
}

impl<'r> Retry<'r> {
    /// Rung 18: the fields' types (MR-20, RS-01).
    pub(super) fn read(params: Object<'r>) -> Result<Self, Refusal> {
        let responses = match params.get("inputResponses").map(|value| value.as_object()) {
            Some(None) => return Err(bad("params.inputResponses must be an object".to_owned())),
            found => found.flatten(),
        };
        let state = match params.get("requestState").map(|value| value.as_str()) {
            Some(None) => return Err(bad("params.requestState must be a string".to_owned())),
            Some(Some(sealed)) => State::Sealed(sealed),
            None => State::Absent,
        };
        Ok(Self { responses, state })
    }

    /// Rung 21: nothing runs on a state that does not verify (RS-02).
    pub(super) fn verify(
        &mut self,
        request: &Admitted<'r>,
        target: &str,
        arguments: Value<'_>,
    ) -> Result<(), Refusal> {
        let State::Sealed(sealed) = self.state else { return Ok(()) };
        let origin = Origin {
            principal: request.subject(),
            method: request.request.method,
            target,
            arguments,
        };
        let opened = request.app.states.open(sealed, &origin, request.now);
        let payload = opened.map_err(|error| Refusal::at(Rung::RequestState, error))?;
        self.state = State::Opened(Cow::Owned(payload));
        Ok(())
    }

    /// What came back in answer to an earlier turn of the same call.
    pub(crate) fn again(responses: Option<Object<'r>>, state: Option<&'r [u8]>) -> Self {
        let state = state.map_or(State::Absent, |state| State::Opened(Cow::Borrowed(state)));
        Self { responses, state }
    }

    /// The payload of the verified state.
    pub(crate) fn state(&self) -> Option<&[u8]> {
        match &self.state {
            State::Opened(payload) => Some(payload),
            State::Absent | State::Sealed(_) => None,
        }
    }

    /// Whether this is not the first round: its result is not cacheable (CCH-07).
    pub(crate) fn is_retry(&self) -> bool {
        self.responses.is_some() || !matches!(self.state, State::Absent)
    }
}
