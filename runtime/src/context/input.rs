//! Asking the client for input: what is there is read, what is missing ends the round (ledger section 16).

use codec::types::{
    CreateMessageParams, CreateMessageResult, ElicitForm, ElicitResult, ElicitUrl, InputRequest,
    InputRequired, ListRootsParams, ListRootsResult, Root,
};
use codec::value::Value;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Context;
use crate::error::Interrupt;

impl<'r> Context<'r> {
    /// Starts to gather input, several pieces in one round.
    #[must_use]
    pub fn ask(&self) -> Ask<'_, 'r> {
        Ask { ctx: self, wanted: InputRequired::new(), missing: false, fault: None }
    }

    /// The user's answer to a form, under a key of your choice. Decline and cancel are answers too.
    ///
    /// # Errors
    /// The [`Interrupt`] that asks for it, to pass on with `?`.
    pub fn elicit(&self, key: &str, form: ElicitForm) -> Result<ElicitResult, Interrupt> {
        let mut ask = self.ask();
        let answer = ask.elicit(key, form);
        ask.done(answer)
    }

    /// The user's answer to a URL to open: `accept` means consent, not completion (MR-24).
    ///
    /// # Errors
    /// As for [`elicit`](Self::elicit).
    pub fn elicit_url(&self, key: &str, url: ElicitUrl) -> Result<ElicitResult, Interrupt> {
        let mut ask = self.ask();
        let answer = ask.elicit_url(key, url);
        ask.done(answer)
    }

    /// The client's model's answer.
    ///
    /// # Errors
    /// As for [`elicit`](Self::elicit).
    pub fn sample(
        &self,
        key: &str,
        params: CreateMessageParams,
    ) -> Result<CreateMessageResult, Interrupt> {
        let mut ask = self.ask();
        let answer = ask.sample(key, params);
        ask.done(answer)
    }

    /// The client's roots: untrusted hints (EL-08).
    ///
    /// # Errors
    /// As for [`elicit`](Self::elicit).
    pub fn roots(&self, key: &str) -> Result<Vec<Root>, Interrupt> {
        let mut ask = self.ask();
        let answer = ask.roots(key);
        ask.done(answer)
    }

    /// Whether the client has answered something under this key; see [`Ask`] for typed answers.
    #[must_use]
    pub fn response(&self, key: &str) -> Option<Value<'r>> {
        // MR-20: what is no object counts as missing.
        self.call.retry.responses?.get(key).filter(|value| value.as_object().is_some())
    }

    /// The text that an earlier round left in [`InputRequired::state`]; verified before the handler runs.
    #[must_use]
    pub fn state_text(&self) -> Option<&'r str> {
        std::str::from_utf8(self.call.retry.state()?).ok()
    }

    /// What an earlier round of this call left with [`Ask::state`]; verified before the handler runs.
    #[must_use]
    pub fn state<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_slice(self.call.retry.state()?).ok()
    }
}

/// Several pieces of input, gathered in one round.
///
/// Each call gives the answer if the client has sent it. End with [`done`](Self::done): it hands your value on when
/// nothing is missing, and otherwise the interrupt that asks for all that is missing at once.
pub struct Ask<'c, 'r> {
    ctx: &'c Context<'r>,
    wanted: InputRequired,
    missing: bool,
    fault: Option<String>,
}

impl Ask<'_, '_> {
    /// The user's answer to a form; an accepted one is checked against the form again (MR-25), one that does not fit
    /// is asked for anew.
    pub fn elicit(&mut self, key: &str, form: ElicitForm) -> Option<ElicitResult> {
        let answer = self.answer::<ElicitResult>(key).filter(|answer| {
            let content = answer.content.clone().unwrap_or_default();
            !answer.is_accepted() || form.check(&content).is_ok()
        });
        self.want(key, form, answer)
    }

    /// The user's answer to a URL to open.
    pub fn elicit_url(&mut self, key: &str, url: ElicitUrl) -> Option<ElicitResult> {
        let answer = self.answer::<ElicitResult>(key);
        self.want(key, url, answer)
    }

    /// The client's model's answer.
    pub fn sample(
        &mut self,
        key: &str,
        params: CreateMessageParams,
    ) -> Option<CreateMessageResult> {
        let answer = self.answer::<CreateMessageResult>(key);
        self.want(key, params, answer)
    }

    /// The client's roots; those that are no files are left out (EL-08).
    pub fn roots(&mut self, key: &str) -> Option<Vec<Root>> {
        let answer = self.answer::<ListRootsResult>(key);
        let files = answer.map(|answer| answer.files().cloned().collect());
        self.want(key, ListRootsParams::default(), files)
    }

    /// What the next round shall find in [`Context::state`]. It is sealed: the client cannot alter it, and it is bound
    /// to the caller, the tool and its arguments (RS-04). Signed states can be read by the client (RS-10).
    pub fn state(&mut self, state: &impl Serialize) -> &mut Self {
        match serde_json::to_string(state) {
            Ok(text) => self.wanted.request_state = Some(text),
            Err(error) => self.blame(format!("state: {error}")),
        }
        self
    }

    /// Hands `value` on when everything is there.
    ///
    /// # Errors
    /// Something is missing: the round ends, the client is asked.
    pub fn done<T>(self, value: Option<T>) -> Result<T, Interrupt> {
        match value {
            Some(value) if !self.missing => Ok(value),
            _ => Err(self.interrupt()),
        }
    }

    /// Ends the round now, whatever has been answered.
    #[must_use]
    pub fn interrupt(self) -> Interrupt {
        if let Some(fault) = self.fault {
            tracing::error!(
                target = self.ctx.target(),
                fault,
                "a handler asks for input in a wrong way"
            );
            return Interrupt::rpc(codec::error::RpcError::internal());
        }
        Interrupt::input(self.wanted)
    }

    /// A wrong kind of answer counts as missing (MR-21, MR-22).
    fn answer<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        let value = self.ctx.response(key)?;
        serde_json::from_value(value.to_json()).ok()
    }

    fn want<T>(
        &mut self,
        key: &str,
        request: impl Into<InputRequest>,
        answer: Option<T>,
    ) -> Option<T> {
        if answer.is_some() {
            return answer;
        }
        self.missing = true;
        match std::mem::take(&mut self.wanted).ask(key, request) {
            Ok(wanted) => self.wanted = wanted,
            Err(error) => self.blame(error.to_string()),
        }
        None
    }

    fn blame(&mut self, fault: String) {
        self.fault.get_or_insert(fault);
    }
}
