//! One endpoint over HTTP/1.1 and 1.0: paths, methods, media types, what answers look like (ledger section 3a).

use std::io::Read;
use std::net::TcpStream;
use std::time::Duration;

use ringmcp::{Builder, Context, ResponseMode, Server, ToolError};
use serde_json::{Map, Value, json};

use crate::support::{Answer, Request, read_answer, serve, support_write};

type Arguments = Map<String, Value>;

pub(crate) fn server() -> Builder {
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

pub(crate) fn list() -> Request {
    Request::new("tools/list", json!({}))
}

pub(crate) fn echo(n: usize) -> Request {
    Request::call("echo", json!({ "n": n })).id(json!(n))
}

pub(crate) fn answer(stream: &mut TcpStream) -> Answer {
    read_answer(stream).expect("an answer")
}

/// Panics unless the connection ends here, with nothing more on it.
pub(crate) fn ends(mut stream: TcpStream) {
    assert!(read_answer(&mut stream).is_none(), "the connection ends");
}

/// What stands on the connection until it ends.
pub(crate) fn rest(stream: &mut TcpStream) -> String {
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

    // An in-band refusal as an event ends with the connection as well.
    let mut stream = running.connect();
    let unknown = Request::call("missing", json!({})).header("Accept", "text/event-stream");
    support_write(&mut stream, &old(&unknown.header("Connection", "keep-alive")));
    let text = rest(&mut stream);
    assert!(text.contains("-32602") && text.ends_with("\n\n"), "{text}");

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
