//! The turns of one handler of the 2025 era: each with what the turns before it have gathered, until there is a result.

use std::cell::RefCell;
use std::future::poll_fn;
use std::task::Poll;

use codec::error::{RpcError, code};
use codec::types::InputRequired;
use codec::value::Object;
use transport::mcp::ladder::Case;

use super::client::Abort;
use super::run::{Exchange, Reply, failed};
use super::{shapes, shim};
use crate::app::{AppSurface, ResponseMode};
use crate::context::{Call, Cancel, Context, Emitter};
use crate::dispatch::{self, Retry, Run, Runner};
use crate::handler::{Finish, Outcome};
use crate::serve::{Apart, ApartEnd};

/// The turns of one handler, until it has a result.
pub(super) struct Turns<'a> {
    pub(super) exchange: &'a Exchange<'a>,
    pub(super) case: &'a Case<'a, AppSurface<'a>>,
    pub(super) run: &'a Run<'a>,
    /// Where the members of the result begin in the body.
    pub(super) start: usize,
    pub(super) abort: &'a Abort,
}

impl Turns<'_> {
    /// Enters the handler until it has a result, or gives up on it.
    pub(super) async fn rounds(&self, mut body: Vec<u8>) -> Reply {
        let core = self.exchange.core;
        let mut answers = shim::Answers { responses: None, state: None };
        let mut rounds = 0;
        loop {
            body.truncate(self.start);
            let responses = answers.responses.as_ref().and_then(|found| found.root().as_object());
            let held = RefCell::new(body);
            let end = self.turn(&held, responses, answers.state.as_deref()).await;
            body = held.into_inner();
            let input = match end {
                ApartEnd::Cancelled => return Reply::Cancelled,
                ApartEnd::Outcome(Outcome::Complete(done)) => return self.complete(done, body),
                ApartEnd::Outcome(Outcome::Error(error)) => return self.fail(error, body),
                ApartEnd::Outcome(Outcome::Input(input)) => input,
            };
            rounds += 1;
            if rounds > core.serve.limits.rounds {
                return self.no_input("the handler asks for input again and again", body);
            }
            if !self.may_ask(&input) {
                return self.fail(RpcError::internal(), body);
            }
            let asked = shim::ask(core, self.exchange.client, self.exchange.outlet, &input);
            match self.unless_aborted(asked).await {
                None => return Reply::Cancelled,
                Some(Err(why)) => return self.no_input(&why, body),
                Some(Ok(found)) => answers = found,
            }
        }
    }

    /// MR-01, MR-02: only three methods ask for input, and they ask for something.
    fn may_ask(&self, input: &InputRequired) -> bool {
        let rounds = self.case.method().is_some_and(|method| method.row().rounds);
        let may = rounds && input.validate().is_ok();
        if !may {
            tracing::error!(
                method = self.case.request.method,
                target = self.run.target,
                "a handler asked for input where it cannot, or asked for nothing"
            );
        }
        may
    }

    /// One turn of the handler.
    async fn turn(
        &self,
        body: &RefCell<Vec<u8>>,
        responses: Option<Object<'_>>,
        state: Option<&[u8]>,
    ) -> ApartEnd {
        let Exchange { core, client, principal, head, .. } = *self.exchange;
        let emitter = Emitter::new(core.serve.limits.emit_bytes);
        let limit = core.serve.limits.handler_timeout.as_millis() as u64;
        let ends_ms = core.clock.now_ms().saturating_add(limit);
        let cancel = Cancel::until(ends_ms);
        let envelope = &self.case.envelope;
        let retry = Retry::again(responses, state);
        let call = Call {
            request: &self.case.request,
            version: client.version.name(),
            hello: client.hello(),
            log_level: envelope.log_level,
            head,
            principal: principal.map(|principal| &**principal),
            run: self.run,
            retry: &retry,
            number: match core.serve.mode {
                // Progress and log are dropped; what the client is asked still has to reach it.
                ResponseMode::Json => emitter.begin(None, None),
                ResponseMode::Auto | ResponseMode::Sse => {
                    emitter.begin(envelope.progress_token, envelope.log_level)
                }
            },
            emitter: &emitter,
            body,
            cancel: &cancel,
            outlet: Some(self.exchange.outlet),
            app: &core.serve,
            core,
        };
        let context = Context { call: &call };
        let apart = Apart {
            core,
            run: self.run,
            start: self.start,
            abort: self.abort,
            outlet: self.exchange.outlet,
        };
        apart.drive(&context, ends_ms).await
    }

    async fn unless_aborted<T>(&self, wanted: impl Future<Output = T>) -> Option<T> {
        let mut wanted = std::pin::pin!(wanted);
        poll_fn(|cx| match wanted.as_mut().poll(cx) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending => self.abort.poll(cx).map(|()| None),
        })
        .await
    }

    fn complete(&self, done: Finish, mut body: Vec<u8>) -> Reply {
        let tool = match self.run.runner {
            Runner::Tool(tool) => Some(tool),
            _ => None,
        };
        if let Err(error) = dispatch::check_result(&done, self.run) {
            return self.fail(error, body);
        }
        let version = self.exchange.client.version;
        shapes::result(&mut body, self.start, version, tool, done.structured.as_deref());
        shapes::end(&mut body, done.meta.map(|meta| *meta));
        Reply::Message(body)
    }

    fn fail(&self, error: RpcError, mut body: Vec<u8>) -> Reply {
        if error.code == code::MISSING_CLIENT_CAPABILITY {
            return self.no_input(&error.message, body);
        }
        let error = dispatch::vetted(error, self.case.request.method);
        failed(&mut body, &self.case.request.id, error, self.case.request.method);
        Reply::Message(body)
    }

    /// LEG-81: what was needed of the client does not come.
    fn no_input(&self, why: &str, mut body: Vec<u8>) -> Reply {
        if matches!(self.run.runner, Runner::Tool(_)) {
            body.truncate(self.start);
            crate::render::text_result(&mut body, why, true);
            shapes::end(&mut body, None);
        } else {
            let error = RpcError::new(code::INTERNAL_ERROR, why.to_owned());
            failed(&mut body, &self.case.request.id, error, self.case.request.method);
        }
        Reply::Message(body)
    }
}
