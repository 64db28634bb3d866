//! One whole request: parse, climb, dispatch, answer. What needs a handler goes on in `call`, a subscription in `listen`.

#![expect(clippy::manual_async_fn, reason = "an async function would keep each argument twice")]

use std::rc::Rc;
use std::time::Instant;

use codec::document::{Document, JsonError};
use codec::error::RpcError;
use codec::id::Id;
use codec::message::{self, Message, Notification, Request};
use codec::meta::LoggingLevel;
use transport::mcp::accept::Forms;
use transport::mcp::head::StandardHeaders;
use transport::mcp::ladder::{self, Case, Rung};
use transport::mcp::legacy::{self, Era};
use transport::mcp::method::Method;
use transport::mcp::refusal::Refusal;

use super::answer::{self, Closing, Reply, Shape};
use super::call::version;
use super::connection::{Connection, Next};
use crate::LegacyMode;
use crate::app::{App, AppSurface, ResponseMode};
use crate::context::Emitter;
use crate::dispatch::{self, Admitted, Answer, Plan, Run, Splice};
use crate::engine::core::Core;
use crate::engine::deadline::Deadline;
use crate::engine::guard;
use crate::engine::wake::TaskWaker;
use crate::handler::CacheHint;
use crate::hooks::{Answered, Principal};
use crate::io::Link;
use crate::render;

/// Serves the request whose body was parsed into the connection's document, or could not be.
pub(super) fn serve<L: Link>(
    connection: &mut Connection<'_, L>,
    parsed: Result<(), JsonError>,
) -> impl Future<Output = Next<L>> {
    async move {
        let core = Rc::clone(&connection.core);
        core.counters.requests.add(1);
        let next = {
            let started = (!core.serve.hooks.observers.is_empty()).then(Instant::now);
            let snapshot = core.app.snapshots.load(&core.serve.registry);
            let surface = AppSurface { app: &core.serve, snapshot: &snapshot };
            let mut exchange = Exchange::of(connection, &core, &surface, started);
            match exchange.read(parsed) {
                Step::Answered(next) => Ok(next),
                Step::Run(ref called) => Ok(exchange.call(called).await),
                Step::Legacy => Err(exchange.started),
            }
        };
        let next = match next {
            Ok(next) => next,
            Err(started) => return Box::pin(super::legacy::post(connection, started)).await,
        };
        let body = connection.document.release_to(&mut core.app.parser.borrow_mut());
        // What was read meanwhile comes after what was read before.
        let mut ahead = std::mem::replace(&mut connection.buf, body);
        connection.machine.finish(&mut connection.buf);
        connection.buf.append(&mut ahead);
        next
    }
}

/// Which era a message may be of: asked only where it is not plainly modern, which costs a modern request nothing.
#[derive(Clone, Copy)]
struct Eras<'c> {
    served: LegacyMode,
    header: Option<&'c [u8]>,
}

impl<'c> Eras<'c> {
    fn of(core: &Core<App>, headers: &StandardHeaders<'c>) -> Self {
        Self { served: core.serve.legacy, header: headers.version().map(|field| field.value) }
    }

    fn is_legacy(self, era: impl FnOnce(Option<&[u8]>) -> Era) -> bool {
        self.served != LegacyMode::Reject && era(self.header) == Era::Legacy
    }
}

/// The request at hand, with what it may use of its connection.
pub(super) struct Exchange<'c, L> {
    pub(super) core: &'c Rc<Core<App>>,
    surface: &'c AppSurface<'c>,
    document: &'c Document,
    pub(super) principal: Option<&'c Rc<Principal>>,
    pub(super) headers: StandardHeaders<'c>,
    pub(super) forms: Forms,
    pub(super) reply: Reply<'c>,
    pub(super) link: &'c mut Option<L>,
    pub(super) out: &'c mut Vec<u8>,
    /// What belongs into `out`.
    splice: &'c mut Option<Box<Splice>>,
    /// What the client sends ahead of its answer.
    pub(super) ahead: &'c mut Vec<u8>,
    pub(super) body: &'c mut Vec<u8>,
    pub(super) parts: Parts<'c>,
    started: Option<Instant>,
}

