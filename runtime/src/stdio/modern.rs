//! A request of the modern era on a stream of lines: the ladder without its header rungs (PREC-03, STD-11), the same plans
//! and handlers as over HTTP.

use std::cell::RefCell;
use std::future::poll_fn;
use std::task::Poll;
use std::time::Instant;

use codec::document::Document;
use codec::error::{RpcError, code};
use codec::id::Id;
use codec::message::{self, Message, Request};
use codec::write;
use transport::mcp::ladder::{Case, Rung};
use transport::mcp::refusal::Refusal;

use super::channel::Channel;
use super::outflow::Outflow;
use super::running::Signals;
use crate::app::AppSurface;
use crate::context::{Call, Cancel, Context, Emitter};
use crate::dispatch::{self, Admitted, Answer, Plan, Run};
use crate::engine::deadline::Kind;
use crate::engine::guard;
use crate::engine::wake::TaskWaker;
use crate::handler::CacheHint;
use crate::hooks::Answered;
use crate::hub::{Envelope, Filter, Full};
use crate::legacy::outlet::Outlet;
use crate::render;
use crate::serve::{Apart, ApartEnd, Running, named, observe, version};

/// The way to the client for one request: shut once that is cancelled, so that nothing more is sent for it (STD-05).
pub(super) struct Way<'a> {
    pub(super) out: &'a Outflow,
    pub(super) signals: &'a Signals,
}

impl Outlet for Way<'_> {
    fn send(&self, json: &[u8]) {
        if !self.signals.abort.is_done() {
            self.out.send(json);
        }
    }

    fn poll_room(&self, cx: &mut std::task::Context<'_>) -> Poll<()> {
        self.out.poll_room(cx)
    }
}

/// Serves the request in the document. `None`: nothing is to be answered.
pub(super) async fn serve(
    channel: &Channel,
    document: &Document,
    signals: &Signals,
) -> Option<Vec<u8>> {
    let Ok(Message::Request(request)) = message::read(document) else { return None };
    let core = &channel.core;
    core.counters.requests.add(1);
    let snapshot = core.app.snapshots.load(&core.serve.registry);
    let surface = AppSurface { app: &core.serve, snapshot: &snapshot };
    let mut case = Case::new(request, None, &surface);
    let started = (!core.serve.hooks.observers.is_empty()).then(Instant::now);
    let exchange = Exchange { channel, signals, started };
    if let Err(refusal) = case.climb() {
        return Some(exchange.refused(refusal, &request));
    }
    channel.modern.set(true);
    let admitted = Admitted {
        request,
        capabilities: case.envelope.capabilities,
        root: document.root(),
        app: &core.serve,
        snapshot: &snapshot,
        headers: None,
        principal: channel.principal.as_ref(),
        now: core.clock.unix_secs(),
    };
    let mut body = Vec::new();
    render::begin(&mut body, &request.id, "complete");
    // The program's guards run in here: their panic costs this request only.
    let plan = guard::catch(|| dispatch::plan(&admitted, &mut body));
    match plan.unwrap_or_else(|panic| Err(exchange.plan_panicked(&panic))) {
        Err(refusal) => Some(exchange.refused(refusal, &request)),
        Ok(Plan::Ready(cache)) => Some(exchange.ready(&case, cache, body)),
        Ok(Plan::Around(cache, splice)) => {
            splice.copy_into(&mut body);
            Some(exchange.ready(&case, cache, body))
        }
        Ok(Plan::Listen(filter)) => exchange.listen(&admitted, filter).await,
        Ok(Plan::Run(run)) => exchange.run(&case, &run, body).await,
    }
}

/// One request, with what it may use of its channel.
struct Exchange<'a> {
    channel: &'a Channel,
    signals: &'a Signals,
    started: Option<Instant>,
}

