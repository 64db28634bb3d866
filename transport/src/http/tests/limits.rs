//! One test per bound: at it, and one beyond.

use super::{Event, Limits, Machine, serve, status_of};
use crate::limits::{HEADERS_MAX_CEILING, LEADING_EMPTY_LINES_MAX, METHOD_BYTES_MAX};

fn status(limits: Limits, stream: &str) -> Option<u16> {
    status_of(limits, stream.as_bytes())
}

/// [HTTP-17] [SEC-02] head bytes: 431, complete or not
#[test]
fn head_bytes() {
    let head = |pad: usize| format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "x".repeat(pad));
    let limits = Limits { head_bytes_max: head(40).len(), ..Limits::default() };
    assert_eq!(status(limits, &head(40)), None);
    assert_eq!(status(limits, &head(41)), Some(431));
    assert_eq!(status(limits, &head(41)[..limits.head_bytes_max]), Some(431));
    assert_eq!(status(limits, &head(40)[..limits.head_bytes_max - 1]), None);
    assert_eq!(status(Limits::default(), &head(32 * 1024)), Some(431));
}

/// [SEC-02] header lines: 431
#[test]
fn header_lines() {
    let head = |lines: usize| format!("GET / HTTP/1.0\r\n{}\r\n", "A: b\r\n".repeat(lines));
    assert_eq!(status(Limits::default(), &head(64)), None);
    assert_eq!(status(Limits::default(), &head(65)), Some(431));

    let limits = Limits { headers_max: usize::MAX, ..Limits::default() };
    assert_eq!(status(limits, &head(HEADERS_MAX_CEILING)), None);
    assert_eq!(status(limits, &head(HEADERS_MAX_CEILING + 1)), Some(431));
}

/// [SEC-02] target bytes: 414, complete or not
#[test]
fn target_bytes() {
    let head = |pad: usize| format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "x".repeat(pad - 1));
    assert_eq!(status(Limits::default(), &head(8 * 1024)), None);
    assert_eq!(status(Limits::default(), &head(8 * 1024 + 1)), Some(414));
    assert_eq!(status(Limits::default(), &head(64 * 1024)), Some(414));
    assert_eq!(status(Limits::default(), &head(64 * 1024)[..10 * 1024]), Some(414));
}

/// RFC 9112, 3: a method longer than any we know is not implemented
#[test]
fn method_bytes() {
    let head = |bytes: usize| format!("{} / HTTP/1.0\r\n\r\n", "M".repeat(bytes));
    assert_eq!(status(Limits::default(), &head(METHOD_BYTES_MAX)), None);
    assert_eq!(status(Limits::default(), &head(METHOD_BYTES_MAX + 1)), Some(501));
}

/// RFC 9112, 2.2: empty lines before a request, counted anew for each
#[test]
fn leading_empty_lines() {
    let empty = "\r\n".repeat(LEADING_EMPTY_LINES_MAX);
    let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    let stream = format!("{empty}{request}{empty}{request}");
    assert_eq!(serve(Limits::default(), [stream.as_bytes()]).0.len(), 2);
    assert_eq!(serve(Limits::default(), stream.as_bytes().chunks(1)).0.len(), 2);
    assert_eq!(status(Limits::default(), &format!("{empty}\r\n{request}")), Some(400));
}

/// [HTTP-17] [SEC-07] a declared length beyond the limit is refused at once, without its bytes
#[test]
fn body_bytes() {
    let head =
        |length: &str| format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n");
    assert_eq!(status(Limits::default(), &head("4194304")), None);
    for length in ["4194305", "1099511627776", "18446744073709551616"] {
        assert_eq!(status(Limits::default(), &head(length)), Some(413));
    }
    let unbounded = Limits { body_bytes_max: usize::MAX, ..Limits::default() };
    assert_eq!(status(unbounded, &head("1099511627776")), Some(413));

    let mut machine = Machine::new(Limits::default());
    let mut buf = head("4194304").into_bytes();
    assert_eq!(machine.poll(&mut buf), Event::Head);
    machine.accept_body();
    assert_eq!(machine.poll(&mut buf), Event::NeedMore);
    assert!(buf.capacity() < 1024, "nothing is reserved by the declared size");
}
