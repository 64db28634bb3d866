//! A server on a simulated core, and a connection to it that is driven step by step.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context as Task, Wake, Waker};
use std::time::Duration;

use codec::meta::{CLIENT_CAPABILITIES_KEY, PROTOCOL_VERSION_KEY};
use serde_json::{Map, Value, json};

use crate::LegacyMode;
use crate::app::App;
use crate::context::Context;
use crate::engine::core::Core;
use crate::engine::mailbox::Inbox;
use crate::error::ToolError;
use crate::io::Link;
use crate::io::mem::{MemPeer, pair};
use crate::limits::Limits;
use crate::serve::serve;
use crate::server::{Builder, Server};

thread_local! {
    /// Futures of handlers that exist now.
    static ALIVE: Cell<usize> = const { Cell::new(0) };
}

struct Alive;

impl Alive {
    fn new() -> Self {
        ALIVE.set(ALIVE.get() + 1);
        Self
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        ALIVE.set(ALIVE.get() - 1);
    }
}

type Spawned = Pin<Box<dyn Future<Output = ()>>>;

/// The server.
pub(super) struct World {
    pub(super) core: Rc<Core<App>>,
    inbox: Inbox<App>,
    /// Tasks that the server has spawned.
    tasks: RefCell<Vec<(Spawned, Arc<Woken>)>>,
}

/// A connection, seen from its peer.
pub(super) struct Wire {
    pub(super) peer: Option<MemPeer>,
    task: Option<Pin<Box<dyn Future<Output = ()>>>>,
    woken: Arc<Woken>,
    /// What the server has sent.
    pub(super) received: Vec<u8>,
}

#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Timeouts that no simulation reaches.
pub(super) fn patient() -> Limits {
    let long = Duration::from_secs(1_000_000);
    Limits {
        head_timeout: long,
        body_timeout: long,
        idle_timeout: long,
        write_timeout: long,
        handler_timeout: long,
        keep_alive: Duration::ZERO,
        ahead_bytes: 600,
        stall_warning: Duration::ZERO,
        ..Limits::default()
    }
}

impl World {
    pub(super) fn new(limits: Limits) -> Self {
        Self::of(limits, LegacyMode::default())
    }

    /// A world that serves the 2025 era this way.
    pub(super) fn of(limits: Limits, legacy: LegacyMode) -> Self {
        Self::with(limits, |server| server.legacy(legacy))
    }

    /// A world whose server is described further.
    pub(super) fn with(limits: Limits, describe: impl FnOnce(Builder) -> Builder) -> Self {
        let (core, _, inbox) = describe(Server::builder("s", "1").limits(limits))
            .tool("echo", "Echoes", async |_: &Context<'_>, arguments: Map<String, Value>| {
                let _alive = Alive::new();
                Ok::<_, ToolError>(Value::Object(arguments).to_string())
            })
            .tool("steps", "Reports", async |ctx: &Context<'_>, arguments: Map<String, Value>| {
                let _alive = Alive::new();
                let number = |name| arguments.get(name).and_then(Value::as_u64).unwrap_or(0);
                for step in 1..=number("n") {
                    ctx.progress(step, number("n"));
                    if number("ms") > 0 {
                        ctx.sleep(Duration::from_millis(number("ms"))).await;
                    }
                }
                Ok::<_, ToolError>("stepped")
            })
            .tool(
                "long",
                "Long. ".repeat(20_000),
                async |_: &Context<'_>, _: Map<String, Value>| Ok::<_, ToolError>("short"),
            )
            .simulated();
        Self { core, inbox, tasks: RefCell::default() }
    }

    /// Lets the spawned tasks do what they were woken for.
    pub(super) fn run(&self) {
        loop {
            let spawned = self.core.take_spawned().into_iter();
            let mut tasks = self.tasks.take();
            tasks.extend(spawned.map(|task| (task, Arc::new(Woken(AtomicBool::new(true))))));
            let mut moved = false;
            tasks.retain_mut(|(task, woken)| {
                if !woken.0.swap(false, Ordering::Relaxed) {
                    return true;
                }
                moved = true;
                let waker = Waker::from(woken.clone());
                task.as_mut().poll(&mut Task::from_waker(&waker)).is_pending()
            });
            self.tasks.borrow_mut().append(&mut tasks);
            if !moved {
                return;
            }
        }
    }

    /// Opens a connection whose wire holds `capacity` bytes in each direction.
    pub(super) fn connect(&self, capacity: usize) -> Wire {
        let (link, peer) = pair(capacity);
        let open = self.core.links.enter(link.shutdown_handle());
        Wire {
            peer: Some(peer),
            task: Some(Box::pin(serve(self.core.clone(), link, open))),
            woken: Arc::new(Woken(AtomicBool::new(true))),
            received: Vec::new(),
        }
    }

    pub(super) fn advance(&self, ms: u64) {
        self.core.clock.advance(ms);
        self.core.deadlines.tick(self.core.clock.now_ms());
        self.inbox.deliver(&self.core);
        self.run();
    }

    pub(super) fn publish(&self) {
        self.core.serve.notifier.tools_changed();
        self.inbox.deliver(&self.core);
    }

    /// Nothing is left of any connection.
    pub(super) fn assert_empty(&self, case: &str) {
        let counters = &self.core.counters;
        assert_eq!(ALIVE.get(), 0, "{case}: a handler outlived its connection");
        assert_eq!(self.core.app.running.get(), 0, "{case}: running");
        assert_eq!(self.core.app.hub.len(), 0, "{case}: streams");
        assert_eq!(counters.subscriptions_open.get(), 0, "{case}: subscriptions");
        assert_eq!(counters.panics.get(), 0, "{case}: panics");
        assert_eq!(self.core.deadlines.tick(u64::MAX - 1), 0, "{case}: an armed deadline");
    }
}

