//! The life of a session (ledger section 20e).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ringmcp::types::LoggingLevel;
use ringmcp::{
    Builder, Context, Denied, Driver, LegacyMode, Principal, RequestHead, Server, ToolError,
};
use serde_json::{Map, Value, json};

use crate::client::{Client, LATEST, call, initialize, message, messages, request};
use crate::support::{on_both_drivers, serve, serve_on};

pub(crate) fn server() -> Builder {
    Server::builder("sessions", "1")
        .legacy(LegacyMode::Sessions)
        .tool("echo", "Echoes", async |_: &Context<'_>, arguments: Map<String, Value>| {
            Ok::<_, ToolError>(Value::Object(arguments).to_string())
        })
        .tool("logs", "Logs", async |ctx: &Context<'_>, _: Map<String, Value>| {
            for level in [LoggingLevel::Debug, LoggingLevel::Info, LoggingLevel::Error] {
                ctx.log(level, level.as_str());
            }
            Ok::<_, ToolError>("logged")
        })
}

/// [LEG-60] [LEG-61] [LEG-62] [LEG-27] from the handshake to the end: an id that nobody can guess, messages that name it,
/// and 404 afterwards.
#[test]
fn from_first_to_last() {
    on_both_drivers(server, |running| {
        let first = Client::connect(running, LATEST, json!({}));
        let other = Client::connect(running, "2025-06-18", json!({}));
        let id = first.session.clone().expect("a session");
        assert!(id.bytes().all(|byte| (0x21..=0x7e).contains(&byte)) && id.len() >= 32, "{id}");
        assert_ne!(first.session, other.session);
        assert_eq!(running.handle().counters().sessions_open, 2);
        assert_eq!(first.result("ping", json!({})), json!({}));
        assert_eq!(first.result("tools/list", json!({}))["tools"][0]["name"], "echo");
        // LEG-61: without the header, or with one that names nothing.
        let lost = Client { session: None, ..first.clone() };
        assert_eq!(lost.post(&request(1, "tools/list", json!({}))).status, 400);
        assert_eq!(lost.result("ping", json!({})), json!({}), "LEG-15: a ping needs no session");
        for unknown in
            ["", "x", &format!("{id}0"), &id.replace('.', "-"), &format!("ffff{}", &id[4..])]
        {
            let lost = Client { session: Some(unknown.to_owned()), ..first.clone() };
            assert_eq!(lost.post(&request(1, "ping", json!({}))).status, 404, "{unknown}");
            assert_eq!((lost.get_refused(None), lost.delete()), (404, 404), "{unknown}");
        }
        assert_eq!(first.delete(), 204);
        assert_eq!(first.post(&request(1, "ping", json!({}))).status, 404);
        assert_eq!((first.delete(), first.get_refused(None)), (404, 404));
        assert_eq!(other.result("ping", json!({})), json!({}), "another session is another");
        running.until("one is left", |counters| counters.sessions_open == 1);
    });
}

/// [LEG-69] [LEG-12] a session is begun once, and its version header names a version that is served.
#[test]
fn begun_once() {
    let running = serve(server());
    let client = Client::connect(&running, LATEST, json!({}));
    let again = client.post(&initialize(LATEST, json!({})));
    assert_eq!((again.status, &message(&again)["error"]["code"]), (400, &json!(-32600)));
    let odd = Client { version: Some("1999-01-01".to_owned()), ..client.clone() };
    assert_eq!(odd.post(&request(1, "ping", json!({}))).status, 400);
    let silent = Client { version: None, ..client.clone() };
    assert_eq!(silent.result("ping", json!({})), json!({}));
    // What a handshake must not say.
    let wrong = Client::new(&running).post(&request(
        0,
        "initialize",
        json!({ "protocolVersion": LATEST, "capabilities": 5 }),
    ));
    assert_eq!((wrong.status, &message(&wrong)["error"]["code"]), (200, &json!(-32602)));
    assert_eq!(wrong.header("mcp-session-id"), None);
}

/// [LEG-25] [LEG-27] the level is the session's own, and messages flow from it on.
#[test]
fn levels_of_sessions() {
    on_both_drivers(server, |running| {
        let promised = message(&Client::new(running).post(&initialize(LATEST, json!({}))));
        let promised = &promised["result"]["capabilities"];
        assert_eq!(promised["logging"], json!({}));
        assert_eq!(promised["tools"], json!({ "listChanged": true }));
        let (plain, strict) = (
            Client::connect(running, LATEST, json!({})),
            Client::connect(running, LATEST, json!({})),
        );
        assert_eq!(strict.result("logging/setLevel", json!({ "level": "error" })), json!({}));
        assert_eq!(strict.code("logging/setLevel", json!({ "level": "loud" })), -32602);
        let logged = |client: &Client<'_>| {
            let all = messages(&client.post(&call(1, "logs", json!({}))));
            all.iter()
                .filter_map(|message| message["params"]["data"].as_str().map(str::to_owned))
                .collect::<Vec<_>>()
        };
        assert_eq!(logged(&plain), ["info", "error"]);
        assert_eq!(logged(&strict), ["error"]);
    });
}

