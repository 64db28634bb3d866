//! The baseline request of the ledger (B0), and one change at a time.

use serde_json::{Map, Value, json};

pub const VERSION: &str = "2026-07-28";
pub const PV: &str = "io.modelcontextprotocol/protocolVersion";
pub const CC: &str = "io.modelcontextprotocol/clientCapabilities";
pub const CI: &str = "io.modelcontextprotocol/clientInfo";
pub const LL: &str = "io.modelcontextprotocol/logLevel";

/// A request under construction.
#[derive(Clone)]
pub struct Request {
    pub http_method: String,
    pub path: String,
    pub headers: Vec<(String, Vec<u8>)>,
    pub message: Value,
    body: Option<Vec<u8>>,
}

impl Request {
    /// A well-formed request of the modern era with `params` (its `_meta` is added).
    pub fn new(method: &str, params: Value) -> Self {
        let mut params = match params {
            Value::Object(params) => params,
            Value::Null => Map::new(),
            other => panic!("params must be an object: {other}"),
        };
        params.insert(
            "_meta".into(),
            json!({ PV: VERSION, CC: {}, CI: { "name": "t", "version": "1" } }),
        );
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let mut request = Self {
            http_method: "POST".into(),
            path: "/mcp".into(),
            headers: Vec::new(),
            message,
            body: None,
        }
        .header("Host", "localhost")
        .header("Content-Type", "application/json")
        .header("Accept", "application/json, text/event-stream")
        .header("MCP-Protocol-Version", VERSION)
        .header("Mcp-Method", method);
        let named = match method {
            "tools/call" | "prompts/get" => request.message["params"]["name"].as_str(),
            "resources/read" => request.message["params"]["uri"].as_str(),
            _ => None,
        };
        if let Some(name) = named.map(str::to_owned) {
            request = request.header("Mcp-Name", &name);
        }
        request
    }

    /// `tools/call` of `name`.
    pub fn call(name: &str, arguments: Value) -> Self {
        Self::new("tools/call", json!({ "name": name, "arguments": arguments }))
    }

    /// `subscriptions/listen` with this filter.
    pub fn listen(notifications: Value) -> Self {
        Self::new("subscriptions/listen", json!({ "notifications": notifications }))
    }

    pub fn id(mut self, id: Value) -> Self {
        self.message["id"] = id;
        self
    }

    /// Sets a header, replacing lines of the same name.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self = self.without_header(name);
        self.headers.push((name.into(), value.as_bytes().to_vec()));
        self
    }

    /// Adds a line, whatever is there.
    pub fn add_header(mut self, name: &str, value: &[u8]) -> Self {
        self.headers.push((name.into(), value.to_vec()));
        self
    }

    pub fn without_header(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    /// Sets a key of `params._meta`.
    pub fn meta(mut self, key: &str, value: Value) -> Self {
        self.message["params"]["_meta"][key] = value;
        self
    }

    pub fn without_meta(mut self, key: &str) -> Self {
        if let Some(meta) = self.message["params"]["_meta"].as_object_mut() {
            meta.shift_remove(key);
        }
        self
    }

    /// Declares client capabilities.
    pub fn capabilities(self, capabilities: Value) -> Self {
        self.meta(CC, capabilities)
    }

    /// Sets a member of `params`.
    pub fn param(mut self, name: &str, value: Value) -> Self {
        self.message["params"][name] = value;
        self
    }

    /// Sets a member of the message itself.
    pub fn member(mut self, name: &str, value: Value) -> Self {
        self.message[name] = value;
        self
    }

    pub fn without_member(mut self, name: &str) -> Self {
        if let Some(message) = self.message.as_object_mut() {
            message.shift_remove(name);
        }
        self
    }

    /// The body as raw bytes instead of the message.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(body.into());
        self
    }

    pub fn http(mut self, method: &str, path: &str) -> Self {
        self.http_method = method.into();
        self.path = path.into();
        self
    }

    /// The whole request, with a `Content-Length` unless framing headers were given.
    pub fn bytes(&self) -> Vec<u8> {
        let body = self.body.clone().unwrap_or_else(|| self.message.to_string().into_bytes());
        let mut out = format!("{} {} HTTP/1.1\r\n", self.http_method, self.path).into_bytes();
        let mut framed = false;
        for (name, value) in &self.headers {
            framed |= name.eq_ignore_ascii_case("content-length")
                || name.eq_ignore_ascii_case("transfer-encoding");
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b": ");
            out.extend_from_slice(value);
            out.extend_from_slice(b"\r\n");
        }
        if !framed {
            out.extend_from_slice(format!("Content-Length: {}\r\n", body.len()).as_bytes());
        }
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(&body);
        out
    }

    /// The JSON-RPC method.
    pub fn method(&self) -> &str {
        self.message["method"].as_str().unwrap_or_default()
    }
}
