//! What messages mean on a stream of lines: beside each other, cancelled, of either era, malformed.

use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ringmcp::types::ElicitForm;
use ringmcp::{Builder, Context, Interrupt, NoArgs, Server, ToolError};
use serde_json::{Value, json};

use crate::peer::{call, cancel, on_both_drivers, request};

/// Handlers of `hang` that were dropped, in this process.
static DROPPED: AtomicUsize = AtomicUsize::new(0);

struct Drops;

impl Drop for Drops {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Ordering::SeqCst);
    }
}

fn server() -> Builder {
    Server::builder("lines", "1")
        .tool("now", "Answers at once", async |_: &Context<'_>, _: NoArgs| {
            Ok::<_, ToolError>("now")
        })
        .tool("slow", "Takes a while", async |ctx: &Context<'_>, _: NoArgs| {
            ctx.progress(1, 2);
            ctx.sleep(Duration::from_millis(300)).await;
            ctx.progress(2, 2);
            Ok::<_, ToolError>("slow")
        })
        .tool("hang", "Never answers", async |ctx: &Context<'_>, _: NoArgs| {
            let _drops = Drops;
            ctx.progress(1, 2);
            pending::<()>().await;
            Ok::<_, ToolError>("never")
        })
        .tool("name", "Asks for a name", async |ctx: &Context<'_>, _: NoArgs| {
            let form = ElicitForm::new("Your name?").string("name", |field| field.required());
            let answer = ctx.elicit("name", form)?;
            Ok::<_, Interrupt>(answer.text("name").unwrap_or("nobody").to_owned())
        })
        .tool("changes", "Says that the tools changed", async |ctx: &Context<'_>, _: NoArgs| {
            ctx.notifier().tools_changed();
            Ok::<_, ToolError>("changed")
        })
        .tool("panics", "Panics", async |_: &Context<'_>, _: NoArgs| {
            if true {
                panic!("a test's own panic");
            }
            Ok::<_, ToolError>("never")
        })
}

fn token(mut message: Value, token: &str) -> Value {
    message["params"]["_meta"]["progressToken"] = json!(token);
    message
}

/// [STD-01] [STD-04] [STD-10] [STD-12] [RPC-03] [RPC-16] a slow request does not hold up a fast one; CRLF, blank lines and
/// a byte order mark are no obstacle; each answer is one line.
#[test]
fn answers_come_as_they_are_ready() {
    on_both_drivers(server, |mut peer| {
        peer.write("\u{feff}\r\n\n  \n");
        peer.write(format!("{}\r\n", token(call("s", "slow", json!({})), "p")));
        let fast = peer.message_after_progress(&call(1, "now", json!({})));
        assert_eq!(fast["id"], 1);
        let progress = peer.message();
        assert_eq!(progress["params"], json!({ "progressToken": "p", "progress": 2, "total": 2 }));
        assert_eq!(peer.message()["id"], "s");
        assert!(peer.finish().is_empty());
    });
}

impl crate::peer::Peer {
    /// Progress of the slow request may come before the answer to the fast one.
    fn message_after_progress(&mut self, message: &Value) -> Value {
        self.send(message);
        loop {
            let next = self.message();
            if next.get("method").is_none() {
                return next;
            }
            assert_eq!(next["params"]["progress"], 1);
        }
    }
}

/// [STD-05] [CAN-02] [CAN-04] a cancelled request is dropped and never heard of again; cancelling what does not run does
/// nothing; a line that came in the same chunk is cancelled as well.
#[test]
fn cancellation() {
    on_both_drivers(server, |mut peer| {
        let before = DROPPED.load(Ordering::SeqCst);
        peer.send(&token(call(0, "hang", json!({})), "p"));
        assert_eq!(peer.message()["method"], "notifications/progress");
        peer.send(&cancel("0"));
        peer.send(&cancel(77));
        assert_eq!(peer.ask(&call(1, "now", json!({})))["id"], 1);
        peer.send(&cancel(0));
        // The id is free again once the request is gone.
        let chunk = [call(2, "hang", json!({})), cancel(2), call(2, "now", json!({}))];
        peer.write(chunk.map(|message| format!("{message}\n")).concat());
        loop {
            let answer = peer.message();
            if answer["id"] == 2 && answer.get("result").is_some() {
                break;
            }
            // Before it has noticed, its id still counts as in use.
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(2), &json!(-32600)));
            peer.send(&call(2, "now", json!({})));
        }
        assert!(DROPPED.load(Ordering::SeqCst) >= before + 2);
        assert!(peer.finish().is_empty());
    });
}

