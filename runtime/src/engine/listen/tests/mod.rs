//! Whole streams over the in-memory link, polled by hand on a simulated clock: no runtime, no sleeps. The same over
//! real sockets is in `tcp`.

mod rounds;
mod tcp;

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use codec::id::Id;
use serde_json::{Value, json};

use super::*;
use crate::engine::core::{Core, CoreConfig, Serve};
use crate::hub::{Event, Exchange, ExchangeConfig, Filter, Hub, Kind as KeyKind, LocalBus, Topic};
use crate::io::TcpLink;
use crate::io::mem::{MemLink, MemPeer, pair};

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const KEEP_ALIVE_MS: u32 = 15_000;
const WRITE_TIMEOUT_MS: u32 = 30_000;
const PACE: Pace = Pace {
    chunked: true,
    keep_alive_ms: KEEP_ALIVE_MS,
    write_timeout_ms: WRITE_TIMEOUT_MS,
    until_ms: u64::MAX,
};

/// A server that only listens.
struct Nothing;

impl Serve for Nothing {
    type Local = ();

    fn local(&self, _: &CoreParts) {}

    async fn connection(_: Rc<Core<Self>>, _: TcpLink, _: LinkGuard) {}
}

#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// One core with a hub, and the means to move its time.
struct Sim {
    core: Rc<Core<Nothing>>,
    exchange: Arc<Exchange>,
    hub: Rc<Hub>,
}

/// One stream and its reader.
struct Reader {
    peer: MemPeer,
    task: Option<Pin<Box<dyn Future<Output = ()>>>>,
    woken: Arc<Woken>,
    polls: usize,
    text: String,
}

impl Sim {
    fn new() -> Sim {
        let config = CoreConfig {
            connections_max: 8,
            mailbox_depth: 8,
            stall_threshold: Duration::ZERO,
            buffer_bytes: 4096,
            buffers_kept_max: 4,
            date: |_| [b' '; 29],
        };
        let (core, _, _) = Core::simulated(Arc::new(Nothing), &config, 0).expect("a socket pair");
        let config = ExchangeConfig {
            cores: 1,
            kinds: Default::default(),
            matcher: None,
            server_info: Some(r#"{"name":"s","version":"1"}"#.into()),
            subscriptions_max: 1000,
            subscriptions_per_principal_max: 10,
        };
        let exchange = Exchange::new(config, &LocalBus::new());
        let hub = Hub::new(Arc::clone(&exchange), 0, Arc::clone(&core.counters));
        Sim { core, exchange, hub }
    }

    fn subscribe(&self, uris: &[&str]) -> Subscription {
        let mut filter = Filter::default();
        filter.topics = filter.topics.with(Topic::ToolsListChanged);
        filter.keys = uris.iter().map(|uri| (KeyKind::RESOURCE, Box::from(*uri))).collect();
        self.hub.open(Id::from("s").to_owned(), filter, None, None).expect("room")
    }

    /// Starts the task of a stream, which has not been polled yet.
    fn listen(&self, subscription: Subscription, pace: Pace, capacity: usize) -> Reader {
        let (link, peer) = pair(capacity);
        let open = self.core.links.enter(link.shutdown_handle());
        let task = run(Rc::clone(&self.core), link, open, HEAD.to_vec(), subscription, pace);
        let woken = Arc::new(Woken(AtomicBool::new(true)));
        Reader { peer, task: Some(Box::pin(task)), woken, polls: 0, text: String::new() }
    }

    fn tools_changed(&self) {
        self.exchange.offer(&Event::ListChanged(Topic::ToolsListChanged));
        assert!(!self.hub.deliver(), "few streams are told in one turn");
    }

    fn updated(&self, uri: &str) {
        self.exchange.offer(&Event::ResourceUpdated(uri.into()));
        assert!(!self.hub.deliver(), "few streams are told in one turn");
    }

    fn advance(&self, ms: u32) {
        self.core.clock.advance(ms.into());
        self.core.deadlines.tick(self.core.clock.now_ms());
    }

    fn assert_empty(&self) {
        assert_eq!((self.hub.len(), self.exchange.open_count()), (0, 0));
        assert_eq!(self.core.counters.subscriptions_open.get(), 0);
    }
}

impl Reader {
    /// Polls the task for as long as something wakes it.
    fn run(&mut self) {
        let waker = Waker::from(Arc::clone(&self.woken));
        while self.woken.0.swap(false, Ordering::Relaxed)
            && let Some(task) = &mut self.task
        {
            self.polls += 1;
            assert!(self.polls < 10_000, "the task spins");
            if task.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
                self.task = None;
            }
        }
    }

