//! The inputs of the benches, and the server they are for: the same bytes everywhere, so that figures of two layers can be
//! subtracted.

use std::fmt::Write;
use std::time::Duration;

use ringmcp::types::Resource;
use ringmcp::{Context, HandlerError, InProcess, InProcessConnection, Server, ToolError};

/// The body of a `tools/call` of `echo`, 285 bytes: the request every server here is measured with.
pub const CALL: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"#,
    r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{}},"#,
    r#""name":"echo","arguments":{"text":"hello"}}}"#,
);

/// An answer that takes longer is a fault of the bench.
pub const LIMIT: Duration = Duration::from_secs(5);

/// Tools of [`many_server`] beside those that are called.
const TOOLS: usize = 1000;

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

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Table {
    rows: Vec<Row>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Row {
    id: u64,
    name: String,
    price: f64,
    active: bool,
}

/// A server in memory with `echo`, `rows`, a resource, and a thousand tools to list.
///
/// # Panics
/// Never: its registrations are in order.
#[must_use]
pub fn many_server() -> InProcess {
    let mut builder = Server::builder("bench", "1.0.0")
        .tool("echo", "Says it again", async |_: &Context<'_>, Echo { text }: Echo| {
            Ok::<_, ToolError>(text)
        })
        .tool("rows", "Adds up prices", async |_: &Context<'_>, Table { rows }: Table| {
            let counted =
                rows.iter().filter(|row| row.active && !row.name.is_empty() && row.id > 0);
            Ok::<_, ToolError>(counted.map(|row| row.price).sum::<f64>())
        })
        .resource(Resource::new("bench://text", "text"), async |_: &Context<'_>| {
            Ok::<_, HandlerError>("a short text")
        });
    for number in 0..TOOLS {
        let description = format!("One of {TOOLS} tools that are listed and never called");
        builder = builder.tool(
            format!("tool_{number:04}"),
            description,
            async |_: &Context<'_>, Table { rows }: Table| Ok::<_, ToolError>(rows.len()),
        );
    }
    builder.in_process().expect("the registrations are in order")
}

/// The body of a request: `params` is the members beside `_meta`, as JSON without braces.
#[must_use]
pub fn request_body(method: &str, params: &str) -> String {
    let (start, rest) = CALL.split_once("tools/call").expect("the call names its method");
    let (meta, _) = rest.split_once(r#","name":"#).expect("the call names its tool");
    let comma = if params.is_empty() { "" } else { "," };
    format!("{start}{method}{meta}{comma}{params}}}}}")
}

/// A whole call of a tool over HTTP.
#[must_use]
pub fn post(tool: &str, body: &str) -> Vec<u8> {
    post_of("tools/call", Some(tool), body)
}

/// A whole request over HTTP with this body, its headers as the protocol asks.
#[must_use]
pub fn post_of(method: &str, name: Option<&str>, body: &str) -> Vec<u8> {
    let name = name.map(|name| format!("Mcp-Name: {name}\r\n")).unwrap_or_default();
    format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: {method}\r\n{name}Content-Length: {}\r\n\r\n{body}",
        body.len(),
    )
    .into_bytes()
}

/// Sends `bytes` and waits for as many bytes as the answers have.
///
/// # Panics
/// When fewer or more come within [`LIMIT`].
pub fn exchange(connection: &InProcessConnection<'_>, bytes: &[u8], answers: usize) {
    connection.send(bytes);
    let got = connection.receive(LIMIT, |got| got.len() >= answers);
    assert_eq!(got.len(), answers);
}

/// Sends one request and takes its answer, for the bench to know how long it is and to look at it.
///
/// # Panics
/// When none of a declared length comes within [`LIMIT`].
#[must_use]
pub fn answer(connection: &InProcessConnection<'_>, request: &[u8]) -> String {
    connection.send(request);
    let whole = |got: &[u8]| {
        let got = String::from_utf8_lossy(got);
        let (head, body) = got.split_once("\r\n\r\n")?;
        let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "))?;
        (body.len() == length.parse::<usize>().ok()?).then_some(())
    };
    let got = connection.receive(LIMIT, |got| whole(got).is_some());
    assert!(whole(&got).is_some(), "{}", String::from_utf8_lossy(&got));
    String::from_utf8_lossy(&got).into_owned()
}

/// Whether the text is in these bytes.
#[must_use]
pub fn has(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
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
        assert_eq!(
            request_body("tools/call", r#""name":"echo","arguments":{"text":"hello"}"#),
            CALL
        );
    }
}
