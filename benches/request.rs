//! A whole request through the whole server, without a socket: everything but the kernel.
//!
//! The in-memory connection costs a waker, a turn of the task, and bytes handed over one by one (30 % of the whole when
//! it was profiled); compare runs of this bench with one another, not with figures over TCP.
#![allow(missing_docs, reason = "criterion's macros define undocumented items")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ringmcp_benches::{CALL, answer, echo_server, exchange, post};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Requests in one write where pipelining is measured.
const PIPELINED: usize = 16;

fn requests(c: &mut Criterion) {
    let server = echo_server();
    let connection = server.connect();
    let call = post("echo", CALL);

    let answer = answer(&connection, &call);
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("hello"), "{answer}");

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
