//! The generator against scripted servers: counts are exact, and every wrong answer is an error with a sample.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails with the line it is on")]

mod support;

use support::{Act, Scripted, Seen, loadtest, ok, run, run_on};

/// What a script answers to one request.
type Answer = fn(&Seen) -> Vec<u8>;

/// What a script does with one request.
type Reaction = fn(&Seen) -> Act;

/// [HDR-01] [HDR-10] [HDR-11] Right answers in every shape, exactly as many as asked for, on both drivers.
#[test]
fn exact_counts() {
    for driver in ["auto", "epoll"] {
        for (connections, pipeline, requests) in
            [("1", "1", 1_u64), ("3", "1", 100), ("2", "7", 101)]
        {
            let server = Scripted::start(|seen| {
                assert!(seen.head.contains("\r\nMcp-Name: echo\r\n"), "{}", seen.head);
                let hello = String::from_utf8(seen.hello()).unwrap();
                let json = hello.split_once("\r\n\r\n").unwrap().1;
                Act::Send(match seen.number % 3 {
                    0 => hello.into_bytes(),
                    1 => format!(
                        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n\
                         {:x}\r\ndata: {json}\n\n\r\n0\r\n\r\n",
                        json.len() + 8
                    )
                    .into_bytes(),
                    _ => ok(&format!(" {json}\n")),
                })
            });
            let count = requests.to_string();
            let load = ["--connections", connections, "--pipeline", pipeline, "--requests", &count];
            let call = ["--scenario", "tools-call", "--expect", "hello"];
            let outcome = run_on(driver, &server, &[&load[..], &call].concat());
            assert_eq!(outcome.code, 0, "{}", outcome.text);
            assert_eq!((server.seen(), &outcome.json["ok"]), (requests, &requests.into()));
            assert_eq!(
                (&outcome.json["requests"], &outcome.json["errors"]),
                (&requests.into(), &0.into())
            );
            assert_eq!(outcome.json["reconnects"], 0);
            assert!(outcome.json["latency_us"]["p99.9"].as_f64().unwrap() > 0.0);
        }
    }
}

