//! A scripted server with subscriptions, on plain threads, and the generator's binary run against it.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use serde_json::{Value, json};

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// A stream's acknowledgement, if it gets one.
pub(crate) type Ack = fn(u64) -> Option<String>;

/// A message for a stream.
pub(crate) type Extra = fn(u64) -> String;

/// What the server does, by the stream's id and the publish's number.
#[derive(Clone, Copy)]
pub(crate) struct Play {
    /// The acknowledgement of a stream, if it gets one.
    pub(crate) ack: Ack,
    /// Streams that are not opened.
    pub(crate) refuse: fn(u64) -> bool,
    /// How often a publish's event is sent on a stream.
    pub(crate) event: fn(u64, u64) -> u64,
    /// Which numbered events a publish sends on a stream; for publishes with a URI.
    pub(crate) numbers: fn(u64, u64) -> Vec<u64>,
    /// A message before every event.
    pub(crate) extra: Option<Extra>,
    /// Streams that are cut inside the event of a publish.
    pub(crate) cut: fn(u64, u64) -> bool,
    /// Streams that get their closing result after the event of a publish.
    pub(crate) end: fn(u64, u64) -> bool,
    /// The result of a publish.
    pub(crate) publish: fn(u64) -> &'static str,
}

impl Play {
    /// Everything as it should be.
    pub(crate) fn honest() -> Self {
        Self {
            ack: |stream| Some(ack(stream)),
            refuse: |_| false,
            event: |_, _| 1,
            numbers: |_, publish| vec![publish],
            extra: None,
            cut: |_, _| false,
            end: |_, _| false,
            publish: |_| r#"{"content":[],"resultType":"complete"}"#,
        }
    }
}

/// A notification tagged with a stream's id.
pub(crate) fn note(method: &str, stream: u64) -> String {
    let params = json!({ "_meta": { SUBSCRIPTION: stream } });
    json!({ "jsonrpc": "2.0", "method": format!("notifications/{method}"), "params": params })
        .to_string()
}

/// The acknowledgement of a stream that asked for changes of tools.
pub(crate) fn ack(stream: u64) -> String {
    acknowledge(stream, &json!({ "toolsListChanged": true }))
}

fn acknowledge(stream: u64, notifications: &Value) -> String {
    let params = json!({ "_meta": { SUBSCRIPTION: stream }, "notifications": notifications });
    json!({ "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params })
        .to_string()
}

/// What all connections share.
#[derive(Default)]
struct State {
    streams: BTreeMap<u64, TcpStream>,
    publishes: u64,
}

/// The server. Its threads end with the test's process.
pub(crate) struct Hub {
    pub(crate) url: String,
    shared: Arc<(Mutex<State>, Condvar)>,
}

impl Hub {
    pub(crate) fn start(play: Play) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let hub = Self::at(url);
        let shared = hub.shared.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let shared = shared.clone();
                thread::spawn(move || serve(stream.unwrap(), play, &shared));
            }
        });
        hub
    }

    /// Another server than this one, of which only the address is known.
    pub(crate) fn at(url: String) -> Self {
        Self { url, shared: Arc::default() }
    }

    /// Waits until no more than `count` streams are open, and returns how many are.
    pub(crate) fn wait_for_open(&self, count: usize) -> usize {
        let (state, changed) = &*self.shared;
        let state = state.lock().unwrap();
        changed.wait_while(state, |state| state.streams.len() > count).unwrap().streams.len()
    }

    /// Waits for this many publishes.
    pub(crate) fn wait_for_publishes(&self, count: u64) {
        let (state, changed) = &*self.shared;
        let state = state.lock().unwrap();
        drop(changed.wait_while(state, |state| state.publishes < count).unwrap());
    }
}

fn serve(mut socket: TcpStream, play: Play, shared: &(Mutex<State>, Condvar)) {
    let (state, changed) = shared;
    let mut bytes = Vec::new();
    let mut stream = None;
    while let Some(body) = next_request(&mut socket, &mut bytes) {
        let id = body["id"].as_u64().unwrap();
        let mut state = state.lock().unwrap();
        if body["method"] == "subscriptions/listen" {
            if (play.refuse)(id) {
                let error = json!({ "code": -32603, "message": "Subscription limit reached" });
                answer(&mut socket, &json!({ "jsonrpc": "2.0", "id": id, "error": error }));
                continue;
            }
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
            let _ = socket.write_all(head.as_bytes());
            let asked = &body["params"]["notifications"];
            let message = match asked.get("resourceSubscriptions") {
                Some(_) => Some(acknowledge(id, asked)),
                None => (play.ack)(id),
            };
            message.iter().for_each(|message| send(&mut socket, message));
            state.streams.insert(id, socket.try_clone().unwrap());
            stream = Some(id);
        } else {
            assert_eq!(body["method"], "tools/call");
            let numbered = body["params"]["arguments"]["uri"].is_string();
            state.publishes += 1;
            let publish = state.publishes;
            for (id, socket) in &mut state.streams {
                tell(socket, play, *id, publish, numbered);
            }
            let result: Value = serde_json::from_str((play.publish)(publish)).unwrap();
            answer(&mut socket, &json!({ "jsonrpc": "2.0", "id": id, "result": result }));
        }
        changed.notify_all();
    }
    if let Some(id) = stream {
        state.lock().unwrap().streams.remove(&id);
        changed.notify_all();
    }
}

