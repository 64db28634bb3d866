//! Messages without a claim on a server of the modern era alone (ledger sections 20a and 20c).

use ringmcp::{Builder, Context, LegacyMode, Server, ToolError};
use serde_json::{Map, Value, json};

use crate::support::{Answer, CC, PV, Request, Running, VERSION, serve};

fn server() -> Builder {
    Server::builder("eras", "1").legacy(LegacyMode::Reject).tool(
        "hi",
        "Says hi",
        async |_: &Context, _: Map<String, Value>| Ok::<_, ToolError>("hi"),
    )
}

/// A message of the 2025 era, with or without its header.
fn legacy(running: &Running, method: &str, params: Value, header: Option<&str>) -> Answer {
    let mut request =
        Request::new(method, json!({})).without_header("Mcp-Method").without_header("Mcp-Name");
    request.message["params"] = params;
    request = match header {
        Some(version) => request.header("MCP-Protocol-Version", version),
        None => request.without_header("MCP-Protocol-Version"),
    };
    running.send(&request)
}

fn handshake(version: &str) -> Value {
    json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } })
}

fn unsupported(answer: &Answer, requested: &str) {
    assert_eq!(answer.error(), (400, -32022), "{requested}");
    assert_eq!(
        answer.error_object()["data"],
        json!({ "supported": [VERSION], "requested": requested })
    );
    assert_eq!(answer.message()["id"], 1);
}

/// [LEG-40] [LEG-03] [HDR-04] [HDR-05] [D-08] a handshake of the 2025 era is told which versions are served, and which
/// one it named.
#[test]
fn handshakes() {
    let running = serve(server());
    for version in ["2025-11-25", "2025-06-18", "2024-11-05", "1.0.0", "2026-07-28"] {
        let answer = legacy(&running, "initialize", handshake(version), None);
        unsupported(&answer, version);
        unsupported(
            &legacy(&running, "initialize", handshake(version), Some("2025-06-18")),
            "2025-06-18",
        );
    }
    // No version at all: the missing keys, and what is served.
    for params in [json!({}), json!({ "protocolVersion": 5 })] {
        let answer = legacy(&running, "initialize", params, None);
        assert_eq!(answer.error(), (400, -32602));
        let message = answer.error_object()["message"].to_string();
        assert!(message.contains(VERSION) && message.contains("protocolVersion"), "{message}");
    }
    // A modern header on a handshake contradicts it.
    for header in [VERSION, "2031-01-01"] {
        let answer = legacy(&running, "initialize", handshake("2025-11-25"), Some(header));
        assert_eq!(answer.error(), (400, -32020), "{header}");
    }
}

/// [LEG-40] any error to `initialize` names the served versions.
#[test]
fn handshakes_learn_the_versions() {
    let running = serve(server());
    let in_envelope = Request::new("initialize", handshake("2025-11-25"));
    let answers = [
        legacy(&running, "initialize", handshake("2025-11-25"), Some(VERSION)),
        legacy(&running, "initialize", handshake(VERSION), None),
        running.send(&in_envelope),
        running.send(&in_envelope.clone().meta(PV, json!(5))),
    ];
    for answer in answers {
        let error = answer.error_object();
        assert!(error.to_string().contains(VERSION), "{error}");
    }
}

/// [ENV-12] [LEG-03] [LEG-04] [LEG-40] [ENV-01] requests without a claim: by their header.
#[test]
fn requests_without_a_claim() {
    let running = serve(server());
    for header in ["2025-11-25", "2025-06-18", "2024-11-05", "1999-01-01", "v999.0.0", "DRAFT", ""]
    {
        unsupported(&legacy(&running, "tools/list", json!({}), Some(header)), header);
    }
    for header in [VERSION, "2031-01-01"] {
        let answer = legacy(&running, "tools/list", json!({}), Some(header));
        assert_eq!(answer.error(), (400, -32602), "{header}");
        let message = answer.error_object()["message"].to_string();
        assert!(
            message.contains(PV) && message.contains(CC),
            "it lists what is missing: {message}"
        );
    }
    let half = legacy(&running, "tools/list", json!({ "_meta": { CC: {} } }), Some(VERSION));
    let message = half.error_object()["message"].to_string();
    assert!(message.contains(PV) && !message.contains(CC), "{message}");
    for params in
        [json!({}), json!({ "_meta": {} }), json!({ "_meta": 5 }), json!({ "_meta": null })]
    {
        let answer = legacy(&running, "tools/list", params, None);
        assert_eq!(answer.error(), (400, -32602));
        let message = answer.error_object()["message"].to_string();
        assert!(message.contains(VERSION) && message.contains(PV), "{message}");
        assert_eq!(answer.message()["id"], 1);
    }
    let bare = Request::new("tools/list", json!({})).without_member("params");
    assert_eq!(running.send(&bare).error(), (400, -32602));
    for method in ["ping", "logging/setLevel", "server/discover", "subscriptions/listen"] {
        assert_eq!(legacy(&running, method, json!({}), None).error(), (400, -32602), "{method}");
        assert_eq!(
            legacy(&running, method, json!({}), Some("2025-11-25")).error(),
            (400, -32022),
            "{method}"
        );
    }
}

