//! `subscriptions/listen` end to end: opener and publisher on any cores and threads. Ledger section 5.

use std::collections::HashMap;
use std::io::Read;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ringmcp::types::{Prompt, Resource, Tool};
use ringmcp::{
    Builder, Context, Denied, Driver, ExtensionField, HandlerError, Limits, LocalBus, Principal,
    RequestHead, Server, ToolError,
};
use serde_json::{Map, Value, json};

use crate::support::{Events, Request, Running, on_both_drivers, serve, serve_on, support_write};
use crate::tools::{Arguments, begin, reset};

const ACK: &str = "notifications/subscriptions/acknowledged";
const TOOLS: &str = "notifications/tools/list_changed";
const UPDATED: &str = "notifications/resources/updated";
const SID: &str = "io.modelcontextprotocol/subscriptionId";

/// A server of all three kinds, whose tool `touch` publishes from its own core.
fn full() -> Builder {
    Server::builder("t", "1")
        .tool("touch", "Says that tools changed", async |ctx: &Context, _: Arguments| {
            ctx.notifier().tools_changed();
            Ok::<_, ToolError>("touched")
        })
        .prompt("p", "A prompt", async |_: &Context, _: Arguments| Ok::<_, HandlerError>("prompt"))
        .resource(Resource::new("test://a", "a"), async |_: &Context| {
            Ok::<_, HandlerError>("resource")
        })
}

fn tools_only() -> Builder {
    Server::builder("t", "1")
        .tool("x", "x", async |_: &Context, _: Arguments| Ok::<_, ToolError>("x"))
}

/// Opens a subscription and reads its acknowledgement.
fn open(server: &Running, filter: Value) -> (Events, Value) {
    open_as(server, &Request::listen(filter))
}

fn open_as(server: &Running, request: &Request) -> (Events, Value) {
    let mut events = server.stream(request);
    let ack = events.message();
    assert_eq!(ack["method"], ACK);
    assert_eq!(ack["params"]["_meta"][SID], request.message["id"]);
    let honoured = ack["params"]["notifications"].clone();
    (events, honoured)
}

fn tools() -> Value {
    json!({ "toolsListChanged": true })
}

fn gone(server: &Running) {
    server.until("all streams end", |now| now.subscriptions_open == 0 && now.connections_open == 0);
}

/// [SUB-01] a filter that is missing or of another type is refused in band before any acknowledgement; unknown fields
/// are ignored
#[test]
fn filters_are_checked() {
    on_both_drivers(full, |server| {
        for params in [
            json!({}),
            json!({ "notifications": null }),
            json!({ "notifications": [] }),
            json!({ "notifications": { "toolsListChanged": "yes" } }),
            json!({ "notifications": { "promptsListChanged": 1 } }),
            json!({ "notifications": { "resourceSubscriptions": "test://a" } }),
            json!({ "notifications": { "resourceSubscriptions": [1] } }),
        ] {
            let answer = server.send(&Request::new("subscriptions/listen", params.clone()));
            assert_eq!(answer.error(), (200, -32602), "{params}");
        }
        let (_events, honoured) = open(server, json!({ "toolsListChanged": true, "more": 1 }));
        assert_eq!(honoured, tools());
        assert_eq!(server.handle().counters().subscriptions_open, 1);
    });
}

/// [SUB-02] under a storm of changes the acknowledgement still comes first
#[test]
fn the_acknowledgement_comes_first() {
    on_both_drivers(full, |server| {
        let stop = Arc::new(AtomicBool::new(false));
        let (notifier, stopped) = (server.handle().notifier(), stop.clone());
        let storm = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                notifier.tools_changed();
                notifier.resource_updated("test://a");
            }
        });
        for _ in 0..200 {
            let filter = json!({ "toolsListChanged": true, "resourceSubscriptions": ["test://a"] });
            let (mut events, _) = open(server, filter);
            let next = events.message();
            assert_ne!(next["method"], ACK);
        }
        stop.store(true, Ordering::Relaxed);
        storm.join().expect("the storm ends");
        gone(server);
    });
}

