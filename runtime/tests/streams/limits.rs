//! One test per bound of [`Limits`]: hitting it gives the documented answer and moves its counter. SEC-02, SEC-07.

use std::io::Read;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use ringmcp::types::{Prompt, PromptArgument, Tool};
use ringmcp::{
    Completion, Completions, Context, HandlerError, Limits, OffloadError, Server, ToolError,
};
use serde_json::json;

use crate::support::{Request, on_both_drivers, read_answer, serve, support_write};
use crate::tools::{Arguments, Life, begin, news, read_to_end, server};

fn limited(limits: Limits, test: impl Fn(&crate::support::Running)) {
    on_both_drivers(|| server(&news().0).limits(limits.clone()), test);
}

/// [SEC-02] heads, header lines and targets: 431 and 414, and the connection closes
#[test]
fn heads_are_bounded() {
    let limits = Limits { head_bytes: 2048, headers: 16, target_bytes: 64, ..Limits::default() };
    limited(limits, |server| {
        let base = || Request::call("echo", json!({}));
        let long = base().header("X-Long", &"x".repeat(2048));
        let many = (0..20).fold(base(), |request, n| request.header(&format!("X-{n}"), "x"));
        let far = base().http("POST", &format!("/mcp?{}", "x".repeat(80)));
        for (request, status) in [(long, 431), (many, 431), (far, 414)] {
            let mut stream = begin(server, &request);
            let answer = read_answer(&mut stream).expect("an answer");
            assert_eq!((answer.status, answer.header("connection")), (status, Some("close")));
            assert_eq!(read_to_end(&mut stream), b"");
        }
        assert_eq!(server.send(&base()).status, 200);
    });
}

/// [SEC-02] bodies: 413, declared or streamed
#[test]
fn bodies_are_bounded() {
    limited(Limits { body_bytes: 1000, ..Limits::default() }, |server| {
        let large = Request::call("echo", json!({ "text": "x".repeat(1000) }));
        assert_eq!(server.send(&large).status, 413);
        let body = large.message.to_string();
        let chunked = large
            .header("Transfer-Encoding", "chunked")
            .body(format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len()));
        assert_eq!(server.send(&chunked).status, 413);
    });
}

/// [SEC-02] [RPC-20] nesting: a parse error, whatever the depth
#[test]
fn nesting_is_bounded() {
    limited(Limits { json_depth: 16, ..Limits::default() }, |server| {
        for depth in [17, 100_000] {
            let nested = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            let request = Request::call("echo", json!({})).body(nested);
            assert_eq!(server.send(&request).error(), (400, -32700), "{depth}");
        }
    });
}

/// [SEC-02] connections per core: a further one is told 503 and closed, and counted; a place that is free again serves
#[test]
fn connections_are_bounded() {
    limited(Limits { connections_per_core: 2, ..Limits::default() }, |server| {
        let held = [server.connect(), server.connect()];
        server.until("both are open", |now| now.connections_open == 2);
        let mut refused = server.connect();
        let answer = String::from_utf8(read_to_end(&mut refused)).expect("ASCII");
        assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("Retry-After: 1"));
        assert_eq!(server.handle().counters().connections_refused, 1);
        drop(held);
        server.until("both are gone", |now| now.connections_open == 0);
        assert_eq!(server.send(&Request::call("echo", json!({ "text": "x" }))).text(), "x");
    });
}

/// [SEC-02] running handlers per core: 503 with Retry-After, on a connection that lives on; requests that need no
/// handler are still answered
#[test]
fn requests_are_bounded() {
    let (teller, news) = news();
    let limits = Limits { requests_per_core: 2, ..Limits::default() };
    on_both_drivers(
        || server(&teller).limits(limits.clone()),
        |server| {
            let held: Vec<_> = (0..2)
                .map(|_| {
                    let stream = begin(server, &Request::call("hang", json!({})));
                    assert_eq!(news.next(), Life::Began);
                    stream
                })
                .collect();
            let mut stream = server.connect();
            for _ in 0..2 {
                support_write(&mut stream, &Request::call("echo", json!({})).bytes());
                let answer = read_answer(&mut stream).expect("an answer");
                assert_eq!(answer.error(), (503, -32603));
                assert_eq!(answer.header("retry-after"), Some("1"));
            }
            server.send(&Request::new("tools/list", json!({}))).result("tools/list");
            drop(held);
            assert_eq!((news.next(), news.next()), (Life::Dropped, Life::Dropped));
            support_write(&mut stream, &Request::call("echo", json!({ "text": "x" })).bytes());
            assert_eq!(read_answer(&mut stream).expect("an answer").text(), "x");
            // The places of cancelled calls came back: both can be taken again.
            for _ in 0..4 {
                drop(begin(server, &Request::call("hang", json!({}))));
                assert_eq!((news.next(), news.next()), (Life::Began, Life::Dropped));
            }
        },
    );
}

