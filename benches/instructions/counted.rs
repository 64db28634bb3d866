//! Serves requests in memory and ends: the program whose instructions are counted, by `benches/instructions/count`.
//!
//! `counted REQUESTS DEPTH`: so many calls of `echo` through the whole server, `DEPTH` of them in one write. Two runs that
//! differ in `REQUESTS` alone differ by what those requests cost.

use std::time::Duration;

use ringmcp_benches::{CALL, echo_server, post};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// An answer that takes longer, under valgrind too, is a fault.
const LIMIT: Duration = Duration::from_secs(30);

fn argument(at: usize) -> usize {
    let text = std::env::args().nth(at);
    text.and_then(|text| text.parse().ok()).expect("counted REQUESTS DEPTH")
}

fn main() {
    let (requests, depth) = (argument(1), argument(2));
    let server = echo_server();
    let connection = server.connect();
    let call = post("echo", CALL);
    connection.send(&call);
    let answer = connection.receive(LIMIT, |got| got.ends_with(b"}"));
    let text = String::from_utf8_lossy(&answer);
    assert!(text.starts_with("HTTP/1.1 200") && text.contains("hello"), "{text}");

    let batch = call.repeat(depth);
    for _ in 0..requests / depth {
        connection.send(&batch);
        let got = connection.receive(LIMIT, |got| got.len() >= depth * answer.len());
        assert_eq!(got.len(), depth * answer.len());
    }
}
