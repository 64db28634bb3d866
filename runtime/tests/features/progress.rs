//! Progress on a request's own stream.

use std::time::Duration;

use ringmcp::{Amount, Builder, Context, ResponseMode, ToolError};
use serde_json::{Value, json};

use crate::common::{NoArgs, server};
use crate::support::{Answer, Request, serve};

fn reporting() -> Builder {
    server().tool("work", "", async |ctx: &Context, _: NoArgs| {
        for done in [0, 50, 100, 50, 100, 99] {
            ctx.progress(done, 100);
            ctx.sleep(Duration::from_millis(1)).await;
        }
        Ok::<_, ToolError>("done")
    })
}

fn call(token: Value) -> Request {
    Request::call("work", json!({})).meta("progressToken", token)
}

/// The params of the progress notifications; the answer follows them.
fn reports(answer: &Answer) -> Vec<Value> {
    let messages = answer.messages();
    let (last, reports) = messages.split_last().expect("an answer");
    assert_eq!(last["id"], 1);
    reports
        .iter()
        .map(|report| {
            assert_eq!(report["method"], "notifications/progress");
            report["params"].clone()
        })
        .collect()
}

fn amounts(answer: &Answer) -> Vec<f64> {
    let reports = reports(answer);
    reports.iter().map(|report| report["progress"].as_f64().expect("a number")).collect()
}

/// [PRG-01] without a token there is no progress and no stream.
#[test]
fn silent_without_a_token() {
    let answer = serve(reporting()).send(&Request::call("work", json!({})));
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.text(), "done");
}

/// [PRG-02] [PRG-03] [SSE-06] starts at 0, grows, and what does not grow is dropped; whole numbers stay whole.
#[test]
fn progress_grows() {
    let answer = serve(reporting()).send(&call(json!("t")));
    assert_eq!(amounts(&answer), [0.0, 50.0, 100.0]);
    let body = String::from_utf8(answer.body.clone()).expect("UTF-8");
    for whole in [
        r#""progress":0,"total":100"#,
        r#""progress":50,"total":100"#,
        r#""progress":100,"total":100"#,
    ] {
        assert!(body.contains(whole), "{whole}: {body}");
    }
    assert_eq!(answer.text(), "done");
}

