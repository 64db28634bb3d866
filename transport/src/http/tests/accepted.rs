//! Heads that must pass, and what is read from them.

use super::{Framing, head_of};

fn view_of<T>(stream: &str, read: impl FnOnce(super::super::HeadView<'_>) -> T) -> T {
    let (machine, buf) = head_of(stream.as_bytes()).expect("a head to accept");
    read(machine.head().view(&buf))
}

/// [HTTP-01] [HTTP-23] RFC 9112, 3.2: the four target forms; paths are taken exactly as sent
#[test]
fn targets() {
    let rows = [
        ("POST /mcp", "/mcp", "h"),
        ("POST /mcp?x=1&y", "/mcp", "h"),
        ("POST /mcp?", "/mcp", "h"),
        ("POST /", "/", "h"),
        ("POST /?/mcp", "/", "h"),
        ("POST /%6dcp", "/%6dcp", "h"),
        ("POST //mcp", "//mcp", "h"),
        ("POST /x/../mcp", "/x/../mcp", "h"),
        ("POST /mcp;a=b", "/mcp;a=b", "h"),
        ("POST http://a/mcp", "/mcp", "a"),
        ("POST HTTPS://a:443/mcp?q", "/mcp", "a:443"),
        ("POST http://[::1]:80/mcp", "/mcp", "[::1]:80"),
        ("POST http://a", "/", "a"),
        ("POST http://a?q=/", "/", "a"),
        ("OPTIONS *", "*", "h"),
        ("CONNECT a:443", "a:443", "h"),
        ("CONNECT /mcp", "/mcp", "h"),
        ("post /mcp", "/mcp", "h"),
    ];
    for (line, path, host) in rows {
        view_of(&format!("{line} HTTP/1.1\r\nHost: h\r\n\r\n"), |view| {
            assert_eq!((view.path(), view.host()), (path, Some(host)), "{line}");
            assert_eq!(format!("{} {}", view.method(), view.target()), line);
        });
    }
}

/// [HTTP-03] RFC 9110, 7.2: hosts a client may send
#[test]
fn hosts() {
    for host in
        ["a", "A.b-c_d~e", "127.0.0.1:8080", "[::1]", "[::ffff:1.2.3.4]:1", "a:", "x%41", "a."]
    {
        view_of(&format!("GET / HTTP/1.1\r\nHost: \t {host} \t\r\n\r\n"), |view| {
            assert_eq!(view.host(), Some(host));
        });
    }
    view_of("GET / HTTP/1.0\r\n\r\n", |view| assert_eq!(view.host(), None));
}

/// [HTTP-21] RFC 9112, 9.3: who keeps a connection alive
#[test]
fn persistence() {
    let rows = [
        (1, "", true),
        (1, "Connection: close\r\n", false),
        (1, "Connection: Keep-Alive, CLOSE\r\n", false),
        (1, "Connection: keep-alive\r\nConnection: close\r\n", false),
        (1, "Connection: upgrade\r\nUpgrade: h2c\r\n", true),
        (1, "Connection: closed\r\n", true),
        (0, "", false),
        (0, "Connection: Keep-Alive\r\n", true),
        (0, "Connection: keep-alive, close\r\n", false),
    ];
    for (minor, lines, expected) in rows {
        view_of(&format!("GET / HTTP/1.{minor}\r\nHost: a\r\n{lines}\r\n"), |view| {
            assert_eq!(view.head().keep_alive, expected, "1.{minor} {lines}");
            assert_eq!(view.head().minor, minor);
        });
    }
}

/// RFC 9112, 6.3; RFC 9110, 8.6: how the body is framed
#[test]
fn framing() {
    let rows = [
        ("", Framing::Empty),
        ("Content-Length: 0\r\n", Framing::Empty),
        ("Content-Length: 000\r\n", Framing::Empty),
        ("CONTENT-LENGTH:\t7 \t\r\n", Framing::Length(7)),
        ("Content-Length: 0042\r\n", Framing::Length(42)),
        ("Content-Length: 18446744073709551615\r\n", Framing::Length(u64::MAX)),
        ("Content-Length: 99999999999999999999999\r\n", Framing::Length(u64::MAX)),
        ("Transfer-Encoding: Chunked\t\r\n", Framing::Chunked),
    ];
    for (lines, framing) in rows {
        view_of(&format!("POST / HTTP/1.1\r\nHost: a\r\n{lines}\r\n"), |view| {
            assert_eq!(view.head().framing, framing, "{lines}");
        });
    }
}

/// RFC 9110, 10.1.1: who waits for 100 Continue
#[test]
fn expectations() {
    let rows = [
        (1, "Expect: 100-Continue\r\nContent-Length: 1\r\n", true),
        (1, "Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n", true),
        (1, "Expect: 100-continue\r\n", false),
        (0, "Expect: 100-continue\r\nContent-Length: 1\r\n", false),
        (1, "Content-Length: 1\r\n", false),
    ];
    for (minor, lines, expected) in rows {
        view_of(&format!("POST / HTTP/1.{minor}\r\nHost: a\r\n{lines}\r\n"), |view| {
            assert_eq!(view.head().expect_continue, expected, "1.{minor} {lines}");
        });
    }
}

/// [HDR-15] [HDR-16] names in any case, values as sent but for surrounding spaces and tabs
#[test]
fn header_lookup() {
    let head = "GET / HTTP/1.1\r\nhost: a\r\nX-A: \t one two\t\r\nx-a:\r\nX-B: caf\u{e9}\r\n\r\n";
    view_of(head, |view| {
        assert_eq!(view.get("x-A"), Some(&b"one two"[..]));
        assert_eq!(view.all("X-A").collect::<Vec<_>>(), [&b"one two"[..], b""]);
        assert_eq!(view.get("X-B"), Some("caf\u{e9}".as_bytes()));
        assert_eq!(view.get("X-C"), None);
        assert_eq!(view.iter().count(), 4);
    });
}

/// RFC 9112, 2.2: a few empty lines before a request are skipped
#[test]
fn empty_lines_before_a_request() {
    view_of("\r\n\r\nGET /a HTTP/1.1\r\nHost: a\r\n\r\n", |view| assert_eq!(view.path(), "/a"));
}

/// A view over some other buffer is empty, never a panic
#[test]
fn view_of_a_foreign_buffer() {
    let (machine, _buf) = head_of(b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n").expect("well formed");
    let view = machine.head().view(b"");
    assert_eq!((view.method(), view.get("host")), ("", None));
}
