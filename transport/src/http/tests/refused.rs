//! One row per refusal: what could be read in two ways is not read at all.

use super::{Limits, serve, status_of};

/// Checks `status`, for a stream that is followed by a request nobody may see.
fn refused(rows: &[(u16, &str)]) {
    for (status, stream) in rows {
        let stream = format!("{stream}GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n");
        let found = status_of(Limits::default(), stream.as_bytes());
        assert_eq!(found, Some(*status), "{}", stream.escape_debug());
    }
}

/// [HTTP-21] RFC 9112, 6.1 to 6.3: nothing but one length or one chunked coding frames a body
#[test]
fn ambiguous_framing() {
    let rows = [
        (400, "Content-Length: 4\r\nTransfer-Encoding: chunked"),
        (400, "Transfer-Encoding: chunked\r\nContent-Length: 4"),
        (400, "Transfer-Encoding: chunked\r\nContent-Length: 0"),
        (400, "Content-Length: 4\r\nContent-Length: 0"),
        (400, "Content-Length: 4\r\nContent-Length: 4"),
        (400, "Content-Length: 0\r\ncontent-length: 0"),
        (400, "Content-Length: 4, 4"),
        (400, "Content-Length: 4,5"),
        (400, "Content-Length:"),
        (400, "Content-Length: +4"),
        (400, "Content-Length: -1"),
        (400, "Content-Length: 4.0"),
        (400, "Content-Length: 0x4"),
        (400, "Content-Length: 4 4"),
        (400, "Content-Length: 4;"),
        (400, "Content-Length: \u{664}"),
        (501, "Transfer-Encoding: identity"),
        (501, "Transfer-Encoding: xchunked"),
        (501, "Transfer-Encoding: chunked, chunked"),
        (501, "Transfer-Encoding: chunked, identity"),
        (501, "Transfer-Encoding: gzip, chunked"),
        (501, "Transfer-Encoding: chunked;q=1"),
        (501, "Transfer-Encoding: \"chunked\""),
        (501, "Transfer-Encoding:"),
        (400, "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
        (501, "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked"),
        (400, "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity"),
        (400, "Transfer-Encoding: \u{b}chunked"),
        (400, "Transfer-Encoding : chunked"),
        (400, "Transfer-Encoding: chunked\u{c}"),
    ];
    for (status, lines) in rows {
        refused(&[(status, &format!("POST / HTTP/1.1\r\nHost: a\r\n{lines}\r\n\r\n"))]);
    }
    refused(&[(400, "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n")]);
}

/// RFC 9112, 2.2, 5, 5.1, 5.2: line ends, names, folding
#[test]
fn malformed_lines() {
    let rows = [
        "X-A: a\r\n b",
        "X-A: a\r\n\tb",
        "X-A:\r\n b",
        " X-A: a",
        "X-A: a\rb",
        "\rX-A: a",
        "X-A: a\r\r",
        "X-A: a\nX-B: b",
        "X-A:\nX-B: b",
        "X-A: a \t\nX-B: b",
        "X-A: a\0b",
        "X-A: a\u{1}b",
        "X-A: a\u{7f}b",
        "X-A\0: a",
        "X-A : a",
        "X-A\t: a",
        "Nonsense",
        ": x",
        "X(A): x",
        "X A: x",
        "X\u{e9}: x",
    ];
    for lines in rows {
        refused(&[(400, &format!("POST / HTTP/1.1\r\nHost: a\r\n{lines}\r\n\r\n"))]);
    }
    refused(&[
        (400, "POST / HTTP/1.1\nHost: a\n\n"),
        (400, "POST / HTTP/1.1\r\nHost: a\n\n"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\n\n"),
        (400, "POST / HTTP/1.1\r\nHost: a\n\r\n"),
        (400, "POST / HTTP/1.1\nHost: a\r\n\r\n"),
        (400, "POST / HTTP/1.1\r\n Host: a\r\n\r\n"),
    ]);
}

/// RFC 9112, 2.2: a bare LF is refused where it stands, not when a head is complete that may never be
#[test]
fn bare_line_feeds_are_refused_at_once() {
    for line in ["POST / HTTP/1.1\n", "POST / HTTP/1.1\r\nHost: a\n", "P\n", "GET / HTTP/1.1\r\n\n"]
    {
        let (requests, reject) = serve(Limits::default(), line.as_bytes().chunks(1));
        assert_eq!(
            (requests.len(), reject.map(|reject| reject.status)),
            (0, Some(400)),
            "{line:?}"
        );
    }
}

/// [HTTP-03] RFC 9112, 3.2; RFC 9110, 7.2: exactly one well-formed host
#[test]
fn bad_hosts() {
    let hosts = [
        "",
        "a b",
        "a/",
        "user@a",
        "a, b",
        "a,b",
        "a:b",
        "a:99999",
        "a:-1",
        "a:80:80",
        ":80",
        "a?",
        "a#",
        "[::1",
        "::1",
        "[::1]x",
        "[::1]:x",
        "[g::1]",
        "[]",
        "[::1%25eth0]",
        "[127.0.0.1]",
        "a%4",
        "a%zz",
        "a\\b",
        "a;b",
        "\u{e9}",
        "http://a",
        "*",
    ];
    for host in hosts {
        refused(&[(400, &format!("POST / HTTP/1.1\r\nHost: {host}\r\n\r\n"))]);
        refused(&[(400, &format!("POST / HTTP/1.0\r\nHost: {host}\r\n\r\n"))]);
        // In an absolute-form target the authority ends at a slash or question mark.
        if !host.is_empty() && !host.contains(['/', '?', ' ']) {
            refused(&[(400, &format!("POST http://{host}/ HTTP/1.1\r\nHost: a\r\n\r\n"))]);
        }
    }
    refused(&[
        (400, "POST / HTTP/1.1\r\n\r\n"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n"),
        (400, "POST / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n"),
        (400, "POST http:///x HTTP/1.1\r\nHost: a\r\n\r\n"),
        (400, "POST http://a/x HTTP/1.1\r\n\r\n"),
    ]);
}

/// [HTTP-21] RFC 9112, 3, 3.2: request lines
#[test]
fn bad_request_lines() {
    let host = "\r\nHost: a\r\n\r\n";
    let rows = [
        (400, "POST /m cp HTTP/1.1"),
        (400, "POST  / HTTP/1.1"),
        (400, "POST /  HTTP/1.1"),
        (400, "POST\t/ HTTP/1.1"),
        (400, " POST / HTTP/1.1"),
        (400, "POST / HTTP/1.1 "),
        (400, "POST /"),
        (400, "POST  HTTP/1.1"),
        (400, "/ HTTP/1.1"),
        (400, "P@ST / HTTP/1.1"),
        (400, "POST /a#b HTTP/1.1"),
        (400, "POST /\u{e9} HTTP/1.1"),
        (400, "POST /\u{7f} HTTP/1.1"),
        (400, "POST /\0 HTTP/1.1"),
        (400, "POST mcp HTTP/1.1"),
        (400, "POST ?a HTTP/1.1"),
        (400, "POST * HTTP/1.1"),
        (400, "OPTIONS ** HTTP/1.1"),
        (400, "POST ftp://a/ HTTP/1.1"),
        (400, "POST a:80 HTTP/1.1"),
        (400, "CONNECT user@a HTTP/1.1"),
        (400, "CONNECT * HTTP/1.1"),
        (400, "POST / http/1.1"),
        (400, "POST / HTTP/1"),
        (400, "POST / HTTP/1.10"),
        (400, "POST / HTTP/x.1"),
        (400, "POST / HTPP/1.1"),
        (505, "POST / HTTP/2.0"),
        (505, "POST / HTTP/0.9"),
        (505, "POST / HTTP/1.2"),
        (501, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA / HTTP/1.1"),
    ];
    for (status, line) in rows {
        refused(&[(status, &format!("{line}{host}"))]);
    }
    refused(&[(505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")]);
}

/// [HTTP-21] a TLS hello on the plain port is refused at its first byte
#[test]
fn tls_hello() {
    let hello = b"\x16\x03\x01\x00\x31\x01\x00\x00\x2d\x03\x03";
    for length in 1..=hello.len() {
        assert_eq!(status_of(Limits::default(), &hello[..length]), Some(400));
    }
}

/// RFC 9110, 10.1.1: an expectation we cannot meet is named, not ignored
#[test]
fn unknown_expectations() {
    for value in ["unicorn", "100-continue, unicorn", "", "100", "100-continue;x"] {
        let head = format!("POST / HTTP/1.1\r\nHost: a\r\nExpect: {value}\r\n\r\n");
        refused(&[(417, &head)]);
    }
}

/// RFC 9112, 2.2: a few empty lines are a client's habit, many are not a request
#[test]
fn empty_lines_before_a_request() {
    let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    let rows = [
        ("\r\n\r\n\r\n\r\n\r\n", 400),
        ("\n", 400),
        ("\r", 400),
        ("\r\n\n", 400),
        ("\r\n\rX", 400),
    ];
    for (lines, status) in rows {
        refused(&[(status, &format!("{lines}{request}"))]);
    }
}

/// RFC 9112, 7.1: chunk framing
#[test]
fn malformed_chunks() {
    let rows = [
        "2\n{}\r\n0\r\n\r\n",
        "2\r{}\r\n0\r\n\r\n",
        "2\r\n{}\n0\r\n\r\n",
        "2\r\n{}0\r\n\r\n",
        "2\r\n{}}\r\n0\r\n\r\n",
        "\r\n{}\r\n0\r\n\r\n",
        "0x2\r\n{}\r\n0\r\n\r\n",
        "+2\r\n{}\r\n0\r\n\r\n",
        "-2\r\n{}\r\n0\r\n\r\n",
        " 2\r\n{}\r\n0\r\n\r\n",
        "2 \r\n{}\r\n0\r\n\r\n",
        "2 x\r\n{}\r\n0\r\n\r\n",
        "2g\r\n{}\r\n0\r\n\r\n",
        "2;\0\r\n{}\r\n0\r\n\r\n",
        "2;a=\"b\rc\"\r\n{}\r\n0\r\n\r\n",
        "2;a\n{}\r\n0\r\n\r\n",
        "2;\u{7f}\r\n{}\r\n0\r\n\r\n",
        "00000000000000002\r\n{}\r\n0\r\n\r\n",
        "10000000000000000\r\n{}\r\n0\r\n\r\n",
        "2\r\n{}\r\n0\r\nA b\r\n\r\n",
        "2\r\n{}\r\n0\r\nA : b\r\n\r\n",
        "2\r\n{}\r\n0\r\n: b\r\n\r\n",
        "2\r\n{}\r\n0\r\nA: b\n\r\n",
        "2\r\n{}\r\n0\r\nA: b\rc\r\n\r\n",
        "2\r\n{}\r\n0\r\nA: b\r\n c\r\n\r\n",
        "2\r\n{}\r\n0\r\nA: b\0\r\n\r\n",
        "2\r\n{}\r\n0\r\n\n",
        "2\r\n{}\r\n0\r\nGET /x HTTP/1.1\r\n\r\n",
    ];
    for chunks in rows {
        let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
        refused(&[(400, &format!("{head}{chunks}"))]);
    }
}