/// [RPC-05] an id that still runs is refused, and its first request goes on.
#[test]
fn an_id_is_used_once_at_a_time() {
    on_both_drivers(server, |mut peer| {
        peer.send(&call("a", "slow", json!({})));
        let refused = peer.ask(&call("a", "now", json!({})));
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!("a"), &json!(-32600)));
        assert_eq!(peer.message()["result"]["content"][0]["text"], "slow");
        peer.finish();
    });
}

/// [SUB-02] [SUB-11] [SUB-13] [SUB-22] subscriptions share the channel, each tagged with its id; a cancelled one is silent,
/// the other is closed with its result when the input ends.
#[test]
fn subscriptions_share_the_channel() {
    on_both_drivers(server, |mut peer| {
        let filter = json!({ "notifications": { "toolsListChanged": true } });
        let tag = "io.modelcontextprotocol/subscriptionId";
        for id in [json!(1), json!("1")] {
            let ack = peer.ask(&request(id.clone(), "subscriptions/listen", filter.clone()));
            assert_eq!(ack["method"], "notifications/subscriptions/acknowledged");
            assert_eq!(ack["params"]["_meta"][tag], id);
        }
        peer.handle.notifier().tools_changed();
        let mut told = [peer.message(), peer.message()].map(|m| m["params"]["_meta"][tag].clone());
        told.sort_by_key(Value::is_string);
        assert_eq!(told, [json!(1), json!("1")]);
        peer.send(&cancel(1));
        assert_eq!(peer.ask(&call(2, "now", json!({})))["id"], 2);
        peer.handle.notifier().tools_changed();
        assert_eq!(peer.message()["params"]["_meta"][tag], "1");
        let rest = peer.finish();
        assert_eq!(rest.len(), 1, "{rest:?}");
        assert_eq!(
            (&rest[0]["id"], &rest[0]["result"]["resultType"]),
            (&json!("1"), &json!("complete"))
        );
    });
}