/// The reusable parts that running a handler takes.
pub(super) struct Parts<'c> {
    pub(super) emitter: &'c Rc<Emitter>,
    pub(super) waker: &'c TaskWaker,
    pub(super) deadline: &'c Deadline,
    pub(super) timer: &'c Deadline,
}

/// What a request has come to without waiting for anything.
#[expect(clippy::large_enum_variant, reason = "it stays where it is made")]
enum Step<'c, L> {
    Answered(Next<L>),
    /// Its handler is to be called.
    Run(Called<'c>),
    /// It is of the 2025 era, and served by that one's rules.
    Legacy,
}

/// A request that needs its handler, and what is kept of it for as long as that takes.
pub(super) struct Called<'c> {
    pub(super) request: Request<'c>,
    pub(super) version: &'c str,
    pub(super) log_level: Option<LoggingLevel>,
    /// Its number with the emitter.
    pub(super) number: u64,
    pub(super) run: Run<'c>,
}

impl<'c, L: Link> Exchange<'c, L> {
    fn of(
        connection: &'c mut Connection<'_, L>,
        core: &'c Rc<Core<App>>,
        surface: &'c AppSurface<'c>,
        started: Option<Instant>,
    ) -> Self {
        let closing = connection.closing();
        let head = connection.machine.head();
        let view = head.view(connection.document.bytes());
        Self {
            core,
            surface,
            document: &connection.document,
            principal: connection.principal.as_ref(),
            headers: StandardHeaders::at(view, &connection.places),
            forms: connection.forms,
            reply: Reply { core, minor: head.minor, closing },
            link: &mut connection.link,
            out: &mut connection.out,
            splice: &mut connection.splice,
            ahead: &mut connection.buf,
            body: &mut connection.body,
            parts: Parts {
                emitter: &connection.emitter,
                waker: &connection.waker,
                deadline: connection.deadline,
                timer: &connection.timer,
            },
            started,
        }
    }

