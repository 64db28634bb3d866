//! Clients that leave, time that runs out, handlers that panic: what a request costs beyond itself. Ledger section 4.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ringmcp::types::{Resource, ResourceTemplate, Tool};
use ringmcp::{Context, HandlerError, Limits, ToolError};
use serde_json::{Value, json};

use crate::support::{
    Events, PATIENCE, Request, on_both_drivers, read_answer, serve, support_write,
};
use crate::tools::{Arguments, Life, begin, news, read_to_end, reset, server};

/// [SSE-08] [SSE-09] [CAN-03] the client closes or resets while its JSON answer is pending: the handler is dropped, the
/// gauges fall, nothing is written
#[test]
fn a_pending_json_answer_is_cancelled() {
    let (teller, news) = news();
    on_both_drivers(
        || server(&teller),
        |server| {
            for leave in [drop, reset] {
                let before = server.handle().counters();
                let stream = begin(server, &Request::call("hang", json!({})));
                assert_eq!(news.next(), Life::Began);
                leave(stream);
                assert_eq!(news.next(), Life::Dropped);
                server.until("the connection ends", |now| now.connections_open == 0);
                let now = server.handle().counters();
                assert_eq!(now.disconnect_cancellations, before.disconnect_cancellations + 1);
                assert_eq!(now.responses, before.responses, "no answer was written");
                assert_eq!((now.panics, now.handler_timeouts), (0, 0));
            }
        },
    );
}

/// [SSE-09] [D-30] a client that ends its sending half has left as well; it reads no answer
#[test]
fn half_a_close_is_a_close() {
    let (teller, news) = news();
    on_both_drivers(
        || server(&teller),
        |server| {
            let mut stream = begin(server, &Request::call("hang", json!({})));
            assert_eq!(news.next(), Life::Began);
            stream.shutdown(std::net::Shutdown::Write).expect("still open");
            assert_eq!(news.next(), Life::Dropped);
            assert_eq!(read_to_end(&mut stream), b"");
        },
    );
}

/// [SSE-08] the client leaves an open event stream: the handler is dropped, also while it reports all the time
#[test]
fn an_open_stream_is_cancelled() {
    let (teller, news) = news();
    let reporting = Arc::new(teller.clone());
    on_both_drivers(
        || {
            let teller = reporting.clone();
            server(&teller.clone()).tool(
                "busy",
                "Reports for ever",
                async move |ctx: &Context, _: Arguments| {
                    let alive = teller.begin();
                    for step in 0..u64::MAX {
                        ctx.progress(step, u64::MAX);
                        ctx.sleep(Duration::from_millis(1)).await;
                    }
                    alive.end();
                    Ok::<_, ToolError>("never")
                },
            )
        },
        |server| {
            let request = Request::call("busy", json!({})).meta("progressToken", json!("p"));
            let mut events = Events::open(begin(server, &request));
            assert_eq!(news.next(), Life::Began);
            events.message();
            events.message();
            drop(events);
            assert_eq!(news.next(), Life::Dropped);
            server.until("the connection ends", |now| now.connections_open == 0);
            assert_eq!(server.handle().counters().handlers_sleeping, 0);
        },
    );
}

/// [CAN-01] a handler that does not answer in time is dropped, its client told in band, and the connection lives on
#[test]
fn time_runs_out_in_band() {
    let (teller, news) = news();
    let limits = Limits { handler_timeout: Duration::from_millis(100), ..Limits::default() };
    on_both_drivers(
        || server(&teller).limits(limits.clone()),
        |server| {
            let mut stream = begin(server, &Request::call("hang", json!({})));
            assert_eq!(news.next(), Life::Began);
            let answer = read_answer(&mut stream).expect("an answer");
            assert_eq!(answer.error(), (200, -32603));
            assert_eq!(news.next(), Life::Dropped);
            support_write(&mut stream, &Request::call("echo", json!({ "text": "on" })).bytes());
            assert_eq!(read_answer(&mut stream).expect("an answer").text(), "on");
            assert_eq!(server.handle().counters().handler_timeouts, 1);
        },
    );
}

/// [CAN-01] [ERR-09] progress does not put the end off, and the error is the stream's last event
#[test]
fn progress_does_not_buy_time() {
    let limits = Limits { handler_timeout: Duration::from_millis(200), ..Limits::default() };
    on_both_drivers(
        || server(&news().0).limits(limits.clone()),
        |server| {
            let request = Request::call("steps", json!({ "n": 100_000, "ms": 1 }))
                .meta("progressToken", json!("p"));
            let mut events = Events::open(begin(server, &request));
            let mut last = Value::Null;
            while let Some(message) = events.next_message() {
                last = message;
            }
            assert_eq!((&last["error"]["code"], &last["id"]), (&json!(-32603), &json!(1)));
        },
    );
}

