//! Scenario subscribe against scripted servers, each with one fault, and against the real one.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails with the line it is on")]

#[path = "subscribe/listeners.rs"]
mod listeners;
mod support;

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use listeners::{Ack, Extra, Hub, Play, run, run_with};
use serde_json::Value;

/// Three streams and four publishes: what `play` does wrong must be all that is found.
const STREAMS: u64 = 3;
const EVENTS: u64 = 4;

/// A short run; what `more` says comes in the place of what is said here.
fn three(hub: &Hub, more: &[&str]) -> listeners::Outcome {
    let fixed =
        [("--streams", "3"), ("--events", "4"), ("--event-interval", "0ms"), ("--hold", "50ms")];
    let mut options = more.to_vec();
    for (name, value) in fixed {
        if !more.contains(&name) {
            options.extend([name, value]);
        }
    }
    run(hub, &options)
}

/// [SUB-02] [SUB-03] [SUB-07] An honest server: every event once on every stream, on both drivers, over one worker
/// and over two.
#[test]
fn honest() {
    for driver in ["auto", "epoll"] {
        for workers in ["1", "2"] {
            let hub = Hub::start(Play::honest());
            let outcome = three(&hub, &["--driver", driver, "--workers", workers]);
            outcome.assert(0, &[]);
            let figures = &outcome.figures;
            assert_eq!((&figures["opened"], &figures["expected"]), (&STREAMS.into(), &12.into()));
            assert_eq!((&figures["arrived"], &figures["publishes"]), (&12.into(), &EVENTS.into()));
            assert_eq!((&figures["lost"], &figures["duplicates"]), (&0.into(), &0.into()));
            assert!(figures["arrival_us"]["p50"].as_f64().unwrap() > 0.0, "{figures}");
            assert_eq!(hub.wait_for_open(0), 0, "every stream is closed by the client");
        }
    }
}

/// An event that one stream misses is one lost event; the next publish waits for it as long as it may.
#[test]
fn missing_event() {
    let hub = Hub::start(Play {
        event: |stream, publish| u64::from((stream, publish) != (2, 3)),
        ..Play::honest()
    });
    let outcome = three(&hub, &["--timeout", "300ms"]);
    outcome.assert(1, &[("lost", 1)]);
    assert_eq!((&outcome.figures["arrived"], &outcome.figures["lost"]), (&11.into(), &1.into()));
    assert!(outcome.figures["publishing_s"].as_f64().unwrap() >= 0.3, "{}", outcome.text);
}

/// An event that comes twice is one duplicate, and no loss.
#[test]
fn duplicate_event() {
    let hub = Hub::start(Play {
        event: |stream, publish| 1 + u64::from((stream, publish) == (1, 2)),
        ..Play::honest()
    });
    let outcome = three(&hub, &["--event-interval", "50ms"]);
    outcome.assert(1, &[("duplicate", 1)]);
    assert_eq!((&outcome.figures["lost"], &outcome.figures["arrived"]), (&0.into(), &12.into()));
}

/// An event that comes with the next one is late where events look alike, and out of order only where they say so.
#[test]
fn late_events() {
    let hub = Hub::start(Play {
        event: |stream, publish| match (stream, publish) {
            (1, 2) => 0,
            (1, 3) => 2,
            _ => 1,
        },
        ..Play::honest()
    });
    let outcome = three(&hub, &["--timeout", "300ms", "--event-interval", "50ms"]);
    outcome.assert(1, &[("late", 1)]);
    assert_eq!(
        (&outcome.figures["lost"], &outcome.figures["out_of_order"]),
        (&0.into(), &Value::Null)
    );
}

