//! From a request that the ladder has passed to its answer, one request of each kind: finding the handler, its
//! arguments, its result. The whole server in memory, so that kinds can be compared with one another.
#![allow(missing_docs, reason = "criterion's macros define undocumented items")]

use criterion::{Criterion, criterion_group, criterion_main};
use ringmcp_benches::{
    CALL, ROWS, answer, exchange, many_server, post, post_of, request_body, rows_call,
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn kinds(c: &mut Criterion) {
    let server = many_server();
    let connection = server.connect();
    let uri = r#""uri":"bench://text""#;
    let of = |method: &str, name: Option<&str>, params: &str| {
        post_of(method, name, &request_body(method, params))
    };
    let requests = [
        ("tools/call, one argument", post("echo", CALL)),
        ("tools/call, 1,000 rows", post("rows", &rows_call(ROWS))),
        ("tools/call, no such tool", post("none", &CALL.replace("\"echo\"", "\"none\""))),
        ("tools/list, 1,000 tools", of("tools/list", None, "")),
        ("resources/read", of("resources/read", Some("bench://text"), uri)),
        ("server/discover", of("server/discover", None, "")),
    ];
    let mut group = c.benchmark_group("server/dispatch");
    for (name, request) in &requests {
        let length = answer(&connection, request).len();
        group.bench_function(*name, |b| b.iter(|| exchange(&connection, request, length)));
    }
    group.finish();
}

criterion_group!(benches, kinds);
criterion_main!(benches);
