//! How an answer becomes an event stream: modes, headers, frames, signs of life. Ledger section 4.

use std::time::{Duration, Instant};

use ringmcp::types::LoggingLevel;
use ringmcp::{Context, Limits, Progress, ResponseMode, ToolError};
use serde_json::{Value, json};

use crate::support::{
    Events, LL, PATIENCE, Request, Running, on_both_drivers, read_answer, serve, support_write,
};
use crate::tools::{
    Arguments, begin, naive_events, news, progress_of, read_to_end, server, steps, strict_events,
};

const BOTH: &str = "application/json, text/event-stream";
const JSON: &str = "application/json";
const SSE: &str = "text/event-stream";

fn with(mode: ResponseMode, limits: Limits) -> ringmcp::Builder {
    server(&news().0).response_mode(mode).limits(limits)
}

/// The body of the only answer on a connection, out of its chunks.
fn body(server: &Running, request: &Request) -> String {
    let answer = server.send(&request.clone().header("Connection", "close"));
    assert_eq!((answer.status, answer.header("content-type")), (200, Some(SSE)));
    String::from_utf8(answer.body).expect("UTF-8")
}

/// [SSE-01] [HTTP-16] the mode, what the client accepts, and whether anything was sent before the result decide the
/// form together
#[test]
fn modes_and_accept_decide_the_form() {
    // mode, accept, progress token: form, progress reports
    let table = [
        (ResponseMode::Auto, BOTH, true, SSE, 3),
        (ResponseMode::Auto, BOTH, false, JSON, 0),
        (ResponseMode::Auto, JSON, true, JSON, 0),
        (ResponseMode::Auto, SSE, false, SSE, 0),
        (ResponseMode::Auto, SSE, true, SSE, 3),
        (ResponseMode::Auto, "*/*", true, SSE, 3),
        (ResponseMode::Json, BOTH, true, JSON, 0),
        (ResponseMode::Json, SSE, true, SSE, 0),
        (ResponseMode::Sse, BOTH, true, SSE, 3),
        (ResponseMode::Sse, BOTH, false, SSE, 0),
        (ResponseMode::Sse, JSON, true, JSON, 0),
        (ResponseMode::Sse, "application/json, text/event-stream;q=0", true, JSON, 0),
    ];
    for mode in [ResponseMode::Auto, ResponseMode::Json, ResponseMode::Sse] {
        on_both_drivers(
            || with(mode, Limits::default()),
            |server| {
                for (_, accept, token, form, reports) in
                    table.iter().filter(|row| row.0 == mode).copied()
                {
                    let mut request = Request::call("steps", json!({ "n": 3 }));
                    if token {
                        request = request.meta("progressToken", json!("p"));
                    }
                    let answer = server.send(&request.header("Accept", accept));
                    let case = format!("{mode:?} {accept} {token}");
                    assert_eq!(answer.header("content-type"), Some(form), "{case}");
                    let messages = answer.messages();
                    assert_eq!(progress_of(&messages).len(), reports, "{case}");
                    assert_eq!(messages.last().expect("a response")["id"], 1, "{case}");
                    assert_eq!(messages.len(), reports + 1, "{case}");
                }
            },
        );
    }
}

/// [SSE-01] a listen streams in every mode
#[test]
fn listens_stream_in_every_mode() {
    for mode in [ResponseMode::Auto, ResponseMode::Json, ResponseMode::Sse] {
        let server = serve(with(mode, Limits::default()));
        let mut events = server.stream(&Request::listen(json!({ "toolsListChanged": true })));
        assert_eq!(events.message()["method"], "notifications/subscriptions/acknowledged");
        server.handle().notifier().tools_changed();
        assert_eq!(events.message()["method"], "notifications/tools/list_changed");
    }
}

/// [SSE-02] [SSE-03] [SSE-04] [SSE-05] [SSE-07] headers, frames that strict and naive readers agree on, no `id:`, no
/// `retry:`, nothing after the result
#[test]
fn frames_are_what_readers_expect() {
    on_both_drivers(
        || with(ResponseMode::Auto, Limits::default()),
        |server| {
            let request = steps(json!("p"), json!({ "n": 5 })).meta(LL, json!("debug"));
            let answer = server.send(&request);
            assert_eq!(answer.header("x-accel-buffering"), Some("no"));
            assert_eq!(answer.header("cache-control"), Some("no-cache, no-transform"));
            assert_eq!(answer.header("connection"), None, "D-44");
            let body = std::str::from_utf8(&answer.body).expect("UTF-8");
            let (events, comments) = strict_events(body);
            assert_eq!((events.len(), comments), (11, 0));
            assert_eq!(naive_events(body), events);
            assert!(!body.lines().any(|line| line.starts_with("id") || line.starts_with("retry")));
            assert_eq!(progress_of(&events), [1, 2, 3, 4, 5]);
            assert_eq!(events[10]["id"], 1);
            answer.messages();
        },
    );
}

