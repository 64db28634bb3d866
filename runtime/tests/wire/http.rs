//! One endpoint over HTTP/1.1 and 1.0: paths, methods, media types, sizes, times, framing (ledger section 3a).

use std::io::Read;
use std::net::TcpStream;
use std::time::Duration;

use ringmcp::{Builder, Context, Limits, ResponseMode, Server, ToolError};
use serde_json::{Map, Value, json};

use crate::support::{Answer, Request, on_both_drivers, read_answer, serve, support_write};

type Arguments = Map<String, Value>;

fn server() -> Builder {
    Server::builder("http", "1")
        .tool("echo", "Echoes", async |_: &Context, arguments: Arguments| {
            Ok::<_, ToolError>(Value::Object(arguments).to_string())
        })
        .tool("slow", "Yields", async |ctx: &Context, _: Arguments| {
            ctx.sleep(Duration::from_millis(60)).await;
            Ok::<_, ToolError>("slow")
        })
        .tool("reports", "Reports progress", async |ctx: &Context, _: Arguments| {
            ctx.progress(1_u64, 2_u64);
            Ok::<_, ToolError>("reported")
        })
}

fn list() -> Request {
    Request::new("tools/list", json!({}))
}

fn echo(n: usize) -> Request {
    Request::call("echo", json!({ "n": n })).id(json!(n))
}

fn answer(stream: &mut TcpStream) -> Answer {
    read_answer(stream).expect("an answer")
}

/// Panics unless the connection ends here, with nothing more on it.
fn ends(mut stream: TcpStream) {
    assert!(read_answer(&mut stream).is_none(), "the connection ends");
}

/// What stands on the connection until it ends.
fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    // A close with unread bytes is a reset.
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8(bytes).expect("UTF-8")
}

/// [HTTP-01] [HTTP-23] [ERR-07] one path, compared exactly; any other is a 404 without a JSON-RPC body, whatever its
/// method.
#[test]
fn paths() {
    let running = serve(server());
    for path in ["/mcp", "/mcp?x=1", "/mcp?"] {
        assert_eq!(running.send(&list().http("POST", path)).status, 200, "{path}");
    }
    let absolute = format!("http://{}/mcp", running.addr);
    assert_eq!(running.send(&list().http("POST", &absolute)).status, 200);
    for path in ["/mcp/", "/", "/MCP", "/mcp/x", "/other", "//mcp", "/%6dcp", "/mcp;x", "/./mcp"] {
        for method in ["POST", "GET", "DELETE"] {
            let answer = running.send(&list().http(method, path));
            assert_eq!((answer.status, answer.body.len()), (404, 0), "{method} {path}");
            assert_eq!(answer.header("content-type"), None);
        }
    }
    let elsewhere = serve(server().path("/a/b"));
    assert_eq!(elsewhere.send(&list().http("POST", "/a/b")).status, 200);
    assert_eq!(elsewhere.send(&list()).status, 404);
}

