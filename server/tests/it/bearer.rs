//! `--bearer`: who gets in.

use serde_json::json;

use crate::http::{Conversation, request};
use crate::process::{Server, command};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

fn guarded() -> Server {
    let mut command = command(&["--handlers", "everything"]);
    command.env("RINGMCP_BEARER", TOKEN);
    Server::spawn(command)
}

fn ask(server: &Server, headers: &str) -> String {
    let params = json!({ "name": "whoami", "arguments": {} });
    let headers = format!("Connection: close\r\n{headers}");
    let request = request(server.address(), "tools/call", "whoami", &params, &headers);
    Conversation::open(server.address(), &request).rest()
}

/// [AUTH-04] [AUTH-07] only the token itself opens, whatever the case of the scheme.
#[test]
fn the_token_opens_and_nothing_else_does() {
    let server = guarded();
    for scheme in ["Bearer", "bearer", "BEARER", "Bearer "] {
        let answer = ask(&server, &format!("Authorization: {scheme} {TOKEN}\r\n"));
        assert!(answer.contains(r#""text":"bearer""#), "{scheme}: {answer}");
    }
    let without = ask(&server, "");
    assert!(without.starts_with("HTTP/1.1 401 "), "{without}");
    assert!(without.contains("WWW-Authenticate: Bearer realm=\"mcp\"\r\n"), "{without}");
    let longer = format!("Bearer {TOKEN}0");
    for wrong in
        ["Bearer", "Bearer ", "Bearer 0", "Basic 0123", &longer, &longer[..20], "Bearer a\"b"]
    {
        let answer = ask(&server, &format!("Authorization: {wrong}\r\n"));
        assert!(answer.starts_with("HTTP/1.1 401 "), "{wrong}: {answer}");
        assert!(answer.contains(r#"error="invalid_token""#), "{wrong}: {answer}");
        assert!(!answer.contains("jsonrpc"), "{wrong}: {answer}");
    }
}

/// [AUTH-06] two credentials are none.
#[test]
fn two_credentials_are_refused() {
    let server = guarded();
    let line = format!("Authorization: Bearer {TOKEN}\r\n");
    let answer = ask(&server, &format!("{line}{line}"));
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
}

#[test]
fn the_banner_does_not_show_the_token() {
    let server = guarded();
    assert!(server.banner().contains("$RINGMCP_BEARER"), "{}", server.banner());
    assert!(!server.banner().contains(TOKEN));
}