/// Sends a stream what a publish makes.
fn tell(socket: &mut TcpStream, play: Play, id: u64, publish: u64, numbered: bool) {
    if let Some(extra) = play.extra {
        send(socket, &extra(id));
    }
    let event = note("tools/list_changed", id);
    if (play.cut)(id, publish) {
        let _ =
            socket.write_all(format!("{:x}\r\ndata: {}", event.len() + 8, &event[..20]).as_bytes());
        let _ = socket.shutdown(Shutdown::Both);
        return;
    }
    if numbered {
        for number in (play.numbers)(id, publish) {
            let params =
                json!({ "_meta": { SUBSCRIPTION: id }, "uri": format!("test://{number}") });
            let method = "notifications/resources/updated";
            send(
                socket,
                &json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string(),
            );
        }
    } else {
        (0..(play.event)(id, publish)).for_each(|_| send(socket, &event));
    }
    if (play.end)(id, publish) {
        let result = json!({ "resultType": "complete", "_meta": { SUBSCRIPTION: id } });
        send(socket, &json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string());
        let _ = socket.write_all(b"0\r\n\r\n");
    }
}

/// One event in one chunk. A client that has gone away is no fault of the script.
fn send(socket: &mut TcpStream, message: &str) {
    let event = format!("event: message\ndata: {message}\n\n");
    let _ = socket.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes());
}

fn answer(socket: &mut TcpStream, message: &Value) {
    let body = message.to_string();
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
    let _ =
        socket.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
}

/// The body of the next request; `None` at the end of the connection.
fn next_request(socket: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<Value> {
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4) {
            let head = std::str::from_utf8(&bytes[..end]).unwrap();
            let length =
                head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).unwrap();
            let whole = end + length.parse::<usize>().unwrap();
            if bytes.len() >= whole {
                let body = serde_json::from_slice(&bytes[end..whole]).unwrap();
                bytes.drain(..whole);
                return Some(body);
            }
        }
        let mut more = [0; 4096];
        match socket.read(&mut more) {
            Ok(0) | Err(_) => return None,
            Ok(n) => bytes.extend_from_slice(&more[..n]),
        }
    }
}

/// What a run printed, wrote and returned.
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) text: String,
    pub(crate) json: Value,
    /// The `subscribe` member of `json`.
    pub(crate) figures: Value,
}

impl Outcome {
    /// Errors of one kind.
    pub(crate) fn errors(&self, kind: &str) -> u64 {
        self.json["errors_by_kind"][kind]["count"].as_u64().unwrap_or(0)
    }

    /// The exit code, and the errors found, all of them.
    #[track_caller]
    pub(crate) fn assert(&self, code: i32, errors: &[(&str, u64)]) {
        let found: BTreeMap<&str, u64> = self.json["errors_by_kind"]
            .as_object()
            .unwrap()
            .keys()
            .map(|kind| (kind.as_str(), self.errors(kind)))
            .collect();
        assert_eq!(found, errors.iter().copied().collect(), "{}", self.text);
        assert_eq!(self.code, code, "{}", self.text);
        assert_eq!(self.json["errors"], errors.iter().map(|(_, count)| count).sum::<u64>());
    }
}

/// A file with this text.
pub(crate) fn file(text: &str) -> PathBuf {
    static FILES: AtomicU64 = AtomicU64::new(0);
    let number = FILES.fetch_add(1, Ordering::SeqCst);
    let name = format!("ringmcp-loadtest-subscribe-{}-{number}", std::process::id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// `run --scenario subscribe`, with figures if there are any.
pub(crate) fn run_with(hub: &Hub, more: &[&str]) -> Outcome {
    let file = file("null");
    let output = Command::new(env!("CARGO_BIN_EXE_ringmcp-loadtest"))
        .args([
            "run",
            "--url",
            &hub.url,
            "--scenario",
            "subscribe",
            "--json",
            file.to_str().unwrap(),
        ])
        .args(more)
        .output()
        .unwrap();
    let text =
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    let json: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    std::fs::remove_file(&file).unwrap();
    let figures = json["subscribe"].clone();
    Outcome { code: output.status.code().unwrap(), text, json, figures }
}

/// `run --scenario subscribe`, which must have figures.
pub(crate) fn run(hub: &Hub, more: &[&str]) -> Outcome {
    let outcome = run_with(hub, more);
    assert!(outcome.figures.is_object(), "no figures: {}", outcome.text);
    outcome
}