    fn is_done(&self) -> bool {
        self.task.is_none()
    }

    /// Runs the task and reads what it wrote until neither has anything left.
    fn read(&mut self) {
        loop {
            self.run();
            let bytes = self.peer.take();
            if bytes.is_empty() {
                return;
            }
            self.text.push_str(&String::from_utf8(bytes).expect("UTF-8"));
        }
    }

    /// The body after the head, out of its chunks. The second part says whether the last chunk was there.
    fn body(&self) -> (String, bool) {
        let head = std::str::from_utf8(HEAD).expect("ASCII");
        let mut rest = self.text.strip_prefix(head).expect("the head comes first");
        let mut body = String::new();
        while let Some((size, after)) = rest.split_once("\r\n") {
            let size = usize::from_str_radix(size, 16).expect("a chunk's size");
            if size == 0 {
                assert_eq!(after, "\r\n", "nothing follows the last chunk");
                return (body, true);
            }
            body.push_str(&after[..size]);
            rest = after[size..].strip_prefix("\r\n").expect("a chunk's end");
        }
        assert_eq!(rest, "");
        (body, false)
    }

    /// The events so far; comments are counted apart.
    fn events(&self) -> (Vec<Value>, usize) {
        parse(&self.body().0)
    }
}

fn parse(body: &str) -> (Vec<Value>, usize) {
    let (mut events, mut comments) = (Vec::new(), 0);
    for block in body.split_terminator("\n\n") {
        if block == ": keepalive" {
            comments += 1;
            continue;
        }
        let data = block.strip_prefix("event: message\ndata: ").expect("an event");
        events.push(serde_json::from_str(data).expect("one line of JSON"));
    }
    (events, comments)
}

fn methods(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["method"].as_str().unwrap_or("result")).collect()
}

const ACK: &str = "notifications/subscriptions/acknowledged";
const TOOLS: &str = "notifications/tools/list_changed";
const UPDATED: &str = "notifications/resources/updated";

fn closing() -> Value {
    let meta = json!({
        "io.modelcontextprotocol/subscriptionId": "s",
        "io.modelcontextprotocol/serverInfo": { "name": "s", "version": "1" },
    });
    json!({ "jsonrpc": "2.0", "id": "s", "result": { "resultType": "complete", "_meta": meta } })
}

/// [SUB-02] the acknowledgement is the first message, however much is published before and while it is written
#[test]
fn the_acknowledgement_comes_first_under_a_storm() {
    for capacity in [1, 7, 4096] {
        let sim = Sim::new();
        let subscription = sim.subscribe(&["u:a"]);
        sim.tools_changed();
        let mut reader = sim.listen(subscription, PACE, capacity);
        for _ in 0..500 {
            sim.tools_changed();
            sim.updated("u:a");
            reader.run();
            reader.text.push_str(&String::from_utf8(reader.peer.take()).expect("UTF-8"));
        }
        reader.read();
        let (events, _) = reader.events();
        let methods = methods(&events);
        assert_eq!(methods[0], ACK);
        assert!(methods[1..].contains(&TOOLS) && methods[1..].contains(&UPDATED));
        assert!(!methods[1..].contains(&ACK));
        assert_eq!(sim.core.counters.events_delivered.get(), methods.len() as u64 - 1);
    }
}

