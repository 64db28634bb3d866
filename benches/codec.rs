//! Bytes to messages and back: what one request costs before any handler and without HTTP.
#![allow(missing_docs, reason = "criterion's macros define undocumented items")]

use std::hint::black_box;

use codec::{Document, Id, Message, Parser, message, write};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ringmcp_benches::{CALL, RESULT, ROWS, rows_call};
use serde::Deserialize;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Deserialize)]
struct Echo<'a> {
    text: &'a str,
}

#[derive(Deserialize)]
struct Table<'a> {
    #[serde(borrow)]
    rows: Vec<Row<'a>>,
}

#[derive(Deserialize)]
struct Row<'a> {
    id: u64,
    name: &'a str,
    price: f64,
    active: bool,
}

/// Reads the arguments as their type.
type Typed = fn(codec::Value<'_>);

/// How far a request is taken.
#[derive(Clone, Copy)]
enum Until {
    Parsed,
    Read,
    Typed,
}

const STEPS: [(&str, Until); 3] =
    [("parse", Until::Parsed), ("parse+read", Until::Read), ("parse+read+typed", Until::Typed)];

/// One core's parser, document and buffer, warm after the first request.
#[derive(Default)]
struct Warm {
    parser: Parser,
    document: Document,
    buffer: Vec<u8>,
}

impl Warm {
    /// Takes one request as far as `until`; the copy into the buffer stands for the socket's read.
    fn take(&mut self, body: &[u8], until: Until, typed: Typed) {
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        buffer.extend_from_slice(body);
        let range = 0..buffer.len();
        self.document.parse(&mut self.parser, buffer, range).expect("the body is JSON");
        if !matches!(until, Until::Parsed) {
            let message = message::read(black_box(&self.document)).expect("the body is a message");
            if matches!(until, Until::Typed) {
                let params = message.params().expect("a call has params");
                typed(params.get("arguments").expect("a call has arguments"));
            }
            black_box(message);
        }
        self.buffer = self.document.release();
    }
}

fn echo(arguments: codec::Value<'_>) {
    let echo: Echo<'_> = arguments.deserialize().expect("the arguments fit");
    black_box(echo.text);
}

fn table(arguments: codec::Value<'_>) {
    let table: Table<'_> = arguments.deserialize().expect("the arguments fit");
    for row in &table.rows {
        black_box((row.id, row.name, row.price, row.active));
    }
}

fn requests(c: &mut Criterion) {
    let rows = rows_call(ROWS);
    let bodies: [(&str, &str, Typed); 2] =
        [("codec/call", CALL, echo), ("codec/rows", &rows, table)];
    for (name, body, typed) in bodies {
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Bytes(body.len() as u64));
        for (step, until) in STEPS {
            let mut warm = Warm::default();
            group.bench_function(step, |b| b.iter(|| warm.take(body.as_bytes(), until, typed)));
        }
        group.finish();
    }
}

fn responses(c: &mut Criterion) {
    let mut document = Document::new();
    let body = CALL.as_bytes().to_vec();
    let range = 0..body.len();
    document.parse(&mut Parser::default(), body, range).expect("the body is JSON");
    let Ok(Message::Request(request)) = message::read(&document) else { panic!("no request") };
    let mut out = Vec::with_capacity(4096);

    let mut group = c.benchmark_group("codec/write");
    group.bench_function("response from ready JSON", |b| {
        b.iter(|| {
            out.clear();
            write::response(&mut out, black_box(&request.id), black_box(RESULT.as_bytes()));
        });
    });
    group.bench_function("response member by member", |b| {
        b.iter(|| {
            out.clear();
            write_result(&mut out, black_box(&request.id), black_box("hello"));
        });
    });
    let text = "ordinary text with a \"quote\" now and then\n".repeat(100);
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("string of 4 KiB, some escapes", |b| {
        b.iter(|| {
            out.clear();
            write::string(&mut out, black_box(&text));
        });
    });
    group.finish();
}

fn write_result(out: &mut Vec<u8>, id: &Id<'_>, text: &str) {
    write::response_start(out, id);
    out.extend_from_slice(br#"{"content":[{"type":"text","text":"#);
    write::string(out, text);
    out.extend_from_slice(br#"}],"resultType":"complete"}"#);
    write::end(out);
}

criterion_group!(benches, requests, responses);
criterion_main!(benches);
