//! A handler that runs apart from its connection, as on a stream of lines or in a session: polled beside the clock and its
//! client's word, what it sends before its answer leaving through an outlet.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use codec::error::{RpcError, code};

use super::call::panicked;
use super::drive::poll_guarded;
use crate::app::App;
use crate::context::Context;
use crate::dispatch::Run;
use crate::engine::core::Core;
use crate::engine::deadline::Kind;
use crate::engine::guard;
use crate::engine::wake::TaskWaker;
use crate::handler::Outcome;
use crate::legacy::client::Abort;
use crate::legacy::outlet::Outlet;

/// One run of a handler.
pub(crate) struct Apart<'a> {
    pub(crate) core: &'a Rc<Core<App>>,
    pub(crate) run: &'a Run<'a>,
    /// Where the members of the result begin in the body.
    pub(crate) start: usize,
    pub(crate) abort: &'a Abort,
    pub(crate) outlet: &'a dyn Outlet,
}

/// How the run ended.
pub(crate) enum ApartEnd {
    Outcome(Outcome),
    /// Its client has cancelled it, or is gone.
    Cancelled,
}

impl Apart<'_> {
    /// Runs the handler until it answers, its time is up, or it is aborted.
    pub(crate) async fn drive<'c>(&self, context: &'c Context<'c>, ends_ms: u64) -> ApartEnd {
        let (emitter, cancel) = (context.call.emitter, context.call.cancel);
        let end = self.turns(context, ends_ms).await;
        // What was sent right before the end goes first.
        emitter.drain(|message| self.outlet.send(message));
        emitter.end();
        if !matches!(end, ApartEnd::Outcome(Outcome::Complete(_) | Outcome::Input(_))) {
            cancel.cancel();
        }
        end
    }

    async fn turns<'c>(&self, context: &'c Context<'c>, ends_ms: u64) -> ApartEnd {
        let (core, emitter) = (self.core, context.call.emitter);
        let mut future = match guard::catch(|| self.run.runner.handler().call(context)) {
            Ok(future) => future,
            Err(panic) => return self.lost(&panic, context),
        };
        let (waker, timer) = (TaskWaker::new(&core.wakes), core.deadline(None));
        timer.arm(Kind::Handler, ends_ms);
        let end = poll_fn(|cx| {
            emitter.set_waker(cx.waker());
            match poll_guarded(core, &waker, self.run.target, future.as_mut(), cx) {
                Poll::Ready(Ok(outcome)) => return Poll::Ready(ApartEnd::Outcome(outcome)),
                Poll::Ready(Err(panic)) => return Poll::Ready(self.lost(&panic, context)),
                Poll::Pending => {}
            }
            if self.abort.poll(cx).is_ready() {
                return Poll::Ready(ApartEnd::Cancelled);
            }
            let room = || waker.with(cx, |cx| self.outlet.poll_room(cx));
            if emitter.is_waiting() && room().is_ready() {
                emitter.drain(|message| self.outlet.send(message));
            }
            timer.poll_fired(cx).map(|_| {
                core.counters.handler_timeouts.add(1);
                let error = RpcError::new(code::INTERNAL_ERROR, "The request took too long");
                ApartEnd::Outcome(Outcome::Error(error))
            })
        })
        .await;
        if let Err(panic) = guard::catch(move || drop(future)) {
            self.report(&panic);
        }
        end
    }

    /// ERR-11
    fn lost(&self, panic: &guard::Panic, context: &Context<'_>) -> ApartEnd {
        self.report(panic);
        let mut body = context.call.body.borrow_mut();
        ApartEnd::Outcome(panicked(self.run, self.start, &mut body))
    }

    fn report(&self, panic: &guard::Panic) {
        self.core.counters.panics.add(1);
        tracing::error!(handler = self.run.target, %panic, "a handler panicked");
    }
}
