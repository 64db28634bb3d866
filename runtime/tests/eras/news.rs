//! What clients are told unasked, on the standing stream (LEG-26, LEG-63).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ringmcp::types::{Resource, Tool};
use ringmcp::{
    Builder, Context, HandlerError, LegacyMode, Limits, Principal, RequestHead, Server, ToolError,
};
use serde_json::{Map, Value, json};

use crate::client::{Client, LATEST};
use crate::support::{on_both_drivers, serve, serve_on};

fn server() -> Builder {
    let resource = |name: &str| Resource::new(format!("test://{name}"), name);
    let read = async |_: &Context<'_>| Ok::<_, HandlerError>("content");
    Server::builder("news", "1")
        .legacy(LegacyMode::Sessions)
        .tool("noop", "Does nothing", async |_: &Context<'_>, _: Map<String, Value>| {
            Ok::<_, ToolError>("done")
        })
        .resource(resource("a"), read)
        .resource(resource("b"), read)
        .may_watch(|_, uri| uri != "test://b")
}

/// [LEG-26] [LEG-63] [LEG-64] list changes and updates of subscribed resources, and of no others, on the standing
/// stream alone.
#[test]
fn told_on_the_standing_stream() {
    on_both_drivers(server, |running| {
        let client = Client::connect(running, LATEST, json!({}));
        let other = Client::connect(running, LATEST, json!({}));
        let (mut stream, mut others) = (client.get(None), other.get(None));
        let primed = stream.event().expect("where the stream begins");
        assert!(primed.message.is_none());
        others.event();
        let notifier = running.handle().notifier();
        assert_eq!(client.result("resources/subscribe", json!({ "uri": "test://a" })), json!({}));
        assert_eq!(client.result("resources/subscribe", json!({ "uri": "test://a" })), json!({}));
        notifier.resource_updated("test://other");
        notifier.resource_updated("test://a");
        let updated = json!({ "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": { "uri": "test://a" } });
        assert_eq!(stream.message(), updated);
        notifier.tools_changed();
        let changed = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
        assert_eq!((stream.message(), others.message()), (changed.clone(), changed));
        assert_eq!(client.result("resources/unsubscribe", json!({ "uri": "test://a" })), json!({}));
        notifier.resource_updated("test://a");
        notifier.resources_changed();
        let changed = json!({ "jsonrpc": "2.0", "method": "notifications/resources/list_changed" });
        assert_eq!(stream.message(), changed, "not the update");
    });
}

/// [LEG-26] [SUB-10] what may not be watched is not there; parameters are checked.
#[test]
fn subscriptions_are_checked() {
    let running = serve(server());
    let client = Client::connect(&running, LATEST, json!({}));
    assert_eq!(client.code("resources/subscribe", json!({ "uri": "test://b" })), -32602);
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        for params in [json!({}), json!({ "uri": 5 }), json!({ "uri": "x".repeat(10_000) })] {
            assert_eq!(client.code(method, params), -32602, "{method}");
        }
    }
    let limits = Limits { uris_per_listen: 2, ..Limits::default() };
    let running = serve(server().limits(limits));
    let client = Client::connect(&running, LATEST, json!({}));
    let subscribe = |uri: &str| client.request("resources/subscribe", json!({ "uri": uri }));
    for uri in ["test://a", "test://c"] {
        assert_eq!(subscribe(uri)["result"], json!({}));
    }
    assert_eq!(subscribe("test://d")["error"]["code"], -32602, "SEC-02: two are the limit");
    client.result("resources/unsubscribe", json!({ "uri": "test://c" }));
    assert_eq!(subscribe("test://d")["result"], json!({}));
    let running = serve(server().announce_resource_updates(false));
    let client = Client::connect(&running, LATEST, json!({}));
    assert_eq!(client.code("resources/subscribe", json!({ "uri": "test://a" })), -32601);
}

/// [LEG-63] [LEG-65] one standing stream a session; what happens while nobody reads is told afterwards.
#[test]
fn one_standing_stream() {
    on_both_drivers(server, |running| {
        let client = Client::connect(running, LATEST, json!({}));
        let mut stream = client.get(None);
        let primed = stream.event().expect("where the stream begins");
        assert_eq!(client.get_refused(None), 409);
        running.handle().notifier().tools_changed();
        let told = stream.event().expect("the change");
        drop(stream);
        // From the beginning: the connection that was lost is let go of.
        let mut again = client.get(primed.id.as_deref());
        assert_eq!(again.event(), Some(told.clone()));
        drop(again);
        let name = "late";
        let tool = Tool::new(name).description("Late");
        let added = running
            .handle()
            .registrations()
            .add_tool(tool, async |_: &Context<'_>, _: Map<String, Value>| {
                Ok::<_, ToolError>("late")
            });
        added.expect("a new name");
        let mut last = client.get(told.id.as_deref());
        assert_eq!(last.message()["method"], "notifications/tools/list_changed");
    });
}

/// [LEG-63] the head of a GET must accept events; a modern one is refused.
#[test]
fn heads_of_get() {
    let running = serve(server());
    let client = Client::connect(&running, LATEST, json!({}));
    let json_only = client.bytes("GET", "application/json", "", "");
    assert_eq!(running.send_raw(&json_only).status, 406);
    let modern = Client { version: Some("2026-07-28".to_owned()), ..client.clone() };
    assert_eq!((modern.get_refused(None), modern.delete()), (405, 405));
    let put = running.send_raw(&client.bytes("PUT", "*/*", "", ""));
    assert_eq!((put.status, put.header("allow")), (405, Some("POST, GET, DELETE")));
}

/// [SSE-14] a drain lets go of standing streams, wherever their sessions live.
#[test]
fn drains_end_standing_streams() {
    let running = serve_on(server(), ringmcp::Driver::Auto, 3);
    let clients: Vec<_> = (0..6).map(|_| Client::connect(&running, LATEST, json!({}))).collect();
    let mut streams: Vec<_> = clients.iter().map(|client| client.get(None)).collect();
    streams.iter_mut().for_each(|stream| assert!(stream.event().is_some()));
    running.handle().drain(Duration::from_secs(20));
    assert!(streams.iter_mut().all(|stream| stream.event().is_none()));
    running.stop();
}

/// [AUTH-16] a standing stream ends with the grant that it was opened under.
#[test]
fn grants_end() {
    let builder = server().authenticate(async |_: &RequestHead<'_>| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
        let mut caller = Principal::new("ann");
        caller.expires_at = Some(now + 1);
        Ok(caller)
    });
    let running = serve(builder);
    let client = Client::connect(&running, LATEST, json!({}));
    let mut stream = client.get(None);
    assert!(stream.event().is_some_and(|event| event.message.is_none()));
    assert!(stream.event().is_none());
    assert_eq!(client.result("ping", json!({})), json!({}), "the session itself goes on");
}

/// [SUB-17] standing streams take the places of subscriptions.
#[test]
fn standing_streams_are_counted() {
    let limits = Limits { subscriptions: 1, ..Limits::default() };
    let running = serve(server().limits(limits));
    let clients = [(); 2].map(|()| Client::connect(&running, LATEST, json!({})));
    let mut first = clients[0].get(None);
    assert!(first.event().is_some());
    assert_eq!(clients[1].get_refused(None), 503);
    assert_eq!(clients[1].code("resources/subscribe", json!({ "uri": "test://a" })), -32603);
    assert_eq!(clients[0].delete(), 204);
    assert!(first.event().is_none());
    running.until("its place is free", |counters| counters.subscriptions_open == 0);
    assert!(clients[1].get(None).event().is_some());
}