/// [SUB-03] [SUB-04] the listen's id tags every message, with its type; notifications get `params` for it
#[test]
fn every_message_is_tagged() {
    for id in
        [json!(1), json!("1"), json!(0), json!(""), json!(-7), json!(9_007_199_254_740_993_i64)]
    {
        let server = serve(full());
        let filter = json!({
            "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
            "resourceSubscriptions": ["test://a"],
        });
        let (mut events, _) = open_as(&server, &Request::listen(filter).id(id.clone()));
        let notifier = server.handle().notifier();
        notifier.tools_changed();
        let mut messages = vec![events.message()];
        notifier.prompts_changed();
        notifier.resources_changed();
        notifier.resource_updated("test://a");
        messages.extend((0..3).map(|_| events.message()));
        server.handle().drain(Duration::from_secs(5));
        let closing = events.message();
        assert_eq!((&closing["id"], &closing["result"]["_meta"][SID]), (&id, &id));
        for message in messages {
            assert_eq!(message["params"]["_meta"][SID], id, "{message}");
        }
        assert_eq!(events.next_message(), None);
    }
}

/// [SUB-05] [SUB-21] the acknowledgement is what was asked and what is announced; so is what discovery says
#[test]
fn acknowledged_is_what_is_announced() {
    let all = json!({
        "toolsListChanged": true, "promptsListChanged": false, "resourcesListChanged": true,
        "resourceSubscriptions": ["test://a"],
    });
    let cases = [
        (tools_only(), json!({ "toolsListChanged": true })),
        (
            full(),
            json!({
                "toolsListChanged": true, "resourcesListChanged": true,
                "resourceSubscriptions": ["test://a"],
            }),
        ),
        (
            full().announce_list_changes(false, true, true).announce_resource_updates(false),
            json!({ "resourcesListChanged": true }),
        ),
    ];
    for (builder, expected) in cases {
        let server = serve(builder);
        let (_events, honoured) = open(&server, all.clone());
        assert_eq!(honoured, expected);
        let discovered =
            server.send(&Request::new("server/discover", json!({}))).result("server/discover");
        let announced = &discovered["capabilities"];
        assert_eq!(announced["tools"]["listChanged"] == true, expected["toolsListChanged"] == true);
        assert_eq!(
            announced["resources"]["subscribe"] == true,
            expected["resourceSubscriptions"].is_array()
        );
    }
}

/// [SUB-06] [SUB-07] [SUB-08] [SUB-09] only what was asked for is delivered; URIs match exactly
#[test]
fn only_what_was_asked_for_is_delivered() {
    on_both_drivers(full, |server| {
        let filter = json!({ "promptsListChanged": true, "resourceSubscriptions": ["test://a"] });
        let (mut events, _) = open(server, filter);
        let notifier = server.handle().notifier();
        notifier.tools_changed();
        notifier.resources_changed();
        notifier.resource_updated("test://b");
        notifier.resource_updated("test://a/sub");
        notifier.resource_updated("TEST://a");
        notifier.resource_updated("test://a");
        let message = events.message();
        assert_eq!(
            (&message["method"], &message["params"]["uri"]),
            (&json!(UPDATED), &json!("test://a"))
        );
        notifier.prompts_changed();
        assert_eq!(events.message()["method"], "notifications/prompts/list_changed");
        let counters = server.handle().counters();
        server.until("both are counted", |now| now.events_delivered == 2);
        assert!(counters.events_delivered <= 2);
    });
}

/// [SUB-09] a matcher widens the match: the updated URI is told, which differs from the subscribed one
#[test]
fn a_matcher_widens_the_match() {
    let server =
        serve(full().match_resources(|subscribed, updated| updated.starts_with(subscribed)));
    let (mut events, _) = open(&server, json!({ "resourceSubscriptions": ["test://a"] }));
    let notifier = server.handle().notifier();
    notifier.resource_updated("test://b");
    notifier.resource_updated("test://a/sub");
    assert_eq!(events.message()["params"]["uri"], "test://a/sub");
}

