//! The clockwork: percentiles are the server's, a fixed rate is kept, and a stall is not hidden.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails with the line it is on")]

mod support;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use support::{Act, Scripted, Seen, interrupt, ok, run};

/// What the machine may add to a delay of the script, in microseconds: its timers and its other work.
const SLACK_US: f64 = 25_000.0;

fn us(outcome: &support::Outcome, of: &str, percentile: &str) -> f64 {
    outcome.json[of][percentile].as_f64().unwrap_or_else(|| panic!("{of} {percentile}"))
}

/// One at a time: they measure time on the same few cores.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The delay of each of 200 requests: the percentiles looked at lie well inside their steps.
fn delay(number: u64) -> Duration {
    // Spread over the run: 37 and 200 have no common divisor.
    Duration::from_millis(match number * 37 % 200 {
        0..130 => 50,
        130..190 => 150,
        190..199 => 300,
        _ => 600,
    })
}

/// Known delays come out as the percentiles they are: never less (to the histogram's tenth of a percent), and more
/// only by what the machine adds.
#[test]
fn percentiles_are_the_servers() {
    let _alone = alone();
    let server = Scripted::start(|seen| Act::SendAfter(delay(seen.number), seen.hello()));
    let load = ["--requests", "200", "--connections", "20", "--workers", "2"];
    let outcome = run(&server, &load);
    assert_eq!((outcome.code, &outcome.json["ok"]), (0, &200.into()), "{}", outcome.text);
    assert_eq!(outcome.json["workers"], 2);
    for (percentile, ms) in [("min", 50), ("p50", 50), ("p90", 150), ("p99", 300), ("max", 600)] {
        let (exact, shown) = (f64::from(ms) * 1e3, us(&outcome, "latency_us", percentile));
        let fits = shown >= exact * 0.999 && shown <= exact * 1.001 + SLACK_US;
        assert!(fits, "{percentile} is {shown} us, not {exact}: {}", outcome.text);
    }
}

/// Stalls once, for a second, after a thousand requests.
fn stalling(seen: &Seen) -> Act {
    if seen.number == 1_000 {
        Act::SendAfter(Duration::from_secs(1), seen.hello())
    } else {
        Act::Send(seen.hello())
    }
}

/// At a fixed rate, a stall of one second counts for each of the requests that were due in it. Counted from the
/// sending, or in a closed loop, it is one slow request among thousands, far beyond the 99.9th percentile.
#[test]
fn a_stall_is_not_omitted() {
    let _alone = alone();
    let server = Scripted::start(stalling);
    let load = ["--rate", "1000", "--duration", "3s", "--warmup", "100ms"];
    let outcome = run(&server, &load);
    assert_eq!((outcome.code, &outcome.json["loop"]), (0, &"open".into()), "{}", outcome.text);
    assert_eq!(outcome.json["requests"], 3_000, "{}", outcome.text);
    let corrected = us(&outcome, "latency_us", "p99.9");
    let uncorrected = us(&outcome, "uncorrected_us", "p99.9");
    assert!(corrected > 950_000.0, "{corrected}: {}", outcome.text);
    assert!(uncorrected < 500_000.0, "{uncorrected}: {}", outcome.text);
    assert!(us(&outcome, "uncorrected_us", "max") > 999_000.0, "{}", outcome.text);
    // Of 3000, some 1000 were due in the stall; the median of those waited half a second.
    assert!(us(&outcome, "latency_us", "p90") > 500_000.0, "{}", outcome.text);

    let server = Scripted::start(stalling);
    let outcome = run(&server, &["--requests", "3000"]);
    assert_eq!(outcome.json["loop"], "closed");
    let blind = us(&outcome, "latency_us", "p99.9");
    assert!(blind < 500_000.0, "{blind}: {}", outcome.text);
}

