//! Which era a message is served by, on an endpoint that serves both (ledger section 20a).

use ringmcp::{Builder, Context, LegacyMode, Server, ToolError};
use serde_json::{Map, Value, json};

use crate::client::{Client, LATEST, initialize, message, request};
use crate::support::{Answer, PV, Request, VERSION, on_both_drivers, serve};

fn server(mode: LegacyMode) -> Builder {
    Server::builder("choice", "1").legacy(mode).tool(
        "era",
        "Says which revision it is called in",
        async |ctx: &Context<'_>, _: Map<String, Value>| {
            Ok::<_, ToolError>(ctx.protocol_version().to_owned())
        },
    )
}

/// The error's code: the answers of the modern era are no business of this one's schema.
fn code(answer: &Answer) -> Option<i64> {
    let message: Value = serde_json::from_slice(&answer.body).expect("JSON");
    message["error"]["code"].as_i64()
}

const MODES: [LegacyMode; 2] = [LegacyMode::Stateless, LegacyMode::Sessions];

/// [LEG-01] [LEG-07] [HTTP-13] both eras at once, message by message; a modern request touches no session, whatever it
/// names.
#[test]
fn both_eras_at_once() {
    for mode in MODES {
        on_both_drivers(
            || server(mode),
            |running| {
                let client = Client::connect(running, LATEST, json!({}));
                let session = client.session.clone().unwrap_or_else(|| "none".to_owned());
                for _ in 0..3 {
                    let result = client.result("tools/call", json!({ "name": "era" }));
                    assert_eq!(result["content"][0]["text"], LATEST);
                    let modern = Request::call("era", json!({})).header("Mcp-Session-Id", &session);
                    let answer = running.send(&modern);
                    assert_eq!(answer.text(), VERSION);
                    assert_eq!(answer.header("mcp-session-id"), None);
                }
                assert_eq!(client.delete(), if client.session.is_some() { 204 } else { 405 });
            },
        );
    }
}

/// [LEG-02] [LEG-03] [LEG-04] [ENV-12] the claim decides by being there; a handshake whose claim makes no sense is a
/// handshake; a modern header without a claim is a modern request that lacks its envelope.
#[test]
fn claims_and_headers() {
    for mode in MODES {
        let running = serve(server(mode));
        let client = Client::new(&running);
        let claiming = |method: &str, claim: Value| {
            let mut message = initialize(LATEST, json!({}));
            message["method"] = json!(method);
            message["params"]["_meta"] = json!({ PV: claim });
            client.post(&message)
        };
        // A malformed claim is refused, unless it comes with a handshake.
        let refused = claiming("tools/list", json!(5));
        assert_eq!((refused.status, code(&refused)), (400, Some(-32602)));
        for claim in [json!(5), json!(null), json!(LATEST), json!("2024-11-05")] {
            let answer = claiming("initialize", claim.clone());
            assert_eq!(answer.status, 200, "{claim}");
            assert_eq!(message(&answer)["result"]["protocolVersion"], LATEST);
        }
        // A handshake in a valid envelope is an unknown method of the modern era.
        assert_eq!(running.send(&Request::new("initialize", json!({}))).error(), (404, -32601));
        let unknown = claiming("initialize", json!("v999.0.0"));
        assert_eq!(code(&unknown), Some(-32022));
        // Headers alone make nothing modern.
        for header in [VERSION, "2031-01-01"] {
            let client = Client::new(&running).version(header);
            let answer = client.post(&initialize(LATEST, json!({})));
            assert_eq!((answer.status, code(&answer)), (400, Some(-32020)));
            let answer = client.post(&request(1, "tools/list", json!({})));
            assert_eq!((answer.status, code(&answer)), (400, Some(-32602)));
        }
    }
}

/// [LEG-13] [LEG-12] the version of a handshake: the same one where it is served, else the latest, never a modern one;
/// its header is not looked at.
#[test]
fn versions_of_a_handshake() {
    for mode in MODES {
        let running = serve(server(mode));
        for (asked, agreed) in [
            ("2025-11-25", "2025-11-25"),
            ("2025-06-18", "2025-06-18"),
            ("2025-03-26", "2025-03-26"),
            ("2024-11-05", "2024-11-05"),
            ("2024-10-07", "2025-11-25"),
            ("2026-07-28", "2025-11-25"),
            ("1.0.0", "2025-11-25"),
        ] {
            for header in [None, Some("2025-06-18"), Some("1999-01-01")] {
                let mut client = Client::new(&running);
                client.version = header.map(str::to_owned);
                let answer = client.post(&initialize(asked, json!({})));
                let result = &message(&answer)["result"];
                assert_eq!((answer.status, &result["protocolVersion"]), (200, &json!(agreed)));
                crate::schema::validate_result("initialize", result);
            }
        }
        for params in [json!({}), json!({ "protocolVersion": 5 })] {
            let answer = Client::new(&running).post(&request(1, "initialize", params));
            assert_eq!((answer.status, &message(&answer)["error"]["code"]), (200, &json!(-32602)));
        }
    }
}

/// [LEG-06] [LEG-14] notifications and responses of this era are accepted and say nothing.
#[test]
fn notifications_and_responses() {
    let running = serve(server(LegacyMode::Stateless));
    for version in [None, Some("2025-11-25"), Some("2025-03-26")] {
        let mut client = Client::new(&running);
        client.version = version.map(str::to_owned);
        for body in [
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }),
            json!({ "jsonrpc": "2.0", "method": "unheard/of" }),
            json!({ "jsonrpc": "2.0", "id": 1, "result": {} }),
            json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": 1, "message": "no" } }),
        ] {
            let answer = client.post(&body);
            assert_eq!((answer.status, answer.body.len()), (202, 0), "{body}");
        }
    }
    // The same with a modern header belongs to the modern era, which takes no responses.
    let answer = Client::new(&running)
        .version(VERSION)
        .post(&json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
    assert_eq!((answer.status, &message(&answer)["error"]["code"]), (400, &json!(-32600)));
}