/// [SSE-04] each frame is sent at once: the first is read while the handler still waits
#[test]
fn frames_do_not_wait() {
    on_both_drivers(
        || {
            let (sender, receiver) = std::sync::mpsc::channel::<()>();
            let gate = std::sync::Arc::new(std::sync::Mutex::new(receiver));
            let sender = std::sync::Mutex::new(sender);
            server(&news().0)
                .tool("gated", "Waits for `open`", async move |ctx: &Context, _: Arguments| {
                    ctx.progress(1, 2);
                    let gate = gate.clone();
                    let opened = ctx.offload(move || {
                        gate.lock().expect("no panic").recv_timeout(PATIENCE).is_ok()
                    });
                    Ok::<_, ToolError>(opened.await.expect("the job runs"))
                })
                .tool("open", "Lets `gated` go on", async move |_: &Context, _: Arguments| {
                    sender.lock().expect("no panic").send(()).expect("somebody waits");
                    Ok::<_, ToolError>("opened")
                })
        },
        |server| {
            let request = Request::call("gated", json!({})).meta("progressToken", json!(7));
            let mut events = Events::open(begin(server, &request));
            let first = events.message();
            assert_eq!((&first["params"]["progress"], &first["id"]), (&json!(1), &Value::Null));
            assert_eq!(server.send(&Request::call("open", json!({}))).text(), "opened");
            assert_eq!(events.message()["result"]["content"][0]["text"], "true");
            assert_eq!(events.next_message(), None);
        },
    );
}

/// [SSE-06] [SSE-12] [RPC-05] concurrent streams with the same request id each carry their own messages and no others
#[test]
fn streams_never_mix() {
    on_both_drivers(
        || with(ResponseMode::Auto, Limits::default()),
        |server| {
            let arguments = json!({ "n": 4, "ms": 1 });
            let streams: Vec<_> = ["a", "b", "c"]
                .map(|token| (token, begin(server, &steps(json!(token), arguments.clone()))))
                .into();
            for (token, stream) in streams {
                let mut events = Events::open(stream);
                let mut messages = Vec::new();
                while let Some(message) = events.next_message() {
                    messages.push(message);
                }
                assert_eq!(progress_of(&messages), [1, 2, 3, 4]);
                for message in &messages[..4] {
                    assert_eq!(message["params"]["progressToken"], token);
                }
                assert_eq!((messages.len(), &messages[4]["id"]), (5, &json!(1)));
            }
        },
    );
}

/// [SSE-07] [PRG-04] a handle that outlives its call is silent: on its own stream, and on the next request's
#[test]
fn nothing_follows_the_result() {
    thread_local! {
        static KEPT: std::cell::RefCell<Option<Progress>> = const { std::cell::RefCell::new(None) };
    }
    let make = || {
        server(&news().0)
            .tool("keep", "Keeps its handle", async |ctx: &Context, _: Arguments| {
                ctx.progress(1, 9);
                KEPT.set(Some(ctx.progress_handle()));
                Ok::<_, ToolError>("kept")
            })
            .tool("late", "Uses the kept handle", async |ctx: &Context, _: Arguments| {
                let kept = KEPT.take().expect("called after `keep`, on the same core");
                kept.report(2, 9);
                kept.log(LoggingLevel::Error, None, &"late");
                ctx.progress(5, 9);
                Ok::<_, ToolError>("late")
            })
    };
    on_both_drivers(make, |server| {
        let mut stream = server.connect();
        for (name, report) in [("keep", 1), ("late", 5)] {
            let request = Request::call(name, json!({}))
                .meta("progressToken", json!(name))
                .meta(LL, json!("debug"));
            support_write(&mut stream, &request.bytes());
            let messages = read_answer(&mut stream).expect("an answer").messages();
            assert_eq!((messages.len(), progress_of(&messages)), (2, vec![report]));
        }
    });
}

/// [SSE-10] comments on a slow call, in the stream that progress opened and in one that a sign of life opens;
/// readers of events see nothing of them; zero turns them off
#[test]
fn slow_calls_show_signs_of_life() {
    let slow = json!({ "n": 1, "ms": 400 });
    for (mode, token, keep_alive_ms) in [
        (ResponseMode::Auto, true, 60),
        (ResponseMode::Sse, false, 60),
        (ResponseMode::Sse, true, 0),
        (ResponseMode::Sse, false, 0),
    ] {
        let keep_alive = Duration::from_millis(keep_alive_ms);
        on_both_drivers(
            || with(mode, Limits { keep_alive, ..Limits::default() }),
            |server| {
                let mut request = Request::call("steps", slow.clone());
                if token {
                    request = request.meta("progressToken", json!("p"));
                }
                let (events, comments) = strict_events(&body(server, &request));
                assert_eq!(events.len(), 1 + usize::from(token), "{mode:?}");
                assert_eq!(comments > 0, keep_alive_ms > 0, "{mode:?} {comments}");
                assert!(comments <= 8, "{comments} comments in 400 ms");
            },
        );
    }
}