/// [STD-03] [STD-11] [PREC-03] [MR-05] the envelope's rules hold without headers, rung after rung; what a handler asks is
/// in its answer, and the next request brings the reply.
#[test]
fn the_ladder_without_headers() {
    on_both_drivers(server, |mut peer| {
        let mut bad = call(1, "now", json!({}));
        let meta = &mut bad["params"]["_meta"];
        meta["io.modelcontextprotocol/protocolVersion"] = json!(7);
        meta["io.modelcontextprotocol/clientCapabilities"] = json!([]);
        assert_eq!(peer.ask(&bad)["error"]["code"], -32602);
        bad["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2031-01-01");
        assert_eq!(peer.ask(&bad)["error"]["code"], -32022);
        bad["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
        bad["method"] = json!("no/such");
        assert_eq!(peer.ask(&bad)["error"]["code"], -32602);
        bad["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        assert_eq!(peer.ask(&bad)["error"]["code"], -32601);
        let round = peer.ask(&call(2, "name", json!({})));
        assert_eq!(round["result"]["resultType"], "input_required");
        let mut reply = call(3, "name", json!({}));
        reply["params"]["inputResponses"] =
            json!({ "name": { "action": "accept", "content": { "name": "Ada" } } });
        assert_eq!(peer.ask(&reply)["result"]["content"][0]["text"], "Ada");
        peer.finish();
    });
}

/// [STD-08] [RPC-06] [RPC-11] [RPC-14] [ERR-11] garbage is skipped until the client is known to be modern, and answered from
/// then on; responses and notifications never are; a panic costs its own request.
#[test]
fn lines_that_are_no_requests() {
    on_both_drivers(
        || server().legacy(ringmcp::LegacyMode::Reject),
        |mut peer| {
            peer.write("garbage\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
            peer.write("{\"jsonrpc\":\"2.0\",\"method\":\"no/such\"}\n{\"jsonrpc\":\"1.0\",\"method\":\"x\"}\n");
            let lost = peer.ask(&call(1, "panics", json!({})));
            assert_eq!((&lost["id"], &lost["result"]["isError"]), (&json!(1), &json!(true)));
            peer.write("garbage\n");
            let told = peer.message();
            assert_eq!((told.get("id"), &told["error"]["code"]), (None, &json!(-32700)));
            peer.write("{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":7}\n[]\n");
            let told = peer.message();
            assert_eq!((&told["id"], &told["error"]["code"]), (&json!(5), &json!(-32600)));
            let told = peer.message();
            assert_eq!((told.get("id"), &told["error"]["code"]), (None, &json!(-32600)));
            peer.write(b"\xff\xfe\n");
            assert_eq!(peer.message()["error"]["code"], -32700);
            assert_eq!(peer.ask(&call(6, "now", json!({})))["id"], 6);
            peer.finish();
        },
    );
}

fn initialize(id: u64) -> Value {
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": { "elicitation": {} },
        "clientInfo": { "name": "t", "version": "1" },
    });
    json!({ "jsonrpc": "2.0", "id": id, "method": "initialize", "params": params })
}

/// [STD-15] [LEG-50] [LEG-51] [LEG-52] [LEG-54] [CCH-09] a probe does not settle the era; before the handshake requests are
/// served, after it both eras are, and a second handshake is refused.
#[test]
fn both_eras_on_one_stream() {
    on_both_drivers(server, |mut peer| {
        let plain = |id: u64, method: &str| json!({ "jsonrpc": "2.0", "id": id, "method": method });
        assert_eq!(peer.ask(&plain(1, "ping"))["result"], json!({}));
        assert!(peer.ask(&plain(2, "tools/list"))["result"]["tools"].is_array());
        let probe = request(3, "server/discover", json!({}));
        peer.write(format!("{probe}\n{}\n", initialize(4)));
        assert!(peer.message()["result"]["supportedVersions"].is_array());
        assert_eq!(peer.message()["result"]["protocolVersion"], "2025-11-25");
        peer.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        let legacy = peer.ask(&plain(5, "tools/list"));
        assert_eq!(
            (legacy["result"].get("resultType"), legacy["result"].get("ttlMs")),
            (None, None)
        );
        let modern = peer.ask(&request(6, "tools/list", json!({})));
        assert_eq!(modern["result"]["resultType"], "complete");
        let again = peer.ask(&initialize(7));
        assert_eq!((&again["id"], &again["error"]["code"]), (&json!(7), &json!(-32600)));
        peer.handle.notifier().tools_changed();
        assert_eq!(
            peer.message(),
            json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" })
        );
        peer.finish();
    });
}

/// [LEG-26] [LEG-50] a client is told of every change behind the answer to its handshake, also of one that comes before
/// anything else has had its turn: both lines are read and served in one go.
#[test]
fn no_change_behind_the_handshake_is_missed() {
    on_both_drivers(server, |mut peer| {
        let params = json!({ "name": "changes", "arguments": {} });
        let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params });
        peer.write(format!("{}\n{call}\n", initialize(1)));
        assert_eq!(peer.message()["result"]["protocolVersion"], "2025-11-25");
        assert_eq!(peer.message()["result"]["content"][0]["text"], "changed");
        assert_eq!(peer.message()["method"], "notifications/tools/list_changed");
        peer.finish();
    });
}

/// [LEG-80] [LEG-66] [LEG-21] a client of the 2025 era is asked on the same stream, its answer reaches the handler, and its
/// cancellation is heard.
#[test]
fn an_older_client_is_asked() {
    on_both_drivers(server, |mut peer| {
        peer.ask(&initialize(1));
        peer.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        let called = |id: u64, tool: &str| {
            let params =
                json!({ "name": tool, "arguments": {}, "_meta": { "progressToken": "p" } });
            json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
        };
        let asked = peer.ask(&called(2, "name"));
        assert_eq!(asked["method"], "elicitation/create");
        let result = json!({ "action": "accept", "content": { "name": "Ada" } });
        peer.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }));
        let answer = peer.message();
        assert_eq!(
            (&answer["id"], &answer["result"]["content"][0]["text"]),
            (&json!(2), &json!("Ada"))
        );
        let before = DROPPED.load(Ordering::SeqCst);
        assert_eq!(peer.ask(&called(3, "hang"))["method"], "notifications/progress");
        peer.send(&cancel(3));
        assert_eq!(peer.ask(&called(4, "now"))["id"], 4);
        assert!(peer.finish().is_empty());
        assert!(DROPPED.load(Ordering::SeqCst) > before);
    });
}

/// [LEG-53] [LEG-40] a server of the modern era alone says what it speaks, and stays for a modern opening.
#[test]
fn only_the_modern_era() {
    on_both_drivers(
        || server().legacy(ringmcp::LegacyMode::Reject),
        |mut peer| {
            let refused = peer.ask(&initialize(1));
            assert_eq!(refused["error"]["code"], -32022);
            assert_eq!(refused["error"]["data"]["requested"], "2025-11-25");
            assert_eq!(peer.ask(&request(2, "server/discover", json!({})))["id"], 2);
            peer.finish();
        },
    );
}
