//! One peer: its lines are taken one by one, the era of each message is chosen ([`Channel::sort`], the one place), and
//! requests run beside each other.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use codec::document::Document;
use codec::error::RpcError;
use codec::id::{Id, OwnedId};
use codec::message::{self, Malformed, Message, Notification};
use codec::value::Value;
use codec::write;
use transport::line::{Event, Framer};
use transport::mcp::ladder::Rung;
use transport::mcp::legacy::{self as era, Era};

use super::inflow::Inflow;
use super::outflow::Outflow;
use super::running::{Running, Signals};
use super::{Streams, ending, legacy, modern};
use crate::LegacyMode;
use crate::app::App;
use crate::engine::core::Core;
use crate::engine::deadline::{Deadline, Kind};
use crate::engine::guard;
use crate::engine::wake::TaskWaker;
use crate::hooks::Principal;
use crate::io::{Ends, How, Shutdown, step_aside};

/// Lines taken before the other tasks of the core have their turn.
const LINES_IN_A_ROW: u32 = 32;

/// What all tasks of one peer share.
pub(super) struct Channel {
    pub(super) core: Rc<Core<App>>,
    pub(super) out: Arc<Outflow>,
    pub(super) principal: Option<Rc<Principal>>,
    pub(super) running: Rc<Running>,
    /// The client of the 2025 era, once it has introduced itself (LEG-50).
    pub(super) client: RefCell<Option<Rc<crate::legacy::client::Client>>>,
    /// A modern request has come (STD-08).
    pub(super) modern: Cell<bool>,
}

/// Why no more lines are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The peer's stream has ended.
    Input,
    /// The server drains: what runs may finish.
    Drain,
    /// Nobody reads, or the drain's deadline has passed.
    Cut,
}

/// Serves one peer to its end.
pub(super) async fn serve(
    core: &Rc<Core<App>>,
    streams: Streams,
    principal: Option<Rc<Principal>>,
) {
    let hangup = Rc::new(Hangup::default());
    let shutdown = Shutdown::new(hangup.clone());
    let _open = core.links.enter(shutdown.clone());
    core.counters.connections_accepted.add(1);
    let Streams { inflow, outflow } = streams;
    let channel = Rc::new(Channel {
        core: Rc::clone(core),
        out: outflow,
        principal,
        running: Rc::default(),
        client: RefCell::default(),
        modern: Cell::new(false),
    });
    let idle = core.deadline(Some(shutdown));
    // Never by itself: a drain fires it.
    idle.arm(Kind::Idle, u64::MAX - 1);
    let reading = Reading {
        channel: &channel,
        inflow: &inflow,
        hangup: &hangup,
        framer: Framer::new(core.serve.limits.line_bytes),
        buf: Vec::new(),
        waker: TaskWaker::new(&core.wakes),
    };
    let end = reading.run().await;
    inflow.leave();
    ending::end(&channel, &hangup, end).await;
    drop::<Deadline>(idle);
}

/// What the engine says to a peer's task.
#[derive(Default)]
pub(super) struct Hangup {
    said: Cell<Option<End>>,
    waker: Cell<Option<Waker>>,
}

impl Ends for Hangup {
    fn end(&self, how: How) {
        let end = match how {
            How::Interrupt => return,
            How::Read => End::Drain,
            How::Both => End::Cut,
        };
        if self.said.get() != Some(End::Cut) {
            self.said.set(Some(end));
        }
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

impl Hangup {
    /// Ready once the engine has said something.
    fn poll(&self, cx: &Context<'_>) -> Poll<End> {
        self.waker.set(Some(cx.waker().clone()));
        self.said.get().map_or(Poll::Pending, Poll::Ready)
    }

    /// Ready once everything is to be given up.
    pub(super) fn poll_cut(&self, cx: &Context<'_>) -> Poll<()> {
        match self.poll(cx) {
            Poll::Ready(End::Cut) => Poll::Ready(()),
            _ => Poll::Pending,
        }
    }
}

/// The side that takes lines.
struct Reading<'c> {
    channel: &'c Rc<Channel>,
    inflow: &'c Inflow,
    hangup: &'c Hangup,
    framer: Framer,
    buf: Vec<u8>,
    waker: TaskWaker,
}

enum Turn {
    Line(Event),
    /// The stream has ended, behind this line that had no end.
    Last(Option<Event>),
    End(End),
}

impl Reading<'_> {
    async fn run(mut self) -> End {
        let mut in_a_row = 0;
        loop {
            let (event, end) = match self.turn().await {
                Turn::Line(event) => (Some(event), None),
                Turn::Last(event) => (event, Some(End::Input)),
                Turn::End(end) => return end,
            };
            match event {
                Some(Event::Line(line)) => self.channel.line(self.buf[line].to_vec()).await,
                Some(Event::TooLong { bytes }) => self.channel.too_long(bytes),
                Some(Event::NeedMore) | None => {}
            }
            if let Some(end) = end {
                return end;
            }
            in_a_row += 1;
            if in_a_row == LINES_IN_A_ROW {
                in_a_row = 0;
                step_aside().await;
            }
        }
    }