/// [CAN-02] [CAN-04] [CAN-05] [CAN-07] a posted `notifications/cancelled`, well formed or not, on the same connection
/// or another, is accepted and changes nothing
#[test]
fn posted_cancellations_have_no_effect() {
    let (teller, news) = news();
    on_both_drivers(
        || server(&teller),
        |server| {
            let nap = Request::call("nap", json!({ "ms": 300, "text": "slept" }));
            let mut stream = begin(server, &nap);
            assert_eq!(news.next(), Life::Began);
            for id in [json!(1), json!("1"), Value::Null, json!({})] {
                let params = json!({ "requestId": id, "reason": "no more" });
                let cancel = Request::new("notifications/cancelled", params).without_member("id");
                assert_eq!(server.send(&cancel).status, 202);
                support_write(&mut stream, &cancel.bytes());
            }
            let bare = Request::new("notifications/cancelled", json!({})).without_member("id");
            assert_eq!(server.send(&bare).status, 202);
            assert_eq!(read_answer(&mut stream).expect("an answer").text(), "slept");
            assert_eq!(news.next(), Life::Ended);
            for _ in 0..4 {
                assert_eq!(read_answer(&mut stream).expect("an answer").status, 202);
            }
            assert_eq!(server.handle().counters().disconnect_cancellations, 0);
        },
    );
}

/// [SSE-08] a job that outlives its request sees the cancellation through its token
#[test]
fn offloaded_work_sees_the_cancellation() {
    let (sender, seen) = channel();
    let sender = Arc::new(Mutex::new(sender));
    let limits = Limits { handler_timeout: Duration::from_millis(300), ..Limits::default() };
    let make = || {
        let sender = sender.clone();
        server(&news().0).limits(limits.clone()).tool(
            "job",
            "Works elsewhere",
            async move |ctx: &Context, _: Arguments| {
                let (token, sender) = (ctx.cancel_token(), sender.clone());
                let work = ctx.offload(move || {
                    let say = |what| sender.lock().expect("no panic").send(what).expect("heard");
                    say("began");
                    let end = std::time::Instant::now() + PATIENCE;
                    while !token.is_cancelled() && std::time::Instant::now() < end {
                        std::thread::yield_now();
                    }
                    say(if token.is_cancelled() { "cancelled" } else { "never told" });
                });
                work.await?;
                Ok::<_, ToolError>("done")
            },
        )
    };
    on_both_drivers(make, |server| {
        let hear = || seen.recv_timeout(PATIENCE).expect("the job runs");
        let request = Request::call("job", json!({}));
        let stream = begin(server, &request);
        assert_eq!(hear(), "began");
        drop(stream);
        assert_eq!(hear(), "cancelled");
        // And when its time is up.
        assert_eq!(server.send(&request).error(), (200, -32603));
        assert_eq!((hear(), hear()), ("began", "cancelled"));
    });
}

/// [RPC-15] requests that are sent ahead while one runs are answered after it, in order
#[test]
fn requests_sent_ahead_are_kept() {
    let (teller, news) = news();
    on_both_drivers(
        || server(&teller),
        |server| {
            let mut stream = server.connect();
            let nap = Request::call("nap", json!({ "ms": 120, "text": "first" }));
            support_write(&mut stream, &nap.bytes());
            assert_eq!(news.next(), Life::Began);
            let echo = |n: u32| {
                Request::call("echo", json!({ "text": format!("ahead {n}") })).id(json!(n)).bytes()
            };
            // One whole request, then one torn in the middle whose rest comes after the first answer.
            support_write(&mut stream, &echo(2));
            let torn = echo(3);
            support_write(&mut stream, &torn[..torn.len() / 2]);
            assert_eq!(read_answer(&mut stream).expect("an answer").text(), "first");
            support_write(&mut stream, &torn[torn.len() / 2..]);
            assert_eq!(news.next(), Life::Ended);
            for n in [2, 3] {
                let answer = read_answer(&mut stream).expect("an answer");
                assert_eq!(
                    (answer.message()["id"].clone(), answer.text()),
                    (json!(n), format!("ahead {n}"))
                );
            }
        },
    );
}