/// [LEG-02] [ENV-04] a claim that is malformed is refused, never taken for none; a valid envelope makes `initialize`
/// an unknown method, one of an older version an unsupported one.
#[test]
fn presence_of_the_claim_decides() {
    let running = serve(server());
    for claim in [json!(20_260_728), Value::Null, json!([]), json!({}), json!(true)] {
        for header in [Some(VERSION), Some("2025-11-25"), None] {
            let mut request = Request::new("tools/list", json!({})).meta(PV, claim.clone());
            request = match header {
                Some(version) => request.header("MCP-Protocol-Version", version),
                None => request.without_header("MCP-Protocol-Version"),
            };
            assert_eq!(running.send(&request).error(), (400, -32602), "{claim} {header:?}");
        }
    }
    assert_eq!(running.send(&Request::new("initialize", json!({}))).error(), (404, -32601));
    let older = Request::new("initialize", handshake("2025-11-25"))
        .meta(PV, json!("2025-11-25"))
        .header("MCP-Protocol-Version", "2025-11-25");
    unsupported(&running.send(&older), "2025-11-25");
    unsupported(&running.send(&older.clone().without_header("MCP-Protocol-Version")), "2025-11-25");
}

/// [LEG-41] [LEG-06] [HTTP-07] notifications without a claim are accepted and dropped, whatever their header.
#[test]
fn notifications_without_a_claim() {
    let running = serve(server());
    for header in [None, Some("2025-11-25"), Some("1999-01-01"), Some(VERSION)] {
        for method in ["notifications/initialized", "notifications/cancelled", "unheard/of"] {
            let mut request =
                Request::new(method, json!({})).without_member("id").without_header("Mcp-Method");
            request.message["params"] = json!({});
            request = match header {
                Some(version) => request.header("MCP-Protocol-Version", version),
                None => request.without_header("MCP-Protocol-Version"),
            };
            let answer = running.send(&request);
            assert_eq!((answer.status, answer.body.len()), (202, 0), "{method} {header:?}");
        }
    }
}

/// [HTTP-08] [HTTP-09] [D-11] headers of a notification need not be there, and must not contradict it.
#[test]
fn notifications_that_contradict_themselves() {
    let running = serve(server());
    let note =
        || Request::new("notifications/cancelled", json!({ "requestId": 1 })).without_member("id");
    let bare = note().without_header("Mcp-Method").without_header("MCP-Protocol-Version");
    assert_eq!(running.send(&bare).status, 202);
    assert_eq!(running.send(&note().header("Mcp-Name", "anything")).status, 202);
    for (request, code) in [
        (note().header("MCP-Protocol-Version", "2025-11-25"), -32020),
        (note().meta(PV, json!("v999.0.0")), -32020),
        (note().header("Mcp-Method", "notifications/progress"), -32020),
        (note().header("Mcp-Method", ""), -32020),
        (note().meta(PV, json!(5)), -32602),
        (note().meta(PV, json!("v999.0.0")).header("MCP-Protocol-Version", "v999.0.0"), -32022),
        (note().meta(PV, json!("v999.0.0")).without_header("MCP-Protocol-Version"), -32022),
        (note().member("jsonrpc", json!("1.0")), -32600),
        (note().member("params", json!([])), -32600),
    ] {
        let answer = running.send(&request);
        assert_eq!(answer.error(), (400, code));
        assert_eq!(answer.message().get("id"), None, "a notification is not answered by id");
    }
}