/// [SSE-11] [SUB-20] a reader that stops is told once, later; a change during a write follows it
#[test]
fn a_slow_reader_costs_bits_not_memory() {
    let sim = Sim::new();
    let mut reader = sim.listen(sim.subscribe(&["u:a", "u:b"]), PACE, 64 * 1024);
    reader.read();
    reader.peer.stall(true);
    sim.tools_changed();
    reader.run();
    // The first notification is on its way and stuck; a hundred thousand changes wait behind it.
    let polls = reader.polls;
    for _ in 0..50_000 {
        sim.tools_changed();
        sim.updated("u:b");
    }
    reader.run();
    assert_eq!(reader.polls, polls, "marking a stream that writes wakes nobody");
    reader.peer.stall(false);
    reader.read();
    let (events, _) = reader.events();
    assert_eq!(methods(&events), [ACK, TOOLS, TOOLS, UPDATED]);
    assert_eq!(events[3]["params"]["uri"], "u:b");
}

/// [SSE-11] however many streams are told something, and whatever their peers take of it, one buffer of the core's is
/// used; the same for signs of life
#[test]
fn telling_many_streams_takes_one_buffer() {
    for stalled in [false, true] {
        let sim = Sim::new();
        let streams = 0..50;
        let mut readers: Vec<_> =
            streams.map(|_| sim.listen(sim.subscribe(&[]), PACE, 4096)).collect();
        readers.iter_mut().for_each(Reader::read);
        readers.iter().for_each(|reader| reader.peer.stall(stalled));
        sim.tools_changed();
        readers.iter_mut().for_each(Reader::run);
        assert_eq!(sim.core.buffers.idle(), 1);
        readers.iter().for_each(|reader| reader.peer.stall(false));
        readers.iter_mut().for_each(Reader::run);
        readers.iter().for_each(|reader| reader.peer.stall(stalled));
        sim.advance(KEEP_ALIVE_MS);
        readers.iter_mut().for_each(Reader::run);
        assert_eq!(sim.core.buffers.idle(), 1);
        for mut reader in readers {
            reader.peer.stall(false);
            reader.read();
            let (events, comments) = reader.events();
            assert_eq!((methods(&events), comments), (vec![ACK, TOOLS], 1));
        }
    }
}

/// [SUB-14] [SSE-11] a full socket gets the rest later, cut wherever it was, the closing result too
#[test]
fn what_a_full_socket_has_no_room_for_follows() {
    for capacity in 1..300 {
        let sim = Sim::new();
        let mut reader = sim.listen(sim.subscribe(&["u:a"]), PACE, capacity);
        reader.read();
        sim.updated("u:a");
        reader.run();
        sim.hub.end_all();
        reader.read();
        let (body, ended) = reader.body();
        assert!(reader.is_done() && ended);
        assert_eq!(methods(&parse(&body).0), [ACK, UPDATED, "result"]);
        assert_eq!(sim.core.counters.events_delivered.get(), 1);
        sim.assert_empty();
    }
}

/// [SUB-12] once the peer is gone everything is freed at once and nothing more is written
#[test]
fn a_peer_that_leaves_frees_everything() {
    for leave in [MemPeer::half_close, MemPeer::close, MemPeer::reset] {
        let sim = Sim::new();
        let mut reader = sim.listen(sim.subscribe(&["u:a"]), PACE, 4096);
        reader.read();
        assert_eq!(sim.core.counters.subscriptions_open.get(), 1);
        let before = reader.text.len();
        leave(&reader.peer);
        sim.tools_changed();
        reader.read();
        assert!(reader.is_done());
        assert_eq!(reader.text.len(), before, "nothing is written to a peer that left");
        sim.assert_empty();
    }
}

