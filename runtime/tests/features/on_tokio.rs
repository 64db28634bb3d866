//! Handlers that use a tokio client: hyper's pooling HTTP client, on the companion runtime.

#[path = "../wire/support/mod.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the other test binaries")]
mod support;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc;

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use ringmcp::{Builder, Context, OffloadError, Server, ToolError};
use serde_json::{Map, Value, json};
use support::{PATIENCE, Request, Running, on_both_drivers, serve};

type Http = Client<HttpConnector, Full<Bytes>>;
type Failure = Box<dyn std::error::Error + Send + Sync>;
type Free = Map<String, Value>;

fn client() -> Http {
    Client::builder(TokioExecutor::new()).build_http()
}

/// The body behind a URL.
async fn get(http: Http, url: String) -> Result<String, Failure> {
    let answer = http.get(url.parse()?).await?;
    let body = answer.into_body().collect().await?.to_bytes();
    Ok(String::from_utf8(body.to_vec())?)
}

/// A server with a tool that fetches a URL.
fn fetching() -> Builder {
    let http = client();
    Server::builder("t", "1").tool("fetch", "", async move |ctx: &Context, arguments: Free| {
        let url = arguments["url"].as_str().unwrap_or_default().to_owned();
        let fetched = ctx.on_tokio(get(http.clone(), url)).await?;
        fetched.map_err(|error| ToolError::new(error.to_string()))
    })
}

fn fetch(running: &Running, url: &str) -> support::Answer {
    running.send(&Request::call("fetch", json!({ "url": url })))
}

/// Answers one connection after the other, each request of it with its count; ends with the listener's thread.
fn counting_service(listener: TcpListener) {
    for stream in listener.incoming() {
        let Ok(mut stream) = stream else { return };
        let mut served = 0;
        let mut bytes = [0; 4096];
        while matches!(stream.read(&mut bytes), Ok(1..)) {
            served += 1;
            let body = format!("answer {served}");
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
            if stream.write_all((head + &body).as_bytes()).is_err() {
                break;
            }
        }
        if served == 0 {
            return;
        }
    }
}

/// [CALL-14] a pooled client keeps its connection between calls of a handler, on both drivers.
#[test]
fn a_pooled_client_works_in_handlers() {
    on_both_drivers(fetching, |running| {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/", listener.local_addr().expect("an address"));
        std::thread::spawn(move || counting_service(listener));
        for at in 1..=20 {
            assert_eq!(fetch(running, &url).text(), format!("answer {at}"));
        }
    });
}

/// [CALL-05] a failure of the client is the tool's.
#[test]
fn failures_are_the_tools() {
    let running = serve(fetching());
    let free = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let answer = fetch(&running, &format!("http://{free}/"));
    assert_eq!(answer.result("tools/call")["isError"], true);
    assert_eq!(fetch(&running, "no url").result("tools/call")["isError"], true);
}

/// [CALL-14] [RPC-16] many calls wait at once on one core, which stays free for others.
#[test]
fn waiting_calls_leave_the_core_free() {
    let builder = fetching().tool("hi", "", async |_: &Context, _: Free| Ok::<_, ToolError>("hi"));
    let running = serve(builder);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..16).map(|_| scope.spawn(|| fetch(&running, &url).text())).collect();
        let mut peers: Vec<_> =
            (0..16).map(|_| listener.accept().expect("a call connects").0).collect();
        assert_eq!(running.send(&Request::call("hi", json!({}))).text(), "hi");
        // Closing keeps a connection from the pool: a call whose own is still being made would take it over.
        let answer = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\nhere";
        for peer in &mut peers {
            peer.set_read_timeout(Some(PATIENCE)).expect("a socket option");
            let mut bytes = [0; 1024];
            assert!(peer.read(&mut bytes).expect("the request") > 0);
            peer.write_all(answer).expect("a write");
        }
        for call in calls {
            assert_eq!(call.join().expect("no panic"), "here");
        }
    });
}

/// [SSE-08] [SSE-09] when the client goes, its future on the companion runtime is dropped, connection and all.
#[test]
fn cancellation_reaches_the_companion_runtime() {
    let running = serve(fetching());
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    let mut connection = running.connect();
    let request = Request::call("fetch", json!({ "url": url }));
    support::support_write(&mut connection, &request.bytes());
    let (mut peer, _) = listener.accept().expect("the call connects");
    peer.set_read_timeout(Some(PATIENCE)).expect("a socket option");
    let mut bytes = [0; 1024];
    assert!(peer.read(&mut bytes).expect("the request") > 0);
    drop(connection);
    running.until("cancelled", |counters| counters.disconnect_cancellations == 1);
    assert_eq!(peer.read(&mut bytes).expect("the end"), 0, "the fetch is given up");
}

/// [ERR-11] a panic on the companion runtime is told to the handler.
#[test]
fn panics_are_told() {
    let builder =
        Server::builder("t", "1").tool("t", "", async |ctx: &Context, arguments: Free| {
            let wanted = arguments.len();
            let told = ctx.on_tokio(async move { assert_eq!(wanted, 9, "secret detail") }).await;
            Ok::<_, ToolError>(matches!(told, Err(OffloadError::Panicked)))
        });
    assert_eq!(serve(builder).send(&Request::call("t", json!({}))).text(), "true");
}

/// [CALL-14] a runtime of the embedding program is used when it hands one in; progress goes on meanwhile.
#[test]
fn a_given_runtime_is_used() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("the-programs-own")
        .enable_all()
        .build()
        .expect("a runtime");
    let (send, receive) = mpsc::channel();
    let send = std::sync::Mutex::new(send);
    let builder = Server::builder("t", "1").tokio(runtime.handle().clone()).tool(
        "t",
        "",
        async move |ctx: &Context, _: Free| {
            let send = send.lock().expect("no panic").clone();
            ctx.progress(1, 2);
            ctx.on_tokio(async move {
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
                send.send(std::thread::current().name().map(str::to_owned))
            })
            .await??;
            ctx.progress(2, 2);
            Ok::<_, ToolError>("done")
        },
    );
    let running = serve(builder);
    let request = Request::call("t", json!({})).meta("progressToken", json!(1));
    let messages = running.send(&request).messages();
    assert_eq!(messages.len(), 3, "{messages:?}");
    assert_eq!(
        receive.recv_timeout(PATIENCE).expect("it ran").as_deref(),
        Some("the-programs-own")
    );
    running.stop();
}