/// [RPC-05] an answer that is ready does not wait for the next request's handler, nor for its authenticator
#[test]
fn ready_answers_do_not_wait() {
    let (teller, news) = news();
    let asked = teller.clone();
    let make = || {
        let teller = asked.clone();
        server(&asked).authenticate(async move |head: &ringmcp::RequestHead<'_>| {
            if head.header("x-wait").is_some() {
                let _alive = teller.begin();
                std::future::pending::<()>().await;
            }
            Ok(ringmcp::Principal::new("somebody"))
        })
    };
    on_both_drivers(make, |server| {
        let hang = Request::call("hang", json!({}));
        for second in [hang.clone(), hang.header("X-Wait", "1")] {
            let mut bytes = Request::call("echo", json!({ "text": "ready" })).bytes();
            bytes.extend(second.bytes());
            let mut stream = server.connect();
            support_write(&mut stream, &bytes);
            assert_eq!(read_answer(&mut stream).expect("an answer").text(), "ready");
            assert_eq!(news.next(), Life::Began);
            drop(stream);
            assert_eq!(news.next(), Life::Dropped);
            server.until("it is gone", |now| now.connections_open == 0);
        }
        assert_eq!(server.handle().counters().disconnect_cancellations, 2);
    });
}

/// [SEC-06] an authenticator takes its own time, not its client's: the head's timeout does not cut the body off
#[test]
fn a_slow_authenticator_does_not_time_its_client_out() {
    let limits = Limits {
        head_timeout: Duration::from_millis(100),
        body_timeout: Duration::from_millis(100),
        ..Limits::default()
    };
    let make = || {
        server(&news().0).limits(limits.clone()).authenticate(
            async |head: &ringmcp::RequestHead<'_>| {
                // Pending until another thread has waited: an authenticator has no context to sleep with.
                let done =
                    Arc::new(std::sync::atomic::AtomicBool::new(head.header("x-wait").is_none()));
                let mut begun = false;
                std::future::poll_fn(|cx| {
                    if done.load(std::sync::atomic::Ordering::SeqCst) {
                        return std::task::Poll::Ready(());
                    }
                    if !std::mem::replace(&mut begun, true) {
                        let (waker, done) = (cx.waker().clone(), done.clone());
                        std::thread::spawn(move || {
                            std::thread::park_timeout(Duration::from_millis(400));
                            done.store(true, std::sync::atomic::Ordering::SeqCst);
                            waker.wake();
                        });
                    }
                    std::task::Poll::Pending
                })
                .await;
                Ok(ringmcp::Principal::new("somebody"))
            },
        )
    };
    on_both_drivers(make, |server| {
        let request = Request::call("echo", json!({ "text": "late" })).header("X-Wait", "1");
        let bytes = request.bytes();
        let mut stream = server.connect();
        // The head in two parts, so that its time has begun.
        support_write(&mut stream, &bytes[..10]);
        server.until("it is open", |now| now.connections_open == 1);
        support_write(&mut stream, &bytes[10..]);
        assert_eq!(read_answer(&mut stream).expect("an answer").text(), "late");
        let now = server.handle().counters();
        assert_eq!((now.head_timeouts, now.body_timeouts), (0, 0));
    });
}

/// [SSE-09] a client that sends ahead and leaves is noticed behind what it sent
#[test]
fn leaving_is_noticed_behind_what_was_sent_ahead() {
    let (teller, news) = news();
    on_both_drivers(
        || server(&teller),
        |server| {
            let mut stream = begin(server, &Request::call("hang", json!({})));
            assert_eq!(news.next(), Life::Began);
            let ahead = Request::call("echo", json!({ "text": "x".repeat(10_000) }));
            support_write(&mut stream, &ahead.bytes());
            drop(stream);
            assert_eq!(news.next(), Life::Dropped);
            server.until("the connection ends", |now| now.connections_open == 0);
        },
    );
}

/// Panics when dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("secret of a destructor");
        }
    }
}

fn panicking() -> ringmcp::Builder {
    let broken = || -> Result<&'static str, ToolError> { panic!("secret text /etc/passwd") };
    server(&news().0)
        .tool("early", "Panics at once", async move |_: &Context, _: Arguments| broken())
        .tool("late", "Panics after a wait", async move |ctx: &Context, _: Arguments| {
            ctx.sleep(Duration::from_millis(1)).await;
            broken()
        })
        .tool("streamed", "Panics after progress", async move |ctx: &Context, _: Arguments| {
            ctx.progress(1, 2);
            ctx.sleep(Duration::from_millis(1)).await;
            broken()
        })
        .tool("in_drop", "Panics in a destructor", async move |ctx: &Context, _: Arguments| {
            let _bomb = Bomb;
            ctx.sleep(Duration::from_millis(1)).await;
            Ok::<_, ToolError>("answered")
        })
        .tool("dropped", "Panics when it is cancelled", async move |_: &Context, _: Arguments| {
            let _bomb = Bomb;
            std::future::pending::<()>().await;
            Ok::<_, ToolError>("never")
        })
        .prompt(
            "prompt",
            "Panics",
            async |_: &Context, _: Arguments| -> Result<String, HandlerError> {
                panic!("secret prompt")
            },
        )
        .resource(
            Resource::new("test://r", "r"),
            async |_: &Context| -> Result<String, HandlerError> { panic!("secret resource") },
        )
        .resource_template(
            ResourceTemplate::new("test://t/{id}", "t"),
            async |_: &Context, _: Arguments| -> Result<String, HandlerError> {
                panic!("secret template")
            },
        )
        .limits(Limits { handler_timeout: Duration::from_millis(300), ..Limits::default() })
}

