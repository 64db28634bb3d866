//! The two requests: listening, and publishing.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::filter::NUMBER;
use crate::request::VERSION;
use crate::url::Url;

const LISTEN: &str = "subscriptions/listen";

/// One POST of the protocol's revision, its body given.
fn post(url: &Url, method: &str, name: Option<&str>, body: &str) -> Vec<u8> {
    let name = name.map(|name| format!("Mcp-Name: {name}\r\n")).unwrap_or_default();
    format!(
        "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {VERSION}\r\n\
         Mcp-Method: {method}\r\n{name}Content-Length: {}\r\n\r\n{body}",
        url.target(),
        url.authority(),
        body.len(),
    )
    .into_bytes()
}

fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientInfo":
            { "name": "ringmcp-loadtest", "version": env!("CARGO_PKG_VERSION") },
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// Opens stream `id`, which is also the subscription's id (SUB-03).
pub(crate) fn listen(url: &Url, id: u64, notifications: &Map<String, Value>) -> Vec<u8> {
    let params = json!({ "_meta": meta(), "notifications": notifications });
    let body = json!({ "jsonrpc": "2.0", "id": id, "method": LISTEN, "params": params });
    post(url, LISTEN, None, &body.to_string())
}

/// The request that makes one event on every stream.
#[derive(Debug)]
pub(crate) struct Publish {
    method: String,
    /// The members of `params`, as text in which [`NUMBER`] may stand.
    params: String,
}

impl Publish {
    /// A call of `tool` without arguments.
    pub(crate) fn tool(tool: &str) -> Self {
        let params = json!({ "_meta": meta(), "name": tool, "arguments": {} });
        Self { method: "tools/call".to_owned(), params: params.to_string() }
    }

    /// The request in a file: `method` and `params`, whose `_meta` is filled in where it lacks something.
    ///
    /// # Errors
    /// The file cannot be read, or holds something else.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
        Self::parse(&text)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut request: Value =
            serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
        let Some(method) = request["method"].as_str().map(str::to_owned) else {
            return Err("needs {\"method\": ..., \"params\": {...}}".to_owned());
        };
        if method.is_empty() || !method.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(format!("no method: {method:?}"));
        }
        let mut params = match request["params"].take() {
            Value::Null => Map::new(),
            Value::Object(params) => params,
            _ => return Err("params must be an object".to_owned()),
        };
        let mut filled = meta();
        if let (Some(Value::Object(own)), Value::Object(filled)) =
            (params.remove("_meta"), &mut filled)
        {
            filled.extend(own);
        }
        params.insert("_meta".to_owned(), filled);
        for name in ["name", "uri"].iter().filter_map(|key| params.get(*key)) {
            if !name.as_str().is_some_and(|name| name.bytes().all(|b| b.is_ascii_graphic())) {
                return Err(format!("{name} is no text that a header line can carry as it is"));
            }
        }
        Ok(Self { method, params: Value::from(params).to_string() })
    }

    /// Whether it differs from publish to publish.
    pub(crate) fn is_numbered(&self) -> bool {
        self.params.contains(NUMBER)
    }

    /// What is asked, for the report.
    pub(crate) fn summary(&self) -> String {
        match self.name(&self.params) {
            Some(name) => format!("{} of {name}", self.method),
            None => self.method.clone(),
        }
    }

    /// The bytes of publish `number`, which is also the request's id.
    pub(crate) fn write(&self, url: &Url, number: u64) -> Vec<u8> {
        let params = self.params.replace(NUMBER, &number.to_string());
        let method = &self.method;
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{number},"method":{},"params":{params}}}"#,
            Value::from(method.as_str())
        );
        post(url, method, self.name(&params).as_deref(), &body)
    }

    /// [HDR-11] What the method is done to: the tool's or prompt's name, the resource's URI.
    fn name(&self, params: &str) -> Option<String> {
        let key = match self.method.as_str() {
            "tools/call" | "prompts/get" => "name",
            "resources/read" => "uri",
            _ => return None,
        };
        let params: Value = serde_json::from_str(params).ok()?;
        params[key].as_str().map(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(bytes: Vec<u8>) -> (String, Value) {
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("\r\nContent-Length: {}", body.len())), "{head}");
        (head.to_owned(), serde_json::from_str(body).unwrap())
    }

    /// [HDR-01] [HDR-10] [HDR-11] [SUB-01] Heads repeat bodies.
    #[test]
    fn heads_agree_with_bodies() {
        let url = "http://h/mcp".parse().unwrap();
        let filter = json!({ "toolsListChanged": true });
        let (head, body) = parts(listen(&url, 7, filter.as_object().unwrap()));
        assert!(
            head.contains("\r\nMcp-Method: subscriptions/listen\r\n") && !head.contains("Mcp-Name")
        );
        assert_eq!((&body["id"], &body["params"]["notifications"]), (&7.into(), &filter));
        let (head, body) = parts(Publish::tool("poke").write(&url, 3));
        assert!(head.contains("\r\nMcp-Method: tools/call\r\nMcp-Name: poke\r\n"), "{head}");
        assert_eq!((&body["id"], &body["params"]["name"]), (&3.into(), &"poke".into()));
        assert_eq!(body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"], VERSION);
    }

    /// A request from a file is sent as it stands, numbered, with what it left out.
    #[test]
    fn files() {
        let url = "http://h/".parse().unwrap();
        let text = r#"{"method":"tools/call","params":{"name":"touch","arguments":{"uri":"a://{n}"},"_meta":{"k":1}}}"#;
        let publish = Publish::parse(text).unwrap();
        assert!(publish.is_numbered());
        let (head, body) = parts(publish.write(&url, 12));
        assert!(head.contains("\r\nMcp-Name: touch"), "{head}");
        assert_eq!(body["params"]["arguments"]["uri"], "a://12");
        assert_eq!(body["params"]["_meta"]["k"], 1);
        assert!(body["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"].is_object());
        for wrong in [
            "",
            "{}",
            r#"{"method":1}"#,
            r#"{"method":"a\r\nb"}"#,
            r#"{"method":"m","params":[]}"#,
            r#"{"method":"tools/call","params":{"name":"a b"}}"#,
        ] {
            assert!(Publish::parse(wrong).is_err(), "{wrong}");
        }
    }
}