/// [SUB-10] [SEC-14] what the opener may not see is left out of the acknowledgement, and a right that is lost later is
/// respected at delivery
#[test]
fn rights_are_asked_at_open_and_at_delivery() {
    let revoked = Arc::new(AtomicBool::new(false));
    let rule = revoked.clone();
    let server = serve(authenticated(full()).may_watch(move |principal, uri| {
        let owns = principal.is_some_and(|principal| uri.contains(&*principal.subject));
        owns && !(rule.load(Ordering::SeqCst) && uri.ends_with("/late"))
    }));
    let mine = ["test://ann/now", "test://ann/late", "test://bob/now"];
    let listen = Request::listen(json!({ "resourceSubscriptions": mine })).header("X-User", "ann");
    let (mut events, honoured) = open_as(&server, &listen);
    assert_eq!(honoured["resourceSubscriptions"], json!(["test://ann/now", "test://ann/late"]));
    let notifier = server.handle().notifier();
    notifier.resource_updated("test://bob/now");
    notifier.resource_updated("test://ann/late");
    assert_eq!(events.message()["params"]["uri"], "test://ann/late");
    revoked.store(true, Ordering::SeqCst);
    notifier.resource_updated("test://ann/late");
    notifier.resource_updated("test://ann/now");
    assert_eq!(events.message()["params"]["uri"], "test://ann/now");
}

/// Everybody is who their header says; `X-Expires` is the grant's end in unix seconds.
fn authenticated(builder: Builder) -> Builder {
    builder.authenticate(async |head: &RequestHead<'_>| {
        let text =
            |name| head.header(name).map(|value| String::from_utf8_lossy(value).into_owned());
        let user = text("x-user").ok_or_else(|| Denied::unauthorized("Bearer"))?;
        let mut principal = Principal::new(user);
        principal.expires_at = text("x-expires").map(|at| at.parse().expect("a number"));
        Ok(principal)
    })
}

/// [SUB-11] several subscriptions, each filtered and tagged on its own; one change reaches all that asked for it
#[test]
fn subscriptions_are_independent() {
    on_both_drivers(full, |server| {
        let (mut one, _) = open_as(server, &Request::listen(tools()).id(json!("one")));
        let (mut two, _) = open_as(server, &Request::listen(tools()).id(json!(2)));
        let prompts = Request::listen(json!({ "promptsListChanged": true })).id(json!("three"));
        let (mut three, _) = open_as(server, &prompts);
        server.handle().notifier().tools_changed();
        server.handle().notifier().prompts_changed();
        for (events, method, id) in [
            (&mut one, TOOLS, json!("one")),
            (&mut two, TOOLS, json!(2)),
            (&mut three, "notifications/prompts/list_changed", json!("three")),
        ] {
            let message = events.message();
            assert_eq!(
                (&message["method"], &message["params"]["_meta"][SID]),
                (&json!(method), &id)
            );
        }
    });
}

/// [SUB-07] [SUB-20] a change on one core, from a handler or a plain thread, reaches listeners on every core
#[test]
fn changes_cross_cores() {
    for driver in [Driver::Auto, Driver::Epoll] {
        let server = serve_on(full(), driver, 2);
        // The kernel spreads connections by their ports: with so many both cores hold some.
        let mut listeners: Vec<_> = (0..24).map(|_| open(&server, tools()).0).collect();
        assert_eq!(server.handle().counters().subscriptions_open, 24);
        for _ in 0..8 {
            server.send(&Request::call("touch", json!({})));
            for events in &mut listeners {
                assert_eq!(events.message()["method"], TOOLS);
            }
        }
        let notifier = server.handle().notifier();
        std::thread::spawn(move || notifier.tools_changed()).join().expect("it returns");
        for events in &mut listeners {
            assert_eq!(events.message()["method"], TOOLS);
        }
        drop(listeners);
        gone(&server);
    }
}

