//! What the operator is told once the server runs: on standard output, short, with a line to paste.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use ringmcp::Handle;

use crate::auth;
use crate::cli::Args;

const VERSION: &str = "2026-07-28";

/// Prints it. Nobody may be reading: that is no reason to stop.
pub(crate) fn print(args: &Args, handle: &Handle) {
    let Some(address) = handle.address() else { return };
    let text = text(args, handle, reachable(address));
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

fn text(args: &Args, handle: &Handle, address: SocketAddr) -> String {
    let url = format!("http://{address}{}", args.path);
    let offer = handle.registrations().offer();
    let (tool, arguments) = args.handlers.example();
    let call = format!(r#""name":"{tool}","arguments":{arguments}"#);
    let mut text = format!(
        "ringmcp-server {}: {}, {}, {}, {}\n{url} on {}, {}\n\nTry a tool:\n{}\n",
        env!("CARGO_PKG_VERSION"),
        count(offer.tools, "tool"),
        count(offer.prompts, "prompt"),
        count(offer.resources, "resource"),
        count(offer.templates, "template"),
        handle.driver(),
        count(handle.workers(), "worker"),
        curl(args, &url, "tools/call", Some(tool), &call),
    );
    if let Some(uri) = args.handlers.watchable() {
        let filter = format!(
            r#""notifications":{{"resourceSubscriptions":["{uri}"],"toolsListChanged":true}}"#
        );
        let listen = curl(args, &url, "subscriptions/listen", None, &filter);
        let _ = write!(text, "\nWatch {uri} change:\n{listen}\n");
    }
    text.push_str("\nCtrl-C ends it.\n");
    text
}

/// One command that works as it is: all headers, the whole envelope.
fn curl(args: &Args, url: &str, method: &str, name: Option<&str>, params: &str) -> String {
    let mut line = format!(
        "curl -sN '{url}' -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \
         -H 'MCP-Protocol-Version: {VERSION}' -H 'Mcp-Method: {method}'"
    );
    let mut header = |text: &str| {
        let _ = write!(line, " -H {text}");
    };
    if let Some(name) = name {
        header(&format!("'Mcp-Name: {name}'"));
    }
    if let Some(token) = auth::shell_header(args) {
        header(&token);
    }
    // The URL's own host is not answered where others are listed.
    if let Some(host) = args.allow_host.first().filter(|host| *host != "*" && !host.contains('\''))
    {
        header(&format!("'Host: {host}'"));
    }
    let meta = format!(
        r#"{{"io.modelcontextprotocol/protocolVersion":"{VERSION}","io.modelcontextprotocol/clientInfo":{{"name":"curl","version":"8"}},"io.modelcontextprotocol/clientCapabilities":{{}}}}"#
    );
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params},"_meta":{meta}}}}}"#
    );
    let _ = write!(line, " -d '{body}'");
    line
}

/// The unspecified address can be listened on but not called everywhere: its loopback can.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

fn count(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
