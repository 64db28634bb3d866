//! The other end: writes lines, reads messages, waits no longer than a fault should take to show.

use std::io::{BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use ringmcp::{Builder, Driver, Handle};
use serde_json::{Value, json};

/// Nothing here takes this long: it only keeps a fault from hanging the tests.
const PATIENCE: Duration = Duration::from_secs(20);

/// A client with its server.
pub(crate) struct Peer {
    pub(crate) handle: Handle,
    pub(crate) stream: UnixStream,
    reader: BufReader<UnixStream>,
}

impl Peer {
    /// [STD-12] a Unix socket is as good as a pipe.
    pub(crate) fn connect(builder: Builder) -> Self {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let handle = builder.stream(theirs.try_clone().unwrap(), theirs).start().unwrap();
        Self::over(handle, ours)
    }

    /// The other end of a stream that is served.
    pub(crate) fn over(handle: Handle, ours: UnixStream) -> Self {
        ours.set_read_timeout(Some(PATIENCE)).unwrap();
        ours.set_write_timeout(Some(PATIENCE)).unwrap();
        Self { handle, reader: BufReader::new(ours.try_clone().unwrap()), stream: ours }
    }

    pub(crate) fn write(&mut self, text: impl AsRef<[u8]>) {
        self.stream.write_all(text.as_ref()).unwrap();
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n"));
    }

    /// The next line, as it is.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.reader.read_line(&mut line).unwrap() > 0, "the server has ended");
        assert_eq!(line.pop(), Some('\n'));
        line
    }

    pub(crate) fn message(&mut self) -> Value {
        let line = self.line();
        let message: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    }

    pub(crate) fn ask(&mut self, message: &Value) -> Value {
        self.send(message);
        self.message()
    }

    /// Ends the input; what still comes, to the end of the server.
    pub(crate) fn finish(mut self) -> Vec<Value> {
        self.stream.shutdown(Shutdown::Write).unwrap();
        let mut rest = Vec::new();
        let mut line = String::new();
        while self.reader.read_line(&mut line).unwrap() > 0 {
            rest.push(serde_json::from_str(&line).unwrap());
            line.clear();
        }
        self.handle.join().unwrap();
        rest
    }
}

/// A request with an envelope.
pub(crate) fn request(id: impl Into<Value>, method: &str, mut params: Value) -> Value {
    let extra = params.get("_meta").cloned().unwrap_or(json!({}));
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
    });
    for (key, value) in extra.as_object().unwrap() {
        params["_meta"][key] = value.clone();
    }
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

pub(crate) fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    request(id, "tools/call", json!({ "name": tool, "arguments": arguments }))
}

pub(crate) fn cancel(id: impl Into<Value>) -> Value {
    let params = json!({ "requestId": id.into(), "reason": "enough" });
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })
}

pub(crate) fn on_both_drivers(make: impl Fn() -> Builder, test: impl Fn(Peer)) {
    for driver in [Driver::Auto, Driver::Epoll] {
        test(Peer::connect(make().driver(driver)));
    }
}