/// [HTTP-02] [HTTP-03] [D-43] [SEC-01] hosts and origins of this machine pass on any port; all others, and doubled
/// origins, are refused before the body is read.
#[test]
fn hosts_and_origins() {
    let running = serve(server());
    let port = running.addr.port();
    for host in [
        "localhost",
        "LOCALHOST",
        "127.0.0.1",
        "[::1]",
        &format!("localhost:{port}"),
        "localhost:1",
    ] {
        assert_eq!(running.send(&list().header("Host", host)).status, 200, "{host}");
    }
    for host in
        ["evil.example", "localhost.evil.example", "127.0.0.2", "0.0.0.0", "[::2]", "localhost."]
    {
        let refused = running.send(&list().header("Host", host));
        assert_eq!(refused.error(), (403, -32600), "{host}");
        assert_eq!(refused.message().get("id"), None);
    }
    for origin in
        ["http://localhost", "https://127.0.0.1:8443", "http://[::1]:3", "HTTP://LocalHost"]
    {
        assert_eq!(running.send(&list().header("Origin", origin)).status, 200, "{origin}");
    }
    for origin in [
        "http://evil.example",
        "null",
        "",
        "localhost",
        "http://localhost@evil.example",
        "file://",
        "http://localhost/",
    ] {
        assert_eq!(
            running.send(&list().header("Origin", origin)).error(),
            (403, -32600),
            "{origin}"
        );
    }
    let twice =
        list().header("Origin", "http://localhost").add_header("Origin", b"http://evil.example");
    assert_eq!(running.send(&twice).error(), (403, -32600));

    // Refused by the head: the body that never comes is not waited for.
    let mut stream = running.connect();
    let mut head =
        list().header("Origin", "http://evil.example").header("Content-Length", "1000").bytes();
    head.truncate(head.len() - list().message.to_string().len());
    support_write(&mut stream, &head);
    assert_eq!(answer(&mut stream).status, 403);

    let listed = serve(server().allow_origin("https://app.example").allow_host("mcp.example"));
    let request = list().header("Host", "mcp.example").header("Origin", "https://app.example");
    assert_eq!(listed.send(&request).status, 200);
    assert_eq!(listed.send(&request.clone().header("Origin", "http://app.example")).status, 403);
    assert_eq!(listed.send(&request.clone().header("Host", "localhost")).status, 403);
}

/// [HTTP-12] other methods are refused with the one that is not, and keep the connection.
#[test]
fn methods() {
    let running = serve(server());
    let mut stream = running.connect();
    for method in ["GET", "DELETE", "PUT", "PATCH", "OPTIONS", "TRACE", "post", "Post", "BREW"] {
        support_write(&mut stream, &list().http(method, "/mcp").bytes());
        let refused = answer(&mut stream);
        assert_eq!(refused.error(), (405, -32600), "{method}");
        assert_eq!(refused.header("allow"), Some("POST"));
        assert_eq!(refused.message().get("id"), None);
    }
    let get = "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n";
    support_write(&mut stream, get.as_bytes());
    assert_eq!(answer(&mut stream).error(), (405, -32600));
}

/// [HTTP-15] [HTTP-22] the content is JSON in UTF-8, as it is.
#[test]
fn content_types() {
    let running = serve(server());
    let sent = |name: &str, value: &str| running.send(&list().header(name, value));
    for json in [
        "application/json",
        "APPLICATION/JSON",
        "application/json;charset=UTF-8",
        "application/json; charset=\"utf-8\"",
        "application/json ; profile=x",
        "application/json;",
    ] {
        assert_eq!(sent("Content-Type", json).status, 200, "{json}");
    }
    for other in [
        "",
        "text/plain",
        "application/jsonp",
        "application/json-rpc",
        "application/vnd.api+json",
        "application/*",
        "application/json; charset=latin1",
        "application/json, text/plain",
        "json",
        "text/json",
        "application/json; charset=\"utf-8",
        "multipart/form-data; x=application/json",
    ] {
        assert_eq!(sent("Content-Type", other).error(), (415, -32600), "{other}");
    }
    assert_eq!(running.send(&list().without_header("Content-Type")).error(), (415, -32600));
    let twice = list().add_header("Content-Type", b"application/json");
    assert_eq!(running.send(&twice).error(), (415, -32600));
    for coding in ["gzip", "br", "identity, gzip", "deflate"] {
        assert_eq!(sent("Content-Encoding", coding).error(), (415, -32600), "{coding}");
    }
    assert_eq!(sent("Content-Encoding", "identity").status, 200);
}

