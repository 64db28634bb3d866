//! Requests as bytes, and calls on a connection of their own.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::Outcome;

/// No answer within this is a failure.
pub const PATIENCE: Duration = Duration::from_secs(20);

const META: &str = concat!(
    r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{}}"#,
);

pub fn call(tool: &str, arguments: &str) -> Vec<u8> {
    request("tools/call", Some(tool), &format!(r#""name":"{tool}","arguments":{arguments}"#))
}

/// Listens for updates of one resource, or for changes of the tools.
pub fn listen(uri: Option<&str>) -> Vec<u8> {
    let filter = match uri {
        Some(uri) => format!(r#"{{"resourceSubscriptions":["{uri}"]}}"#),
        None => r#"{"toolsListChanged":true}"#.to_owned(),
    };
    request("subscriptions/listen", None, &format!(r#""notifications":{filter}"#))
}

/// Announces that `times` times in one call.
pub fn publish(uri: Option<&str>, times: usize) -> Vec<u8> {
    let uri = uri.map(|uri| format!(r#""uri":"{uri}","#)).unwrap_or_default();
    call("publish", &format!(r#"{{{uri}"times":{times}}}"#))
}

fn request(method: &str, name: Option<&str>, params: &str) -> Vec<u8> {
    let body =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{META},{params}}}}}"#);
    let name = name.map(|name| format!("Mcp-Name: {name}\r\n")).unwrap_or_default();
    format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: {method}\r\n{name}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

pub fn connect(to: SocketAddr) -> Outcome<TcpStream> {
    let stream = TcpStream::connect_timeout(&to, PATIENCE)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(stream)
}

/// The text that the tool answers; escapes are left as they are.
pub fn text_of(to: SocketAddr, request: &[u8]) -> Outcome<String> {
    let mut stream = connect(to)?;
    stream.write_all(request)?;
    let (mut got, mut chunk) = (Vec::new(), [0; 65_536]);
    loop {
        if let Some(text) = texts(&got).next() {
            return Ok(text);
        }
        match stream.read(&mut chunk)? {
            0 => return Err(format!("closed after {:?}", String::from_utf8_lossy(&got)).into()),
            read => got.extend_from_slice(&chunk[..read]),
        }
    }
}

/// Every whole text of a tool's result in these bytes. The texts of the tools here have no quotes in them.
pub fn texts(bytes: &[u8]) -> impl Iterator<Item = String> + '_ {
    const BEFORE: &[u8] = br#""text":""#;
    memchr::memmem::find_iter(bytes, BEFORE).filter_map(move |at| {
        let text = &bytes[at + BEFORE.len()..];
        let end = memchr::memchr(b'"', text)?;
        Some(String::from_utf8_lossy(&text[..end]).into_owned())
    })
}
