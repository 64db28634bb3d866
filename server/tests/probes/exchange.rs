//! One probe sent, and all that comes back: interim and final answers, and whether the connection ended.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// The longest wait for a first complete answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The wait for more after a complete answer: a second answer, or the end of the connection.
const QUIET: Duration = Duration::from_millis(250);

/// One answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    complete: bool,
}

/// All that came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) answers: Vec<Answer>,
    pub(crate) closed: bool,
}

impl Reply {
    /// Sends the probe's bytes on a connection of its own.
    pub(crate) fn to(probe: &Value, address: SocketAddr, token: &str) -> Self {
        let bytes = fill_in(&raw(probe), address, token);
        let mut stream = TcpStream::connect(address).expect("the server listens");
        // The server may answer and close before it has read all.
        let _ = stream.write_all(&bytes);
        let headless = bytes.starts_with(b"HEAD ");
        let (received, closed) = receive(&mut stream, headless);
        Self { answers: parse(&received, headless), closed }
    }
}

fn raw(probe: &Value) -> Vec<u8> {
    match probe["raw_b64"].as_str() {
        Some(text) => STANDARD.decode(text).expect("Base64"),
        None => probe["raw"].as_str().expect("raw or raw_b64").as_bytes().to_vec(),
    }
}

fn fill_in(raw: &[u8], address: SocketAddr, token: &str) -> Vec<u8> {
    let holes = [
        ("{{HOST}}", address.to_string()),
        ("{{PORT}}", address.port().to_string()),
        ("{{TOKEN}}", token.to_owned()),
    ];
    holes
        .iter()
        .fold(raw.to_vec(), |bytes, (hole, text)| replace(&bytes, hole.as_bytes(), text.as_bytes()))
}

fn replace(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::with_capacity(bytes.len()), bytes);
    while let Some(at) = find(rest, from) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(to);
        rest = &rest[at + from.len()..];
    }
    out.extend_from_slice(rest);
    out
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

/// Reads until the connection ends, or nothing more comes after a complete answer.
fn receive(stream: &mut TcpStream, headless: bool) -> (Vec<u8>, bool) {
    let (end, mut received, mut chunk) = (Instant::now() + PATIENCE, Vec::new(), [0; 65536]);
    let mut waits = PATIENCE;
    while Instant::now() < end {
        stream.set_read_timeout(Some(waits)).expect("a socket option");
        match stream.read(&mut chunk) {
            Ok(0) => return (received, true),
            Ok(bytes) => received.extend_from_slice(&chunk[..bytes]),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(_) => return (received, true),
        }
        let answers = parse(&received, headless);
        let done = answers.last().is_some_and(|answer| answer.complete);
        // An interim answer alone is complete as well, if the probe sends no body.
        waits = if done { QUIET } else { PATIENCE };
    }
    (received, false)
}

fn parse(mut bytes: &[u8], headless: bool) -> Vec<Answer> {
    let mut answers = Vec::new();
    while bytes.starts_with(b"HTTP/") {
        let Some(end) = find(bytes, b"\r\n\r\n") else { break };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        bytes = &bytes[end + 4..];
        let mut lines = head.split("\r\n");
        let status =
            lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).unwrap_or(0);
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
            .collect();
        let find =
            |name: &str| headers.iter().find(|(known, _)| known == name).map(|(_, value)| value);
        let (body, complete, rest) = if status < 200 || status == 204 || headless {
            (Vec::new(), true, bytes)
        } else if find("transfer-encoding").is_some() {
            chunked(bytes)
        } else if let Some(length) = find("content-length") {
            let length: usize = length.parse().expect("a length");
            let here = length.min(bytes.len());
            (bytes[..here].to_vec(), here == length, &bytes[here..])
        } else {
            (bytes.to_vec(), false, &bytes[bytes.len()..])
        };
        bytes = rest;
        answers.push(Answer { status, headers, body, complete });
        if !complete {
            break;
        }
    }
    answers
}

fn chunked(mut bytes: &[u8]) -> (Vec<u8>, bool, &[u8]) {
    let mut body = Vec::new();
    loop {
        let Some(end) = find(bytes, b"\r\n") else { return (body, false, b"") };
        let size = String::from_utf8_lossy(&bytes[..end]);
        let size = usize::from_str_radix(&size, 16).expect("a chunk size");
        let data = &bytes[end + 2..];
        if data.len() < size + 2 {
            return (body, false, b"");
        }
        body.extend_from_slice(&data[..size]);
        bytes = &data[size + 2..];
        if size == 0 {
            return (body, true, bytes);
        }
    }
}