/// [SUB-12] the client closes or resets its stream: everything of it is freed, and it is not written to any more
#[test]
fn closing_frees_everything() {
    on_both_drivers(full, |server| {
        for leave in [drop, reset] {
            let stream = begin(server, &Request::listen(tools()));
            server.until("it is open", |now| now.subscriptions_open == 1);
            leave(stream);
            gone(server);
            server.handle().notifier().tools_changed();
        }
        assert_eq!(server.handle().counters().events_delivered, 0);
        assert_eq!(server.handle().counters().panics, 0);
    });
}

/// [SUB-12] [SUB-16] ten thousand subscriptions, opened and closed one after the other, leave nothing: no stream, no
/// connection, no place, no descriptor
#[test]
fn ten_thousand_streams_leave_nothing() {
    let limits = Limits { subscriptions: 64, ..Limits::default() };
    let server = serve(full().limits(limits));
    let request = Request::listen(json!({ "resourceSubscriptions": ["test://a"] })).bytes();
    let descriptors = descriptors();
    let cycle = |server: &Running, at: u32| {
        let mut stream = server.connect();
        support_write(&mut stream, &request);
        let mut first = [0; 15];
        stream.read_exact(&mut first).expect("an answer");
        assert_eq!(&first, b"HTTP/1.1 200 OK");
        if at.is_multiple_of(2) {
            reset(stream);
        }
    };
    std::thread::scope(|threads| {
        for thread in 0..4 {
            let server = &server;
            threads.spawn(move || (0..2500).for_each(|at| cycle(server, at + thread)));
        }
    });
    gone(&server);
    let now = server.handle().counters();
    assert_eq!((now.connections_accepted, now.panics), (10_000, 0));
    // The other tests of this process open descriptors of their own meanwhile, but not thousands.
    assert!(self::descriptors() < descriptors + 1000);
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("Linux").count()
}

/// [SUB-14] [SUB-15] an abrupt end carries no response: the stream just stops, without a last chunk
#[test]
fn an_abrupt_end_says_nothing() {
    let server = serve(full());
    let (mut events, _) = open(&server, tools());
    // A drain with no time at all still ends streams gracefully; what is abrupt is the client's own end.
    server.handle().drain(Duration::ZERO);
    assert_eq!(events.message()["result"]["resultType"], "complete");
    assert_eq!(events.next_message(), None);
}

/// [SUB-17] [D-17] beyond the process's places a listen is refused in band before any acknowledgement, on a connection
/// that lives on; a place that is given back is free at once
#[test]
fn places_are_limited() {
    let limits = Limits { subscriptions: 2, ..Limits::default() };
    on_both_drivers(
        || full().limits(limits.clone()),
        |server| {
            let (first, _) = open(server, tools());
            let (_second, _) = open(server, tools());
            let mut stream = server.connect();
            for _ in 0..2 {
                support_write(&mut stream, &Request::listen(tools()).id(json!(9)).bytes());
                let answer = crate::support::read_answer(&mut stream).expect("an answer");
                assert_eq!(answer.error(), (200, -32603));
                assert_eq!(answer.message()["id"], 9);
                assert_eq!(answer.error_object()["message"], "Subscription limit reached");
            }
            drop(first);
            server.until("its place is free", |now| now.subscriptions_open == 1);
            open(server, tools());
        },
    );
}

/// [SUB-17] [SEC-02] [SEC-14] one caller's places do not take another's
#[test]
fn places_are_limited_per_principal() {
    let limits = Limits { subscriptions_per_principal: 2, ..Limits::default() };
    on_both_drivers(
        || authenticated(full()).limits(limits.clone()),
        |server| {
            let listen = |user: &str| Request::listen(tools()).header("X-User", user);
            let _held = [open_as(server, &listen("ann")), open_as(server, &listen("ann"))];
            assert_eq!(server.send(&listen("ann")).error(), (200, -32603));
            open_as(server, &listen("bob"));
        },
    );
}