/// [PRG-02] [RPC-03] the token comes back with its type and value; numbers digit for digit.
#[test]
fn tokens_are_echoed_verbatim() {
    let server = serve(reporting());
    for raw in [
        "0",
        "1",
        "-7",
        "9007199254740993",
        "18446744073709551615",
        r#""1""#,
        r#""""#,
        r#""a\u00fc\n\"""#,
    ] {
        let message = call(json!("TOKEN")).message.to_string().replace("\"TOKEN\"", raw);
        let answer = server.send(&call(json!("TOKEN")).body(message));
        let token: Value = serde_json::from_str(raw).expect("JSON");
        assert!(reports(&answer).iter().all(|report| report["progressToken"] == token), "{raw}");
        assert_eq!(amounts(&answer), [0.0, 50.0, 100.0]);
        let body = String::from_utf8(answer.body).expect("UTF-8");
        let digits = token.is_string() || body.contains(&format!(r#""progressToken":{raw},"#));
        assert!(digits, "{raw}: {body}");
    }
}

/// [ENV-06] other tokens are refused before anything runs.
#[test]
fn other_tokens_are_refused() {
    let server = serve(reporting());
    for token in [json!(1.5), json!({}), json!([]), json!(null), json!(true)] {
        assert_eq!(server.send(&call(token.clone())).error(), (400, -32602), "{token}");
    }
}

/// [PRG-02] [PRG-03] [PRG-07] fractions, no total, and a text for people; what is no number is no progress.
#[test]
fn amounts_of_every_kind() {
    let builder = server().tool("work", "", async |ctx: &Context, _: NoArgs| {
        let progress = ctx.progress_handle();
        progress.report_with(-1.5, None, "starting \"now\"\n");
        progress.report(f64::NAN, 2);
        progress.report(f64::INFINITY, 2);
        progress.report(0.25, 2.5);
        progress.report(1_u64 << 60, u64::MAX);
        Ok::<_, ToolError>("done")
    });
    let answer = serve(builder).send(&call(json!(7)));
    let reports = reports(&answer);
    assert_eq!(
        reports[0],
        json!({ "progressToken": 7, "progress": -1.5, "message": "starting \"now\"\n" })
    );
    assert_eq!(reports[1], json!({ "progressToken": 7, "progress": 0.25, "total": 2.5 }));
    assert_eq!(reports[2]["progress"], 1_u64 << 60);
    assert_eq!(reports.len(), 3);
}

/// [PRG-03] a total that is no number is left out.
#[test]
fn totals_that_are_no_numbers_are_left_out() {
    let builder = server().tool("work", "", async |ctx: &Context, _: NoArgs| {
        ctx.progress(1, f64::NAN);
        ctx.progress_handle().report_with(2, Some(Amount::Real(f64::INFINITY)), "m");
        Ok::<_, ToolError>("done")
    });
    let reports = reports(&serve(builder).send(&call(json!(7))));
    assert_eq!(reports[0], json!({ "progressToken": 7, "progress": 1 }));
    assert_eq!(reports[1], json!({ "progressToken": 7, "progress": 2, "message": "m" }));
}

/// [PRG-05] [SSE-11] a million reports are bounded, grow, and end with the last one.
#[test]
fn floods_are_bounded_and_end_with_the_newest() {
    let builder = server().tool("work", "", async |ctx: &Context, _: NoArgs| {
        for done in 0..1_000_000 {
            ctx.progress(done, 1_000_000);
        }
        Ok::<_, ToolError>("done")
    });
    let answer = serve(builder).send(&call(json!("t")));
    assert!(answer.body.len() < 256 * 1024, "{} bytes", answer.body.len());
    let amounts = amounts(&answer);
    assert!(amounts.is_sorted_by(|a, b| a < b), "strictly growing");
    assert_eq!(amounts.last(), Some(&999_999.0));
    assert_eq!(answer.text(), "done");
}

/// [PRG-04] [SSE-07] a task that outlives its request reports into the void, also while the next request of the same
/// connection runs.
#[test]
fn nothing_after_the_answer() {
    let builder = server()
        .tool("work", "", async |ctx: &Context, _: NoArgs| {
            let late = ctx.progress_handle();
            LATE.with(|slot| slot.replace(Some(late)));
            ctx.progress(1, 10);
            Ok::<_, ToolError>("done")
        })
        .tool("next", "", async |ctx: &Context, _: NoArgs| {
            let late = LATE.with(|slot| slot.borrow_mut().take()).expect("left by the call before");
            late.report(5, 10);
            ctx.progress(2, 10);
            late.report(7, 10);
            ctx.sleep(Duration::from_millis(1)).await;
            late.log(ringmcp::types::LoggingLevel::Alert, None, &"late");
            Ok::<_, ToolError>("done")
        });
    let server = serve(builder);
    let mut connection = server.connect();
    let mut exchange = |request: &Request| {
        crate::support::support_write(&mut connection, &request.bytes());
        crate::support::read_answer(&mut connection).expect("an answer")
    };
    assert_eq!(amounts(&exchange(&call(json!("first")))), [1.0]);
    let next = Request::call("next", json!({}))
        .meta("progressToken", json!("second"))
        .meta(crate::support::LL, json!("debug"));
    let reports = reports(&exchange(&next));
    assert_eq!(reports, [json!({ "progressToken": "second", "progress": 2, "total": 10 })]);
}

thread_local! {
    static LATE: std::cell::RefCell<Option<ringmcp::Progress>> = const { std::cell::RefCell::new(None) };
}

/// [PRG-06] [SSE-12] [SSE-13] concurrent calls hear only of themselves, and no subscription hears of any.
#[test]
fn concurrent_calls_do_not_mix() {
    let server = serve(reporting());
    let mut events = server.stream(&Request::listen(json!({ "toolsListChanged": true })));
    events.message();
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..8)
            .map(|at| {
                let server = &server;
                scope.spawn(move || (at, reports(&server.send(&call(json!(at))))))
            })
            .collect();
        for call in calls {
            let (at, reports) = call.join().expect("no panic");
            assert_eq!(reports.len(), 3);
            assert!(reports.iter().all(|report| report["progressToken"] == at), "{reports:?}");
        }
    });
    server.handle().notifier().tools_changed();
    assert_eq!(
        events.message()["method"],
        "notifications/tools/list_changed",
        "nothing came between"
    );
}

/// [ERR-09] [SSE-07] what goes wrong after a report is the last event of the stream, at status 200.
#[test]
fn errors_after_progress_are_the_last_event() {
    let builder = server().tool("work", "", async |ctx: &Context, _: NoArgs| {
        ctx.progress(1, 2);
        ctx.sleep(Duration::from_millis(1)).await;
        ctx.require(&ringmcp::types::Capability::Sampling)?;
        Ok::<_, ToolError>("done")
    });
    let answer = serve(builder).send(&call(json!("t")));
    assert_eq!(answer.error(), (200, -32021));
    assert_eq!(amounts(&answer), [1.0]);
}

/// [ERR-08] [ERR-09] a report that left in the same turn as the failure also opens the stream.
#[test]
fn errors_in_the_same_turn_as_progress() {
    let builder = server().tool("work", "", async |ctx: &Context, _: NoArgs| {
        ctx.progress(1, 2);
        ctx.require(&ringmcp::types::Capability::Sampling)?;
        Ok::<_, ToolError>("done")
    });
    let answer = serve(builder).send(&call(json!("t")));
    assert_eq!(answer.error(), (200, -32021));
    assert_eq!(amounts(&answer), [1.0]);
}

/// [SSE-01] the three response modes, with and without something to stream.
#[test]
fn response_modes() {
    let kind = |mode: ResponseMode, request: Request| {
        let answer = serve(reporting().response_mode(mode)).send(&request);
        assert_eq!(answer.text(), "done");
        answer.header("content-type").expect("a type").to_owned()
    };
    let quiet = || Request::call("work", json!({}));
    assert_eq!(kind(ResponseMode::Auto, quiet()), "application/json");
    assert_eq!(kind(ResponseMode::Auto, call(json!(1))), "text/event-stream");
    assert_eq!(kind(ResponseMode::Json, call(json!(1))), "application/json");
    assert_eq!(kind(ResponseMode::Sse, quiet()), "text/event-stream");
    assert_eq!(kind(ResponseMode::Sse, call(json!(1))), "text/event-stream");
    assert_eq!(
        kind(ResponseMode::Sse, quiet().header("Accept", "application/json")),
        "application/json"
    );
}
