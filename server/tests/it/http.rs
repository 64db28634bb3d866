//! Requests as bytes, and as much of an answer as a test looks at.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::process::PATIENCE;

/// A connection and what was read from it so far.
pub(crate) struct Conversation {
    stream: TcpStream,
    seen: String,
}

impl Conversation {
    /// Connects and sends these bytes.
    pub(crate) fn open(address: &str, request: &str) -> Self {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        Self { stream, seen: String::new() }
    }

    /// Reads until `text` has come; everything that came since the last call.
    pub(crate) fn until(&mut self, text: &str) -> String {
        let mut chunk = [0; 4096];
        loop {
            if let Some(at) = self.seen.find(text) {
                let rest = self.seen.split_off(at + text.len());
                return std::mem::replace(&mut self.seen, rest);
            }
            let read = self.stream.read(&mut chunk).unwrap();
            assert_ne!(read, 0, "closed before {text:?} came; so far: {}", self.seen);
            self.seen.push_str(std::str::from_utf8(&chunk[..read]).unwrap());
        }
    }

    /// Reads to the end of the connection.
    pub(crate) fn rest(mut self) -> String {
        self.stream.read_to_string(&mut self.seen).unwrap();
        self.seen
    }
}

/// A modern request with every header; `name` goes into `Mcp-Name`, further headers end with CR LF each.
pub(crate) fn request(
    address: &str,
    method: &str,
    name: &str,
    params: &Value,
    extra: &str,
) -> String {
    let mut params = params.clone();
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    params["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({ "name": "t", "version": "1" });
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({ "elicitation": {}, "sampling": {}, "roots": {} });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let name = if name.is_empty() { String::new() } else { format!("Mcp-Name: {name}\r\n") };
    format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: {method}\r\n{name}{extra}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Calls a tool on a connection of its own; the whole answer, head included.
pub(crate) fn call(address: &str, tool: &str, arguments: Value) -> String {
    let params = json!({ "name": tool, "arguments": arguments });
    let request = request(address, "tools/call", tool, &params, "Connection: close\r\n");
    Conversation::open(address, &request).rest()
}

/// The text of a tool's result.
pub(crate) fn text(answer: &str) -> String {
    let body = answer.split_once("\r\n\r\n").unwrap().1;
    let message: Value = serde_json::from_str(body).unwrap_or_else(|_| panic!("no JSON: {answer}"));
    message["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{body}")).to_owned()
}