    /// The next line, for as long as the client reads what it is told.
    async fn turn(&mut self) -> Turn {
        let Self { channel, inflow, hangup, framer, buf, waker } = self;
        poll_fn(|cx| {
            if let Poll::Ready(end) = hangup.poll(cx) {
                return Poll::Ready(Turn::End(end));
            }
            waker.with(cx, |cx| {
                if channel.out.poll_broken(cx).is_ready() {
                    return Poll::Ready(Turn::End(End::Cut));
                }
                if channel.out.poll_room(cx).is_pending() {
                    return Poll::Pending;
                }
                loop {
                    match framer.poll(buf) {
                        Event::NeedMore => {}
                        event => return Poll::Ready(Turn::Line(event)),
                    }
                    match inflow.poll_take(cx, buf) {
                        Poll::Ready(true) => {}
                        Poll::Ready(false) => return Poll::Ready(Turn::Last(framer.finish(buf))),
                        Poll::Pending => return Poll::Pending,
                    }
                }
            })
        })
        .await
    }
}

/// A message by how it is served.
enum Sorted {
    Modern(OwnedId),
    /// Of the 2025 era: whatever is not a request has no id; `asks` when it may hold requests.
    Legacy {
        id: Option<OwnedId>,
        asks: bool,
    },
    /// It is never answered, and nothing is to be done.
    Nothing,
    Refused {
        id: Option<OwnedId>,
        reason: &'static str,
    },
}

impl Channel {
    async fn line(self: &Rc<Self>, line: Vec<u8>) {
        let (mut document, whole) = (Document::new(), 0..line.len());
        let parsed = document.parse(&mut self.core.app.parser.borrow_mut(), line, whole);
        if let Err(fault) = parsed {
            return self.nonsense(Rung::Json, fault.into());
        }
        match self.sort(&document) {
            Sorted::Nothing => {}
            Sorted::Refused { id, reason } => {
                self.core.counters.rejected[Rung::Shape as usize - 1].add(1);
                self.refuse(id.as_ref(), &RpcError::invalid_request(reason));
            }
            Sorted::Modern(id) => {
                let channel = Rc::clone(self);
                self.launch(Some(id), true, |signals| async move {
                    modern::serve(&channel, &document, &signals).await
                })
                .await;
            }
            Sorted::Legacy { id, asks } => {
                let channel = Rc::clone(self);
                self.launch(id, asks, |signals| async move {
                    legacy::serve(&channel, &document, &signals).await
                })
                .await;
            }
        }
    }

    /// Which era a message belongs to: what it says itself decides, message by message (LEG-01, LEG-50 to LEG-54).
    fn sort(&self, document: &Document) -> Sorted {
        let both = self.core.serve.legacy != LegacyMode::Reject;
        match message::read(document) {
            Ok(Message::Request(request)) => {
                let id = request.id.to_owned();
                match both && era::of_request(&request, None) == Era::Legacy {
                    true => Sorted::Legacy { id: Some(id), asks: true },
                    false => Sorted::Modern(id),
                }
            }
            Ok(Message::Notification(notification)) => {
                self.cancelled(&notification);
                match both && era::of_notification(&notification, None) == Era::Legacy {
                    true => Sorted::Legacy { id: None, asks: false },
                    // REM-03: none has an effect but the one above.
                    false => Sorted::Nothing,
                }
            }
            Err(_) if both && era::of_body(document.root(), None) == Era::Legacy => {
                Sorted::Legacy { id: None, asks: document.root().as_array().is_some() }
            }
            Err(_) if is_never_answered(document.root()) => Sorted::Nothing,
            Err(Malformed { id, reason }) => {
                Sorted::Refused { id: id.map(|id| id.to_owned()), reason }
            }
        }
    }