/// Events with numbers: disorder, loss and duplicates are told apart exactly.
#[test]
fn numbered_events() {
    let file = listeners::file(
        r#"{"method":"tools/call","params":{"name":"touch","arguments":{"uri":"test://{n}"}}}"#,
    );
    let numbered = [
        "--filter",
        r#"{"resourceSubscriptions":["test://{n}"]}"#,
        "--publish-request",
        file.to_str().unwrap(),
        "--timeout",
        "300ms",
        "--event-interval",
        "50ms",
    ];
    let hub = Hub::start(Play::honest());
    let outcome = three(&hub, &numbered);
    outcome.assert(0, &[]);
    assert_eq!(outcome.figures["out_of_order"], 0);
    // Stream 1 gets publish 2 after publish 3; stream 2 misses publish 1 and gets publish 4 twice.
    let hub = Hub::start(Play {
        numbers: |stream, publish| match (stream, publish) {
            (1, 2) | (2, 1) => vec![],
            (1, 3) => vec![3, 2],
            (2, 4) => vec![4, 4],
            _ => vec![publish],
        },
        ..Play::honest()
    });
    let outcome = three(&hub, &numbered);
    outcome.assert(1, &[("order", 1), ("lost", 1), ("duplicate", 1)]);
    let missing = listeners::file(r#"{"method":"tools/call","params":{"name":"touch"}}"#);
    let outcome =
        run_with(&hub, &["--filter", numbered[1], "--publish-request", missing.to_str().unwrap()]);
    assert!(outcome.code != 0 && outcome.text.contains("{n}"), "{}", outcome.text);
    std::fs::remove_file(file).unwrap();
    std::fs::remove_file(missing).unwrap();
}

/// A stream that is cut inside an event is truncated, and loses what is published from then on.
#[test]
fn truncated_stream() {
    let hub =
        Hub::start(Play { cut: |stream, publish| (stream, publish) == (3, 2), ..Play::honest() });
    let outcome = three(&hub, &[]);
    outcome.assert(1, &[("truncated", 1), ("lost", 3)]);
    assert_eq!((&outcome.figures["broken"], &outcome.figures["arrived"]), (&1.into(), &9.into()));
}

/// [SUB-14] A server that ends a stream, however politely, breaks it.
#[test]
fn ended_stream() {
    let hub =
        Hub::start(Play { end: |stream, publish| (stream, publish) == (1, 2), ..Play::honest() });
    let outcome = three(&hub, &[]);
    outcome.assert(1, &[("ended", 1), ("lost", 2)]);
    assert_eq!(outcome.figures["broken"], 1);
}

/// [SUB-02] [SUB-05] A stream without its acknowledgement, or with a wrong one, is not open; the rest are measured.
#[test]
fn missing_acknowledgement() {
    let cases: [(Ack, &[(&str, u64)]); 3] = [
        (|stream| (stream != 2).then(|| listeners::ack(stream)), &[("timeout", 1)]),
        (
            |stream| match stream {
                2 => Some(listeners::ack(7)),
                _ => Some(listeners::ack(stream)),
            },
            &[("tag", 1), ("timeout", 1)],
        ),
        (
            |stream| match stream {
                2 => Some(listeners::ack(2).replace("toolsList", "promptsList")),
                _ => Some(listeners::ack(stream)),
            },
            &[("ack", 1), ("timeout", 1)],
        ),
    ];
    for (ack, errors) in cases {
        // A stream whose acknowledgement was refused gets events, which come before it then.
        let hub =
            Hub::start(Play { ack, event: |stream, _| u64::from(stream != 2), ..Play::honest() });
        let outcome = three(&hub, &["--timeout", "300ms"]);
        outcome.assert(1, errors);
        assert_eq!((&outcome.figures["opened"], &outcome.figures["lost"]), (&2.into(), &0.into()));
    }
}

/// [SUB-17] A stream that is refused is an error that shows the refusal.
#[test]
fn refused_stream() {
    let hub = Hub::start(Play { refuse: |stream| stream == 3, ..Play::honest() });
    let outcome = three(&hub, &[]);
    outcome.assert(1, &[("form", 1)]);
    assert!(outcome.text.contains("Subscription limit reached"), "{}", outcome.text);
}

/// [SUB-04] [SUB-06] Foreign, unwanted and unasked-for messages are errors, and take no event's place.
#[test]
fn stray_messages() {
    let cases: [(Extra, &str); 4] = [
        (|stream| listeners::note("prompts/list_changed", stream), "stray"),
        (|stream| listeners::note("progress", stream), "stray"),
        (|stream| listeners::note("tools/list_changed", stream + 1), "tag"),
        (|_| "{}".to_owned(), "message"),
    ];
    for (extra, kind) in cases {
        let hub = Hub::start(Play { extra: Some(extra), ..Play::honest() });
        let outcome = three(&hub, &[]);
        outcome.assert(1, &[(kind, STREAMS * EVENTS)]);
        assert_eq!(
            (&outcome.figures["lost"], &outcome.figures["arrived"]),
            (&0.into(), &12.into())
        );
    }
}

/// A publish that fails is an error, and its events are not waited for.
#[test]
fn failed_publish() {
    let hub = Hub::start(Play {
        publish: |number| match number {
            2 => r#"{"content":[],"isError":true,"resultType":"complete"}"#,
            _ => r#"{"content":[],"resultType":"complete"}"#,
        },
        event: |_, publish| u64::from(publish != 2),
        ..Play::honest()
    });
    let outcome = three(&hub, &[]);
    assert_eq!(
        (&outcome.figures["publishes"], &outcome.figures["publishes_wrong"]),
        (&3.into(), &1.into())
    );
    assert_eq!((&outcome.figures["expected"], outcome.errors("tool")), (&9.into(), 1));
    assert_eq!((&outcome.figures["lost"], outcome.code), (&0.into(), 1), "{}", outcome.text);
}

/// Nothing published: streams are opened, held and closed.
#[test]
fn only_held() {
    let hub = Hub::start(Play::honest());
    let outcome = three(&hub, &["--events", "0"]);
    outcome.assert(0, &[]);
    assert_eq!((&outcome.figures["opened"], &outcome.figures["arrived"]), (&3.into(), &0.into()));
}

/// The limit on open files is looked at first: it is raised where it may be, and else told with its remedy, for this
/// program and for the target.
#[test]
fn open_files() {
    let limited = |limit: &str, more: &str, hub: &Hub| {
        let line = format!(
            "{limit}; exec \"$0\" run --url {} --scenario subscribe --streams 3 --events 1 --hold 20ms {more}",
            hub.url
        );
        let shell = ["-c", &line, env!("CARGO_BIN_EXE_ringmcp-loadtest")];
        let output = Command::new("sh").args(shell).output().unwrap();
        let text =
            String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        (output.status.code().unwrap(), text)
    };
    let hub = Hub::start(Play::honest());
    let (code, text) = limited("ulimit -Sn 40", "", &hub);
    assert_eq!(code, 0, "{text}");
    let (code, text) = limited("ulimit -n 40", "", &hub);
    assert!(code == 1 && text.contains("ulimit -n 67"), "{code} {text}");
    let mut target = Command::new("sh").args(["-c", "ulimit -n 5; exec sleep 60"]).spawn().unwrap();
    // The shell may not have come to its sleep yet: until then the limit is the test's.
    let limits = format!("/proc/{}/limits", target.id());
    while std::fs::read_to_string(&limits).is_ok_and(|text| {
        text.lines().any(|line| {
            line.starts_with("Max open files") && line.split_whitespace().nth(3) != Some("5")
        })
    }) {
        std::thread::yield_now();
    }
    let (code, text) = limited("true", &format!("--pid {}", target.id()), &hub);
    target.kill().unwrap();
    target.wait().unwrap();
    assert!(code == 1 && text.contains("in the target"), "{code} {text}");
    let (code, text) = limited("true", "--pid 4294967295", &hub);
    assert!(code == 1 && text.contains("process 4294967295"), "{code} {text}");
}

/// Ctrl-C while streams are held ends the run with the figures so far.
#[test]
fn interrupted() {
    let hub = Hub::start(Play::honest());
    let file = listeners::file("");
    let line =
        ["run", "--url", &hub.url, "--scenario", "subscribe", "--streams", "3", "--events", "1"];
    let more = ["--hold", "10m", "--json", file.to_str().unwrap()];
    let output = support::interrupt(&[&line[..], &more].concat(), || hub.wait_for_publishes(1));
    let json: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    std::fs::remove_file(file).unwrap();
    assert_eq!(json["interrupted"], true, "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(json["subscribe"]["opened"], 3);
}

/// Wrong options say what is allowed.
#[test]
fn options() {
    let hub = Hub::start(Play::honest());
    for (option, value, expected) in [
        ("--streams", "0", "1..="),
        ("--open-rate", "0", "1..="),
        ("--filter", "[]", "JSON object"),
        ("--filter", "{}", "nothing"),
        ("--publish-tool", "a b", "A-Z a-z 0-9"),
        ("--event-interval", "1h", "ms, s or m"),
        ("--publish-request", "/nowhere/at/all", "/nowhere/at/all"),
    ] {
        let outcome = run_with(&hub, &[option, value]);
        assert!(outcome.code != 0 && outcome.text.contains(expected), "{option}: {}", outcome.text);
    }
}

/// The real server: three hundred streams, nothing lost, nothing twice, its memory and files seen.
#[test]
fn real_server() {
    let Some(server) = Real::start() else { return };
    let pid = server.child.id().to_string();
    let hub = Hub::at(server.url.clone());
    let many = ["--streams", "300", "--events", "5", "--event-interval", "20ms", "--hold", "200ms"];
    let outcome = run(&hub, &[&many[..], &["--pid", &pid, "--open-rate", "3000"]].concat());
    outcome.assert(0, &[]);
    let figures = &outcome.figures;
    assert_eq!((&figures["opened"], &figures["arrived"]), (&300.into(), &1500.into()));
    assert!(figures["bytes_per_stream"].is_number(), "{figures}");
    let files = |name: &str| figures[name].as_u64().unwrap();
    assert!(files("files_held") >= files("files_before") + 300, "{figures}");
    assert!(files("files_closed") < files("files_before") + 300, "{figures}");
}

/// The server's binary, where this workspace has built it.
struct Real {
    child: Child,
    url: String,
    /// Kept: a server that prints to nobody may fail.
    out: BufReader<ChildStdout>,
}

impl Real {
    fn start() -> Option<Self> {
        let tests = std::env::current_exe().unwrap();
        let beside = PathBuf::from(tests.ancestors().nth(2).unwrap()).join("ringmcp-server");
        let binary = std::env::var_os("RINGMCP_SERVER").map_or(beside, PathBuf::from);
        if !binary.exists() {
            eprintln!("SKIPPED: {} is not built", binary.display());
            return None;
        }
        let mut child = Command::new(binary)
            .args(["--listen", "127.0.0.1:0", "--handlers", "everything", "--workers", "1"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut server =
            Self { url: String::new(), out: BufReader::new(child.stdout.take().unwrap()), child };
        let mut line = String::new();
        while !line.starts_with("http://") {
            line.clear();
            assert!(server.out.read_line(&mut line).unwrap() > 0, "the server ended");
        }
        server.url = line.split_whitespace().next().unwrap().to_owned();
        Some(server)
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