    pub(super) fn app(&self) -> &'c App {
        &self.core.serve
    }

    /// Everything that a request can come to without waiting.
    fn read(&mut self, parsed: Result<(), JsonError>) -> Step<'c, L> {
        let era = Eras::of(self.core, &self.headers);
        if let Err(fault) = parsed {
            let refusal = Refusal::at(Rung::Json, RpcError::from(fault));
            return Step::Answered(self.refuse(refusal, None, "", None));
        }
        match message::read(self.document) {
            Err(_) if era.is_legacy(|header| legacy::of_body(self.document.root(), header)) => {
                Step::Legacy
            }
            Err(malformed) => {
                let refusal = Refusal::at(Rung::Shape, RpcError::invalid_request(malformed.reason));
                Step::Answered(self.refuse(refusal, malformed.id.as_ref(), "", None))
            }
            Ok(Message::Notification(note))
                if era.is_legacy(|header| legacy::of_notification(&note, header)) =>
            {
                Step::Legacy
            }
            Ok(Message::Notification(note)) => Step::Answered(self.notification(&note)),
            Ok(Message::Request(request)) => self.request(request, era),
        }
    }

    /// HTTP-07: accepted and dropped; no notification of this era has an effect over HTTP (CAN-05, REM-03).
    fn notification(&mut self, notification: &Notification<'_>) -> Next<L> {
        match ladder::notification(notification, self.headers, self.surface) {
            Ok(()) => {
                self.reply.accepted(self.out);
                self.observe(notification.method, None, 202, None, None);
                self.next()
            }
            Err(refusal) => self.refuse(refusal, None, notification.method, None),
        }
    }

    fn request(&mut self, request: Request<'c>, era: Eras<'_>) -> Step<'c, L> {
        let mut case = Case::new(request, Some(self.headers), self.surface);
        if let Err(refusal) = case.climb() {
            // Without a valid claim no request gets to the top.
            if era.is_legacy(|header| legacy::of_request(&request, header)) {
                return Step::Legacy;
            }
            let next = self.refuse(refusal, Some(&request.id), request.method, None);
            return Step::Answered(next);
        }
        let Case { envelope, meta, .. } = case;
        let admitted = Admitted {
            request,
            capabilities: envelope.capabilities,
            root: self.document.root(),
            app: self.app(),
            snapshot: self.surface.snapshot,
            headers: Some(self.headers),
            principal: self.principal,
            now: self.core.clock.unix_secs(),
        };
        render::begin(self.body, &request.id, "complete");
        // The program's guards run in here: their panic costs this request only.
        let plan = guard::catch(|| dispatch::plan(&admitted, self.body));
        let plan = plan.unwrap_or_else(|panic| Err(self.plan_panicked(&panic)));
        Step::Answered(match plan {
            Ok(Plan::Run(run)) if self.has_room() => {
                // LOG-02
                let log_level = envelope.log_level.filter(|_| self.app().logging);
                let number = self.parts.emitter.begin(envelope.progress_token, log_level);
                return Step::Run(Called {
                    request,
                    version: version(&meta),
                    log_level,
                    number,
                    run,
                });
            }
            Ok(Plan::Run(_)) => self.busy(&request),
            Ok(Plan::Ready(cache)) => self.ready(&request, cache, None),
            Ok(Plan::Around(cache, splice)) => self.ready(&request, cache, Some(splice)),
            Ok(Plan::Listen(filter)) => self.listen(&admitted, filter),
            Err(refusal) => {
                self.refuse(refusal, Some(&request.id), request.method, named(&request))
            }
        })
    }

    fn plan_panicked(&self, panic: &guard::Panic) -> Refusal {
        self.core.counters.panics.add(1);
        tracing::error!(%panic, "a guard or the dispatch of a request panicked");
        Refusal::at(Rung::Handler, RpcError::internal()).with_status(500)
    }

    /// The result needs no handler.
    fn ready(
        &mut self,
        request: &Request<'_>,
        cache: CacheHint,
        splice: Option<Splice>,
    ) -> Next<L> {
        let method = Method::from_name(request.method);
        let cacheable = method.is_some_and(|method| method.row().cacheable);
        render::end(self.body, self.app(), cacheable.then_some(cache), None);
        match splice {
            Some(splice) if self.preferred() == Shape::Json => {
                return self.answer_around(splice, request);
            }
            Some(splice) => splice.copy_into(self.body),
            None => {}
        }
        self.answer(Answer::OK, self.preferred(), request)
    }

    /// The whole answer, but for a text that the connection writes from where it lies.
    fn answer_around(&mut self, splice: Splice, request: &Request<'_>) -> Next<L> {
        self.observe_answer(request, Answer::OK);
        let missing = splice.text.as_bytes().len();
        let at = self.reply.json_around(self.out, self.body, splice.at, missing);
        *self.splice = Some(Box::new(Splice { at, ..splice }));
        self.next()
    }

    /// The answer as the last event of a stream that is already open: whatever it is, at status 200 (ERR-09).
    pub(super) fn last_event(&mut self, answer: Answer, request: &Request<'_>) -> Next<L> {
        self.observe_answer(request, Answer { status: 200, ..answer });
        self.last_of_stream()
    }

    /// The whole answer at once.
    pub(super) fn answer(
        &mut self,
        answer: Answer,
        shape: Shape,
        request: &Request<'_>,
    ) -> Next<L> {
        self.observe_answer(request, answer);
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

    pub(super) fn refuse(
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

    fn next(&self) -> Next<L> {
        match self.reply.closing {
            Closing::KeepAlive => Next::Keep,
            Closing::Close => Next::Close,
        }
    }

    /// The form that an answer takes when nothing has been sent before it (HTTP-16, SSE-01).
    pub(super) fn preferred(&self) -> Shape {
        let forms = self.forms;
        let wants_events = self.app().mode == ResponseMode::Sse;
        if forms.sse && (wants_events || !forms.json) { Shape::Events } else { Shape::Json }
    }

    fn observe_answer(&self, request: &Request<'_>, answer: Answer) {
        // The name is looked up for observers alone.
        if self.started.is_some() {
            self.observe(request.method, named(request), answer.status, answer.code, None);
        }
    }

    pub(super) fn observe(
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

/// The name or URI that the request is about.
pub(crate) fn named<'a>(request: &Request<'a>) -> Option<&'a str> {
    let member = Method::from_name(request.method)?.row().named_by?;
    request.params?.get(member)?.as_str()
}
