//! The server as a part of a program: in process, from other threads, beside blocking work.

use std::io::{Read, Write};
use std::sync::mpsc;
use std::time::Duration;

use ringmcp::types::Tool;
use ringmcp::{Builder, Context, Error, Limits, OffloadError, ToolError};
use serde_json::json;

use crate::common::{Free, NoArgs, Runs, ask, names, server};
use crate::support::{PATIENCE, Request, on_both_drivers, serve, validate};

fn adder() -> Builder {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Add {
        a: i64,
        b: i64,
    }
    server().tool("add", "", async |_: &Context, Add { a, b }: Add| Ok::<_, ToolError>(a + b))
}

/// [RPC-07] [CALL-04] a whole server without a socket answers what one with a socket would.
#[test]
fn in_process() {
    let server = adder().in_process().expect("a server");
    let arguments = json!({ "name": "add", "arguments": { "a": 1, "b": 2 } });
    let answer = server.request("tools/call", arguments.clone(), PATIENCE);
    validate(&answer, Some("tools/call"));
    assert_eq!(answer["result"]["content"][0]["text"], "3");
    server
        .registrations()
        .add_tool(Tool::new("two"), async |_: &Context, _: NoArgs| Ok::<_, ToolError>(2))
        .expect("a free name");
    let list = server.request("tools/list", json!({}), PATIENCE);
    assert_eq!(names(&list["result"]["tools"], "name"), ["add", "two"]);
    assert_eq!(server.counters().requests, 2);
    // The same bytes as over TCP.
    let connection = server.connect();
    connection.send(&Request::new("tools/call", arguments.clone()).bytes());
    let here = connection.receive(PATIENCE, |bytes| bytes.ends_with(b"}"));
    let there = serve(adder()).send(&Request::new("tools/call", arguments));
    assert!(here.ends_with(&there.body), "{}", String::from_utf8_lossy(&here));
}

/// [SUB-02] [SUB-20] [TOOL-14] [SSE-08] subscriptions and cancellation work in process too.
#[test]
fn in_process_streams() {
    let builder = adder().tool("forever", "", async |_: &Context, _: NoArgs| {
        std::future::pending::<()>().await;
        Ok::<_, ToolError>(())
    });
    let server = builder.in_process().expect("a server");
    let listening = server.connect();
    listening.send(&Request::listen(json!({ "toolsListChanged": true })).bytes());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let opened = listening.receive(PATIENCE, |bytes| text(bytes).contains("acknowledged"));
    assert!(text(&opened).contains("text/event-stream"));
    server.notifier().tools_changed();
    let news = listening.receive(PATIENCE, |bytes| text(bytes).contains("list_changed"));
    assert!(text(&news).contains("notifications/tools/list_changed"));

    let calling = server.connect();
    calling.send(&Request::call("forever", json!({})).bytes());
    for _ in 0..3 {
        server.turn();
    }
    drop(calling);
    for _ in 0..3 {
        server.turn();
    }
    assert_eq!(server.counters().disconnect_cancellations, 1);
}

/// [TOOL-14] [SSE-14] a started server is changed, watched and ended from other threads.
#[test]
fn started_and_driven_from_other_threads() {
    on_both_drivers(adder, |running| {
        let (change, notifier) = (running.handle().registrations(), running.handle().notifier());
        let mut events = running.stream(&Request::listen(json!({ "toolsListChanged": true })));
        events.message();
        let thread = std::thread::spawn(move || {
            change.add_tool(Tool::new("two"), async |_: &Context, _: NoArgs| Ok::<_, ToolError>(2))
        });
        thread.join().expect("no panic").expect("a free name");
        assert_eq!(events.message()["method"], "notifications/tools/list_changed");
        assert_eq!(running.send(&Request::call("two", json!({}))).text(), "2");
        std::thread::spawn(move || notifier.tools_changed()).join().expect("no panic");
        assert_eq!(events.message()["method"], "notifications/tools/list_changed");
        let url = running.handle().url().expect("it listens");
        assert_eq!(url, format!("http://{}/mcp", running.addr));
        assert!(["io_uring", "epoll"].contains(&running.handle().driver().as_str()));
        assert_eq!(running.handle().workers(), 1);
        running.handle().drain(Duration::from_secs(5));
        let closing = events.message();
        assert_eq!(closing["result"]["resultType"], "complete", "{closing}");
        assert_eq!(events.next_message(), None);
    });
}

/// [SSE-14] `run` returns when another thread drains, and the port is free again.
#[test]
fn a_drained_server_is_gone() {
    let handle = adder().workers(2).bind("127.0.0.1:0").start().expect("it starts");
    let address = handle.address().expect("it listens");
    handle.drain(Duration::ZERO);
    handle.join().expect("the workers end");
    assert!(std::net::TcpStream::connect(address).is_err());
    let again = adder().workers(1).bind(address.to_string()).start().expect("the port is free");
    again.drain(Duration::ZERO);
    again.join().expect("the workers end");
}