impl Wire {
    /// Lets the connection do what it was woken for.
    pub(super) fn poll(&mut self) {
        let waker = Waker::from(self.woken.clone());
        let mut polls = 0;
        while self.woken.0.swap(false, Ordering::Relaxed)
            && let Some(task) = &mut self.task
        {
            polls += 1;
            assert!(polls < 100_000, "the connection spins");
            if task.as_mut().poll(&mut Task::from_waker(&waker)).is_ready() {
                self.task = None;
            }
        }
    }

    /// Sends as much of `bytes` as there is room for.
    pub(super) fn send(&self, bytes: &[u8]) -> usize {
        // The server may have closed.
        self.peer.as_ref().map_or(0, |peer| peer.try_write(bytes).unwrap_or(0))
    }

    pub(super) fn receive(&mut self) {
        if let Some(peer) = &self.peer {
            self.received.extend(peer.take());
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.task.is_none()
    }

    /// Goes on until neither side moves and `ms` of virtual time have passed without news.
    pub(super) fn settle(&mut self, world: &World, mut bytes: &[u8], ms: u64) {
        let mut quiet_ms = 0;
        while quiet_ms < ms {
            let before = self.received.len();
            let sent = self.send(bytes);
            bytes = &bytes[sent..];
            self.poll();
            world.run();
            self.poll();
            self.receive();
            if sent == 0 && self.received.len() == before {
                world.advance(50);
                quiet_ms += 50;
            } else {
                quiet_ms = 0;
            }
        }
    }

    /// The peer leaves; the connection must end by itself.
    pub(super) fn leave(&mut self) {
        self.peer = None;
        self.poll();
    }
}

/// One request as bytes, with `more` header lines.
pub(super) fn request(method: &str, id: Option<u64>, mut params: Value, more: &str) -> Vec<u8> {
    params["_meta"][PROTOCOL_VERSION_KEY] = json!("2026-07-28");
    params["_meta"][CLIENT_CAPABILITIES_KEY] = json!({});
    let mut message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
    if let Some(id) = id {
        message["id"] = json!(id);
    }
    let name = params["name"].as_str();
    let named = name.map(|name| format!("Mcp-Name: {name}\r\n")).unwrap_or_default();
    let body = message.to_string();
    let accept = "application/json, text/event-stream";
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: {accept}\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{named}{more}Content-Length: {}\r\n\r\n{body}",
        body.len(),
    )
    .into_bytes()
}
