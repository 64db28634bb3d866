//! Subscriptions: what it costs to tell many streams of a change, and to open and close one beside them.
//!
//! The streams are in memory, where the server polls each of its connections in every turn; over sockets only those
//! wake that have something to do.
#![allow(missing_docs, reason = "criterion's macros define undocumented items")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ringmcp::{InProcess, InProcessConnection};
use ringmcp_benches::{LIMIT, echo_server, has, post_of, request_body};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Streams of one server: as many as the hub tells in one turn, so that no rest between turns is measured.
const STREAMS: [usize; 3] = [1, 16, 128];

/// Opens a stream that hears of changes of the tools.
fn listen<'s>(server: &'s InProcess, request: &[u8]) -> InProcessConnection<'s> {
    let connection = server.connect();
    connection.send(request);
    let told = connection.receive(LIMIT, |got| has(got, "subscriptions/acknowledged"));
    assert!(has(&told, "subscriptions/acknowledged"), "{}", String::from_utf8_lossy(&told));
    connection
}

fn request() -> Vec<u8> {
    let body = request_body("subscriptions/listen", r#""notifications":{"toolsListChanged":true}"#);
    post_of("subscriptions/listen", None, &body)
}

fn telling(c: &mut Criterion) {
    let request = request();
    let mut group = c.benchmark_group("server/hub");
    for count in STREAMS {
        let server = echo_server();
        let streams: Vec<_> = (0..count).map(|_| listen(&server, &request)).collect();
        let notifier = server.notifier();
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(format!("one change to {count} streams"), |b| {
            b.iter(|| {
                notifier.tools_changed();
                for stream in &streams {
                    let told = stream.receive(LIMIT, |got| has(got, "tools/list_changed"));
                    assert!(!told.is_empty(), "every stream is told");
                }
            });
        });
    }
    group.finish();
}

fn opening(c: &mut Criterion) {
    let request = request();
    let server = echo_server();
    let mut group = c.benchmark_group("server/hub");
    group.bench_function("open and close a stream", |b| {
        b.iter(|| {
            drop(listen(&server, &request));
            server.turn();
        });
    });
    group.finish();
}

criterion_group!(benches, telling, opening);
criterion_main!(benches);