/// [DSC-01] what keeps a server from starting is told with its cause.
#[test]
fn failures_to_start_name_their_cause() {
    let text = |error: Error| error.to_string();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let in_use = adder().workers(1).bind(&address).start().map(drop).expect_err("taken");
    assert!(matches!(in_use, Error::Address(_)), "{in_use:?}");
    let wrong = adder().bind("nowhere").start().map(drop).expect_err("no address");
    assert!(text(wrong).contains("nowhere"));
    let twice = adder().tool("add", "", async |_: &Context, _: NoArgs| Ok::<_, ToolError>(()));
    let twice = twice.bind(&address).start().map(drop).expect_err("a duplicate");
    assert!(text(twice).contains("add"), "the program's faults go first");
    let path = adder().path("mcp").bind("127.0.0.1:0").start().map(drop).expect_err("no slash");
    assert!(text(path).contains("mcp"));
}

/// [CALL-14] blocking work leaves the core free: while one call blocks, others are answered by the same worker.
#[test]
fn offloaded_work_does_not_block_the_core() {
    on_both_drivers(
        || {
            adder().tool("wait_for", "", async |ctx: &Context, arguments: Free| {
                let address = arguments["address"].as_str().expect("an address").to_owned();
                let thread = std::thread::current().id();
                let heard = ctx.offload(move || {
                    assert_ne!(std::thread::current().id(), thread);
                    let mut stream = std::net::TcpStream::connect(address)?;
                    let mut heard = String::new();
                    stream.read_to_string(&mut heard)?;
                    Ok::<_, std::io::Error>(heard)
                });
                Ok::<_, ToolError>(heard.await??)
            })
        },
        |running| {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
            let address = listener.local_addr().expect("an address").to_string();
            std::thread::scope(|scope| {
                let call = scope.spawn(|| {
                    running.send(&Request::call("wait_for", json!({ "address": address }))).text()
                });
                let (mut peer, _) = listener.accept().expect("the job connects");
                for at in 0..10 {
                    let sum = running.send(&Request::call("add", json!({ "a": at, "b": 1 })));
                    assert_eq!(sum.text(), (at + 1).to_string());
                }
                peer.write_all(b"heard").expect("a write");
                drop(peer);
                assert_eq!(call.join().expect("no panic"), "heard");
            });
        },
    );
}

/// [ERR-11] [SEC-02] a job that panics, and a queue that is full, are told to the handler.
#[test]
fn offload_failures() {
    let (release, gate) = mpsc::channel::<()>();
    let gate = std::sync::Arc::new(std::sync::Mutex::new(gate));
    let begun = Runs::default();
    let running = begun.clone();
    let limits = Limits { offload_threads: 1, offload_queue: 1, ..Limits::default() };
    let builder = server()
        .limits(limits)
        .tool("panics", "", async |ctx: &Context, _: NoArgs| {
            match ctx.offload(|| assert!(std::env::args().count() == 0, "secret detail")).await {
                Err(OffloadError::Panicked) => Ok::<_, ToolError>("told"),
                other => Ok(if other.is_ok() { "went well" } else { "something else" }),
            }
        })
        .tool("blocks", "", async move |ctx: &Context, _: NoArgs| {
            let (gate, running) = (gate.clone(), running.clone());
            let job = ctx.offload(move || {
                running.add();
                gate.lock().expect("no panic").recv().is_ok()
            });
            match job.await {
                Err(OffloadError::Full) => Ok::<_, ToolError>("full"),
                other => Ok(if other.is_ok() { "ran" } else { "something else" }),
            }
        });
    let server = serve(builder);
    assert_eq!(server.send(&Request::call("panics", json!({}))).text(), "told");
    std::thread::scope(|scope| {
        let call = || server.send(&Request::call("blocks", json!({}))).text();
        let first = scope.spawn(call);
        while begun.count() == 0 {
            std::thread::yield_now();
        }
        // One runs, one waits: of two more, exactly one finds the queue full.
        let (second, third) = (scope.spawn(call), scope.spawn(call));
        server.until("one is refused", |counters| counters.offload_refused == 1);
        release.send(()).expect("a job waits");
        release.send(()).expect("a job waits");
        let mut texts = [first, second, third].map(|call| call.join().expect("no panic"));
        texts.sort();
        assert_eq!(texts, ["full", "ran", "ran"]);
    });
}

/// [SSE-08] [CALL-14] a job that outlives its client can see that it was cancelled.
#[test]
fn offloaded_work_sees_the_cancellation() {
    let (begun, begins) = mpsc::channel();
    let (seen, sees) = mpsc::channel();
    let ends = std::sync::Mutex::new((begun, seen));
    let builder = server().tool("works", "", async move |ctx: &Context, _: NoArgs| {
        let token = ctx.cancel_token();
        let (begun, seen) = ends.lock().expect("no panic").clone();
        ctx.offload(move || {
            begun.send(()).expect("the test listens");
            while !token.is_cancelled() {
                std::thread::yield_now();
            }
            seen.send(()).expect("the test listens");
        })
        .await?;
        Ok::<_, ToolError>(())
    });
    let server = serve(builder);
    let mut connection = server.connect();
    crate::support::support_write(&mut connection, &Request::call("works", json!({})).bytes());
    begins.recv_timeout(PATIENCE).expect("the job begins");
    drop(connection);
    sees.recv_timeout(PATIENCE).expect("the job sees that its client is gone");
    server.until("counted", |counters| counters.disconnect_cancellations == 1);
}

/// [RPC-16] [HTTP-23] the endpoint is where it was put, and nowhere else.
#[test]
fn the_path_is_configured() {
    let server = serve(adder().path("/api/mcp"));
    assert_eq!(server.send(&ask("tools/list")).status, 404);
    server.send(&ask("tools/list").http("POST", "/api/mcp")).result("tools/list");
}
