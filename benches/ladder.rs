//! MCP's ladder: the rules that a request's headers and body keep together, climbed by requests that pass and by some
//! that are refused on the way.
#![allow(missing_docs, reason = "criterion's macros define undocumented items")]

use std::hint::black_box;

use codec::{Document, Message, Parser, message};
use criterion::{Criterion, criterion_group, criterion_main};
use ringmcp_benches::{CALL, post, post_of, request_body};
use transport::http::{Event, Limits, Machine};
use transport::mcp::head::StandardHeaders;
use transport::mcp::ladder::{Case, Surface};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A server of one version that serves two methods.
struct Stub;

impl Surface for Stub {
    fn versions(&self) -> &[&str] {
        &["2026-07-28"]
    }

    fn serves(&self, method: &str) -> bool {
        matches!(black_box(method), "tools/call" | "tools/list")
    }
}

/// A whole request, read as far as the ladder needs it.
struct Climber {
    buf: Vec<u8>,
    machine: Machine,
    document: Document,
}

impl Climber {
    fn new(request: Vec<u8>, body: &str) -> Self {
        let mut climber = Self {
            buf: request,
            machine: Machine::new(Limits::default()),
            document: Document::new(),
        };
        assert_eq!(climber.machine.poll(&mut climber.buf), Event::Head);
        let body = body.as_bytes().to_vec();
        let range = 0..body.len();
        climber.document.parse(&mut Parser::default(), body, range).expect("the body is JSON");
        climber
    }
}

fn rules(c: &mut Criterion) {
    let list = request_body("tools/list", "");
    let prompts = request_body("prompts/list", "");
    let cases = [
        ("call", Climber::new(post("echo", CALL), CALL), true),
        ("list", Climber::new(post_of("tools/list", None, &list), &list), true),
        ("header names another method", Climber::new(post("echo", CALL), &list), false),
        ("header names another tool", Climber::new(post("other", CALL), CALL), false),
        (
            "method is not served",
            Climber::new(post_of("prompts/list", None, &prompts), &prompts),
            false,
        ),
    ];
    let mut group = c.benchmark_group("transport/ladder");
    for (name, climber, passes) in &cases {
        let view = climber.machine.head().view(&climber.buf);
        let headers = StandardHeaders::collect(view);
        let Ok(Message::Request(request)) = message::read(&climber.document) else {
            panic!("no request")
        };
        group.bench_function(*name, |b| {
            b.iter(|| {
                let mut case = Case::new(black_box(request), Some(black_box(headers)), &Stub);
                assert_eq!(case.climb().is_ok(), *passes);
            });
        });
    }
    group.finish();
}

criterion_group!(benches, rules);
criterion_main!(benches);