/// [SEC-02] bytes sent ahead of a running request: what is beyond the bound waits in the kernel, and is served later
#[test]
fn bytes_ahead_are_bounded() {
    let (teller, news) = news();
    let limits = Limits { ahead_bytes: 4096, ..Limits::default() };
    on_both_drivers(
        || server(&teller).limits(limits.clone()),
        |server| {
            let nap = Request::call("nap", json!({ "ms": 300, "text": "slept" }));
            let mut stream = begin(server, &nap);
            assert_eq!(news.next(), Life::Began);
            let mut writer = stream.try_clone().expect("a second handle");
            let ahead: Vec<u8> = (0..200)
                .flat_map(|n: u32| {
                    let text = format!("{n} {}", "x".repeat(5000));
                    Request::call("echo", json!({ "text": text })).id(json!(n)).bytes()
                })
                .collect();
            let writing = std::thread::spawn(move || support_write(&mut writer, &ahead));
            assert_eq!(read_answer(&mut stream).expect("an answer").text(), "slept");
            for n in 0..200 {
                let answer = read_answer(&mut stream).expect("an answer");
                assert_eq!(answer.message()["id"], n);
            }
            writing.join().expect("all was sent");
            assert_eq!(news.next(), Life::Ended);
        },
    );
}

/// [SEC-02] [SSE-11] messages that wait for a slow reader; a single larger one still goes out whole
#[test]
fn waiting_messages_are_bounded() {
    let limits = Limits { emit_bytes: 1000, ..Limits::default() };
    limited(limits, |server| {
        let request = Request::call("steps", json!({ "n": 1000 }))
            .meta(crate::support::LL, json!("debug"))
            .meta("progressToken", json!("p".repeat(3000)));
        let messages = server.send(&request).messages();
        assert!(messages.len() < 20, "{} messages", messages.len());
        assert_eq!(crate::tools::progress_of(&messages).last(), Some(&1000));
    });
}

/// [SEC-02] the offload queue: the handler is told that it is full, and the counter moves
#[test]
fn offloaded_jobs_are_bounded() {
    let gate = Arc::new((Mutex::new(false), Condvar::new()));
    let make = || {
        *gate.0.lock().expect("no panic") = false;
        let gate = gate.clone();
        let limits = Limits { offload_queue: 1, offload_threads: 1, ..Limits::default() };
        server(&news().0).limits(limits).tool(
            "jobs",
            "Starts more jobs than there is room for",
            async move |ctx: &Context, _: Arguments| {
                let wait = |gate: Arc<(Mutex<bool>, Condvar)>| {
                    move || {
                        let open = gate.0.lock().expect("no panic");
                        drop(gate.1.wait_while(open, |open| !*open).expect("no panic"));
                    }
                };
                let jobs: Vec<_> = (0..10).map(|_| ctx.offload(wait(gate.clone()))).collect();
                *gate.0.lock().expect("no panic") = true;
                gate.1.notify_all();
                let mut full = 0;
                for job in jobs {
                    full += u32::from(job.await == Err(OffloadError::Full));
                }
                Ok::<_, ToolError>(full)
            },
        )
    };
    on_both_drivers(make, |server| {
        let full: u64 =
            server.send(&Request::call("jobs", json!({}))).text().parse().expect("a number");
        assert!((8..=9).contains(&full), "{full} of 10 found no room");
        assert_eq!(server.handle().counters().offload_refused, full);
    });
}