/// [SSE-10] a JSON answer has no comments, however slow it is
#[test]
fn slow_json_has_no_comments() {
    let keep_alive = Duration::from_millis(50);
    let server = serve(with(ResponseMode::Auto, Limits { keep_alive, ..Limits::default() }));
    let answer = server.send(&Request::call("nap", json!({ "ms": 250, "text": "x" })));
    assert_eq!((answer.header("content-type"), answer.text().as_str()), (Some(JSON), "x"));
}

/// [SSE-10] a quiet listen shows signs of life
#[test]
fn quiet_listens_show_signs_of_life() {
    let keep_alive = Duration::from_millis(60);
    on_both_drivers(
        || with(ResponseMode::Auto, Limits { keep_alive, ..Limits::default() }),
        |server| {
            let mut events = server.stream(&Request::listen(json!({ "toolsListChanged": true })));
            assert!(events.block().expect("the ack").contains("acknowledged"));
            for _ in 0..3 {
                assert_eq!(events.block().as_deref(), Some(": keepalive"));
            }
            server.handle().notifier().tools_changed();
            assert_eq!(events.message()["method"], "notifications/tools/list_changed");
        },
    );
}

/// [SSE-11] a reader that stops costs its producer its messages, not the server its memory: progress keeps the newest,
/// log messages are dropped, and the answer still comes
#[test]
fn a_slow_reader_is_bounded() {
    let make = || {
        let limits = Limits { emit_bytes: 4 * 1024, ..Limits::default() };
        server(&news().0).limits(limits).tool(
            "flood",
            "Reports without end",
            async |ctx: &Context, _: Arguments| {
                for step in 1..=100_000_u32 {
                    ctx.progress(step, 100_000);
                    ctx.log(LoggingLevel::Info, "a line of some length, again and again");
                }
                Ok::<_, ToolError>("done")
            },
        )
    };
    on_both_drivers(make, |server| {
        let request = Request::call("flood", json!({}))
            .meta("progressToken", json!("p"))
            .meta(LL, json!("info"));
        let messages = server.send(&request).messages();
        let progress = progress_of(&messages);
        assert!(messages.len() < 200, "{} messages", messages.len());
        assert_eq!(progress.last(), Some(&100_000), "the newest report is kept");
        assert!(progress.is_sorted());
        assert_eq!(messages.last().expect("a response")["id"], 1);
    });
}

/// [SSE-13] progress and log messages of a call stay off every listen stream
#[test]
fn calls_do_not_speak_on_listens() {
    on_both_drivers(
        || with(ResponseMode::Auto, Limits::default()),
        |server| {
            let mut listen = server.stream(&Request::listen(json!({ "toolsListChanged": true })));
            listen.message();
            let call = steps(json!("p"), json!({ "n": 3 })).meta(LL, json!("debug"));
            assert_eq!(server.send(&call).messages().len(), 7);
            server.handle().notifier().tools_changed();
            assert_eq!(listen.message()["method"], "notifications/tools/list_changed");
        },
    );
}

/// [HTTP-21] [SSE-02] an HTTP/1.0 client gets its stream without chunks, and the close as its end, also when it asked
/// to keep the connection and also for a refusal
#[test]
fn http_1_0_streams_end_with_the_connection() {
    on_both_drivers(
        || with(ResponseMode::Sse, Limits::default()),
        |server| {
            for (request, events) in [
                (steps(json!("p"), json!({ "n": 2 })), 3),
                (Request::call("echo", json!({ "text": "x" })), 1),
                (Request::call("nobody", json!({})), 1),
                (Request::new("tools/list", json!({})), 1),
            ] {
                let bytes = request.header("Connection", "keep-alive").bytes();
                let text = String::from_utf8(bytes).expect("ASCII").replace("HTTP/1.1", "HTTP/1.0");
                let mut stream = server.connect();
                let began = Instant::now();
                support_write(&mut stream, text.as_bytes());
                let all = String::from_utf8(read_to_end(&mut stream)).expect("UTF-8");
                assert!(began.elapsed() < Duration::from_secs(10), "closed without being asked");
                let (head, body) = all.split_once("\r\n\r\n").expect("a head");
                assert!(head.starts_with("HTTP/1.0 200 ") && head.contains("Connection: close"));
                assert!(!head.contains("Transfer-Encoding"), "{head}");
                assert_eq!(strict_events(body).0.len(), events, "{body}");
            }
        },
    );
}
