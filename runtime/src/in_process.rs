//! A whole server on the calling thread, without a socket: for tests of programs that embed one. Requests pass the
//! same HTTP machine, ladder and handlers as over TCP.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::app::App;
use crate::engine::core::Core;
use crate::engine::counters::Counters;
use crate::engine::mailbox::{Inbox, Mailbox};
use crate::error::Error;
use crate::io::Link;
use crate::io::mem::{self, MemPeer};
use crate::notifier::Notifier;
use crate::serve::serve;
use crate::server::Registrations;

/// Bytes on their way in one direction, as a socket buffer would hold.
const PIPE_BYTES: usize = 256 * 1024;

/// How often time is looked at while a handler waits.
const STEP: Duration = Duration::from_millis(1);

type Task = Pin<Box<dyn Future<Output = ()>>>;

/// A server without a socket. It runs only while one of its connections waits for an answer.
///
/// Handlers may use everything a [`Context`](crate::Context) offers; monoio's own timers and sockets need a running
/// server.
pub struct InProcess {
    app: Arc<App>,
    core: Rc<Core<App>>,
    inbox: Inbox<App>,
    tasks: RefCell<Vec<Task>>,
    started: Instant,
    told_ms: std::cell::Cell<u64>,
    waker: Waker,
}

impl InProcess {
    pub(crate) fn new(
        app: Arc<App>,
        parts: (Rc<Core<App>>, Mailbox<App>, Inbox<App>),
    ) -> Result<Self, Error> {
        let (core, mailbox, inbox) = parts;
        app.exchange.inbox(0).set_bell(Box::new(move || mailbox.nudge(1)));
        Ok(Self {
            app,
            core,
            inbox,
            tasks: RefCell::default(),
            started: Instant::now(),
            told_ms: std::cell::Cell::new(0),
            waker: Waker::from(Arc::new(Unpark(std::thread::current()))),
        })
    }

    /// Opens a connection.
    #[must_use]
    pub fn connect(&self) -> InProcessConnection<'_> {
        let (link, peer) = mem::pair(PIPE_BYTES);
        let open = self.core.links.enter(link.shutdown_handle());
        self.tasks.borrow_mut().push(Box::pin(serve(self.core.clone(), link, open)));
        InProcessConnection { server: self, peer }
    }

    /// One request of revision 2026-07-28 on a connection of its own: `params` without `_meta`, the JSON-RPC answer
    /// back. The client declares elicitation, sampling and roots; see [`InProcessConnection::exchange`] for anything
    /// else.
    ///
    /// # Panics
    /// When no answer comes within `limit`, or it is no JSON, or `params` brings a `_meta`: a failed test.
    #[must_use]
    pub fn request(&self, method: &str, params: Value, limit: Duration) -> Value {
        assert!(
            params.get("_meta").is_none(),
            "request() writes `_meta`; send your own with connect()"
        );
        let bytes = modern_request(&self.app.path, method, params);
        let connection = self.connect();
        connection.send(&bytes);
        let answer = connection.receive(limit, |answer| body_of(answer).is_some());
        let body = body_of(&answer).unwrap_or_else(|| panic!("no answer within {limit:?}"));
        serde_json::from_slice(&body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&body)))
    }

    /// Tells subscribers of changes.
    #[must_use]
    pub fn notifier(&self) -> Notifier {
        self.app.notifier.clone()
    }

    /// Adds, updates and removes tools, prompts and resources.
    #[must_use]
    pub fn registrations(&self) -> Registrations {
        Registrations::new(self.app.registry.clone(), self.app.names)
    }

    /// What has been counted so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let mut sum = Counters::default();
        sum.absorb(&self.core.counters);
        sum
    }

    /// Lets every connection do what it can without waiting.
    pub fn turn(&self) {
        let now_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.core.clock.advance(now_ms - self.told_ms.replace(now_ms));
        self.core.deadlines.tick(self.core.clock.now_ms());
        self.inbox.deliver(&self.core);
        let mut cx = Context::from_waker(&self.waker);
        let mut tasks = self.tasks.take();
        tasks.append(&mut self.core.take_spawned());
        tasks.retain_mut(|task| task.as_mut().poll(&mut cx).is_pending());
        self.tasks.borrow_mut().append(&mut tasks);
    }
}

/// One connection to an [`InProcess`] server. Dropping it is the client going away.
pub struct InProcessConnection<'s> {
    server: &'s InProcess,
    peer: MemPeer,
}

impl InProcessConnection<'_> {
    /// Sends bytes; whatever does not fit at once is sent as the server reads.
    pub fn send(&self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            match self.peer.try_write(bytes) {
                Ok(sent) => bytes = &bytes[sent..],
                Err(_) => return,
            }
            self.server.turn();
        }
    }

    /// Takes what the server sends until `done` holds for all of it, the server closes, or the time is up.
    #[must_use]
    pub fn receive(&self, limit: Duration, done: impl Fn(&[u8]) -> bool) -> Vec<u8> {
        let until = Instant::now() + limit;
        let mut answer = self.peer.take();
        while !done(&answer) && !self.peer.link_ended() && Instant::now() < until {
            self.server.turn();
            let more = self.peer.take();
            if more.is_empty() {
                std::thread::park_timeout(STEP);
            }
            answer.extend_from_slice(&more);
        }
        answer.extend_from_slice(&self.peer.take());
        answer
    }

    /// Sends raw bytes and takes what comes back until the server closes, or is silent for `quiet`.
    #[must_use]
    pub fn exchange(&self, bytes: &[u8], quiet: Duration) -> Vec<u8> {
        self.send(bytes);
        let mut answer = Vec::new();
        loop {
            let more = self.receive(quiet, |more| !more.is_empty());
            if more.is_empty() {
                return answer;
            }
            answer.extend_from_slice(&more);
        }
    }

    /// Whether the server has closed its side.
    #[must_use]
    pub fn closed(&self) -> bool {
        self.peer.link_ended()
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// The bytes of one well-formed request.
fn modern_request(path: &str, method: &str, mut params: Value) -> Vec<u8> {
    use codec::meta::{CLIENT_CAPABILITIES_KEY, PROTOCOL_VERSION_KEY, SUPPORTED};
    params["_meta"] = json!({
        PROTOCOL_VERSION_KEY: SUPPORTED[0],
        CLIENT_CAPABILITIES_KEY: { "elicitation": {}, "sampling": {}, "roots": {} },
    });
    let named = transport::mcp::method::Method::from_name(method)
        .and_then(|method| params[method.row().named_by?].as_str())
        .map(|name| format!("Mcp-Name: {}\r\n", codec::header::encode(name)))
        .unwrap_or_default();
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Accept: application/json\r\nMCP-Protocol-Version: {}\r\nMcp-Method: {method}\r\n{named}\
         Content-Length: {}\r\n\r\n{body}",
        SUPPORTED[0],
        body.len(),
    )
    .into_bytes()
}

/// The body of a whole answer with a declared length.
fn body_of(answer: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(answer).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "))?;
    let length: usize = length.parse().ok()?;
    (body.len() >= length).then(|| body.as_bytes()[..length].to_vec())
}
