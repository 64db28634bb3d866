//! Bounds on size and time: 413, 414, 431 and 408.

use std::net::TcpStream;
use std::time::Duration;

use ringmcp::Limits;

use crate::framing::chunks;
use crate::http::{answer, ends, list, rest, server};
use crate::support::{PATIENCE, Request, on_both_drivers, serve, support_write};

fn small() -> Limits {
    Limits {
        body_bytes: 4096,
        head_bytes: 4096,
        headers: 16,
        target_bytes: 256,
        ..Limits::default()
    }
}

/// [HTTP-17] [SEC-02] [SEC-07] a body too large is refused by its declared length, before it comes, or as soon as a
/// chunk crosses the bound; one of exactly the bound is served.
#[test]
fn large_bodies() {
    let running = serve(server().limits(small()));
    let padded = |bytes: usize| {
        let mut body = list().message.to_string().into_bytes();
        body.resize(bytes, b' ');
        list().body(body)
    };
    assert_eq!(running.send(&padded(4096)).status, 200);
    let refused = running.send(&padded(4097));
    assert_eq!(refused.error(), (413, -32600));
    assert_eq!(refused.header("connection"), Some("close"));

    // Nothing but the head is sent.
    for length in ["4097", "4000000000", "18446744073709551615", "99999999999999999999999"] {
        let mut stream = running.connect();
        let head = list().header("Content-Length", length).body("").bytes();
        support_write(&mut stream, &head);
        assert_eq!(answer(&mut stream).error(), (413, -32600), "{length}");
        ends(stream);
    }
    // The chunk that crosses the bound is announced, not sent.
    for chunks in ["1001\r\n", "fff\r\nSPACE\r\n2\r\n", "ffffffff\r\n", "ffffffffffffffff\r\n"] {
        let mut stream = running.connect();
        let chunks = chunks.replace("SPACE", &" ".repeat(0xfff));
        let head = list().header("Transfer-Encoding", "chunked").body("").bytes();
        support_write(&mut stream, &[head, chunks.into_bytes()].concat());
        let refused = answer(&mut stream);
        assert!([400, 413].contains(&refused.status), "{}", refused.status);
        ends(stream);
    }
}

/// [HTTP-17] [SEC-02] heads have bounds: bytes, lines, and the target.
#[test]
fn large_heads() {
    let running = serve(server().limits(small()));
    let refused = |request: &Request, status: u16| {
        let mut stream = running.connect();
        support_write(&mut stream, &request.bytes());
        let refused = answer(&mut stream);
        assert_eq!(refused.error(), (status, -32600));
        assert_eq!(refused.header("connection"), Some("close"));
        ends(stream);
    };
    refused(&list().header("X-Long", &"x".repeat(4096)), 431);
    let many = (0..17).fold(list(), |request, at| request.header(&format!("X-{at}"), "x"));
    refused(&many, 431);
    refused(&list().http("POST", &format!("/mcp?{}", "x".repeat(256))), 414);
    refused(&list().http("POST", &"/".repeat(10_000)), 414);
    let fits = list().header("X-Long", &"x".repeat(3000));
    assert_eq!(running.send(&fits).status, 200);
    // A head that never ends is refused at the bound, without its end.
    let mut stream = running.connect();
    support_write(
        &mut stream,
        format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: {}", "x".repeat(5000)).as_bytes(),
    );
    assert_eq!(answer(&mut stream).status, 431);
    ends(stream);
}

/// Waits for what comes by writing one byte whenever nothing has come for a while.
fn drip(stream: &mut TcpStream, bytes: &[u8]) -> u16 {
    stream.set_read_timeout(Some(Duration::from_millis(20))).expect("a socket option");
    for byte in bytes {
        support_write(stream, &[*byte]);
        if !matches!(stream.peek(&mut [0]), Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
        {
            break;
        }
    }
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket option");
    answer(stream).status
}

/// [SEC-06] heads and bodies that do not come in time are answered 408 and closed, however busily they are dripped; a
/// connection that says nothing is closed without a word.
#[test]
fn timeouts() {
    let brief = Duration::from_millis(150);
    let make = || {
        server().limits(Limits {
            head_timeout: brief,
            body_timeout: brief,
            idle_timeout: brief,
            ..Limits::default()
        })
    };
    on_both_drivers(make, |running| {
        let bytes = list().bytes();
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a head") + 4;
        for stop in [1, 30, end - 1, end, bytes.len() - 1] {
            let mut stream = running.connect();
            support_write(&mut stream, &bytes[..stop]);
            let late = answer(&mut stream);
            assert_eq!(late.error(), (408, -32600), "{stop}");
            assert_eq!(late.header("connection"), Some("close"));
            ends(stream);
        }
        let mut stream = running.connect();
        assert_eq!(drip(&mut stream, &bytes), 408, "a dripped head");
        let mut stream = running.connect();
        support_write(&mut stream, &bytes[..end]);
        assert_eq!(drip(&mut stream, &bytes[end..]), 408, "a dripped body");
        let mut stream = running.connect();
        let chunked = list()
            .header("Transfer-Encoding", "chunked")
            .body(chunks(&list().message.to_string(), 1));
        assert_eq!(drip(&mut stream, &chunked.bytes()), 408, "dripped chunks");

        ends(running.connect());
        let mut stream = running.connect();
        support_write(&mut stream, &bytes);
        assert_eq!(answer(&mut stream).status, 200);
        ends(stream);
        let counters = running.handle().counters();
        assert!(counters.head_timeouts >= 4 && counters.body_timeouts >= 3, "{counters:?}");
        assert!(counters.idle_timeouts >= 2, "{counters:?}");
    });
}

/// [SEC-06] a refused body that never ends does not hold its connection open for ever.
#[test]
fn skipped_bodies_time_out() {
    let brief = Duration::from_millis(150);
    let running = serve(server().limits(Limits { body_timeout: brief, ..Limits::default() }));
    let mut stream = running.connect();
    let refused = list().header("Content-Type", "text/plain").header("Content-Length", "100000");
    support_write(&mut stream, &refused.bytes());
    assert_eq!(answer(&mut stream).status, 415);
    let text = rest(&mut stream);
    assert!(text.is_empty() || text.starts_with("HTTP/1.1 408 "), "{text}");
}