/// [HTTP-16] [D-24] [SSE-01] [SSE-02] [SSE-03] the answer takes the form that the client accepts; only a client that
/// accepts neither is refused.
#[test]
fn accepted_forms() {
    let running = serve(server());
    let form = |accept: &str| {
        let answer = running.send(&list().header("Accept", accept));
        if answer.status == 200 {
            answer.result("tools/list");
        }
        answer.header("content-type").map(str::to_owned).filter(|_| answer.status == 200)
    };
    let (json, events) =
        (Some("application/json".to_owned()), Some("text/event-stream".to_owned()));
    for accept in [
        "",
        "*/*",
        "application/json",
        "application/*",
        "application/json, text/event-stream",
        "text/html, */*;q=0.1",
    ] {
        assert_eq!(form(accept), json, "{accept}");
    }
    for accept in [
        "text/event-stream",
        "text/*",
        "TEXT/Event-Stream;q=0.5",
        "application/json;q=0, text/event-stream",
    ] {
        assert_eq!(form(accept), events, "{accept}");
    }
    assert_eq!(running.send(&list().without_header("Accept")).status, 200);
    for accept in ["image/png", "text/html, image/*", "*/*;q=0", "application/xml"] {
        let refused = running.send(&list().header("Accept", accept));
        assert_eq!(refused.error(), (406, -32600), "{accept}");
        assert_eq!(refused.message().get("id"), None);
    }
    let streamed = running.send(&list().header("Accept", "text/event-stream"));
    assert_eq!(streamed.header("x-accel-buffering"), Some("no"));
    assert_eq!(streamed.header("cache-control"), Some("no-cache, no-transform"));
    // A client of JSON alone gets its answer, without what came before it.
    let reports = Request::call("reports", json!({})).meta("progressToken", json!(1));
    assert_eq!(
        running.send(&reports.clone().header("Accept", "application/json")).text(),
        "reported"
    );
    assert_eq!(running.send(&reports).messages().len(), 2);
    // In-band errors follow the client as well; refusals of the ladder are JSON at their own status.
    let unknown = Request::call("missing", json!({})).header("Accept", "text/event-stream");
    let answer = running.send(&unknown);
    assert_eq!(
        (answer.header("content-type"), answer.error()),
        (Some("text/event-stream"), (200, -32602))
    );
    let mismatch = list().header("Accept", "text/event-stream").header("Mcp-Method", "x");
    assert_eq!(running.send(&mismatch).header("content-type"), Some("application/json"));
}

/// [SSE-01] the server's own preference counts where the client accepts both.
#[test]
fn response_modes() {
    let reports = || Request::call("reports", json!({})).meta("progressToken", json!(1));
    let events = serve(server().response_mode(ResponseMode::Sse));
    assert_eq!(events.send(&list()).header("content-type"), Some("text/event-stream"));
    let json_only = list().header("Accept", "application/json");
    assert_eq!(events.send(&json_only).header("content-type"), Some("application/json"));
    let json = serve(server().response_mode(ResponseMode::Json));
    assert_eq!(json.send(&reports()).messages().len(), 1);
}

/// [HTTP-10] [HTTP-11] [HTTP-20] [HTTP-07] what an answer's head says.
#[test]
fn heads_of_answers() {
    let running = serve(server());
    let ok = running.send(&list());
    assert_eq!(ok.header("cache-control"), Some("no-store"));
    assert!(ok.header("date").is_some_and(|date| date.ends_with(" GMT")));
    assert_eq!(ok.header("connection"), None, "HTTP/1.1 keeps connections without saying so");
    assert_eq!(ok.header("mcp-session-id"), None);
    let unknown = running.send(&Request::call("missing", json!({})));
    assert_eq!(unknown.error(), (200, -32602));
    assert_eq!(unknown.header("cache-control"), Some("no-store"));
    let note = Request::new("notifications/cancelled", json!({})).without_member("id");
    let accepted = running.send(&note);
    assert_eq!((accepted.status, accepted.header("content-length")), (202, Some("0")));
}

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