/// One wrong answer among right ones is found, named and sampled; the others count on.
#[test]
fn wrong_answers() {
    let cases: [(&str, Answer); 7] = [
        ("id", |_| {
            ok(r#"{"jsonrpc":"2.0","id":999,"result":{"content":[],"resultType":"complete"}}"#)
        }),
        ("expect", |seen| {
            seen.result(r#"{"content":[{"type":"text","text":"hell"}],"resultType":"complete"}"#)
        }),
        ("error", |seen| {
            ok(&format!(
                r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":-32603,"message":"no"}}}}"#,
                seen.body["id"]
            ))
        }),
        ("result", |seen| seen.result(r#"{"content":[{"type":"text","text":"hello"}]}"#)),
        ("tool", |seen| seen.result(r#"{"content":[],"isError":true,"resultType":"complete"}"#)),
        ("message", |_| ok("hello")),
        ("status", |seen| {
            String::from_utf8(seen.hello()).unwrap().replace("200 OK", "503 No").into_bytes()
        }),
    ];
    for (kind, answer) in cases {
        for pipeline in ["1", "4"] {
            let server = Scripted::start(move |seen| {
                Act::Send(if seen.number == 5 { answer(seen) } else { seen.hello() })
            });
            let outcome = run(&server, &["--requests", "20", "--pipeline", pipeline]);
            assert_eq!(outcome.code, 1, "{kind}: {}", outcome.text);
            assert_eq!(
                (outcome.errors(kind), &outcome.json["ok"]),
                (1, &19.into()),
                "{kind}: {}",
                outcome.text
            );
            assert_eq!(outcome.json["requests"], 20);
            assert!(outcome.text.contains("request 5: "), "{kind}: {}", outcome.text);
            assert_eq!(outcome.json["reconnects"], 0, "{kind}");
        }
    }
}

/// An answer that ends too early, or never begins, is an error of its request alone; the rest go over a new connection.
#[test]
fn lost_connections() {
    let cases: [(&str, Reaction); 4] = [
        ("truncated", |seen| Act::SendAndClose(seen.hello()[..90].to_vec())),
        ("closed", |_| Act::SendAndClose(Vec::new())),
        ("timeout", |_| Act::Silence),
        ("http", |_| Act::SendAndClose(b"220 ready\r\n".to_vec())),
    ];
    for driver in ["auto", "epoll"] {
        for (kind, act) in cases {
            let server =
                Scripted::start(
                    move |seen| {
                        if seen.number == 5 { act(seen) } else { Act::Send(seen.hello()) }
                    },
                );
            let call = ["--scenario", "tools-call", "--requests", "20", "--timeout", "200ms"];
            let outcome = run_on(driver, &server, &call);
            assert_eq!(outcome.code, 1, "{kind}: {}", outcome.text);
            assert_eq!(
                (outcome.errors(kind), &outcome.json["ok"]),
                (1, &19.into()),
                "{kind}: {}",
                outcome.text
            );
            assert_eq!(outcome.json["reconnects"], 1, "{kind}");
        }
    }
}

/// Closing after a whole answer is the server's right: no error, a new connection. With requests in flight behind it
/// they are lost, and counted.
#[test]
fn announced_close() {
    for (pipeline, lost) in [("1", 0), ("4", 3)] {
        let server = Scripted::start(|seen| {
            let hello = String::from_utf8(seen.hello()).unwrap();
            match seen.number {
                5 => Act::SendAndClose(
                    hello.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n").into_bytes(),
                ),
                _ => Act::Send(hello.into_bytes()),
            }
        });
        let outcome = run(&server, &["--requests", "20", "--pipeline", pipeline]);
        assert_eq!(outcome.json["reconnects"], 1, "{}", outcome.text);
        assert_eq!(outcome.json["requests"], 20);
        assert!(outcome.errors("closed") <= lost, "{}", outcome.text);
        assert_eq!(outcome.json["errors"], outcome.errors("closed"), "{}", outcome.text);
    }
}

/// More answers than requests are no bonus.
#[test]
fn unasked_answers() {
    let server = Scripted::start(|seen| {
        Act::Send(if seen.number == 5 { seen.hello().repeat(2) } else { seen.hello() })
    });
    let outcome = run(&server, &["--requests", "20"]);
    assert_eq!(outcome.code, 1, "{}", outcome.text);
    assert_eq!((&outcome.json["ok"], &outcome.json["unasked"]), (&20.into(), &1.into()));
}

/// The other scenarios ask for what they are called after.
#[test]
fn other_scenarios() {
    let server = Scripted::start(|seen| {
        Act::Send(match seen.body["method"].as_str() {
            Some("tools/list") => {
                seen.result(r#"{"tools":[{"name":"echo"}],"resultType":"complete"}"#)
            }
            Some("server/discover") => {
                seen.result(r#"{"supportedVersions":["2026-07-28"],"resultType":"complete"}"#)
            }
            _ => ok("null"),
        })
    });
    for scenario in ["tools-list", "discover"] {
        let outcome = run_on("auto", &server, &["--scenario", scenario, "--requests", "5"]);
        assert_eq!((outcome.code, &outcome.json["ok"]), (0, &5.into()), "{}", outcome.text);
    }
}

/// With `--duration` the warm-up is checked and not counted, and what is counted fits the time.
#[test]
fn durations() {
    let server =
        Scripted::start(|seen| Act::Send(if seen.number == 1 { ok("null") } else { seen.hello() }));
    let outcome = run(&server, &["--duration", "100ms", "--warmup", "50ms", "--connections", "2"]);
    assert_eq!((outcome.code, &outcome.json["warmup_errors"]), (1, &1.into()), "{}", outcome.text);
    let ok = outcome.json["ok"].as_u64().unwrap();
    assert!(ok > 0 && ok < server.seen(), "{}", outcome.text);
    assert!(outcome.json["measured_s"].as_f64().unwrap() >= 0.1);
    assert_eq!(outcome.json["errors"], 0);
    assert_eq!(server.connections.load(std::sync::atomic::Ordering::SeqCst), 2);
}

/// Wrong options say what is allowed; help has an example for each scenario; a server that is not there is told.
#[test]
fn options() {
    let said = |args: &[&str]| {
        let output = loadtest(args);
        let text =
            String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        (output.status.code().unwrap(), text)
    };
    let ok = ["run", "--url", "http://127.0.0.1:9/", "--scenario", "discover", "--requests", "1"];
    let with = |more: &[&str]| said(&[&ok[..], more].concat());
    let wrong = [
        (
            said(&["run", "--url", "http://h/", "--requests", "1", "--scenario", "x"]),
            "tools-call, tools-list, discover, resources-read, mixed, large",
        ),
        (
            said(&["run", "--url", "https://h/", "--requests", "1", "--scenario", "discover"]),
            "http://",
        ),
        (said(&ok[..5]), "--duration"),
        (with(&["--duration", "1s"]), "cannot be used with"),
        (with(&["--connections", "0"]), "1..=60000"),
        (with(&["--pipeline", "1025"]), "1..=1024"),
        (with(&["--warmup", "1h"]), "ms, s or m"),
        (with(&["--rate", "0"]), "more than 0"),
        (said(&[&ok[..5], &["--duration", "1s", "--ramp"]].concat()), "--slo"),
        (with(&["--verify", "some"]), "full, none"),
        (with(&["--args", "[1]"]), "JSON object"),
        (with(&["--tool", "a b"]), "A-Z a-z 0-9"),
        (with(&["--driver", "kqueue"]), "auto, uring, epoll"),
    ];
    for ((code, text), expected) in wrong {
        assert!(code == 2 && text.contains(expected), "{code} {expected}: {text}");
    }
    let (code, help) = said(&["run", "--help"]);
    assert_eq!(code, 0);
    for scenario in [
        "tools-call",
        "tools-list",
        "discover",
        "resources-read",
        "mixed",
        "large",
        "progress",
        "mrtr",
        "subscribe",
        "churn",
        "cancel",
        "legacy",
    ] {
        assert!(help.contains(&format!("--scenario {scenario}")), "{help}");
    }
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (code, text) = said(&[
        "run",
        "--url",
        &format!("http://{gone}/"),
        "--scenario",
        "discover",
        "--requests",
        "1",
    ]);
    assert!(code == 1 && text.contains(&format!("cannot connect to {gone}")), "{code} {text}");
}
