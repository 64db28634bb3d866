//! A warm connection allocates nothing: counted, not assumed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use ringmcp_transport::http::respond::{self, Length, ResponseHead};
use ringmcp_transport::http::{Event, Limits, Machine, date};
use ringmcp_transport::mcp::head::StandardHeaders;
use ringmcp_transport::mcp::origin::Guard;
use ringmcp_transport::{line, sse};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is passed on unchanged to the system allocator, which keeps the contract; the
// counter is a plain thread-local number that needs no destructor and allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(at, layout, bytes) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn allocations(run: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.with(Cell::get);
    run();
    ALLOCATIONS.with(Cell::get) - before
}

const REQUESTS: &[u8] = b"POST /mcp HTTP/1.1\r\nHost: localhost:8080\r\nOrigin: http://localhost\r\n\
    Content-Type: application/json; charset=utf-8\r\nAccept: application/json, text/event-stream\r\n\
    MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\n\
    Mcp-Param-Region: eu\r\nContent-Length: 2\r\n\r\n{}\
    POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n";

/// The counter counts: a test of nothing would pass too
#[test]
fn the_counter_counts() {
    assert!(allocations(|| drop(std::hint::black_box(vec![1u8]))) > 0);
}

/// Heads, bodies, header rooms and answers on a warm connection: no allocation
#[test]
fn warm_requests() {
    let mut machine = Machine::new(Limits::default());
    let guard = Guard::new::<&str>(true, &[], &[]).expect("the defaults are well formed");
    let (mut buf, mut out) = (Vec::new(), Vec::new());
    for warm in [false, true] {
        let count = allocations(|| {
            for _ in 0..3 {
                out.clear();
                buf.extend_from_slice(REQUESTS);
                assert_eq!(serve(&mut machine, &guard, &mut buf, &mut out), 2);
            }
        });
        assert!(!warm || count == 0, "{count} allocations");
    }
}

fn serve(machine: &mut Machine, guard: &Guard, buf: &mut Vec<u8>, out: &mut Vec<u8>) -> usize {
    let mut served = 0;
    loop {
        match machine.poll(buf) {
            Event::NeedMore => return served,
            Event::Head => {
                let view = machine.head().view(buf);
                let found = StandardHeaders::collect(view);
                assert_eq!(guard.check(view.host(), found.origin()), Ok(()));
                assert!(found.accepted_forms().json);
                assert_eq!(found.has_json_content(), found.param("region").is_some());
                machine.accept_body();
            }
            Event::Body(range) => {
                let response = ResponseHead {
                    fixed: "Content-Type: text/event-stream\r\n",
                    length: Length::of_stream(machine.head().minor),
                    keep_alive: machine.keeps_alive(),
                    minor: machine.head().minor,
                    date: &date::format(0),
                    extra: &[("Cache-Control", "no-cache, no-transform")],
                };
                respond::head(out, 200, &response);
                respond::chunk(out, |out| sse::message(out, &buf[range]));
                respond::last_chunk(out);
                machine.finish(buf);
                served += 1;
            }
            Event::Reject(reject) => panic!("{reject}"),
        }
    }
}

/// [STD-12] lines on a warm stream: no allocation
#[test]
fn warm_lines() {
    let mut framer = line::Framer::new(1024);
    let mut buf = Vec::new();
    for warm in [false, true] {
        let count = allocations(|| {
            buf.extend_from_slice(b"{}\n{}\r\n\n{\"a\":");
            assert_eq!(std::iter::from_fn(|| next(&mut framer, &mut buf)).count(), 2);
            buf.extend_from_slice(b"1}\n");
            assert_eq!(std::iter::from_fn(|| next(&mut framer, &mut buf)).count(), 1);
        });
        assert!(!warm || count == 0, "{count} allocations");
    }
}

fn next(framer: &mut line::Framer, buf: &mut Vec<u8>) -> Option<()> {
    matches!(framer.poll(buf), line::Event::Line(_)).then_some(())
}
