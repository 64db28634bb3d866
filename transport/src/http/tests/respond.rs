//! Answers byte for byte, chunks decoded by our own reader, dates against a table.

use proptest::prelude::*;

use super::{Limits, serve};
use crate::http::date;
use crate::http::respond::{self, Length, ResponseHead};

const DATE: &[u8; 29] = b"Sun, 06 Nov 1994 08:49:37 GMT";

fn head(status: u16, edit: impl FnOnce(&mut ResponseHead<'_>)) -> String {
    let mut response = ResponseHead {
        fixed: "",
        length: Length::Known(0),
        keep_alive: true,
        minor: 1,
        date: DATE,
        extra: &[],
    };
    edit(&mut response);
    let mut out = Vec::new();
    respond::head(&mut out, status, &response);
    String::from_utf8(out).expect("heads are text")
}

/// [HTTP-07] [HTTP-10] [HTTP-21] RFC 9112, 4, 6, 9.3: status line, length, persistence
#[test]
fn heads() {
    let date = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
    assert_eq!(
        head(202, |_| {}),
        format!("HTTP/1.1 202 Accepted\r\n{date}Content-Length: 0\r\n\r\n")
    );
    assert_eq!(
        head(200, |response| {
            response.fixed = "Content-Type: application/json\r\n";
            response.length = Length::Known(1234);
            response.extra = &[("Cache-Control", "no-store")];
        }),
        format!(
            "HTTP/1.1 200 OK\r\n{date}Content-Type: application/json\r\nContent-Length: 1234\r\n\
             Cache-Control: no-store\r\n\r\n"
        )
    );
    assert_eq!(
        head(200, |response| response.length = Length::Chunked),
        format!("HTTP/1.1 200 OK\r\n{date}Transfer-Encoding: chunked\r\n\r\n")
    );
    assert_eq!(
        head(400, |response| response.keep_alive = false),
        format!("HTTP/1.1 400 Bad Request\r\n{date}Content-Length: 0\r\nConnection: close\r\n\r\n")
    );
    assert_eq!(
        head(200, |response| response.minor = 0),
        format!("HTTP/1.0 200 OK\r\n{date}Content-Length: 0\r\nConnection: keep-alive\r\n\r\n")
    );
    assert_eq!(head(204, |_| {}), format!("HTTP/1.1 204 No Content\r\n{date}\r\n"));
}

/// [HTTP-21] RFC 9112, 6.1: an HTTP/1.0 client never gets chunks; its stream ends with the connection
#[test]
fn streams_of_old_clients() {
    let text = head(200, |response| {
        response.length = Length::Chunked;
        response.minor = 0;
    });
    assert!(text.ends_with("GMT\r\nConnection: close\r\n\r\n"), "{text}");
    assert_eq!(Length::of_stream(0), Length::UntilClose);
    assert_eq!(Length::of_stream(1), Length::Chunked);
}

/// [SEC-05] a value from elsewhere cannot add header lines
#[test]
fn header_injection() {
    let text = head(200, |response| response.extra = &[("X\r\n", "a\r\nSet-Cookie: b\0")]);
    assert!(text.contains("\r\nX  : a  Set-Cookie: b \r\n"), "{text}");
}

/// Every status this server can send has its phrase
#[test]
fn reasons() {
    for status in [200, 202, 400, 401, 403, 404, 405, 406, 408, 413, 414, 415, 417, 429, 431, 500] {
        assert!(!respond::reason(status).is_empty(), "{status}");
    }
    assert_eq!(respond::reason(599), "");
}

/// RFC 9112, 7.1: chunk sizes around the reserved width; an empty chunk is none
#[test]
fn chunks() {
    for bytes in [0, 1, 15, 16, 0xffff, 0x10000, 0x12345] {
        let mut out = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
        respond::chunk(&mut out, |out| out.extend(std::iter::repeat_n(b'x', bytes)));
        respond::chunk(&mut out, |out| out.push(b'y'));
        respond::last_chunk(&mut out);
        let (requests, reject) = serve(Limits::default(), [&out[..]]);
        assert_eq!(reject, None);
        assert_eq!(requests[0].body.len(), bytes + 1);
        assert_eq!(requests[0].body.last(), Some(&b'y'));
    }
    let mut out = Vec::new();
    respond::chunk(&mut out, |out| out.extend_from_slice(b"hello"));
    assert_eq!(out, b"0005\r\nhello\r\n");
}

/// RFC 9110, 5.6.7: known dates, leap days, the ends of the range
#[test]
fn dates() {
    let rows: [(u64, &[u8; 29]); 8] = [
        (0, b"Thu, 01 Jan 1970 00:00:00 GMT"),
        (784_111_777, DATE),
        (951_782_399, b"Mon, 28 Feb 2000 23:59:59 GMT"),
        (951_782_400, b"Tue, 29 Feb 2000 00:00:00 GMT"),
        (951_868_800, b"Wed, 01 Mar 2000 00:00:00 GMT"),
        (4_107_542_400, b"Mon, 01 Mar 2100 00:00:00 GMT"),
        (253_402_300_799, b"Fri, 31 Dec 9999 23:59:59 GMT"),
        (u64::MAX, b"Fri, 31 Dec 9999 23:59:59 GMT"),
    ];
    for (secs, expected) in rows {
        assert_eq!(
            date::format(secs).escape_ascii().to_string(),
            expected.escape_ascii().to_string()
        );
    }
}

proptest! {
    /// RFC 9110, 5.6.7: against a calendar that counts day by day
    #[test]
    fn dates_count_days(days in 0u64..60_000) {
        let (mut year, mut month, mut left) = (1970u64, 0usize, days);
        loop {
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let february = if leap { 29 } else { 28 };
            let length = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month];
            if left < length {
                break;
            }
            left -= length;
            (year, month) = if month == 11 { (year + 1, 0) } else { (year, month + 1) };
        }
        let name = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][(days % 7) as usize];
        let expected = format!("{weekday}, {:02} {} {year} 00:00:00 GMT", left + 1, name[month]);
        let found = date::format(days * 86_400);
        prop_assert_eq!(std::str::from_utf8(&found).expect("ASCII"), expected);
    }
}