/// [LEG-60] [LEG-01] a session lives on the core that began it, and is served from any: of many connections, which the
/// kernel spreads over the cores, every one finds it.
#[test]
fn from_any_core() {
    for driver in [Driver::Auto, Driver::Epoll] {
        let running = serve_on(server(), driver, 4);
        let clients: Vec<_> =
            (0..8).map(|_| Client::connect(&running, LATEST, json!({}))).collect();
        let mut cores: Vec<&str> =
            clients.iter().filter_map(|client| client.session.as_ref()?.get(..4)).collect();
        cores.sort_unstable();
        cores.dedup();
        assert!(cores.len() > 1, "the kernel spreads connections: {cores:?}");
        for round in 0..8 {
            for client in &clients {
                let result = client
                    .result("tools/call", json!({ "name": "echo", "arguments": { "n": round } }));
                assert_eq!(result["content"][0]["text"], format!("{{\"n\":{round}}}"));
                let logged = client.post(&call(round, "logs", json!({})));
                assert_eq!(messages(&logged).len(), 3);
            }
        }
        assert!(clients.iter().all(|client| client.delete() == 204));
        running.until("all are gone", |counters| counters.sessions_open == 0);
    }
}

/// [LEG-68] [SEC-14] a session belongs to who began it: to anybody else it does not exist.
#[test]
fn sessions_have_owners() {
    let builder = server().authenticate(async |head: &RequestHead<'_>| {
        let name = head.header("x-user").and_then(|name| std::str::from_utf8(name).ok());
        name.map(|name| Principal::new(name.to_owned())).ok_or(Denied::unauthorized("Bearer"))
    });
    let running = serve(builder);
    let ann = Client::new(&running).header("X-User", "ann").handshake(LATEST, json!({}));
    let mut bob = ann.clone();
    bob.headers = vec![("X-User".to_owned(), "bob".to_owned())];
    assert_eq!(ann.result("ping", json!({})), json!({}));
    assert_eq!(bob.post(&request(1, "ping", json!({}))).status, 404);
    assert_eq!((bob.get_refused(None), bob.delete()), (404, 404));
    bob.headers.clear();
    assert_eq!(
        (bob.post(&request(1, "ping", json!({}))).status, bob.get_refused(None)),
        (401, 401)
    );
    assert_eq!(ann.delete(), 204);
}

/// [LEG-70] [HTTP-02] [HTTP-03] hosts and origins are checked for GET and DELETE as well.
#[test]
fn origins_of_all_methods() {
    let running = serve(server());
    let client =
        Client::connect(&running, LATEST, json!({})).header("Origin", "http://evil.example");
    assert_eq!((client.get_refused(None), client.delete()), (403, 403));
    assert_eq!(client.post(&request(1, "ping", json!({}))).status, 403);
}

/// [LEG-21] a lost connection cancels nothing; `notifications/cancelled` does, and so does the session's end.
#[test]
fn disconnects_and_cancellations() {
    #[derive(Default)]
    struct Seen {
        running: AtomicUsize,
        dropped: AtomicUsize,
        done: AtomicUsize,
        go: AtomicUsize,
    }
    struct Guard(Arc<Seen>);
    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.dropped.fetch_add(1, Ordering::SeqCst);
        }
    }
    let test = |seen: &Arc<Seen>| {
        let seen = Arc::clone(seen);
        server().tool(
            "wait",
            "Waits for a sign",
            async move |ctx: &Context<'_>, _: Map<String, Value>| {
                let _guard = Guard(Arc::clone(&seen));
                seen.running.fetch_add(1, Ordering::SeqCst);
                while seen.go.load(Ordering::SeqCst) == 0 {
                    ctx.sleep(std::time::Duration::from_millis(1)).await;
                }
                seen.done.fetch_add(1, Ordering::SeqCst);
                Ok::<_, ToolError>("waited")
            },
        )
    };
    let until = |count: &AtomicUsize, wanted: usize| {
        let end = std::time::Instant::now() + crate::support::PATIENCE;
        while count.load(Ordering::SeqCst) != wanted {
            assert!(std::time::Instant::now() < end, "never {wanted}");
            std::thread::yield_now();
        }
    };
    for driver in [Driver::Auto, Driver::Epoll] {
        let seen = Arc::new(Seen::default());
        let running = serve_on(test(&seen), driver, 2);
        let client = Client::connect(&running, LATEST, json!({}));
        // The client's word ends it, and no answer comes.
        let mut stream = client.stream(&call("a", "wait", json!({})));
        let note = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "a" } });
        until(&seen.running, 1);
        assert_eq!(client.post(&note).status, 202);
        assert!(stream.rest().iter().all(|event| event.message.is_none()));
        until(&seen.dropped, 1);
        // A lost connection does not.
        let mut stream = client.stream(&call(2, "wait", json!({})));
        let primed = stream.event().expect("where the stream begins").id.expect("an id");
        drop(stream);
        until(&seen.running, 2);
        seen.go.store(1, Ordering::SeqCst);
        until(&seen.done, 1);
        let rest = client.get(Some(&primed)).rest();
        assert_eq!(rest.len(), 1);
        let answer = rest[0].message.as_ref().expect("the answer");
        assert_eq!(
            (&answer["id"], &answer["result"]["content"][0]["text"]),
            (&json!(2), &json!("waited"))
        );
        // The end of the session drops what runs for it.
        seen.go.store(0, Ordering::SeqCst);
        let mut stream = client.stream(&call(3, "wait", json!({})));
        until(&seen.running, 3);
        assert_eq!(client.delete(), 204);
        assert!(stream.rest().iter().all(|event| event.message.is_none()));
        until(&seen.dropped, 3);
        assert_eq!(seen.done.load(Ordering::SeqCst), 1);
    }
}
