//! The inputs of the benches, and the server they are for: the same bytes everywhere, so that figures of two layers can be
//! subtracted.

use std::fmt::Write;

use ringmcp::{Context, InProcess, Server, ToolError};

/// The body of a `tools/call` of `echo`, 285 bytes: the request every server here is measured with.
pub const CALL: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"#,
    r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{}},"#,
    r#""name":"echo","arguments":{"text":"hello"}}}"#,
);

/// The result of that call.
pub const RESULT: &str = r#"{"content":[{"type":"text","text":"hello"}],"resultType":"complete"}"#;

/// Rows of [`rows_call`]: about 70 KB.
pub const ROWS: usize = 1000;

/// The body of a call with a table as its arguments: `rows` objects of an integer, text, a float and a flag.
#[must_use]
pub fn rows_call(rows: usize) -> String {
    let mut table = String::from(r#"{"rows":["#);
    for id in 0..rows {
        let comma = if id > 0 { "," } else { "" };
        let (price, flag) = (id as f64 * 1.25 + 0.5, id % 3 == 0);
        // Every eighth name needs unescaping.
        let name = if id % 8 == 0 { r#"row \"quoted\" and more"# } else { "row of ordinary text" };
        write!(table, r#"{comma}{{"id":{id},"name":"{name}","price":{price:?},"active":{flag}}}"#)
            .expect("a String takes everything");
    }
    table.push_str("]}");
    CALL.replace(r#"{"text":"hello"}"#, &table).replace(r#""name":"echo""#, r#""name":"rows""#)
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    text: String,
}

/// The server that answers [`CALL`], in memory.
///
/// # Panics
/// Never: its one registration is in order.
#[must_use]
pub fn echo_server() -> InProcess {
    Server::builder("bench", "1.0.0")
        .tool("echo", "Says it again", async |_: &Context<'_>, Echo { text }: Echo| {
            Ok::<_, ToolError>(text)
        })
        .in_process()
        .expect("the registrations are in order")
}

/// A whole request over HTTP with this body, its headers as the protocol asks.
#[must_use]
pub fn post(tool: &str, body: &str) -> Vec<u8> {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: tools/call\r\nMcp-Name: {tool}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len(),
    )
    .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures are comparable only while the request is the same.
    #[test]
    fn inputs_stay_the_same() {
        assert_eq!(CALL.len(), 285);
        assert_eq!(post("echo", CALL).len(), 501);
        assert_eq!(rows_call(ROWS).len(), 70_822);
    }
}
