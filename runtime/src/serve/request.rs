//! One whole request: parse, climb, dispatch, run, answer.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;
use std::time::Instant;

use codec::error::RpcError;
use codec::id::Id;
use codec::message::{self, Message, Notification, Request};
use codec::value::Value;
use transport::mcp::accept::Forms;
use transport::mcp::head::StandardHeaders;
use transport::mcp::ladder::{self, Case, Rung};
use transport::mcp::refusal::Refusal;

use super::answer::{self, Closing, Reply, Shape};
use super::connection::{Connection, Handover, Next};
use super::drive::{Drive, End, Stream};
use crate::app::{App, AppSurface, ResponseMode};
use crate::context::{Call, Cancel, Context};
use crate::dispatch::{self, Admitted, Answer, Plan, Run};
use crate::engine::core::Core;
use crate::engine::guard;
use crate::engine::listen::Pace;
use crate::handler::{CacheHint, Finish, Outcome};
use crate::hooks::{Answered, Principal};
use crate::hub::{Filter, Full};
use crate::io::Link;
use crate::registry::Snapshot;
use crate::render;

/// Serves the request whose body lies in the buffer.
pub(super) async fn serve<L: Link>(connection: &mut Connection<L>, body: Range<usize>) -> Next<L> {
    let core = Rc::clone(&connection.core);
    core.counters.requests.add(1);
    let started = (!core.serve.hooks.observers.is_empty()).then(Instant::now);
    let snapshot = core.app.snapshots.load(&core.serve.registry);
    let mut document = std::mem::take(&mut connection.document);
    let bytes = std::mem::take(&mut connection.buf);
    let parsed = document.parse(&mut core.app.parser.borrow_mut(), bytes, body);

    let mut ahead = Vec::new();
    let closing = connection.closing();
    let view = connection.machine.head().view(document.bytes());
    let headers = StandardHeaders::collect(view);
    let mut exchange = Exchange {
        core: &core,
        snapshot: &snapshot,
        principal: connection.principal.as_ref(),
        headers: &headers,
        forms: connection.forms,
        reply: Reply { core: &core, minor: connection.machine.head().minor, closing },
        link: &mut connection.link,
        out: &mut connection.out,
        ahead: &mut ahead,
        body: &mut connection.body,
        parts: Parts {
            emitter: &connection.emitter,
            waker: &connection.waker,
            deadline: &connection.deadline,
            timer: &connection.timer,
        },
        started,
    };
    let next = match parsed {
        Err(fault) => {
            exchange.refuse(Refusal::at(Rung::Json, RpcError::from(fault)), None, "", None)
        }
        Ok(()) => match message::read(&document) {
            Err(malformed) => {
                let refusal = Refusal::at(Rung::Shape, RpcError::invalid_request(malformed.reason));
                exchange.refuse(refusal, malformed.id.as_ref(), "", None)
            }
            Ok(Message::Notification(notification)) => exchange.notification(&notification),
            Ok(Message::Request(request)) => exchange.request(request, document.root()).await,
        },
    };
    connection.buf = document.release();
    connection.document = document;
    connection.machine.finish(&mut connection.buf);
    connection.buf.append(&mut ahead);
    next
}

/// The request at hand, with what it may use of its connection.
struct Exchange<'c, L> {
    core: &'c Rc<Core<App>>,
    snapshot: &'c Snapshot,
    principal: Option<&'c Rc<Principal>>,
    headers: &'c StandardHeaders<'c>,
    forms: Forms,
    reply: Reply<'c>,
    link: &'c mut Option<L>,
    out: &'c mut Vec<u8>,
    ahead: &'c mut Vec<u8>,
    body: &'c mut Vec<u8>,
    parts: Parts<'c>,
    started: Option<Instant>,
}

/// The reusable parts that running a handler takes.
#[derive(Clone, Copy)]
struct Parts<'c> {
    emitter: &'c Rc<crate::context::Emitter>,
    waker: &'c crate::engine::wake::TaskWaker,
    deadline: &'c crate::engine::deadline::Deadline,
    timer: &'c crate::engine::deadline::Deadline,
}