impl Exchange<'_> {
    /// The result needs no handler.
    fn ready(
        &self,
        case: &Case<'_, AppSurface<'_>>,
        cache: CacheHint,
        mut body: Vec<u8>,
    ) -> Vec<u8> {
        let cacheable = case.method().is_some_and(|method| method.row().cacheable);
        render::end(&mut body, &self.channel.core.serve, cacheable.then_some(cache), None);
        self.observe(&case.request, Answer::OK, None);
        body
    }

    /// Runs a handler, unless the core is full.
    async fn run(
        &self,
        case: &Case<'_, AppSurface<'_>>,
        run: &Run<'_>,
        body: Vec<u8>,
    ) -> Option<Vec<u8>> {
        let core = &self.channel.core;
        let running = &core.app.running;
        if running.get() >= core.serve.limits.requests_per_core {
            let error = RpcError::busy();
            return Some(self.refused(Refusal::at(Rung::Handler, error), &case.request));
        }
        let _counted = Running::enter(running);
        let limit = core.serve.limits.handler_timeout.as_millis() as u64;
        let ends_ms = core.clock.now_ms().saturating_add(limit);
        let cancel = Cancel::until(ends_ms);
        let emitter = Emitter::new(core.serve.limits.emit_bytes);
        // LOG-02
        let level = case.envelope.log_level.filter(|_| core.serve.logging);
        let number = emitter.begin(case.envelope.progress_token, level);
        let start = body.len();
        let held = RefCell::new(body);
        let call = Call {
            request: &case.request,
            version: version(&case.meta),
            hello: case.request.meta,
            log_level: case.envelope.log_level,
            head: None,
            principal: self.channel.principal.as_deref(),
            run,
            retry: &run.retry,
            emitter: &emitter,
            number,
            body: &held,
            cancel: &cancel,
            outlet: None,
            app: &core.serve,
            core,
        };
        let context = Context { call: &call };
        let outlet = Way { out: &self.channel.out, signals: self.signals };
        let apart = Apart { core, run, start, abort: &self.signals.abort, outlet: &outlet };
        let ApartEnd::Outcome(outcome) = apart.drive(&context, ends_ms).await else { return None };
        let mut body = held.take();
        let answer = dispatch::finish(outcome, &call, run, &case.request.id, &mut body);
        self.observe(&case.request, answer, None);
        Some(body)
    }

    /// A subscription, until either side ends it. What it has to tell waits in the hub while the client is behind, so a
    /// burst costs no memory here.
    async fn listen(&self, admitted: &Admitted<'_>, filter: Filter) -> Option<Vec<u8>> {
        let (core, out, request) = (&self.channel.core, &self.channel.out, &admitted.request);
        let subject = admitted.subject();
        let access = dispatch::access(admitted);
        let opened = core.app.hub.open(request.id.to_owned(), filter, subject, access);
        let Ok(subscription) = opened else {
            let error = RpcError::new(code::INTERNAL_ERROR, Full::MESSAGE);
            return Some(self.refused(Refusal::at(Rung::Handler, error), request));
        };
        self.observe(request, Answer::OK, None);
        let mut lines = Vec::new();
        subscription.write_ack(&mut lines, Envelope::Line);
        out.send_lines(&lines);
        let (waker, grant) = (TaskWaker::new(&core.wakes), core.deadline(None));
        if let Some(at) = admitted.principal.and_then(|principal| principal.expires_at) {
            let left_ms = at.saturating_sub(core.clock.unix_secs()).saturating_mul(1000);
            grant.arm(Kind::Sleep, core.clock.now_ms().saturating_add(left_ms));
        }
        loop {
            let stays = poll_fn(|cx| {
                if self.signals.abort.poll(cx).is_ready() {
                    return Poll::Ready(false);
                }
                if self.signals.end.poll(cx).is_ready() || grant.poll_fired(cx).is_ready() {
                    subscription.end();
                }
                if waker.with(cx, |cx| out.poll_room(cx)).is_pending() {
                    return Poll::Pending;
                }
                subscription.poll_news(cx).map(|()| true)
            });
            // SUB-13: cancelled, without a word.
            if !stays.await {
                return None;
            }
            lines.clear();
            let events = subscription.take_frames(&mut lines, Envelope::Line);
            let last = subscription.is_ending() && !subscription.is_dirty();
            if last {
                subscription.write_closing(&mut lines, Envelope::Line);
            }
            out.send_lines(&lines);
            core.counters.events_delivered.add(events as u64);
            if last {
                return None;
            }
        }
    }

    fn plan_panicked(&self, panic: &guard::Panic) -> Refusal {
        self.channel.core.counters.panics.add(1);
        tracing::error!(%panic, "a guard or the dispatch of a request panicked");
        Refusal::at(Rung::Handler, RpcError::internal()).with_status(500)
    }

    fn refused(&self, refusal: Refusal, request: &Request<'_>) -> Vec<u8> {
        let rung = refusal.rung as u8;
        self.channel.core.counters.rejected[usize::from(rung) - 1].add(1);
        let status = refusal.status;
        let error = error_of(refusal);
        self.observe(request, Answer { status, code: Some(error.code) }, Some(rung));
        error_line(Some(&request.id), &error)
    }

    /// Observers are told the status that HTTP would have given.
    fn observe(&self, request: &Request<'_>, answer: Answer, rung: Option<u8>) {
        let Some(started) = self.started else { return };
        let micros = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        let Answer { status, code } = answer;
        let (method, name) = (request.method, named(request));
        let answered = Answered { method, name, status, code, rung, micros };
        observe(&self.channel.core, &answered);
    }
}

/// What a refusal says where there are no statuses. A guard's words are for HTTP: their description stays.
pub(super) fn error_of(refusal: Refusal) -> RpcError {
    refusal.error.unwrap_or_else(|| {
        let words = serde_json::from_slice::<serde_json::Value>(&refusal.body.unwrap_or_default());
        let said =
            words.ok().and_then(|words| Some(words["error_description"].as_str()?.to_owned()));
        let text = said.filter(|said| !said.is_empty());
        RpcError::new(code::INVALID_REQUEST, text.unwrap_or_else(|| "Not allowed".to_owned()))
    })
}

pub(super) fn error_line(id: Option<&Id<'_>>, error: &RpcError) -> Vec<u8> {
    let mut line = Vec::new();
    write::error_response(&mut line, id, error);
    line
}