/// A rate is kept to the request over any number of workers, with a window as well as without.
#[test]
fn a_rate_is_kept() {
    let _alone = alone();
    for load in [
        ["--rate", "400", "--workers", "2", "--connections", "5", "--pipeline", "1"],
        ["--rate", "400", "--workers", "1", "--connections", "1", "--pipeline", "16"],
        // Slow enough to sleep between two.
        ["--rate", "40", "--workers", "1", "--connections", "2", "--pipeline", "1"],
    ] {
        for driver in ["auto", "epoll"] {
            let server = Scripted::start(|seen| Act::Send(seen.hello()));
            let more = ["--duration", "1s", "--warmup", "250ms"];
            let outcome = support::run_on(
                driver,
                &server,
                &[&["--scenario", "tools-call"], &load[..], &more].concat(),
            );
            let rate: u64 = load[1].parse().unwrap();
            assert_eq!(outcome.code, 0, "{load:?}: {}", outcome.text);
            assert_eq!(outcome.json["requests"], rate, "{load:?}: {}", outcome.text);
            assert_eq!(server.seen(), rate + rate / 4);
            assert_eq!(outcome.json["asked_per_s"], rate as f64);
        }
    }
}

/// With a window at a fixed rate, a request goes out when it is due, not when an answer comes: three requests are
/// under way at once although the server answers none before the third.
#[test]
fn a_window_is_used() {
    let _alone = alone();
    let server = Scripted::start(|seen| {
        Act::Send(if seen.number.is_multiple_of(3) { all_answers(seen) } else { Vec::new() })
    });
    let load = ["--rate", "100", "--requests", "30", "--pipeline", "4", "--timeout", "5s"];
    let outcome = run(&server, &load);
    assert_eq!((outcome.code, &outcome.json["ok"]), (0, &30.into()), "{}", outcome.text);
    assert!(us(&outcome, "latency_us", "max") > 15_000.0, "two periods: {}", outcome.text);
}

/// The answers to this request and the two before it.
fn all_answers(seen: &Seen) -> Vec<u8> {
    let last = seen.body["id"].as_u64().unwrap();
    let answer =
        |id: u64| ok(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{}}}"#, support::HELLO));
    (last - 2..=last).flat_map(answer).collect()
}

/// A rate that the server cannot hold is not claimed, and the report says why.
#[test]
fn a_missed_rate_is_explained() {
    let _alone = alone();
    let server = Scripted::start(|seen| Act::SendAfter(Duration::from_millis(20), seen.hello()));
    let outcome = run(&server, &["--rate", "200", "--duration", "1s", "--connections", "2"]);
    let (asked, got) = (&outcome.json["asked_per_s"], outcome.json["ok_per_s"].as_f64().unwrap());
    assert!(asked == 200.0 && got < 120.0, "{}", outcome.text);
    let text = &outcome.text;
    assert!(text.contains("every connection waiting") && text.contains("never started"), "{text}");
}

/// The search for a rate ends at the server's: 2 connections of 10 ms each make 200 a second.
#[test]
fn a_ramp_finds_the_limit() {
    let _alone = alone();
    let server = Scripted::start(|seen| Act::SendAfter(Duration::from_millis(10), seen.hello()));
    let load = ["--ramp", "--slo", "p50=30ms", "--ramp-from", "40", "--duration", "500ms"];
    let more = ["--warmup", "100ms", "--connections", "2"];
    let outcome = run(&server, &[&load[..], &more].concat());
    let ramp = &outcome.json["ramp"];
    let highest = ramp["highest_per_s"].as_f64().unwrap_or_default();
    assert!((70.0..=200.0).contains(&highest), "{highest}: {}", outcome.text);
    let steps = ramp["steps"].as_array().unwrap();
    assert!(steps.len() >= 3 && steps.iter().any(|step| step["held"] == false), "{ramp}");
    assert_eq!(outcome.json["loop"], "ramp");
}

/// Ctrl-C ends a run early with the report of what was measured.
#[test]
fn ctrl_c() {
    let _alone = alone();
    let server = Scripted::start(|seen| Act::Send(seen.hello()));
    let json = std::env::temp_dir().join(format!("ringmcp-ctrl-c-{}", std::process::id()));
    let args = ["run", "--url", &server.url, "--scenario", "tools-call", "--duration", "60s"];
    let more = ["--warmup", "0s", "--json", json.to_str().unwrap()];
    let output = interrupt(&[&args[..], &more].concat(), || server.wait_for(100));
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    let figures: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    std::fs::remove_file(&json).unwrap();
    assert_eq!(figures["interrupted"], true);
    assert!(figures["ok"].as_u64().unwrap() >= 99, "{figures}");
}
