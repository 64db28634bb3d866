//! HTTP and MCP's rules on it: framing, the standard headers, heads and frames of answers.
#![allow(missing_docs, reason = "criterion's macros define undocumented items")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ringmcp_benches::{CALL, RESULT, ROWS, post, rows_call};
use transport::http::respond::{self, Length, ResponseHead};
use transport::http::{Event, Limits, Machine, date};
use transport::mcp::head::StandardHeaders;
use transport::sse;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Requests in one buffer where pipelining is measured.
const PIPELINED: usize = 16;

/// Takes every request in `buf` through the machine; how many there were.
fn run(machine: &mut Machine, buf: &mut Vec<u8>) -> usize {
    let mut served = 0;
    loop {
        match machine.poll(buf) {
            Event::NeedMore => return served,
            Event::Head => machine.accept_body(),
            Event::Body(body) => {
                black_box(&buf[body]);
                machine.finish(buf);
                served += 1;
            }
            Event::Reject(reject) => panic!("{reject}"),
        }
    }
}

fn machine(c: &mut Criterion) {
    let call = post("echo", CALL);
    let rows = post("rows", &rows_call(ROWS));
    let mut group = c.benchmark_group("transport/machine");
    for (name, bytes, requests) in [
        ("call", call.clone(), 1),
        ("16 calls pipelined", call.repeat(PIPELINED), PIPELINED),
        ("rows", rows, 1),
    ] {
        let (mut machine, mut buf) = (Machine::new(Limits::default()), Vec::new());
        group.throughput(Throughput::Elements(requests as u64));
        group.bench_function(name, |b| {
            b.iter(|| {
                buf.extend_from_slice(&bytes);
                assert_eq!(run(&mut machine, &mut buf), requests);
            });
        });
    }
    group.finish();
}

fn rules(c: &mut Criterion) {
    let mut buf = post("echo", CALL);
    let mut machine = Machine::new(Limits::default());
    assert_eq!(machine.poll(&mut buf), Event::Head);
    let view = machine.head().view(&buf);
    let headers = StandardHeaders::collect(view);

    let mut group = c.benchmark_group("transport/mcp");
    group.bench_function("collect headers", |b| {
        b.iter(|| StandardHeaders::collect(black_box(view)));
    });
    group.bench_function("media types", |b| {
        b.iter(|| {
            let headers = black_box(&headers);
            assert!(headers.has_json_content() && headers.accepted_forms().json);
        });
    });
    group.finish();
}

fn answers(c: &mut Criterion) {
    let mut out = Vec::with_capacity(4096);
    let date = date::format(0);
    let mut group = c.benchmark_group("transport/answer");
    group.bench_function("head of a JSON answer", |b| {
        b.iter(|| {
            out.clear();
            let head = ResponseHead {
                fixed: "Content-Type: application/json\r\n",
                length: Length::Known(black_box(RESULT.len())),
                keep_alive: true,
                minor: 1,
                date: &date,
                extra: &[],
            };
            respond::head(&mut out, 200, black_box(&head));
        });
    });
    group.bench_function("event in a chunk", |b| {
        b.iter(|| {
            out.clear();
            let json = black_box(RESULT.as_bytes());
            respond::chunk(&mut out, |out| sse::message(out, json));
        });
    });
    group.finish();
}

criterion_group!(benches, machine, rules, answers);
criterion_main!(benches);
