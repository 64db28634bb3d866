//! A scripted server on plain threads, and the generator's binary run against it.
#![allow(clippy::unwrap_used, reason = "a script that cannot go on fails its test where it stands")]
#![allow(dead_code, reason = "each test program uses its part of this")]

mod program;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

#[allow(unused_imports, reason = "each test program uses its part of this")]
pub(crate) use program::{
    File, Outcome, all_right, fails, interrupt, loadtest, one_wrong, run, run_on, run_scenario,
};
use serde_json::Value;

/// What the server does with one request.
pub(crate) enum Act {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Sends these bytes and closes.
    SendAndClose(Vec<u8>),
    /// Sends these bytes after this time, in which the connection does nothing else.
    SendAfter(Duration, Vec<u8>),
    /// Says nothing.
    Silence,
}

/// One request as the server saw it.
pub(crate) struct Seen {
    /// Counts all requests of all connections, from 1.
    pub(crate) number: u64,
    /// Counts connections, from 1.
    pub(crate) connection: u64,
    pub(crate) head: String,
    /// Null where there is none.
    pub(crate) body: Value,
}

impl Seen {
    /// The right answer to a call of `echo`.
    pub(crate) fn hello(&self) -> Vec<u8> {
        self.result(HELLO)
    }

    /// A response with this result.
    pub(crate) fn result(&self, result: &str) -> Vec<u8> {
        ok(&self.response(result))
    }

    /// The message of a response with this result.
    pub(crate) fn response(&self, result: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, self.body["id"])
    }

    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// A result that passes as a call's.
pub(crate) const HELLO: &str =
    r#"{"content":[{"type":"text","text":"hello"}],"resultType":"complete"}"#;

/// A result that passes as discover's.
pub(crate) const SERVER: &str = r#"{"supportedVersions":["2026-07-28"],"resultType":"complete"}"#;

/// A 200 answer whose body is an event stream of these messages, in chunks of one event each.
pub(crate) fn stream(messages: &[String]) -> Vec<u8> {
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    let mut bytes = head.as_bytes().to_vec();
    for message in messages {
        let event = format!("event: message\ndata: {message}\n\n");
        bytes.extend_from_slice(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes());
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    bytes
}

/// A 200 answer with this JSON.
pub(crate) fn ok(json: &str) -> Vec<u8> {
    let length = json.len();
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
    format!("{head}Content-Length: {length}\r\n\r\n{json}").into_bytes()
}

/// A server that acts by a script. Its threads end with the test's process.
pub(crate) struct Scripted {
    pub(crate) url: String,
    pub(crate) requests: Arc<AtomicU64>,
    pub(crate) connections: Arc<AtomicU64>,
}

impl Scripted {
    pub(crate) fn start(script: impl Fn(&Seen) -> Act + Send + Sync + 'static) -> Self {
        Self::start_on(TcpListener::bind("127.0.0.1:0").unwrap(), script)
    }

    /// A server that takes its connections from `listener`.
    pub(crate) fn start_on(
        listener: TcpListener,
        script: impl Fn(&Seen) -> Act + Send + Sync + 'static,
    ) -> Self {
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let (requests, connections) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let (script, counts) = (Arc::new(script), (requests.clone(), connections.clone()));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let connection = counts.1.fetch_add(1, Ordering::SeqCst) + 1;
                let (script, requests) = (script.clone(), counts.0.clone());
                thread::spawn(move || serve(&stream.unwrap(), connection, &*script, &requests));
            }
        });
        Self { url, requests, connections }
    }

    pub(crate) fn seen(&self) -> u64 {
        self.requests.load(Ordering::SeqCst)
    }

    /// Waits until so many requests have come.
    pub(crate) fn wait_for(&self, requests: u64) {
        while self.seen() < requests {
            thread::yield_now();
        }
    }
}

fn serve(
    mut stream: &TcpStream,
    connection: u64,
    script: &dyn Fn(&Seen) -> Act,
    requests: &AtomicU64,
) {
    let mut bytes = Vec::new();
    loop {
        let Some((length, head, body)) = first_request(&bytes) else {
            let mut more = [0; 4096];
            match stream.read(&mut more) {
                Ok(0) | Err(_) => return,
                Ok(n) => bytes.extend_from_slice(&more[..n]),
            }
            continue;
        };
        bytes.drain(..length);
        let number = requests.fetch_add(1, Ordering::SeqCst) + 1;
        let (answer, close) = match script(&Seen { number, connection, head, body }) {
            Act::Send(answer) => (answer, false),
            Act::SendAndClose(answer) => (answer, true),
            Act::SendAfter(time, answer) => {
                thread::sleep(time);
                (answer, false)
            }
            Act::Silence => continue,
        };
        // A client that has gone away is no fault of the script.
        if stream.write_all(&answer).is_err() || close {
            return;
        }
    }
}

/// Length on the wire, head and body of the request at the start of `bytes`, if it is whole.
fn first_request(bytes: &[u8]) -> Option<(usize, String, Value)> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&bytes[..end]).unwrap();
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
    let Some(length) = length else { return Some((end, head.to_owned(), Value::Null)) };
    let body = bytes.get(end..end + length.parse::<usize>().unwrap())?;
    Some((end + body.len(), head.to_owned(), serde_json::from_slice(body).unwrap()))
}
