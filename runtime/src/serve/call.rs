//! A request that needs its handler: what the handler is given, and what becomes of how it ends.

#![expect(clippy::manual_async_fn, reason = "an async function would keep each argument twice")]

use std::cell::{Cell, RefCell};

use codec::error::{RpcError, code};
use codec::message::Request;
use codec::meta::{Claim, RequestMeta};
use transport::mcp::ladder::Rung;
use transport::mcp::refusal::Refusal;

use super::answer::Closing;
use super::connection::Next;
use super::drive::{Drive, End};
use super::request::{Called, Exchange, named};
use crate::context::{Call, Cancel, Context};
use crate::dispatch::{self, Run};
use crate::engine::guard;
use crate::handler::{Finish, Outcome};
use crate::io::Link;
use crate::render;

impl<'c, L: Link> Exchange<'c, L> {
    /// Whether the core has room for one more handler.
    pub(super) fn has_room(&self) -> bool {
        self.core.app.running.get() < self.app().limits.requests_per_core
    }

    pub(super) fn busy(&mut self, request: &Request<'_>) -> Next<L> {
        let refusal = Refusal::at(Rung::Handler, RpcError::busy()).with_status(503);
        let refusal = refusal.with_header("Retry-After", "1");
        self.refuse(refusal, Some(&request.id), request.method, named(request))
    }

    /// Runs the handler and answers for it. While that takes its time, this future is what the request costs.
    pub(super) fn call(&mut self, called: &Called<'c>) -> impl Future<Output = Next<L>> {
        async move {
            let _counted = Running::enter(&self.core.app.running);
            let limit = self.app().limits.handler_timeout.as_millis() as u64;
            let cancel = Cancel::until(self.core.clock.now_ms() + limit);
            let start = self.body.len();
            let body = RefCell::new(std::mem::take(self.body));
            let call = Call {
                request: &called.request,
                version: called.version,
                hello: called.request.meta,
                log_level: called.log_level,
                head: Some(self.headers.view()),
                principal: self.principal.map(|principal| &**principal),
                run: &called.run,
                retry: &called.run.retry,
                emitter: self.parts.emitter,
                number: called.number,
                body: &body,
                cancel: &cancel,
                outlet: None,
                app: self.app(),
                core: self.core,
            };
            let context = Context { call: &call };
            let mut drive = Drive::new(self, &cancel, called.run.target);
            let future = guard::catch(|| called.run.runner.handler().call(&context));
            let end = drive.run(future).await;
            let open = drive.last_messages(&end);
            *self.body = body.take();
            let outcome = match end {
                End::Gone => return Next::Gone,
                End::Outcome(outcome) => outcome,
                End::Panicked => panicked(&called.run, start, self.body),
                End::TimedOut => {
                    Outcome::Error(RpcError::new(code::INTERNAL_ERROR, "The request took too long"))
                }
            };
            let answer =
                dispatch::finish(outcome, &call, &called.run, &called.request.id, self.body);
            if self.core.draining.get() {
                // The drain began while the handler ran.
                self.reply.closing = Closing::Close;
            }
            if open {
                self.last_event(answer, &called.request)
            } else {
                self.answer(answer, self.preferred(), &called.request)
            }
        }
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

/// The version that the request claims.
pub(crate) fn version<'a>(meta: &RequestMeta<'a>) -> &'a str {
    match meta.claim() {
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
