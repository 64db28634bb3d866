//! The requests: well-formed 2026-07-28 POSTs that differ only in their id.

use clap::ValueEnum;
use serde_json::{Value, json};

use crate::cli::RunArgs;

/// The revision spoken.
pub(crate) const VERSION: &str = "2026-07-28";

/// What a run asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scenario {
    /// `tools/call` of --tool with --args.
    ToolsCall,
    /// `tools/list`, first page.
    ToolsList,
    /// `server/discover`.
    Discover,
}

impl Scenario {
    fn method(self) -> &'static str {
        match self {
            Self::ToolsCall => "tools/call",
            Self::ToolsList => "tools/list",
            Self::Discover => "server/discover",
        }
    }

    /// Whether a tool is called.
    pub(crate) fn is_call(self) -> bool {
        self == Self::ToolsCall
    }

    /// The name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ToolsCall => "tools-call",
            Self::ToolsList => "tools-list",
            Self::Discover => "discover",
        }
    }
}

/// A request in three pieces, with its length and its id between them.
#[derive(Debug)]
pub(crate) struct Template {
    /// Up to the value of `Content-Length`.
    head: Vec<u8>,
    /// From the end of that line up to the id.
    middle: Vec<u8>,
    /// What follows the id.
    tail: Vec<u8>,
    /// Bytes of the body besides the id.
    body_bytes: usize,
}

impl Template {
    /// The request a run repeats.
    pub(crate) fn new(args: &RunArgs) -> Self {
        let scenario = args.scenario;
        let mut params = json!({ "_meta": {
            "io.modelcontextprotocol/protocolVersion": VERSION,
            "io.modelcontextprotocol/clientInfo":
                { "name": "ringmcp-loadtest", "version": env!("CARGO_PKG_VERSION") },
            "io.modelcontextprotocol/clientCapabilities": {},
        }});
        let mut name_line = String::new();
        if scenario.is_call() {
            params["name"] = Value::from(args.tool.as_str());
            params["arguments"] = args.args.clone();
            name_line = format!("Mcp-Name: {}\r\n", args.tool);
        }
        let method = scenario.method();
        let before_id = r#"{"jsonrpc":"2.0","id":"#;
        let after_id = format!(r#","method":"{method}","params":{params}}}"#);
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {VERSION}\r\n\
             Mcp-Method: {method}\r\n{name_line}Content-Length: ",
            args.url.target(),
            args.url.authority(),
        );
        Self {
            head: head.into_bytes(),
            middle: format!("\r\n\r\n{before_id}").into_bytes(),
            body_bytes: before_id.len() + after_id.len(),
            tail: after_id.into_bytes(),
        }
    }

    /// Appends the request with this id; its length in bytes.
    pub(crate) fn write(&self, out: &mut Vec<u8>, id: u64) -> usize {
        let start = out.len();
        let mut digits = Digits::default();
        let id = digits.of(id);
        out.extend_from_slice(&self.head);
        out.extend_from_slice(Digits::default().of((self.body_bytes + id.len()) as u64));
        out.extend_from_slice(&self.middle);
        out.extend_from_slice(id);
        out.extend_from_slice(&self.tail);
        out.len() - start
    }
}

/// Room for the decimal digits of a number: one is written for every request and compared for every answer.
#[derive(Default)]
pub(crate) struct Digits([u8; 20]);

impl Digits {
    /// The digits of `number`.
    pub(crate) fn of(&mut self, mut number: u64) -> &[u8] {
        let mut at = self.0.len();
        loop {
            at -= 1;
            self.0[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                return &self.0[at..];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    /// [HDR-01] [HDR-10] [HDR-11] [RPC-01] The head repeats the body, and the length is the body's, whatever the id.
    #[test]
    fn heads_agree_with_bodies() {
        for scenario in ["tools-call", "tools-list", "discover"] {
            let line =
                ["x", "run", "--url", "http://h/mcp", "--requests", "1", "--scenario", scenario];
            let Command::Run(args) = Cli::try_parse_from(line).unwrap().command else {
                panic!("not run")
            };
            let template = Template::new(&args);
            for id in [0, 9, 10, u64::MAX] {
                let mut out = Vec::new();
                assert_eq!(template.write(&mut out, id), out.len());
                let text = String::from_utf8(out).unwrap();
                let (head, body) = text.split_once("\r\n\r\n").unwrap();
                let message: Value = serde_json::from_str(body).unwrap();
                let has = |line: &str| assert!(head.lines().any(|l| l == line), "{line} in {head}");
                has(&format!("Content-Length: {}", body.len()));
                has(&format!("Mcp-Method: {}", message["method"].as_str().unwrap()));
                has("MCP-Protocol-Version: 2026-07-28");
                assert_eq!(message["id"], id);
                if scenario == "tools-call" {
                    has("Mcp-Name: echo");
                    assert_eq!(message["params"]["arguments"], json!({ "text": "hello" }));
                }
            }
        }
    }
}
