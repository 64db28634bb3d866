//! The publisher: sends the requests that make events, over a plain connection of its own, and checks the answers.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::request::Publish;
use super::stage::Stage;
use crate::answer::{Answer, Form, Reader};
use crate::fault::{Fault, Kind};
use crate::sse;
use crate::url::Url;

const READ_BYTES: usize = 16 * 1024;

/// Quiet time after which a connection is not used again: the server may be about to close it, and a publish is not
/// sent twice.
const REUSE_WITHIN: Duration = Duration::from_secs(2);

/// Sends publishes one after the other.
pub(crate) struct Publisher<'p> {
    pub(crate) addr: SocketAddr,
    pub(crate) url: &'p Url,
    pub(crate) publish: &'p Publish,
    pub(crate) timeout: Duration,
    /// The connection, and when it was last of use.
    pub(crate) kept: Option<(TcpStream, Instant)>,
}

impl Publisher<'_> {
    /// Publishes once, and tells `stage` just before the request leaves: how long its answer took.
    ///
    /// # Errors
    /// No connection, or a wrong answer.
    pub(crate) fn send(&mut self, number: u64, stage: &Stage) -> Result<Duration, Fault> {
        let kept = self.kept.take().filter(|(_, at)| at.elapsed() < REUSE_WITHIN);
        let mut stream = match kept {
            Some((stream, _)) => stream,
            None => self.connect().map_err(|error| Fault::new(Kind::Connect, error))?,
        };
        let bytes = self.publish.write(self.url, number);
        stage.begin(number);
        let begun = Instant::now();
        stream.write_all(&bytes).map_err(failure)?;
        let keep_alive = read_answer(&mut stream, number, begun + self.timeout)?;
        let took = begun.elapsed();
        if keep_alive {
            self.kept = Some((stream, Instant::now()));
        }
        Ok(took)
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let stream = TcpStream::connect_timeout(&self.addr, self.timeout)?;
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(self.timeout))?;
        Ok(stream)
    }
}

/// Reads and checks one answer; whether another may follow it.
fn read_answer(stream: &mut TcpStream, id: u64, until: Instant) -> Result<bool, Fault> {
    let (mut reader, mut bytes, mut room) = (Reader::default(), Vec::new(), [0; READ_BYTES]);
    let mut ended = false;
    loop {
        if let Some(answer) = reader.read(&bytes, ended)? {
            check(&answer, id)?;
            return Ok(answer.head.keep_alive && answer.len == bytes.len());
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Fault::new(Kind::Timeout, "no whole answer in time"));
        }
        stream.set_read_timeout(Some(left)).map_err(failure)?;
        match stream.read(&mut room) {
            Ok(0) => ended = true,
            Ok(more) => bytes.extend_from_slice(&room[..more]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failure(error)),
        }
    }
}

fn failure(error: io::Error) -> Fault {
    let kind = match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Kind::Timeout,
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => Kind::Closed,
        _ => Kind::Io,
    };
    Fault::new(kind, error)
}

/// A complete result with this id, and no failed tool.
fn check(answer: &Answer<'_>, id: u64) -> Result<(), Fault> {
    if answer.head.status != 200 {
        return Err(Fault::showing(Kind::Status, answer.head.status, answer.body));
    }
    let events = sse::events(answer.body);
    let body = match answer.head.form {
        Form::Json => answer.body,
        Form::Events => events.last().map_or(&b""[..], |last| last),
        Form::Other => {
            let reason = "neither JSON nor an event stream";
            return Err(Fault::showing(Kind::Form, reason, answer.body));
        }
    };
    let wrong = |kind, reason: &str| Err(Fault::showing(kind, reason, body));
    let message: Value = serde_json::from_slice(body)
        .map_err(|error| Fault::showing(Kind::Message, format!("not JSON ({error})"), body))?;
    if !message["error"].is_null() {
        return wrong(Kind::Error, "an error");
    }
    if message["id"] != id {
        return wrong(Kind::Id, &format!("the id is not {id}"));
    }
    match &message["result"] {
        Value::Object(result) if result.get("isError") == Some(&Value::Bool(true)) => {
            wrong(Kind::Tool, "the tool reports a failure")
        }
        Value::Object(result) if result.get("resultType") != Some(&"complete".into()) => {
            wrong(Kind::Result, "not complete")
        }
        Value::Object(_) => Ok(()),
        _ => wrong(Kind::Message, "no result"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only a complete result of this request is a publish that events can be expected of.
    #[test]
    fn answers() {
        let checked = |body: &str, head: &str| {
            let bytes = format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
                .into_bytes();
            let mut reader = Reader::default();
            let answer = reader.read(&bytes, false).unwrap().unwrap();
            check(&answer, 5).map_err(|fault| fault.kind)
        };
        let json = "200 OK\r\nContent-Type: application/json";
        let right = r#"{"jsonrpc":"2.0","id":5,"result":{"resultType":"complete"}}"#;
        assert_eq!(checked(right, json), Ok(()));
        let events = "200 OK\r\nContent-Type: text/event-stream";
        assert_eq!(checked(&format!("data: {{}}\n\ndata: {right}\n\n"), events), Ok(()));
        for (body, head, kind) in [
            (right, "503 No", Kind::Status),
            (right, "200 OK", Kind::Form),
            ("", events, Kind::Message),
            ("x", json, Kind::Message),
            (r#"{"id":6,"result":{"resultType":"complete"}}"#, json, Kind::Id),
            (r#"{"id":5,"error":{"code":1,"message":""}}"#, json, Kind::Error),
            (r#"{"id":5,"result":{}}"#, json, Kind::Result),
            (r#"{"id":5}"#, json, Kind::Message),
            (r#"{"id":5,"result":{"isError":true,"resultType":"complete"}}"#, json, Kind::Tool),
        ] {
            assert_eq!(checked(body, head), Err(kind), "{body}");
        }
    }
}
