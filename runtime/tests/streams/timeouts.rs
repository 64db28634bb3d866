//! Clients that are slow on purpose: heads, bodies and answers a byte at a time, silence, half a request. SEC-06.

use std::io::Read;
use std::time::{Duration, Instant};

use ringmcp::{Context, Limits, ToolError};
use serde_json::json;

use crate::support::{Request, on_both_drivers, read_answer, support_write};
use crate::tools::{Arguments, begin, news, read_to_end, reset, server};

const SHORT: Duration = Duration::from_millis(200);

fn limits() -> Limits {
    Limits { head_timeout: SHORT, body_timeout: SHORT, ..Limits::default() }
}

/// [SEC-06] a head that comes byte by byte, or stops, gets 408 and is closed when its time is over, not later
#[test]
fn heads_have_their_time() {
    on_both_drivers(
        || server(&news().0).limits(limits()),
        |server| {
            let bytes = Request::call("echo", json!({})).bytes();
            let mut stream = server.connect();
            stream.set_read_timeout(Some(Duration::from_millis(10))).expect("a socket option");
            let began = Instant::now();
            let mut sent = 0;
            let mut answer = Vec::new();
            // One byte per 10 ms: each is progress, and none of it buys time.
            while answer.is_empty() && sent < bytes.len() {
                support_write(&mut stream, &bytes[sent..=sent]);
                sent += 1;
                let mut buffer = [0; 4096];
                if let Ok(n @ 1..) = stream.read(&mut buffer) {
                    answer.extend_from_slice(&buffer[..n]);
                }
                assert!(began.elapsed() < Duration::from_secs(10), "still waiting");
            }
            assert!(answer.starts_with(b"HTTP/1.1 408 "), "{}", String::from_utf8_lossy(&answer));
            assert!(began.elapsed() >= SHORT - Duration::from_millis(60));
            assert_eq!(server.handle().counters().head_timeouts, 1);
            drop(stream);

            let mut stopped = server.connect();
            support_write(&mut stopped, &bytes[..30]);
            let answer = read_answer(&mut stopped).expect("an answer");
            assert_eq!((answer.status, answer.header("connection")), (408, Some("close")));
            assert_eq!(read_to_end(&mut stopped), b"");
            assert_eq!(server.handle().counters().head_timeouts, 2);
        },
    );
}

/// [SEC-06] [SEC-07] a body that does not come gets 408; a huge declared length is refused by its declaration, one
/// within bounds allocates nothing ahead
#[test]
fn bodies_have_their_time() {
    on_both_drivers(
        || server(&news().0).limits(limits()),
        |server| {
            let bytes = Request::call("echo", json!({ "text": "x".repeat(500) })).bytes();
            let mut stream = server.connect();
            support_write(&mut stream, &bytes[..bytes.len() - 100]);
            let answer = read_answer(&mut stream).expect("an answer");
            assert_eq!((answer.status, answer.header("connection")), (408, Some("close")));
            assert_eq!(server.handle().counters().body_timeouts, 1);

            let declared = |length: &str| {
                Request::call("echo", json!({})).header("Content-Length", length).body("").bytes()
            };
            assert_eq!(server.send_raw(&declared("4000000000")).status, 413);
            let before = virtual_kib();
            let waiting: Vec<_> = (0..100)
                .map(|_| {
                    let mut stream = server.connect();
                    support_write(&mut stream, &declared("4000000"));
                    stream
                })
                .collect();
            server.until("all have timed out", |now| now.body_timeouts == 101);
            assert!(virtual_kib().saturating_sub(before) < 200 * 1024, "400 MB were declared");
            drop(waiting);
            assert_eq!(server.handle().counters().panics, 0);
        },
    );
}

fn virtual_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// [SEC-06] a connection without a request is closed without a word, before its first and between two
#[test]
fn silence_has_its_time() {
    let limits = Limits { idle_timeout: SHORT, ..Limits::default() };
    on_both_drivers(
        || server(&news().0).limits(limits.clone()),
        |server| {
            let mut silent = server.connect();
            assert_eq!(read_to_end(&mut silent), b"");
            let mut kept = begin(server, &Request::call("echo", json!({ "text": "x" })));
            assert_eq!(read_answer(&mut kept).expect("an answer").text(), "x");
            assert_eq!(read_to_end(&mut kept), b"");
            assert_eq!(server.handle().counters().idle_timeouts, 2);
            drop((silent, kept));
            server.until("both are gone", |now| now.connections_open == 0);
        },
    );
}

