//! A client of the 2025 era, as plain as it can be: POST, GET and DELETE by hand, events read one by one.

use serde_json::{Value, json};

use crate::schema::{validate, validate_result};
use crate::support::{Answer, Events, Running};

pub(crate) const LATEST: &str = "2025-11-25";
const BOTH: &str = "application/json, text/event-stream";

/// A client, before or after its handshake.
#[derive(Clone)]
pub(crate) struct Client<'s> {
    pub(crate) running: &'s Running,
    pub(crate) session: Option<String>,
    /// `MCP-Protocol-Version`, where it is sent.
    pub(crate) version: Option<String>,
    /// Further header lines.
    pub(crate) headers: Vec<(String, String)>,
}

impl<'s> Client<'s> {
    /// Nobody yet: no session, no header.
    pub(crate) fn new(running: &'s Running) -> Self {
        Self { running, session: None, version: None, headers: Vec::new() }
    }

    /// The same with a version header.
    pub(crate) fn version(mut self, version: &str) -> Self {
        self.version = Some(version.to_owned());
        self
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// After `initialize` and `notifications/initialized`, with these capabilities.
    pub(crate) fn connect(running: &'s Running, version: &str, capabilities: Value) -> Self {
        Self::new(running).handshake(version, capabilities)
    }

    /// The same for a client that has headers already.
    pub(crate) fn handshake(mut self, version: &str, capabilities: Value) -> Self {
        let answer = self.post(&initialize(version, capabilities));
        assert_eq!(answer.status, 200, "{answer:?}");
        self.session = answer.header("mcp-session-id").map(str::to_owned);
        let agreed = message(&answer)["result"]["protocolVersion"].as_str().map(str::to_owned);
        self.version = agreed;
        let note = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(self.post(&note).status, 202);
        self
    }

    /// One HTTP request as bytes.
    pub(crate) fn bytes(&self, http_method: &str, accept: &str, body: &str, more: &str) -> Vec<u8> {
        let mut head =
            format!("{http_method} /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: {accept}\r\n");
        if let Some(version) = &self.version {
            head += &format!("MCP-Protocol-Version: {version}\r\n");
        }
        if let Some(session) = &self.session {
            head += &format!("Mcp-Session-Id: {session}\r\n");
        }
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        if http_method == "POST" {
            head +=
                &format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
        }
        format!("{head}{more}\r\n{body}").into_bytes()
    }

    /// One message; the whole answer.
    pub(crate) fn post(&self, body: &Value) -> Answer {
        self.post_text(&body.to_string(), BOTH)
    }

    pub(crate) fn post_text(&self, body: &str, accept: &str) -> Answer {
        self.running.send_raw(&self.bytes("POST", accept, body, ""))
    }

    /// One request; its response, valid by the schema.
    pub(crate) fn request(&self, method: &str, params: Value) -> Value {
        let answer = self.post(&request(1, method, params));
        assert_eq!(answer.status, 200, "{answer:?}");
        message(&answer)
    }

    /// The result of a request, valid by the schema.
    pub(crate) fn result(&self, method: &str, params: Value) -> Value {
        let response = self.request(method, params);
        assert!(response.get("error").is_none(), "{response}");
        validate_result(method, &response["result"]);
        response["result"].clone()
    }

    /// The code of a request that fails in band.
    pub(crate) fn code(&self, method: &str, params: Value) -> i64 {
        let response = self.request(method, params);
        response["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {response}"))
    }

    /// A request whose answer is an event stream.
    pub(crate) fn stream(&self, body: &Value) -> Stream {
        Stream::open(self.running, &self.bytes("POST", BOTH, &body.to_string(), ""))
    }

    /// The standing stream, or the rest of the one whose last event is named.
    pub(crate) fn get(&self, last: Option<&str>) -> Stream {
        Stream::open(self.running, &self.get_bytes(last))
    }

    /// The standing stream, unless another connection still has it.
    pub(crate) fn try_get(&self) -> Option<Stream> {
        Stream::try_open(self.running, &self.get_bytes(None))
    }

    /// The status of a GET that is refused.
    pub(crate) fn get_refused(&self, last: Option<&str>) -> u16 {
        self.running.send_raw(&self.get_bytes(last)).status
    }

    fn get_bytes(&self, last: Option<&str>) -> Vec<u8> {
        let more = last.map(|id| format!("Last-Event-ID: {id}\r\n")).unwrap_or_default();
        self.bytes("GET", "text/event-stream", "", &more)
    }

    pub(crate) fn delete(&self) -> u16 {
        self.running.send_raw(&self.bytes("DELETE", "*/*", "", "")).status
    }

    /// Answers a request of the server.
    pub(crate) fn respond(&self, id: &Value, result: Value) {
        let answer = self.post(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
        assert_eq!((answer.status, answer.body.len()), (202, 0));
    }
}

pub(crate) fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

pub(crate) fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    request(id, "tools/call", json!({ "name": tool, "arguments": arguments }))
}

pub(crate) fn initialize(version: &str, capabilities: Value) -> Value {
    let info = json!({ "name": "t", "version": "1" });
    let params =
        json!({ "protocolVersion": version, "capabilities": capabilities, "clientInfo": info });
    request(0, "initialize", params)
}

/// The last message of an answer, JSON or events; every one of them valid by the schema.
pub(crate) fn message(answer: &Answer) -> Value {
    messages(answer).pop().unwrap_or_else(|| panic!("no message: {answer:?}"))
}

/// All messages of an answer.
pub(crate) fn messages(answer: &Answer) -> Vec<Value> {
    let text = std::str::from_utf8(&answer.body).expect("UTF-8");
    let found: Vec<Value> = match answer.header("content-type") {
        Some("application/json") => vec![serde_json::from_str(text).expect("JSON")],
        _ => text.split("\n\n").filter_map(Event::read).filter_map(|event| event.message).collect(),
    };
    let single = |message: &Value| match message.as_array() {
        Some(all) => all.iter().for_each(validate),
        None => validate(message),
    };
    found.iter().for_each(single);
    found
}

/// One server-sent event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: Option<String>,
    pub(crate) retry: Option<u64>,
    /// `None` where its data is empty.
    pub(crate) message: Option<Value>,
}

impl Event {
    fn read(block: &str) -> Option<Self> {
        let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
        let data = field("data: ")?;
        Some(Self {
            id: field("id: ").map(str::to_owned),
            retry: field("retry: ").map(|retry| retry.parse().expect("a number")),
            message: (!data.is_empty()).then(|| serde_json::from_str(data).expect("JSON")),
        })
    }
}

/// An open event stream.
pub(crate) struct Stream(Events);

impl Stream {
    fn open(running: &Running, bytes: &[u8]) -> Self {
        Self(Events::open(running.begin(bytes)))
    }

    /// `None`: refused, because somebody else reads it.
    fn try_open(running: &Running, bytes: &[u8]) -> Option<Self> {
        match Events::try_open(running.begin(bytes)) {
            Ok(events) => Some(Self(events)),
            Err(head) if head.starts_with("HTTP/1.1 409 ") => None,
            Err(head) => panic!("{head}"),
        }
    }

    /// The next event; comments are skipped. `None` at the end of the stream.
    pub(crate) fn event(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = Event::read(&self.0.block()?) {
                event.message.iter().for_each(validate);
                return Some(event);
            }
        }
    }

    /// The next message; events without data are skipped.
    pub(crate) fn message(&mut self) -> Value {
        loop {
            let event = self.event().expect("another message");
            if let Some(message) = event.message {
                return message;
            }
        }
    }

    /// All that is left, up to the end.
    pub(crate) fn rest(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.event()).collect()
    }
}