    /// `notifications/cancelled` of either era (STD-05, CAN-02).
    fn cancelled(&self, notification: &Notification<'_>) {
        if notification.method != "notifications/cancelled" {
            return;
        }
        let id = notification.params.and_then(|params| params.get("requestId"));
        if let Some(id) = id.and_then(Id::from_value) {
            self.running.abort(&id.to_owned());
        }
    }

    /// Runs a request: what is ready at once is answered at once, in order; the rest goes on as a task of its own.
    async fn launch<F: Future<Output = Option<Vec<u8>>> + 'static>(
        self: &Rc<Self>,
        id: Option<OwnedId>,
        asks: bool,
        serve: impl FnOnce(Rc<Signals>) -> F + 'static,
    ) {
        if asks && self.running.len() >= self.core.serve.limits.requests_per_stream {
            let error = RpcError::busy();
            return self.refuse(id.as_ref(), &error);
        }
        let Some(entered) = self.running.enter(id.clone()) else {
            // RPC-05: the first one goes on.
            let error = RpcError::invalid_request("the id belongs to a request that still runs");
            return self.refuse(id.as_ref(), &error);
        };
        let channel = Rc::clone(self);
        let work = async move {
            let signals = Rc::clone(&entered.signals);
            let served = guard::catch_future(|| serve(Rc::clone(&signals))).await;
            let answer = served.unwrap_or_else(|panic| channel.panicked(id.as_ref(), &panic));
            // Cancelled in the same moment: nothing is said.
            if let Some(answer) = answer.filter(|_| !signals.abort.is_done()) {
                channel.out.send(&answer);
            }
            drop(entered);
        };
        let mut task: Pin<Box<dyn Future<Output = ()>>> = Box::pin(work);
        let first = poll_fn(|cx| Poll::Ready(task.as_mut().poll(cx))).await;
        if first.is_pending() {
            self.core.spawn("request of a stream", move || task);
        }
    }

    fn panicked(&self, id: Option<&OwnedId>, panic: &guard::Panic) -> Option<Vec<u8>> {
        self.core.counters.panics.add(1);
        tracing::error!(%panic, "the serving of a request panicked");
        let id = id?.as_id();
        let mut line = Vec::new();
        write::error_response(&mut line, Some(&id), &RpcError::internal());
        Some(line)
    }

    fn refuse(&self, id: Option<&OwnedId>, error: &RpcError) {
        let mut line = Vec::new();
        write::error_response(&mut line, id.map(OwnedId::as_id).as_ref(), error);
        self.out.send(&line);
    }

    /// STD-09: the next line is read as any other.
    fn too_long(&self, bytes: u64) {
        tracing::warn!(bytes, "a line beyond the limit was skipped");
        self.nonsense(Rung::BodySize, RpcError::invalid_request("the line is too long"));
    }

    /// A line that is no message. Only a modern client is told: an older one may take an error without an id for the
    /// answer to something (STD-08).
    fn nonsense(&self, rung: Rung, error: RpcError) {
        self.core.counters.rejected[rung as usize - 1].add(1);
        tracing::warn!(reason = &*error.message, "a line that is no message");
        if self.modern.get() {
            self.refuse(None, &error);
        }
    }
}

/// A notification that is none, or a response: neither is answered (RPC-06, RPC-14).
fn is_never_answered(root: Value<'_>) -> bool {
    let Some(object) = root.as_object() else { return false };
    let (method, id) = (object.get("method"), object.get("id"));
    let notifies = method.is_some() && id.is_none();
    let responds = object.get("result").is_some() || object.get("error").is_some();
    notifies || method.is_none() && responds
}

/// Waits, but not beyond `ends_ms` on the core's clock. False when the time was up first.
pub(super) async fn within(
    core: &Core<App>,
    ends_ms: u64,
    wanted: impl Future<Output = ()>,
) -> bool {
    let (mut wanted, deadline) = (pin!(wanted), core.deadline(None));
    deadline.arm(Kind::Sleep, ends_ms);
    poll_fn(|cx| match wanted.as_mut().poll(cx) {
        Poll::Ready(()) => Poll::Ready(true),
        Poll::Pending => deadline.poll_fired(cx).map(|_| false),
    })
    .await
}