/// [SUB-12] a task that is dropped, or a peer that leaves in the middle of a write, frees everything too
#[test]
fn an_interrupted_task_frees_everything() {
    let sim = Sim::new();
    let mut reader = sim.listen(sim.subscribe(&["u:a"]), PACE, 1);
    reader.run();
    assert_eq!(sim.hub.len(), 1);
    reader.task = None;
    sim.assert_empty();
    let mut reader = sim.listen(sim.subscribe(&["u:a"]), PACE, 1);
    reader.run();
    reader.peer.close();
    reader.run();
    assert!(reader.is_done());
    sim.assert_empty();
}

/// [SSE-10] a silent stream shows a sign of life per interval, an event counts as one, 0 turns it off
#[test]
fn a_silent_stream_shows_signs_of_life() {
    let sim = Sim::new();
    let mut reader = sim.listen(sim.subscribe(&[]), PACE, 4096);
    reader.read();
    sim.advance(KEEP_ALIVE_MS - 1);
    reader.read();
    assert_eq!(reader.events().1, 0);
    sim.advance(1);
    reader.read();
    assert_eq!(reader.events().1, 1);
    sim.advance(KEEP_ALIVE_MS / 2);
    sim.tools_changed();
    reader.read();
    sim.advance(KEEP_ALIVE_MS - 1);
    reader.read();
    assert_eq!(reader.events().1, 1);
    sim.advance(1);
    reader.read();
    assert_eq!(reader.events().1, 2);

    let mut quiet = sim.listen(sim.subscribe(&[]), Pace { keep_alive_ms: 0, ..PACE }, 4096);
    quiet.read();
    sim.advance(1_000_000);
    quiet.read();
    assert_eq!((quiet.events().1, quiet.is_done()), (0, false));
}

/// [SUB-14] [SUB-15] [SSE-14] a drain tells what is pending, then the closing result, then ends the body; no
/// `notifications/cancelled`
#[test]
fn a_drain_ends_with_the_closing_result() {
    let sim = Sim::new();
    let mut reader = sim.listen(sim.subscribe(&["u:a"]), PACE, 4096);
    reader.read();
    sim.updated("u:a");
    sim.hub.end_all();
    reader.read();
    assert!(reader.is_done());
    let (body, ended) = reader.body();
    let (events, _) = parse(&body);
    assert!(ended, "the last chunk is there");
    assert_eq!(methods(&events), [ACK, UPDATED, "result"]);
    assert_eq!(events[2], closing());
    sim.assert_empty();
}

/// [SUB-18] a listen that honours nothing gets its empty acknowledgement and the closing result
#[test]
fn nothing_honoured_ends_at_once() {
    let sim = Sim::new();
    let id = Id::from("s").to_owned();
    let subscription = sim.hub.open(id, Filter::default(), None, None).expect("room");
    let mut reader = sim.listen(subscription, PACE, 4096);
    reader.read();
    let (events, _) = reader.events();
    assert!(reader.is_done() && reader.body().1);
    assert_eq!(events[0]["params"]["notifications"], json!({}));
    assert_eq!(events[1..], [closing()]);
}

/// [SUB-14] [HTTP-21] to an HTTP/1.0 client events travel without chunks and the connection's end is the end
#[test]
fn http_1_0_gets_no_chunks() {
    let sim = Sim::new();
    let pace = Pace { chunked: false, ..PACE };
    let mut reader = sim.listen(sim.subscribe(&[]), pace, 4096);
    sim.tools_changed();
    sim.hub.end_all();
    reader.read();
    let head = std::str::from_utf8(HEAD).expect("ASCII");
    let (events, _) = parse(reader.text.strip_prefix(head).expect("the head comes first"));
    assert_eq!(methods(&events), [ACK, TOOLS, "result"]);
    assert!(reader.is_done() && reader.peer.link_ended());
}

