//! Scenario legacy: revision 2025-11-25, with sessions and without.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails with the line it is on")]

mod support;

use support::{Act, Scripted, Seen, all_right, fails, one_wrong, run_scenario as run};

/// A server of 2025-11-25; `sessions`: whether it gives them.
fn legacy(seen: &Seen, sessions: bool) -> Act {
    let session = seen.header("Mcp-Session-Id");
    if seen.head.starts_with("DELETE ") {
        assert!(session.is_some());
        return Act::Send(b"HTTP/1.1 204 No Content\r\n\r\n".to_vec());
    }
    assert!(seen.header("Mcp-Method").is_none() && seen.body["params"].get("_meta").is_none());
    let method = seen.body["method"].as_str().unwrap();
    if method == "initialize" {
        assert!(session.is_none() && seen.header("MCP-Protocol-Version").is_none());
        assert_eq!(seen.body["params"]["protocolVersion"], "2025-11-25");
        let hello = r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"x","version":"1"}}"#;
        let answer = String::from_utf8(seen.result(hello)).unwrap();
        let line = format!("\r\nMcp-Session-Id: s{}\r\n", seen.number);
        let line = if sessions { &*line } else { "\r\n" };
        return Act::Send(answer.replacen("\r\n", line, 1).into_bytes());
    }
    assert_eq!(session.is_some(), sessions);
    assert_eq!(seen.header("MCP-Protocol-Version"), Some("2025-11-25"));
    match method {
        "notifications/initialized" => {
            Act::Send(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n".to_vec())
        }
        "tools/call" => Act::Send(seen.result(r#"{"content":[{"type":"text","text":"hello"}]}"#)),
        other => panic!("{other}"),
    }
}

/// [LEG-13] [LEG-14] [LEG-16] [LEG-60] [LEG-62] Hands are shaken once a connection or for every call, and a session
/// is used and ended.
#[test]
fn the_older_revision() {
    for sessions in [false, true] {
        let (wanted, unwanted) = if sessions { ("required", "none") } else { ("none", "required") };
        for (handshake, pipeline, requests, exchanges) in [
            ("connection", "1", 2 * 2 + 20, 20),
            ("connection", "4", 2 * 2 + 20, 20),
            ("each", "1", 60, 60),
            ("each", "4", 60, 60),
        ] {
            let server = Scripted::start(move |seen| legacy(seen, sessions));
            let load = ["--requests", "20", "--connections", "2", "--expect", "hello"];
            let more = ["--handshake", handshake, "--sessions", wanted, "--pipeline", pipeline];
            let outcome = run(&server, "legacy", &[&load[..], &more].concat());
            all_right(&outcome, 20);
            let ends = match (sessions, handshake) {
                (false, _) => 0,
                (true, "each") => 20,
                (true, _) => 2,
            };
            assert_eq!(server.seen(), requests + ends, "{handshake}: {}", outcome.text);
            let counted = exchanges + if handshake == "each" { ends } else { 0 };
            assert_eq!(outcome.json["exchanges"], counted);
        }
        let server = Scripted::start(move |seen| legacy(seen, sessions));
        let load = ["--scenario", "legacy", "--sessions", unwanted];
        fails(&server, &load, 1, "Mcp-Session-Id");
    }
    // A connection that is lost shakes hands again.
    let server = Scripted::start(|seen| match seen.number {
        7 => Act::SendAndClose(Vec::new()),
        _ => legacy(seen, true),
    });
    let outcome = run(&server, "legacy", &["--requests", "20"]);
    one_wrong(&outcome, "closed");
    assert_eq!((&outcome.json["reconnects"], server.seen()), (&1.into(), 2 + 20 + 2 + 1));
}