/// [SUB-17] [SEC-02] URIs of one listen are limited
#[test]
fn uris_are_limited() {
    let server = serve(full().limits(Limits { uris_per_listen: 3, ..Limits::default() }));
    let uris = |n: usize| (0..n).map(|n| format!("test://{n}")).collect::<Vec<_>>();
    open(&server, json!({ "resourceSubscriptions": uris(3) }));
    let over = Request::listen(json!({ "resourceSubscriptions": uris(4) }));
    assert_eq!(server.send(&over).error(), (200, -32602));
}

/// [SUB-18] [D-16] nothing honoured: the empty acknowledgement, the closing result, the end
#[test]
fn nothing_honoured_ends_at_once() {
    on_both_drivers(tools_only, |server| {
        for filter in [json!({}), json!({ "promptsListChanged": true, "toolsListChanged": false })]
        {
            let (mut events, honoured) = open(server, filter);
            assert_eq!(honoured, json!({}));
            assert_eq!(events.message()["result"]["resultType"], "complete");
            assert_eq!(events.next_message(), None);
            assert!(events.closed());
        }
        gone(server);
    });
}

/// [SUB-19] two servers on one bus hear each other's changes
#[test]
fn a_bus_joins_servers() {
    let bus = Arc::new(LocalBus::new());
    let one = serve(full().bus(bus.clone()));
    let two = serve(full().bus(bus));
    let (mut events, _) = open(&one, tools());
    let (mut others, _) = open(&two, tools());
    two.handle().notifier().tools_changed();
    assert_eq!(events.message()["method"], TOOLS);
    assert_eq!(others.message()["method"], TOOLS);
}

/// [SUB-20] [SUB-07] a change of the registry publishes by itself, once; a change that shows nothing does not
#[test]
fn registry_changes_publish() {
    on_both_drivers(full, |server| {
        let filter = json!({
            "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
        });
        let (mut events, _) = open(server, filter);
        let registrations = server.handle().registrations();
        let tool = async |_: &Context, _: Arguments| Ok::<_, ToolError>("new");
        registrations.add_tool(Tool::new("new"), tool).expect("a new tool");
        assert_eq!(events.message()["method"], TOOLS);
        registrations.remove_tool("new").expect("it is there");
        assert_eq!(events.message()["method"], TOOLS);
        let prompt = async |_: &Context, _: Arguments| Ok::<_, HandlerError>("new");
        registrations.add_prompt(Prompt::new("new"), prompt).expect("a new prompt");
        assert_eq!(events.message()["method"], "notifications/prompts/list_changed");
        let resource = async |_: &Context| Ok::<_, HandlerError>("new");
        registrations.add_resource(Resource::new("test://new", "new"), resource).expect("new");
        assert_eq!(events.message()["method"], "notifications/resources/list_changed");
        server.until("nothing more", |now| now.events_delivered == 4);
    });
}

/// [SUB-22] [SUB-11] two listens sent on one connection: the first takes it, since its stream never ends before it
#[test]
fn a_listen_is_the_last_of_its_connection() {
    on_both_drivers(full, |server| {
        let mut bytes = Request::call("touch", json!({})).id(json!("before")).bytes();
        bytes.extend(Request::listen(tools()).id(json!("first")).bytes());
        bytes.extend(Request::listen(tools()).id(json!("second")).bytes());
        let mut stream = server.connect();
        support_write(&mut stream, &bytes);
        let before = crate::support::read_answer(&mut stream).expect("an answer");
        assert_eq!(before.message()["id"], "before");
        let mut events = Events::open(stream);
        assert_eq!(events.message()["params"]["_meta"][SID], "first");
        server.handle().notifier().tools_changed();
        assert_eq!(events.message()["params"]["_meta"][SID], "first");
        assert_eq!(server.handle().counters().subscriptions_open, 1);
    });
}