/// [SEC-06] the idle time holds as well for a connection that has given its buffer back, and a request after a long
/// silence is served
#[test]
fn quiet_connections_come_back() {
    let limits = Limits { idle_timeout: Duration::from_millis(2500), ..Limits::default() };
    on_both_drivers(
        || server(&news().0).limits(limits.clone()),
        |server| {
            let mut stream = server.connect();
            for round in 0..2 {
                // Beyond the time after which buffers are given back.
                let quiet = Instant::now() + Duration::from_millis(1300);
                while Instant::now() < quiet {
                    std::thread::park_timeout(quiet - Instant::now());
                }
                let text = format!("round {round}");
                support_write(&mut stream, &Request::call("echo", json!({ "text": text })).bytes());
                assert_eq!(read_answer(&mut stream).expect("an answer").text(), text);
            }
            let began = Instant::now();
            assert_eq!(read_to_end(&mut stream), b"");
            assert!(began.elapsed() >= Duration::from_millis(2300), "{:?}", began.elapsed());
            assert_eq!(server.handle().counters().idle_timeouts, 1);
        },
    );
}

/// [SEC-06] [SSE-11] a client that takes nothing of a large answer is closed after the write timeout and counted
#[test]
fn answers_have_their_time() {
    let make = || {
        server(&news().0).limits(Limits { write_timeout: SHORT, ..Limits::default() }).tool(
            "large",
            "Answers at length",
            async |_: &Context, _: Arguments| Ok::<_, ToolError>("x".repeat(32 * 1024 * 1024)),
        )
    };
    on_both_drivers(make, |server| {
        let stream = begin(server, &Request::call("large", json!({})));
        server.until("it is given up", |now| now.write_timeouts == 1);
        server.until("it is gone", |now| now.connections_open == 0);
        drop(stream);
        // One that takes its time but takes something is served to the end.
        let mut slow = begin(server, &Request::call("large", json!({})));
        let mut taken = 0;
        let mut buffer = vec![0; 4 * 1024 * 1024];
        while taken < 32 * 1024 * 1024 {
            match slow.read(&mut buffer).expect("bytes") {
                0 => break,
                n => taken += n,
            }
            std::thread::park_timeout(Duration::from_millis(20));
        }
        assert!(taken >= 32 * 1024 * 1024, "{taken} bytes");
        assert_eq!(server.handle().counters().write_timeouts, 1);
    });
}

/// [SEC-06] whatever part of a request came before the client closed or reset: no answer, no panic, no descriptor left
#[test]
fn torn_requests_leave_nothing() {
    on_both_drivers(
        || server(&news().0),
        |server| {
            let bytes = Request::call("echo", json!({ "text": "x".repeat(300) })).bytes();
            for at in (0..bytes.len()).step_by(7) {
                for leave in [drop, reset] {
                    let mut stream = server.connect();
                    support_write(&mut stream, &bytes[..at]);
                    leave(stream);
                }
            }
            server.until("all are gone", |now| now.connections_open == 0);
            let now = server.handle().counters();
            assert_eq!((now.panics, now.requests), (0, 0));
        },
    );
}

/// [SEC-06] a thousand resets in the middle of streams leave no descriptor
#[test]
fn resets_leave_no_descriptors() {
    on_both_drivers(
        || server(&news().0),
        |server| {
            for round in 0..1000 {
                let request = match round % 3 {
                    0 => Request::listen(json!({ "toolsListChanged": true })),
                    1 => Request::call("steps", json!({ "n": 50, "ms": 1 }))
                        .meta("progressToken", json!("p")),
                    _ => Request::call("hang", json!({})),
                };
                let mut stream = begin(server, &request);
                if round % 3 < 2 {
                    stream.read_exact(&mut [0; 12]).expect("the beginning of an answer");
                }
                reset(stream);
            }
            server.until("all are gone", |now| {
                now.connections_open == 0 && now.subscriptions_open == 0
            });
            assert_eq!(sockets_of(server.addr.port()), 1, "only the listener is left");
            assert_eq!(server.handle().counters().panics, 0);
        },
    );
}

/// Sockets of this process whose own port this is: the server's side.
fn sockets_of(port: u16) -> usize {
    let mine: Vec<String> = std::fs::read_dir("/proc/self/fd")
        .expect("Linux")
        .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
        .filter_map(|link| {
            Some(link.to_str()?.strip_prefix("socket:[")?.trim_end_matches(']').into())
        })
        .collect();
    let table = std::fs::read_to_string("/proc/self/net/tcp").expect("Linux");
    let local = format!(":{port:04X}");
    table
        .lines()
        .skip(1)
        .map(|line| line.split_ascii_whitespace().collect::<Vec<_>>())
        .filter(|row| row[1].ends_with(&local) && mine.iter().any(|inode| inode == row[9]))
        .count()
}