/// [HTTP-21] HTTP/1.0 is answered in kind and closed, unless it asks to keep the connection; streams end with it.
#[test]
fn http_1_0() {
    let running = serve(server());
    let old = |request: &Request| {
        let text = String::from_utf8(request.bytes()).expect("UTF-8");
        text.replacen("HTTP/1.1", "HTTP/1.0", 1).into_bytes()
    };
    let mut stream = running.connect();
    support_write(&mut stream, &old(&list()));
    let text = rest(&mut stream);
    assert!(text.starts_with("HTTP/1.0 200 OK\r\n"), "{text}");
    assert!(text.contains("Connection: close\r\n") && text.contains("Content-Length: "), "{text}");

    let mut stream = running.connect();
    let kept = old(&list().header("Connection", "keep-alive"));
    support_write(&mut stream, &kept);
    assert_eq!(answer(&mut stream).header("connection"), Some("keep-alive"));
    support_write(&mut stream, &kept);
    assert_eq!(answer(&mut stream).status, 200);

    let mut stream = running.connect();
    let reports = Request::call("reports", json!({})).meta("progressToken", json!(1));
    support_write(&mut stream, &old(&reports.header("Connection", "keep-alive")));
    let text = rest(&mut stream);
    assert!(
        text.contains("Connection: close\r\n") && !text.contains("Transfer-Encoding"),
        "{text}"
    );
    assert_eq!(text.matches("event: message\ndata: {").count(), 2, "{text}");
    assert!(text.ends_with("\n\n"), "no chunk after it: {text}");

    let mut stream = running.connect();
    support_write(
        &mut stream,
        &old(&list().header("Transfer-Encoding", "chunked").body("0\r\n\r\n")),
    );
    assert_eq!(answer(&mut stream).status, 400);
}

/// [HTTP-21] other protocols are refused or ignored: HTTP/2, an upgrade to it, TLS, and no HTTP at all.
#[test]
fn other_protocols() {
    let running = serve(server());
    let mut stream = running.connect();
    support_write(&mut stream, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    assert_eq!(answer(&mut stream).status, 505);
    ends(stream);
    let upgrade = list()
        .header("Connection", "Upgrade, HTTP2-Settings")
        .header("Upgrade", "h2c")
        .header("HTTP2-Settings", "AAMAAABk");
    let answered = running.send(&upgrade);
    assert_eq!((answered.status, answered.header("upgrade")), (200, None));
    for bytes in [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".as_slice(),
        b"hello\r\n\r\n",
        b"POST /mcp\r\n\r\n",
        b"\0\0\0\0\r\n\r\n",
    ] {
        let mut stream = running.connect();
        support_write(&mut stream, bytes);
        assert_eq!(answer(&mut stream).status, 400, "{bytes:?}");
        ends(stream);
    }
    for version in ["HTTP/3.0", "HTTP/1.2", "HTTP/0.9"] {
        let text =
            String::from_utf8(list().bytes()).expect("UTF-8").replacen("HTTP/1.1", version, 1);
        let answer = running.send_raw(text.as_bytes());
        assert!([400, 505].contains(&answer.status), "{version}: {}", answer.status);
    }
}

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

/// `text` in chunks of `size` bytes.
fn chunks(text: &str, size: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for part in text.as_bytes().chunks(size) {
        out.extend_from_slice(format!("{:x}\r\n", part.len()).as_bytes());
        out.extend_from_slice(part);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"0\r\n\r\n");
    out
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
    stream.set_read_timeout(Some(crate::support::PATIENCE)).expect("a socket option");
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

/// [HTTP-19] without CORS a preflight is a method like any other, and no header invites other origins.
#[test]
fn no_cors_by_default() {
    let running = serve(server());
    let preflight = list()
        .http("OPTIONS", "/mcp")
        .header("Origin", "http://localhost")
        .header("Access-Control-Request-Method", "POST");
    assert_eq!(running.send(&preflight).status, 405);
    let answer = running.send(&list().header("Origin", "http://localhost"));
    let invites =
        answer.headers.iter().any(|(name, _)| name.to_lowercase().starts_with("access-control"));
    assert!(!invites, "{answer:?}");
}
