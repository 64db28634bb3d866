//! The end of a server: what is answered, what is cut, and how long it may take. SSE-14, SUB-14.

use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ringmcp::{Builder, Context, Driver, Limits, NoArgs, Server, ToolError};
use serde_json::{Value, json};

use crate::support::{Events, PATIENCE, Request, Running, read_answer, serve_on, support_write};
use crate::tools::{Life, begin, news, read_to_end, server};

/// Runs the body on both drivers with a server that it may stop.
fn on_drivers(make: impl Fn() -> Builder, test: impl Fn(Running)) {
    match make().driver(Driver::Uring).workers(1).bind("127.0.0.1:0").start() {
        Ok(probe) => {
            probe.drain(Duration::ZERO);
            probe.join().expect("the worker ends");
            test(serve_on(make(), Driver::Uring, 2));
        }
        Err(error) => eprintln!("SKIPPED: the io_uring half of this test: {error}"),
    }
    test(serve_on(make(), Driver::Epoll, 2));
}

fn opened(server: &Running) -> Events {
    let mut events = server.stream(&Request::listen(json!({ "toolsListChanged": true })));
    assert_eq!(events.message()["method"], "notifications/subscriptions/acknowledged");
    events
}

fn assert_closing(message: &Value) {
    assert_eq!(message["id"], 1);
    assert_eq!(message["result"]["resultType"], "complete");
    assert_eq!(message["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
}

/// [SSE-14] [SUB-14] [SUB-15] a drain lets the running call answer, closes idle connections at once, ends subscriptions
/// with their closing result, waits for a head that has begun, and takes no new connection
#[test]
fn a_drain_ends_everything_in_order() {
    let (teller, news) = news();
    on_drivers(
        || server(&teller),
        |server| {
            let mut idle = begin(&server, &Request::call("echo", json!({ "text": "x" })));
            assert_eq!(read_answer(&mut idle).expect("an answer").text(), "x");
            let mut silent = server.connect();
            let mut listen = opened(&server);
            let mut torn = server.connect();
            let request = Request::call("echo", json!({ "text": "torn" })).bytes();
            support_write(&mut torn, &request[..20]);
            let nap = Request::call("nap", json!({ "ms": 2000, "text": "slept" }));
            let mut running = begin(&server, &nap);
            assert_eq!(news.next(), Life::Began);
            server.until("all are open", |now| now.connections_open == 5);

            let began = Instant::now();
            server.handle().drain(Duration::from_secs(20));
            assert_eq!(read_to_end(&mut idle), b"");
            assert_eq!(read_to_end(&mut silent), b"");
            let closing = listen.message();
            assert_closing(&closing);
            assert_eq!(listen.next_message(), None, "nothing follows, no notifications/cancelled");
            assert!(listen.closed());
            assert!(news.is_quiet(), "without waiting for the call");
            // Each of the two cores begins by itself: whatever is still accepted is so by one that has not.
            server.until("no core accepts", |_| TcpStream::connect(server.addr).is_err());
            support_write(&mut torn, &request[20..]);
            let answer = read_answer(&mut torn).expect("an answer");
            assert_eq!(
                (answer.text().as_str(), answer.header("connection")),
                ("torn", Some("close"))
            );
            assert_eq!(read_to_end(&mut torn), b"");
            let answer = read_answer(&mut running).expect("an answer");
            assert_eq!(
                (answer.text().as_str(), answer.header("connection")),
                ("slept", Some("close"))
            );
            assert_eq!(news.next(), Life::Ended);
            drop((idle, silent, listen, torn, running));
            server.stop();
            assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
        },
    );
}

/// [SSE-14] what outlasts the deadline is cancelled and closed: a call, an open stream, a torn head
#[test]
fn a_drain_keeps_its_deadline() {
    let (teller, news) = news();
    on_drivers(
        || server(&teller),
        |server| {
            let mut running = begin(&server, &Request::call("hang", json!({})));
            assert_eq!(news.next(), Life::Began);
            let mut torn = server.connect();
            support_write(&mut torn, b"POST /mcp HTT");
            server.until("both are open", |now| now.connections_open == 2);
            let began = Instant::now();
            server.handle().drain(Duration::from_millis(200));
            assert_eq!(news.next(), Life::Dropped);
            assert!(began.elapsed() >= Duration::from_millis(150), "it had its time");
            assert_eq!(read_to_end(&mut running), b"", "nothing is written for a cancelled call");
            read_to_end(&mut torn);
            server.stop();
            assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        },
    );
}

/// [SSE-14] a handler whose socket is not looked at, since its client has sent all it may ahead, ends with the deadline
/// as well
#[test]
fn a_drain_ends_a_call_behind_a_full_stash() {
    let (teller, news) = news();
    let limits = Limits { ahead_bytes: 1024, ..Limits::default() };
    on_drivers(
        || server(&teller).limits(limits.clone()),
        |server| {
            let mut running = begin(&server, &Request::call("hang", json!({})));
            assert_eq!(news.next(), Life::Began);
            support_write(&mut running, &vec![b'x'; 64 * 1024]);
            let began = Instant::now();
            server.handle().drain(Duration::from_millis(200));
            assert_eq!(news.next(), Life::Dropped);
            server.stop();
            assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        },
    );
}

/// [SSE-14] a second drain shortens the first, a longer one does not lengthen it
#[test]
fn a_second_drain_shortens_the_first() {
    let (teller, news) = news();
    on_drivers(
        || server(&teller),
        |server| {
            let _running = begin(&server, &Request::call("hang", json!({})));
            assert_eq!(news.next(), Life::Began);
            let began = Instant::now();
            server.handle().drain(Duration::from_secs(600));
            server.until("the idle end", |now| now.connections_open == 1);
            server.handle().drain(Duration::from_millis(100));
            server.handle().drain(Duration::from_secs(600));
            assert_eq!(news.next(), Life::Dropped);
            server.stop();
            assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
        },
    );
}

/// [SUB-16] nothing of a subscription outlives its server: a client that comes back hears nothing until it listens anew
#[test]
fn nothing_survives_a_reconnect() {
    on_drivers(
        || server(&news().0),
        |server| {
            drop(opened(&server));
            server.until("it is gone", |now| now.subscriptions_open == 0);
            server.handle().notifier().tools_changed();
            let mut back = opened(&server);
            server.handle().drain(Duration::from_secs(5));
            assert_closing(&back.message());
        },
    );
}

/// [SSE-14] a core with a backlog of handlers that hold it keeps the deadline all the same: what has not begun by then
/// is not begun.
#[test]
fn a_backlog_does_not_outlast_the_deadline() {
    /// Far more than the deadline allows, each longer than what is taken for a stall.
    const BACKLOG: usize = 12;
    const HELD: Duration = Duration::from_millis(300);
    for driver in [Driver::Auto, Driver::Epoll] {
        let begun = Arc::new(AtomicUsize::new(0));
        let (first, started) = channel();
        let builder = {
            let (begun, first) = (begun.clone(), Mutex::new(first));
            Server::builder("t", "1").tool("hold", "", async move |_: &Context, _: NoArgs| {
                begun.fetch_add(1, Ordering::SeqCst);
                let _ = first.lock().expect("no panic inside").send(());
                std::thread::sleep(HELD);
                Ok::<_, ToolError>("held")
            })
        };
        let server = serve_on(builder, driver, 1);
        let request = Request::call("hold", json!({}));
        let waiting: Vec<_> = (0..BACKLOG).map(|_| begin(&server, &request)).collect();
        started.recv_timeout(PATIENCE).expect("the first handler begins");
        server.handle().drain(Duration::from_millis(500));
        server.handle().join().expect("the worker ends");
        let begun = begun.load(Ordering::SeqCst);
        assert!(begun < BACKLOG, "{begun} handlers were begun");
        drop(waiting);
    }
}