/// [SEC-02] entries of the registry: refused while running, and at the start
#[test]
fn entries_are_bounded() {
    let limits = Limits { entries: 4, ..Limits::default() };
    let server = serve(server(&news().0).limits(limits.clone()));
    let tool = async |_: &Context, _: Arguments| Ok::<_, ToolError>("x");
    let registrations = server.handle().registrations();
    let error = registrations.add_tool(Tool::new("fifth"), tool).expect_err("no room");
    assert!(error.to_string().contains("fifth"), "{error}");
    registrations.remove_tool("hang").expect("it is there");
    registrations.add_tool(Tool::new("fifth"), tool).expect("room again");
    let tools = server.send(&Request::new("tools/list", json!({}))).result("tools/list");
    assert_eq!(tools["tools"].as_array().map(Vec::len), Some(4));
    let over = crate::tools::server(&news().0).limits(Limits { entries: 3, ..limits });
    assert!(over.bind("127.0.0.1:0").start().is_err());
}

/// [SEC-02] [CMP-03] values of a completion
#[test]
fn completions_are_bounded() {
    let make = || {
        Server::builder("t", "1")
            .prompt_with(
                Prompt::new("p").argument(PromptArgument::new("a")),
                async |_: &Context, _: Arguments| Ok::<_, HandlerError>("x"),
            )
            .complete_prompt("p", "a", async |_: &Context, _: Completion<'_>| {
                Ok::<_, HandlerError>(Completions::from_iter((0..50).map(|n| format!("v{n}"))))
            })
            .limits(Limits { completion_values: 10, ..Limits::default() })
    };
    let server = serve(make());
    let params = json!({
        "ref": { "type": "ref/prompt", "name": "p" }, "argument": { "name": "a", "value": "v" },
    });
    let result =
        server.send(&Request::new("completion/complete", params)).result("completion/complete");
    assert_eq!(result["completion"]["values"].as_array().map(Vec::len), Some(10));
    assert_eq!(result["completion"]["hasMore"], true);
}

/// [SEC-02] [RS-09] a request state beyond its bound: refused from a client, an internal error from a handler
#[test]
fn states_are_bounded() {
    let make = || {
        server(&news().0).limits(Limits { state_bytes: 512, ..Limits::default() }).tool(
            "state",
            "Keeps too much",
            async |ctx: &Context, _: Arguments| {
                let mut ask = ctx.ask();
                ask.state(&"x".repeat(1000));
                let roots = ask.roots("r");
                ask.done(roots)?;
                Ok::<_, ToolError>("x")
            },
        )
    };
    let server = serve(make());
    let call = Request::call("state", json!({})).capabilities(json!({ "roots": {} }));
    assert_eq!(server.send(&call).error(), (200, -32603));
    let sent = call.param("requestState", json!("A".repeat(1000)));
    assert_eq!(server.send(&sent).error(), (200, -32602));
}

/// [CAN-01] a handler that holds its core is counted
#[test]
fn stalls_are_counted() {
    let make = || {
        let limits = Limits { stall_warning: Duration::from_millis(30), ..Limits::default() };
        server(&news().0).limits(limits).tool(
            "stall",
            "Blocks",
            async |_: &Context, _: Arguments| {
                let end = std::time::Instant::now() + Duration::from_millis(60);
                while std::time::Instant::now() < end {}
                Ok::<_, ToolError>("x")
            },
        )
    };
    on_both_drivers(make, |server| {
        assert_eq!(server.send(&Request::call("stall", json!({}))).text(), "x");
        assert_eq!(server.handle().counters().stalls, 1);
        assert_eq!(server.send(&Request::call("echo", json!({ "text": "x" }))).text(), "x");
        assert_eq!(server.handle().counters().stalls, 1);
    });
}

/// [SEC-02] a client that never stops sending requests does not keep others from being served
#[test]
fn busy_senders_take_turns() {
    limited(Limits::default(), |server| {
        let echo = Request::call("echo", json!({ "text": "x" })).bytes();
        let batch = echo.repeat(200);
        let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
        std::thread::scope(|threads| {
            for _ in 0..2 {
                let mut writer = server.connect();
                let mut reader = writer.try_clone().expect("a second handle");
                let (stop, batch) = (stop.clone(), &batch);
                threads.spawn(move || {
                    while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                        support_write(&mut writer, batch);
                    }
                    writer.shutdown(std::net::Shutdown::Both).ok();
                });
                threads.spawn(move || {
                    let mut buffer = vec![0; 1 << 16];
                    while matches!(reader.read(&mut buffer), Ok(1..)) {}
                });
            }
            for n in 0..20 {
                let answer = server.send(&Request::call("echo", json!({ "text": n.to_string() })));
                assert_eq!(answer.text(), n.to_string());
            }
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        });
    });
}