impl<'c, L: Link> Exchange<'c, L> {
    fn app(&self) -> &'c App {
        &self.core.serve
    }

    /// HTTP-07: accepted and dropped; no notification of this era has an effect over HTTP (CAN-05, REM-03).
    fn notification(&mut self, notification: &Notification<'_>) -> Next<L> {
        let surface = AppSurface { app: self.app(), snapshot: self.snapshot };
        match ladder::notification(notification, self.headers, &surface) {
            Ok(()) => {
                self.reply.accepted(self.out);
                self.observe(notification.method, None, 202, None, None);
                self.next()
            }
            Err(refusal) => self.refuse(refusal, None, notification.method, None),
        }
    }

    async fn request(&mut self, request: Request<'_>, root: Value<'_>) -> Next<L> {
        let surface = AppSurface { app: self.app(), snapshot: self.snapshot };
        let mut case = Case::new(request, Some(self.headers), &surface);
        if let Err(refusal) = case.climb() {
            return self.refuse(refusal, Some(&request.id), request.method, None);
        }
        let admitted = Admitted {
            case: &case,
            root,
            app: self.app(),
            snapshot: self.snapshot,
            headers: Some(self.headers),
            principal: self.principal,
            now: self.core.clock.unix_secs(),
        };
        render::begin(self.body, &request.id, "complete");
        // The program's guards run in here: their panic costs this request only.
        let plan = guard::catch(|| dispatch::plan(&admitted, self.body));
        match plan.unwrap_or_else(|panic| Err(self.plan_panicked(&panic))) {
            Err(refusal) => {
                self.refuse(refusal, Some(&request.id), request.method, named(&request))
            }
            Ok(Plan::Ready(cache)) => self.ready(&case, cache),
            Ok(Plan::Listen(filter)) => self.listen(&admitted, filter),
            Ok(Plan::Run(run)) => self.run(&case, &run).await,
        }
    }

    fn plan_panicked(&self, panic: &guard::Panic) -> Refusal {
        self.core.counters.panics.add(1);
        tracing::error!(%panic, "a guard or the dispatch of a request panicked");
        Refusal::at(Rung::Handler, RpcError::internal()).with_status(500)
    }

    /// The result needs no handler.
    fn ready(&mut self, case: &Case<'_, AppSurface<'_>>, cache: CacheHint) -> Next<L> {
        let cacheable = case.method().is_some_and(|method| method.row().cacheable);
        render::end(self.body, self.app(), cacheable.then_some(cache), None);
        self.answer(Answer::OK, self.preferred(), &case.request)
    }

    /// Runs a handler, unless the core is full.
    async fn run(&mut self, case: &Case<'_, AppSurface<'_>>, run: &Run<'_>) -> Next<L> {
        let running = &self.core.app.running;
        if running.get() >= self.app().limits.requests_per_core {
            let error =
                RpcError::new(codec::error::code::INTERNAL_ERROR, "The server is busy: try again");
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
            meta: case.meta,
            version: version(case),
            envelope: case.envelope,
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
            End::TimedOut => Outcome::Error(RpcError::new(
                codec::error::code::INTERNAL_ERROR,
                "The request took too long",
            )),
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

    /// The answer as the last event of a stream that is already open: whatever it is, at status 200 (ERR-09).
    fn last_event(&mut self, answer: Answer, case: &Case<'_, AppSurface<'_>>) -> Next<L> {
        self.observe(case.request.method, named(&case.request), 200, answer.code, None);
        self.last_of_stream()
    }

    /// The whole answer at once.
    fn answer(&mut self, answer: Answer, shape: Shape, request: &Request<'_>) -> Next<L> {
        self.observe(request.method, named(request), answer.status, answer.code, None);
        if shape == Shape::Json || answer.status != 200 {
            self.reply.json(self.out, answer.status, self.body);
            return self.next();
        }
        self.whole_stream()
    }

    /// The body as the only event of a stream.
    fn whole_stream(&mut self) -> Next<L> {
        self.reply.stream_head(self.out);
        self.last_of_stream()
    }

    /// The body as the last event of a stream that has begun.
    fn last_of_stream(&mut self) -> Next<L> {
        self.reply.event(self.out, self.body);
        self.reply.stream_end(self.out);
        match self.reply.stream_closing() {
            Closing::KeepAlive => Next::Keep,
            Closing::Close => Next::Close,
        }
    }

    fn refuse(
        &mut self,
        refusal: Refusal,
        id: Option<&Id<'_>>,
        method: &str,
        name: Option<&str>,
    ) -> Next<L> {
        let code = refusal.error.as_ref().map(|error| error.code);
        self.observe(method, name, refusal.status, code, Some(refusal.rung as u8));
        // In-band refusals take the form that the client accepts.
        if refusal.status == 200
            && self.preferred() == Shape::Events
            && let (Some(error), Some(id)) = (&refusal.error, id)
        {
            self.body.clear();
            codec::write::error_response(self.body, Some(id), error);
            return self.whole_stream();
        }
        answer::refused(&self.reply, self.out, refusal, id);
        self.next()
    }

    /// Opens a subscription: the link leaves with it. Refused before any acknowledgement when there is no room
    /// (SUB-17).
    fn listen(&mut self, admitted: &Admitted<'_>, filter: Filter) -> Next<L> {
        let request = &admitted.case.request;
        let subject = self.principal.map(|principal| &*principal.subject);
        let access = dispatch::access(admitted);
        let opened = self.core.app.hub.open(request.id.to_owned(), filter, subject, access);
        let Ok(subscription) = opened else {
            let error = RpcError::new(codec::error::code::INTERNAL_ERROR, Full::MESSAGE);
            let answer = dispatch::error_answer(error, &request.id, self.body);
            return self.answer(answer, self.preferred(), request);
        };
        let Some(link) = self.link.take() else { return Next::Gone };
        self.observe(request.method, None, 200, None, None);
        let reply = Reply { closing: Closing::Close, ..self.reply };
        let mut head = std::mem::take(self.out);
        reply.stream_head(&mut head);
        let limits = &self.app().limits;
        let now = self.core.clock.unix_secs();
        let expires = self.principal.and_then(|principal| principal.expires_at);
        let pace = Pace {
            chunked: self.reply.minor > 0,
            keep_alive_ms: limits.keep_alive.as_millis() as u64,
            write_timeout_ms: limits.write_timeout.as_millis() as u64,
            until_ms: expires.map(|at| {
                self.core.clock.now_ms().saturating_add(at.saturating_sub(now).saturating_mul(1000))
            }),
        };
        Next::Listen(Box::new(Handover { link, head, subscription, pace }))
    }

    fn next(&self) -> Next<L> {
        match self.reply.closing {
            Closing::KeepAlive => Next::Keep,
            Closing::Close => Next::Close,
        }
    }

    /// The form that an answer takes when nothing has been sent before it (HTTP-16, SSE-01).
    fn preferred(&self) -> Shape {
        let forms = self.forms;
        let wants_events = self.app().mode == ResponseMode::Sse;
        if forms.sse && (wants_events || !forms.json) { Shape::Events } else { Shape::Json }
    }

    /// LOG-02
    fn log_level(
        &self,
        envelope: &transport::mcp::envelope::Envelope<'_>,
    ) -> Option<codec::meta::LoggingLevel> {
        envelope.log_level.filter(|_| self.app().logging)
    }

    fn observe(
        &self,
        method: &str,
        name: Option<&str>,
        status: u16,
        code: Option<i32>,
        rung: Option<u8>,
    ) {
        let Some(started) = self.started else { return };
        let micros = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        answer::observe(self.core, &Answered { method, name, status, code, rung, micros });
    }
}

/// Counts a handler as running for as long as it lives, however it ends.
struct Running<'c>(&'c Cell<usize>);

impl<'c> Running<'c> {
    fn enter(running: &'c Cell<usize>) -> Self {
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

fn version<'a>(case: &Case<'a, AppSurface<'_>>) -> &'a str {
    match case.meta.claim() {
        codec::meta::Claim::Version(version) => version,
        _ => "",
    }
}

/// The name or URI that the request is about.
fn named<'a>(request: &Request<'a>) -> Option<&'a str> {
    let member = transport::mcp::method::Method::from_name(request.method)?.row().named_by?;
    request.params?.get(member)?.as_str()
}

/// ERR-11: a tool's panic is a failed call, any other handler's an internal error; neither says more (ERR-10). What
/// the handler had written behind `start` is no result.
fn panicked(run: &Run<'_>, start: usize, body: &mut Vec<u8>) -> Outcome {
    if !matches!(run.runner, dispatch::Runner::Tool(_)) {
        return Outcome::Error(RpcError::internal());
    }
    body.truncate(start);
    render::text_result(body, "Internal error", true);
    Outcome::Complete(Finish { is_error: true, ..Finish::default() })
}
