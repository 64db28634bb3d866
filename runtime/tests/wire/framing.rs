//! Where requests begin and end on one connection: order, pieces, chunks, what is ambiguous, what is skipped.

use std::io::Read;
use std::net::TcpStream;

use ringmcp::{Builder, Context, NoArgs, ToolError};
use serde_json::{Value, json};

use crate::http::{answer, echo, ends, list, server};
use crate::support::{Request, on_both_drivers, serve, support_write};

/// [HTTP-01] [RPC-05] requests sent ahead are answered in their order, on both drivers, slow ones included.
#[test]
fn pipelining() {
    on_both_drivers(server, |running| {
        let mut stream = running.connect();
        let slow = Request::call("slow", json!({})).id(json!("slow"));
        let mut bytes = [echo(0).bytes(), slow.bytes()].concat();
        (1..200).for_each(|n| bytes.extend(echo(n).bytes()));
        support_write(&mut stream, &bytes);
        assert_eq!(answer(&mut stream).text(), r#"{"n":0}"#);
        assert_eq!(answer(&mut stream).text(), "slow");
        for n in 1..200 {
            let answer = answer(&mut stream);
            assert_eq!(
                (answer.text(), &answer.message()["id"]),
                (format!(r#"{{"n":{n}}}"#), &json!(n))
            );
        }
    });
}

/// Descriptions of this length make the list of [`long_list`] too long for one copy: it is written from the registry's
/// memory.
const DESCRIPTION_BYTES: usize = 2000;

/// A server whose list of tools is 200 kB and more.
fn long_list() -> Builder {
    (0..100).fold(server(), |builder, at| {
        let description = format!("{at} {}", "d".repeat(DESCRIPTION_BYTES));
        builder.tool(format!("t{at}"), description, async |_: &Context, _: NoArgs| {
            Ok::<_, ToolError>(())
        })
    })
}

/// [HTTP-01] [TOOL-03] a long list stands whole among answers that are due at the same time, in either form, as the last
/// one too, and on pages.
#[test]
fn long_lists_among_other_answers() {
    on_both_drivers(long_list, |running| {
        let mut stream = running.connect();
        let events = list().header("Accept", "text/event-stream").id(json!("events"));
        let last = list().header("Connection", "close").id(json!("last"));
        let requests = [echo(1), list(), list(), echo(2), events, echo(3), last];
        let bytes: Vec<u8> = requests.iter().flat_map(Request::bytes).collect();
        support_write(&mut stream, &bytes);
        for request in requests {
            let message = answer(&mut stream).message();
            assert_eq!(message["id"], request.message["id"]);
            if request.method() == "tools/list" {
                let tools = message["result"]["tools"].as_array().expect("a list");
                let long = tools.iter().filter(|tool| {
                    tool["description"].as_str().is_some_and(|text| text.len() > DESCRIPTION_BYTES)
                });
                assert_eq!(long.count(), 100);
            }
        }
        ends(stream);
    });
    let running = serve(long_list().page_size(60));
    let first = running.send(&list()).result("tools/list");
    assert_eq!(first["tools"].as_array().map(Vec::len), Some(60));
    let second = running.send(&list().param("cursor", first["nextCursor"].clone()));
    let second = second.result("tools/list");
    assert_eq!(second["tools"][0]["name"], tool_after(&first));
}

/// The name that follows the last one of a page of [`long_list`].
fn tool_after(page: &Value) -> String {
    let last = page["tools"].as_array().and_then(|tools| tools.last()).expect("a page");
    let name = last["name"].as_str().expect("a name");
    let number: usize = name.strip_prefix('t').and_then(|at| at.parse().ok()).expect("a number");
    format!("t{}", number + 1)
}

/// [HTTP-01] `Connection: close` is obeyed, and what was sent behind it is not served.
#[test]
fn connection_close() {
    let running = serve(server());
    for value in ["close", "Close", "keep-alive, close", "TE, close"] {
        let mut stream = running.connect();
        support_write(
            &mut stream,
            &[list().header("Connection", value).bytes(), list().bytes()].concat(),
        );
        assert_eq!(answer(&mut stream).header("connection"), Some("close"), "{value}");
        ends(stream);
    }
}

/// [SEC-06] a request may come byte by byte, in any pieces; the next one is there before the first is answered.
#[test]
fn byte_by_byte() {
    on_both_drivers(server, |running| {
        let mut stream = running.connect();
        for round in 0..2 {
            for byte in echo(round).bytes() {
                support_write(&mut stream, &[byte]);
            }
            assert_eq!(answer(&mut stream).text(), format!(r#"{{"n":{round}}}"#));
        }
        let chunked = echo(5).header("Transfer-Encoding", "chunked");
        let chunked = chunked.body(chunks(&echo(5).message.to_string(), 7));
        for byte in chunked.bytes() {
            support_write(&mut stream, &[byte]);
        }
        assert_eq!(answer(&mut stream).text(), r#"{"n":5}"#);
    });
}

/// [HTTP-17] [HTTP-06] chunked requests are served in any cut, with extensions and trailers, and leave the next
/// request where it is.
#[test]
fn chunked_requests() {
    let running = serve(server());
    let mut stream = running.connect();
    let text = echo(1).message.to_string();
    for size in [1, 2, 7, 64, 10_000] {
        let request = echo(1).header("Transfer-Encoding", "chunked").body(chunks(&text, size));
        support_write(&mut stream, &[request.bytes(), echo(2).bytes()].concat());
        assert_eq!(answer(&mut stream).text(), r#"{"n":1}"#, "{size}");
        assert_eq!(answer(&mut stream).text(), r#"{"n":2}"#, "{size}");
    }
    let length = text.len();
    let fancy = [
        format!("{length:X};a=b;c=\"d\"\r\n{text}\r\n0\r\nX-Trailer: 1\r\n\r\n"),
        format!("000{length:x}\r\n{text}\r\n00\r\n\r\n"),
    ];
    for body in fancy {
        let request = echo(1).header("Transfer-Encoding", "Chunked").body(body);
        support_write(&mut stream, &[request.bytes(), echo(2).bytes()].concat());
        assert_eq!(answer(&mut stream).text(), r#"{"n":1}"#);
        assert_eq!(answer(&mut stream).text(), r#"{"n":2}"#);
    }
}

/// [HTTP-06] requests of which two readers could see different ends are refused, and the connection with them.
#[test]
fn ambiguous_framing() {
    let running = serve(server());
    let text = list().message.to_string();
    let (length, body) = (text.len(), chunks(&text, 100));
    let chunked = || list().header("Transfer-Encoding", "chunked").body(body.clone());
    let broken = |body: &str| list().header("Transfer-Encoding", "chunked").body(body);
    let cases = [
        (chunked().header("Content-Length", &length.to_string()), 400),
        (chunked().header("Transfer-Encoding", "gzip, chunked"), 501),
        (chunked().header("Transfer-Encoding", "chunked, chunked"), 501),
        (chunked().add_header("Transfer-Encoding", b"chunked"), 400),
        (chunked().header("Transfer-Encoding", "xchunked"), 501),
        (
            list().header("Content-Length", &length.to_string()).add_header("Content-Length", b"1"),
            400,
        ),
        (list().header("Content-Length", &format!("{length}, {length}")), 400),
        (list().header("Content-Length", "+5"), 400),
        (list().header("Content-Length", "-1"), 400),
        (list().header("Content-Length", "0x10"), 400),
        (list().header("Content-Length", ""), 400),
        (list().header("Content-Length ", "5"), 400),
        (list().without_header("Host"), 400),
        (list().add_header("Host", b"localhost"), 400),
        (list().header("Host", "local host"), 400),
        (list().add_header("X Y", b"1"), 400),
        (list().add_header("X", b"1\r\n folded"), 400),
        (list().add_header("X", b"1\n"), 400),
        (list().add_header("X", b"a\rb"), 400),
        (broken("5\nabcde\r\n0\r\n\r\n"), 400),
        (broken("+5\r\nabcde\r\n0\r\n\r\n"), 400),
        (broken("5 \r\nabcde\r\n0\r\n\r\n"), 400),
        (broken("0x5\r\nabcde\r\n0\r\n\r\n"), 400),
        (broken("g\r\n"), 400),
        (broken("\r\n"), 400),
        (broken("5\r\nabcdefg\r\n0\r\n\r\n"), 400),
        (list().header("Expect", "200-ok"), 417),
    ];
    for (at, (request, status)) in cases.into_iter().enumerate() {
        let mut stream = running.connect();
        support_write(&mut stream, &request.bytes());
        let refused = answer(&mut stream);
        assert_eq!(
            refused.status,
            status,
            "case {at}: {}",
            String::from_utf8_lossy(&request.bytes())
        );
        assert_eq!(refused.header("connection"), Some("close"), "case {at}");
        assert_eq!(refused.message().get("id"), None);
        ends(stream);
    }
}

/// [HTTP-06] a body without a length is empty: no JSON.
#[test]
fn no_length() {
    let running = serve(server());
    let bytes = list().body("").bytes();
    let text = String::from_utf8(bytes).expect("UTF-8").replace("Content-Length: 0\r\n", "");
    assert_eq!(running.send_raw(text.as_bytes()).error(), (400, -32700));
    assert_eq!(running.send(&list().body("")).error(), (400, -32700));
}

/// Reads one interim answer.
fn interim(stream: &mut TcpStream) {
    let mut bytes = [0; 25];
    stream.read_exact(&mut bytes).expect("an interim answer");
    assert_eq!(&bytes, b"HTTP/1.1 100 Continue\r\n\r\n");
}

/// [HTTP-17] a client that waits for `100 Continue` gets it once its head has passed, and a refusal otherwise.
#[test]
fn expect_continue() {
    on_both_drivers(server, |running| {
        let waiting = || echo(1).header("Expect", "100-continue");
        let split = |request: &Request| {
            let bytes = request.bytes();
            let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a head") + 4;
            (bytes[..end].to_vec(), bytes[end..].to_vec())
        };
        let mut stream = running.connect();
        for _ in 0..2 {
            let (head, body) = split(&waiting());
            support_write(&mut stream, &head);
            interim(&mut stream);
            support_write(&mut stream, &body);
            assert_eq!(answer(&mut stream).text(), r#"{"n":1}"#);
        }
        // The body is there already: there is nothing to continue.
        support_write(&mut stream, &waiting().bytes());
        let mut status = [0; 12];
        stream.read_exact(&mut status).expect("an answer");
        assert_eq!(&status, b"HTTP/1.1 200");

        let mut stream = running.connect();
        let (head, _) = split(&waiting().header("Content-Type", "text/plain"));
        support_write(&mut stream, &head);
        assert_eq!(answer(&mut stream).error(), (415, -32600));
        ends(stream);
        let mut stream = running.connect();
        let (head, _) = split(&waiting().header("Content-Length", "99999999"));
        support_write(&mut stream, &head);
        assert_eq!(answer(&mut stream).error(), (413, -32600));
        ends(stream);
    });
}

/// [HTTP-17] a refused request whose body comes later, in whatever framing, leaves the connection fit for the next.
#[test]
fn unread_bodies_are_skipped() {
    on_both_drivers(server, |running| {
        let text = list().message.to_string();
        let chunked = list().header("Transfer-Encoding", "chunked").body(chunks(&text, 9));
        let mut stream = running.connect();
        for framed in [list(), chunked] {
            for refused in [
                framed.clone().header("Content-Type", "text/plain"),
                framed.clone().http("PUT", "/mcp"),
                framed.clone().http("POST", "/other"),
                framed.header("Accept", "image/png"),
            ] {
                let bytes = refused.bytes();
                let end =
                    bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a head") + 4;
                support_write(&mut stream, &bytes[..end]);
                let status = answer(&mut stream).status;
                assert!([404, 405, 406, 415].contains(&status), "{status}");
                // What is skipped looks like a request.
                support_write(&mut stream, &bytes[end..]);
                support_write(&mut stream, &echo(3).bytes());
                assert_eq!(answer(&mut stream).text(), r#"{"n":3}"#);
            }
        }
    });
}

/// `text` in chunks of `size` bytes.
pub(crate) fn chunks(text: &str, size: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for part in text.as_bytes().chunks(size) {
        out.extend_from_slice(format!("{:x}\r\n", part.len()).as_bytes());
        out.extend_from_slice(part);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"0\r\n\r\n");
    out
}