/// [SUB-23] an extension's field joins filter and acknowledgement; unknown ones are left out
#[test]
fn extensions_add_fields() {
    let field = ExtensionField { field: "jobIds".into(), method: "notifications/jobs".into() };
    let server = serve(full().subscription_field(field));
    let (mut events, honoured) =
        open(&server, json!({ "jobIds": ["j1", "j2"], "otherIds": ["x"] }));
    assert_eq!(honoured, json!({ "jobIds": ["j1", "j2"] }));
    let news = |state: &str| Map::from_iter([("state".to_owned(), json!(state))]);
    let notifier = server.handle().notifier();
    notifier.extension("jobIds", "j3", &news("other"));
    notifier.extension("jobIds", "j2", &news("done"));
    let message = events.message();
    assert_eq!(
        (&message["method"], &message["params"]["state"]),
        (&json!("notifications/jobs"), &json!("done"))
    );
}

/// [SSE-11] [SUB-19] readers that never read cost bits: after a hundred thousand changes memory has not grown, and
/// another reader was told all the time
#[test]
fn readers_that_never_read_are_bounded() {
    on_both_drivers(full, |server| {
        let uris: Vec<String> = (0..100).map(|n| format!("test://{n}")).collect();
        let filter = json!({ "toolsListChanged": true, "resourceSubscriptions": uris });
        let sleepers: Vec<TcpStream> =
            (0..20).map(|_| begin(server, &Request::listen(filter.clone()))).collect();
        let (mut awake, _) = open(server, json!({ "promptsListChanged": true }));
        server.until("all are open", |now| now.subscriptions_open == 21);
        let notifier = server.handle().notifier();
        let before = resident_kib();
        for round in 0..100_000_usize {
            notifier.resource_updated(&uris[round % uris.len()]);
            notifier.tools_changed();
            if round % 10_000 == 0 {
                notifier.prompts_changed();
                assert_eq!(awake.message()["method"], "notifications/prompts/list_changed");
            }
        }
        let grown = resident_kib().saturating_sub(before);
        assert!(grown < 64 * 1024, "{grown} KiB more");
        drop((sleepers, awake));
        gone(server);
    });
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// [SUB-14] [AUTH-16] a stream ends gracefully when its opener's grant does
#[test]
fn a_stream_ends_with_the_grant() {
    on_both_drivers(
        || authenticated(full()),
        |server| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
            let until = |secs: u64| (now + secs).to_string();
            let listen = |secs| {
                Request::listen(tools()).header("X-User", "ann").header("X-Expires", &until(secs))
            };
            let (mut short, _) = open_as(server, &listen(1));
            let (mut long, _) = open_as(server, &listen(600));
            assert_eq!(short.message()["result"]["resultType"], "complete");
            assert_eq!(short.next_message(), None);
            server.handle().notifier().tools_changed();
            assert_eq!(long.message()["method"], TOOLS);
        },
    );
}

/// [SUB-20] a burst is told at least once after its last change, and never more often than there were changes
#[test]
fn bursts_are_told() {
    on_both_drivers(full, |server| {
        let uris: Vec<String> = (0..50).map(|n| format!("test://{n}")).collect();
        let (mut events, _) = open(server, json!({ "resourceSubscriptions": uris.clone() }));
        let notifier = server.handle().notifier();
        for _ in 0..10 {
            uris.iter().for_each(|uri| notifier.resource_updated(uri));
        }
        notifier.resource_updated("test://0");
        server.handle().drain(Duration::from_secs(5));
        let mut told: HashMap<String, usize> = HashMap::new();
        while let Some(message) = events.next_message() {
            if let Some(uri) = message["params"]["uri"].as_str() {
                *told.entry(uri.to_owned()).or_default() += 1;
            }
        }
        assert_eq!(told.len(), 50, "each changed thing is told");
        assert!(told.values().all(|times| *times <= 11), "{told:?}");
    });
}