/// [ERR-10] [ERR-11] a panic costs its own request: a tool's is a failed call, any other an internal error, none says
/// why, and the connection goes on
#[test]
fn a_panic_costs_its_request() {
    on_both_drivers(panicking, |server| {
        let mut stream = server.connect();
        let mut ask = |request: Request| {
            support_write(&mut stream, &request.bytes());
            let answer = read_answer(&mut stream).expect("an answer: the connection lives");
            assert!(!String::from_utf8_lossy(&answer.body).contains("secret"), "{answer:?}");
            answer
        };
        for name in ["early", "late", "streamed", "in_drop"] {
            let request = Request::call(name, json!({})).meta("progressToken", json!("p"));
            let answer = ask(request);
            assert_eq!(answer.result("tools/call")["isError"], true, "{name}");
            assert_eq!(answer.text(), "Internal error", "{name}");
        }
        // Given up by the clock, its destructor panics on the way out.
        assert_eq!(ask(Request::call("dropped", json!({}))).error(), (200, -32603));
        for request in [
            Request::new("prompts/get", json!({ "name": "prompt" })),
            Request::new("resources/read", json!({ "uri": "test://r" })),
            Request::new("resources/read", json!({ "uri": "test://t/1" })),
        ] {
            assert_eq!(ask(request).error(), (200, -32603));
        }
        assert_eq!(ask(Request::call("echo", json!({ "text": "alive" }))).text(), "alive");
        assert_eq!(server.handle().counters().panics, 8);
        assert_eq!(server.handle().counters().connections_accepted, 1);
    });
}

/// [ERR-11] a destructor that panics because its client left hurts nobody
#[test]
fn a_panic_on_the_way_out_hurts_nobody() {
    on_both_drivers(panicking, |server| {
        let others = begin(server, &Request::call("nap", json!({ "ms": 50 })));
        drop(begin(server, &Request::call("dropped", json!({}))));
        server.until("the panic is counted", |now| now.panics == 1);
        let mut others = others;
        assert_eq!(read_answer(&mut others).expect("an answer").status, 200);
        assert_eq!(server.send(&Request::call("echo", json!({ "text": "x" }))).text(), "x");
    });
}

/// [ERR-11] [ERR-10] the program's guards, observers and authenticators may panic, too: their request alone is lost
#[test]
fn hooks_may_panic() {
    let guarded = || {
        server(&news().0)
            .tool_with(Tool::new("fine"), async |_: &Context, _: Arguments| Ok::<_, ToolError>("x"))
            .guard(|observed| match observed.name {
                Some("echo") => panic!("secret guard"),
                _ => Ok(()),
            })
            .observe(|answered| assert_ne!(answered.name, Some("fine"), "secret observer"))
            .authenticate(async |head: &ringmcp::RequestHead<'_>| {
                assert!(head.header("x-panic").is_none(), "secret authenticator");
                Ok(ringmcp::Principal::new("somebody"))
            })
    };
    on_both_drivers(guarded, |server| {
        let mut stream = server.connect();
        let mut ask = |request: Request| {
            support_write(&mut stream, &request.bytes());
            let answer = read_answer(&mut stream).expect("an answer: the connection lives");
            assert!(!String::from_utf8_lossy(&answer.body).contains("secret"), "{answer:?}");
            answer
        };
        for round in 1..=3 {
            assert_eq!(ask(Request::call("echo", json!({}))).error(), (500, -32603));
            assert_eq!(ask(Request::call("fine", json!({}))).text(), "x");
            let refused = ask(Request::call("fine", json!({})).header("X-Panic", "1"));
            assert_eq!(refused.status, 503);
            assert_eq!(server.handle().counters().panics, 3 * round);
        }
    });
}

/// [RPC-16] [RPC-17] nothing but the process outlives a cancelled call: after a thousand of them all gauges are zero
#[test]
fn a_thousand_cancellations_leave_nothing() {
    let (teller, news) = news();
    let server = serve(server(&teller));
    for _ in 0..1000 {
        let stream = begin(&server, &Request::call("hang", json!({})));
        assert_eq!(news.next(), Life::Began);
        drop(stream);
        assert_eq!(news.next(), Life::Dropped);
    }
    server.until("all connections end", |now| now.connections_open == 0);
    let now = server.handle().counters();
    assert_eq!((now.disconnect_cancellations, now.handlers_sleeping), (1000, 0));
    assert!(news.is_quiet());
}
