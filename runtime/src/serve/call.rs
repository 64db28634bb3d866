//! A request that needs its handler: what the handler is given, and what becomes of how it ends.

use std::cell::{Cell, RefCell};

use codec::error::{RpcError, code};
use codec::meta::{Claim, LoggingLevel};
use transport::mcp::accept::Forms;
use transport::mcp::envelope::Envelope;
use transport::mcp::ladder::{Case, Rung};
use transport::mcp::refusal::Refusal;

use super::answer::{Closing, Shape};
use super::connection::Next;
use super::drive::{Drive, End, Stream};
use super::request::{Exchange, named};
use crate::app::{App, AppSurface, ResponseMode};
use crate::context::{Call, Cancel, Context};
use crate::dispatch::{self, Run};
use crate::engine::guard;
use crate::handler::{Finish, Outcome};
use crate::io::Link;
use crate::render;

impl<L: Link> Exchange<'_, L> {
    /// Runs a handler, unless the core is full.
    pub(super) async fn run(&mut self, case: &Case<'_, AppSurface<'_>>, run: &Run<'_>) -> Next<L> {
        let running = &self.core.app.running;
        if running.get() >= self.app().limits.requests_per_core {
            let error = RpcError::busy();
            let refusal = Refusal::at(Rung::Handler, error).with_status(503);
            let refusal = refusal.with_header("Retry-After", "1");
            return self.refuse(
                refusal,
                Some(&case.request.id),
                case.request.method,
                named(&case.request),
            );
        }
        let _counted = Running::enter(running);
        self.call(case, run).await
    }

    async fn call(&mut self, case: &Case<'_, AppSurface<'_>>, run: &Run<'_>) -> Next<L> {
        let (core, parts) = (self.core, self.parts);
        let level = self.log_level(&case.envelope);
        let eager = self.preferred() == Shape::Events;
        let Some(link) = self.link.as_mut() else { return Next::Gone };
        let limit = core.serve.limits.handler_timeout.as_millis() as u64;
        let ends_ms = core.clock.now_ms() + limit;
        let cancel = Cancel::until(ends_ms);
        let number = parts.emitter.begin(case.envelope.progress_token, level);
        let start = self.body.len();
        let body = RefCell::new(std::mem::take(self.body));
        let call = Call {
            method: case.request.method,
            meta: &case.meta,
            version: version(case),
            envelope: &case.envelope,
            head: Some(self.headers.view()),
            principal: self.principal.map(|principal| &**principal),
            arguments: run.arguments,
            target: run.target,
            variables: &run.variables,
            completion: run.completion,
            responses: run.retry.responses,
            state: run.retry.state.as_deref(),
            emitter: parts.emitter,
            number,
            body: &body,
            cancel: &cancel,
            outlet: None,
            app: &core.serve,
            core,
        };
        let context = Context { call: &call };
        let mut drive = Drive {
            core,
            link,
            out: self.out,
            ahead: self.ahead,
            waker: parts.waker,
            deadline: parts.deadline,
            timer: parts.timer,
            emitter: parts.emitter,
            cancel: &cancel,
            reply: self.reply,
            stream: stream(&core.serve, self.forms),
            eager,
            name: run.target,
            ends_ms,
        };
        let end = match guard::catch(|| run.runner.handler().call(&context)) {
            Ok(future) => drive.run(future).await,
            Err(panic) => drive.panicked(&panic),
        };
        drive.last_messages(&end);
        let open = drive.is_open();
        let dropped = parts.emitter.end();
        if dropped > 0 {
            tracing::debug!(handler = run.target, dropped, "messages dropped: the reader is slow");
        }
        *self.body = body.take();
        let outcome = match end {
            End::Gone => return Next::Gone,
            End::Outcome(outcome) => outcome,
            End::Panicked => panicked(run, start, self.body),
            End::TimedOut => {
                Outcome::Error(RpcError::new(code::INTERNAL_ERROR, "The request took too long"))
            }
        };
        let answer = dispatch::finish(outcome, &call, run, &case.request.id, self.body);
        if core.draining.get() {
            // The drain began while the handler ran.
            self.reply.closing = Closing::Close;
        }
        if open {
            self.last_event(answer, case)
        } else {
            self.answer(answer, self.preferred(), &case.request)
        }
    }

    /// LOG-02
    fn log_level(&self, envelope: &Envelope<'_>) -> Option<LoggingLevel> {
        envelope.log_level.filter(|_| self.app().logging)
    }
}

/// Counts a handler as running for as long as it lives, however it ends.
pub(crate) struct Running<'c>(&'c Cell<usize>);

impl<'c> Running<'c> {
    pub(crate) fn enter(running: &'c Cell<usize>) -> Self {
        running.set(running.get() + 1);
        Self(running)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// Whether messages before the answer can be sent: as events, if the server streams and the client takes them.
fn stream(app: &App, forms: Forms) -> Option<Stream> {
    (app.mode != ResponseMode::Json && forms.sse).then_some(Stream::Possible)
}

/// The version that the request claims.
pub(crate) fn version<'a>(case: &Case<'a, AppSurface<'_>>) -> &'a str {
    match case.meta.claim() {
        Claim::Version(version) => version,
        _ => "",
    }
}

/// ERR-11: a tool's panic is a failed call, any other handler's an internal error; neither says more (ERR-10). What
/// the handler had written behind `start` is no result.
pub(crate) fn panicked(run: &Run<'_>, start: usize, body: &mut Vec<u8>) -> Outcome {
    if !matches!(run.runner, dispatch::Runner::Tool(_)) {
        return Outcome::Error(RpcError::internal());
    }
    body.truncate(start);
    render::text_result(body, "Internal error", true);
    Outcome::Complete(Finish { is_error: true, ..Finish::default() })
}
