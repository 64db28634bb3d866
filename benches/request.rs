//! A whole request through the whole server, without a socket: everything but the kernel.
//!
//! The in-memory connection costs a waker, a turn of the task, and bytes handed over one by one (30 % of the whole when
//! it was profiled); compare runs of this bench with one another, not with figures over TCP.
#![allow(missing_docs, reason = "criterion's macros define undocumented items")]

use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ringmcp::InProcessConnection;
use ringmcp_benches::{CALL, echo_server, post};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// An answer that takes longer is a fault of the bench.
const LIMIT: Duration = Duration::from_secs(5);

/// Requests in one write where pipelining is measured.
const PIPELINED: usize = 16;

/// Sends `bytes` and waits for as many bytes as the answer has.
fn exchange(connection: &InProcessConnection<'_>, bytes: &[u8], answer: usize) {
    connection.send(bytes);
    let got = connection.receive(LIMIT, |got| got.len() >= answer);
    assert_eq!(got.len(), answer);
}

fn requests(c: &mut Criterion) {
    let server = echo_server();
    let connection = server.connect();
    let call = post("echo", CALL);

    connection.send(&call);
    let answer = connection.receive(LIMIT, |got| got.ends_with(b"}"));
    let text = String::from_utf8_lossy(&answer);
    assert!(text.starts_with("HTTP/1.1 200") && text.contains("hello"), "{text}");

    let mut group = c.benchmark_group("server/call");
    for (name, requests) in [("one", 1), ("16 pipelined", PIPELINED)] {
        let bytes = call.repeat(requests);
        group.throughput(Throughput::Elements(requests as u64));
        group.bench_function(name, |b| {
            b.iter(|| exchange(&connection, &bytes, requests * answer.len()));
        });
    }
    group.finish();
}

criterion_group!(benches, requests);
criterion_main!(benches);