/// [AUTH-16] the stream ends gracefully when the opener's grant is void, with and without signs of life
#[test]
fn a_void_grant_ends_the_stream() {
    for keep_alive_ms in [0, 400, KEEP_ALIVE_MS] {
        let sim = Sim::new();
        let pace = Pace { keep_alive_ms, until_ms: 1000, ..PACE };
        let mut reader = sim.listen(sim.subscribe(&[]), pace, 4096);
        reader.read();
        for _ in 0..3 {
            sim.advance(333);
            reader.read();
        }
        assert!(!reader.is_done());
        sim.advance(1);
        reader.read();
        let (events, _) = reader.events();
        assert!(reader.is_done(), "keep-alive {keep_alive_ms}");
        assert_eq!(methods(&events), [ACK, "result"]);
    }
}

/// [SSE-11] a peer that accepts nothing for the write timeout is closed and counted; a slow one that accepts a
/// little is not
#[test]
fn a_peer_that_accepts_nothing_is_closed() {
    let sim = Sim::new();
    let mut reader = sim.listen(sim.subscribe(&["u:a"]), PACE, 4);
    // A byte now and then, for many times the timeout.
    for _ in 0..20 {
        reader.run();
        sim.advance(WRITE_TIMEOUT_MS - 1);
        reader.text.push_str(&String::from_utf8(reader.peer.take()).expect("UTF-8"));
    }
    reader.run();
    assert!(!reader.is_done() && reader.text.len() >= 80);
    sim.advance(WRITE_TIMEOUT_MS - 1);
    reader.run();
    assert!(!reader.is_done());
    sim.advance(1);
    reader.run();
    assert!(reader.is_done());
    assert_eq!(sim.core.counters.write_timeouts.get(), 1);
    sim.assert_empty();
}

/// [SUB-12] [SEC-07] what a peer sends on a taken connection is thrown away up to a bound, then it is closed
#[test]
fn unread_bytes_are_bounded() {
    let sim = Sim::new();
    let mut reader = sim.listen(sim.subscribe(&[]), PACE, 4096);
    reader.read();
    let mut sent = 0;
    while !reader.is_done() {
        sent += reader.peer.try_write(&[b'x'; 1000]).expect("still open");
        reader.run();
        assert!(sent <= UNREAD_BYTES_MAX + 4096, "closed beyond the bound");
        if sent <= UNREAD_BYTES_MAX {
            assert!(!reader.is_done(), "open within the bound");
        }
        sim.tools_changed();
        reader.read();
    }
    assert!(sent > UNREAD_BYTES_MAX);
    assert!(methods(&reader.events().0).contains(&TOOLS), "events went on meanwhile");
    sim.assert_empty();
}

/// [SUB-12] ten thousand streams one after the other leave nothing, neither open nor armed
#[test]
fn many_streams_leave_nothing() {
    let sim = Sim::new();
    for n in 0..10_000 {
        let mut reader = sim.listen(sim.subscribe(&["u:a"]), PACE, 4096);
        reader.run();
        if n % 3 == 0 {
            sim.tools_changed();
        }
        reader.peer.close();
        reader.run();
        assert!(reader.is_done());
    }
    sim.assert_empty();
    assert_eq!(sim.core.deadlines.tick(u64::MAX - 1), 0);
}

/// Bytes of the future that a call of this function makes.
fn future_bytes<A, B, C, D, E, F, R>(_: fn(A, B, C, D, E, F) -> R) -> usize {
    size_of::<R>()
}

/// [SUB-12] an idle subscription is a small future: the request machine is not kept alive for it
#[test]
fn the_task_is_small() {
    /// Bytes of one stream's task, its link included.
    const TASK_BYTES_MAX: usize = 320;
    let tcp = future_bytes(run::<Nothing, TcpLink>);
    let mem = future_bytes(run::<Nothing, MemLink>);
    assert!(tcp.max(mem) <= TASK_BYTES_MAX, "{tcp} bytes over TCP, {mem} in memory");
}
