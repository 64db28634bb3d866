//! Heads and bodies agree, whatever the id and whatever a round adds.

use super::*;

/// The head's lines and the body of a request.
fn parts(bytes: Vec<u8>) -> (Vec<String>, Value) {
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.lines().any(|line| line == format!("Content-Length: {}", body.len())), "{text}");
    (head.lines().map(str::to_owned).collect(), serde_json::from_str(body).unwrap())
}

fn has(lines: &[String], line: &str) -> bool {
    lines.iter().any(|l| l == line)
}

/// [HDR-01] [HDR-10] [HDR-11] [RPC-01] The head repeats the body, and the length is the body's.
#[test]
fn heads_agree_with_bodies() {
    let url: Url = "http://h/mcp".parse().unwrap();
    let cases = [
        ("tools/call", json!({ "name": "echo", "arguments": { "text": "hello" } }), Some("echo")),
        ("resources/read", json!({ "uri": "test://ü" }), Some("=?base64?dGVzdDovL8O8?=")),
        ("tools/list", json!({}), None),
    ];
    for (method, params, name) in cases {
        for (answers, progress) in [(false, false), (true, true)] {
            let era = Era::Modern { answers, progress };
            let template = Template::request(&url, era, method, &params);
            for id in [0, 9, 10, u64::MAX] {
                let mut out = Vec::new();
                let extra = Extra { lines: "X: y\r\n", members: r#","requestState":"s""# };
                assert_eq!(template.write(&mut out, id, extra), out.len());
                let (lines, message) = parts(out);
                assert!(has(&lines, &format!("Mcp-Method: {method}")) && has(&lines, "X: y"));
                assert!(has(&lines, "MCP-Protocol-Version: 2026-07-28"));
                assert_eq!(lines.iter().find_map(|l| l.strip_prefix("Mcp-Name: ")), name);
                assert_eq!((&message["id"], &message["method"]), (&json!(id), &json!(method)));
                assert_eq!(message["params"]["requestState"], "s");
                let meta = &message["params"]["_meta"];
                let token = if progress { json!(id) } else { Value::Null };
                assert_eq!(meta["progressToken"], token);
                assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], VERSION);
                for (member, value) in params.as_object().unwrap() {
                    assert_eq!(&message["params"][member], value);
                }
            }
        }
    }
}

/// [LEG-12] A legacy request has no envelope, and the version's header once there is one.
#[test]
fn legacy_requests() {
    let url: Url = "http://h/mcp".parse().unwrap();
    for agreed in [false, true] {
        let template = Template::request(&url, Era::Legacy { agreed }, "tools/list", &json!({}));
        let mut out = Vec::new();
        template.write(&mut out, 7, Extra::default());
        let (lines, message) = parts(out);
        assert_eq!(has(&lines, "MCP-Protocol-Version: 2025-11-25"), agreed);
        assert!(!lines.iter().any(|line| line.starts_with("Mcp-Method")));
        assert_eq!(
            message,
            json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {} })
        );
    }
    let mut out = Vec::new();
    let era = Era::Legacy { agreed: true };
    Template::notification(&url, era, "notifications/initialized").write(
        &mut out,
        7,
        Extra::default(),
    );
    let (_, message) = parts(out);
    assert_eq!(message, json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
}

/// [PAR-01] What a header cannot carry goes in the sentinel.
#[test]
fn sentinels() {
    for (name, header) in [
        ("plain-1.x", "plain-1.x"),
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ("日本語", "=?base64?5pel5pys6Kqe?="),
    ] {
        assert_eq!(encoded(name), header);
    }
}
