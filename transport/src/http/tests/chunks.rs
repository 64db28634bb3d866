//! Chunked bodies that must pass, and how much they may weigh.

use super::{Event, Limits, Machine, serve, status_of};

const HEAD: &str = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

/// RFC 9112, 7.1: sizes, extensions, trailers; the next request starts right behind
#[test]
fn well_formed_bodies() {
    let rows: [(&str, &str); 9] = [
        ("0\r\n\r\n", ""),
        ("000\r\n\r\n", ""),
        ("2\r\n{}\r\n0\r\n\r\n", "{}"),
        ("a\r\n0123456789\r\n1\r\nx\r\n0\r\n\r\n", "0123456789x"),
        ("A;name=value;q=\"a;b\"\r\n0123456789\r\n0;last\r\n\r\n", "0123456789"),
        ("2 ;x\r\n\r\n\r\n0\r\n\r\n", "\r\n"),
        ("00000002\r\n{}\r\n0000\r\n\r\n", "{}"),
        ("2\r\n{}\r\n0\r\nA: b\r\nC:\r\n\r\n", "{}"),
        ("2\r\n{}\r\n0\r\nContent-Length: 9\r\nHost: evil\r\n\r\n", "{}"),
    ];
    for (chunks, body) in rows {
        let stream = format!("{HEAD}{chunks}GET /next HTTP/1.1\r\nHost: b\r\n\r\n");
        for step in 1..=stream.len() {
            let (requests, reject) = serve(Limits::default(), stream.as_bytes().chunks(step));
            assert_eq!(reject, None, "{chunks:?} by {step}");
            assert_eq!(requests.len(), 2, "{chunks:?} by {step}");
            assert_eq!(requests[0].body, body.as_bytes(), "{chunks:?} by {step}");
            assert_eq!(requests[1].target, "/next");
        }
    }
}

/// [HTTP-17] [SEC-07] crossing the limit is refused by the size line, before the data comes
#[test]
fn body_limit() {
    let limits = Limits { body_bytes_max: 8, ..Limits::default() };
    let rows = [
        ("8\r\n01234567\r\n0\r\n\r\n", None),
        ("9\r\n", Some(413)),
        ("ffffffffffffffff\r\n", Some(413)),
        ("4\r\n0123\r\n4\r\n4567\r\n0\r\n\r\n", None),
        ("4\r\n0123\r\n5\r\n", Some(413)),
    ];
    for (chunks, status) in rows {
        assert_eq!(status_of(limits, format!("{HEAD}{chunks}").as_bytes()), status, "{chunks}");
    }
}

/// [SEC-02] bounds on one size line, on framing as a whole, on trailers
#[test]
fn framing_limits() {
    let limits = Limits { chunk_line_bytes_max: 16, trailer_bytes_max: 16, ..Limits::default() };
    let rows = [
        (format!("1;{}\r\nx\r\n0\r\n\r\n", "e".repeat(12)), None),
        (format!("1;{}\r\nx\r\n0\r\n\r\n", "e".repeat(13)), Some(400)),
        (format!("0\r\nA: {}\r\n\r\n", "b".repeat(11)), None),
        (format!("0\r\nA: {}\r\n\r\n", "b".repeat(12)), Some(431)),
        (format!("0\r\n{}\r\n", "A:\r\n".repeat(4)), None),
        (format!("0\r\n{}\r\n", "A:\r\n".repeat(5)), Some(431)),
    ];
    for (chunks, status) in rows {
        assert_eq!(status_of(limits, format!("{HEAD}{chunks}").as_bytes()), status, "{chunks}");
    }
}

/// [SEC-02] many small chunks pass, many small chunks with long extensions do not
#[test]
fn framing_excess() {
    let plain = format!("{HEAD}{}0\r\n\r\n", "1\r\nx\r\n".repeat(10_000));
    assert_eq!(status_of(Limits::default(), plain.as_bytes()), None);

    let extension = "e".repeat(200);
    let padded = format!("{HEAD}{}", format!("1;{extension}\r\nx\r\n").repeat(100));
    assert_eq!(status_of(Limits::default(), padded.as_bytes()), Some(400));
}

/// [SEC-07] framing leaves the buffer as it is read: the buffer holds the data and one piece
#[test]
fn framing_does_not_pile_up() {
    let mut machine = Machine::new(Limits::default());
    let mut buf = HEAD.as_bytes().to_vec();
    assert_eq!(machine.poll(&mut buf), Event::Head);
    machine.accept_body();
    for count in 1..=5_000 {
        buf.extend_from_slice(b"1;ext\r\nx\r\n");
        assert_eq!(machine.poll(&mut buf), Event::NeedMore);
        assert_eq!(buf.len(), HEAD.len() + count);
    }
    buf.extend_from_slice(b"0\r\n\r\nrest");
    let body = HEAD.len()..HEAD.len() + 5_000;
    assert_eq!(machine.poll(&mut buf), Event::Body(body.clone()));
    assert!(buf[body].iter().all(|byte| *byte == b'x'));
}
