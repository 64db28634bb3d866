//! A warm `tools/call` allocates nothing on its core, from the bytes received to the bytes sent; one that waits for its
//! handler holds little.
//!
//! An allocator counts what one worker thread allocates. The handler borrows its argument from the request and answers a
//! static text, so that whatever is counted is the server's own.

#[path = "wire/support/mod.rs"]
#[allow(dead_code, unreachable_pub, unused_imports, reason = "shared with the other test binaries")]
mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};

use ringmcp::types::Tool;
use ringmcp::{Builder, Context, Limits, ResponseMode, Server, ToolError};
use serde::de::IgnoredAny;
use serde_json::json;

use support::{Request, Running, on_both_drivers};

/// Allocations and reallocations of watched threads.
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

/// Bytes that watched threads have allocated and not freed.
static HELD_BYTES: AtomicI64 = AtomicI64::new(0);

/// Prints where a watched thread allocates: `RINGMCP_ALLOC_TRACE=1`, for whoever has to find one.
static TRACE: AtomicBool = AtomicBool::new(false);

/// The counts are the process's: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

thread_local! {
    static WATCHED: Cell<bool> = const { Cell::new(false) };
}

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

fn hold(bytes: usize) {
    if WATCHED.get() {
        HELD_BYTES.fetch_add(bytes as i64, Ordering::Relaxed);
    }
}

fn free(bytes: usize) {
    if WATCHED.get() {
        HELD_BYTES.fetch_sub(bytes as i64, Ordering::Relaxed);
    }
}

fn count() {
    if WATCHED.get() {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        if TRACE.load(Ordering::Relaxed) {
            WATCHED.set(false);
            eprintln!("{}", std::backtrace::Backtrace::force_capture());
            WATCHED.set(true);
        }
    }
}

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        hold(layout.size());
        // SAFETY: the caller's promise, passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        hold(layout.size());
        // SAFETY: the caller's promise, passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        count();
        hold(bytes);
        free(layout.size());
        // SAFETY: the caller's promise, passed on.
        unsafe { System.realloc(place, layout, bytes) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        free(layout.size());
        // SAFETY: the caller's promise, passed on.
        unsafe { System.dealloc(place, layout) }
    }
}

/// Calls of `wait` that were begun.
static WAITING: AtomicUsize = AtomicUsize::new(0);

/// `echo` answers whether its text is the expected one; `step_aside` is pending a few times, `wait` for ever; `watch` has its
/// thread watched.
fn server() -> Builder {
    let schema = json!({
        "type": "object",
        "properties": { "text": { "type": "string" } },
        "required": ["text"],
    });
    let schema = schema.as_object().expect("an object").clone();
    let tool = |name: &str| Tool { input_schema: schema.clone(), ..Tool::new(name) };
    Server::builder("t", "1")
        .limits(Limits::default())
        .tool_raw(tool("echo"), async |ctx: &Context, _: IgnoredAny| {
            let arguments = ctx.arguments().as_object().expect("an object");
            let text = arguments.get("text").and_then(|text| text.as_str());
            Ok::<_, ToolError>(if text == Some(TEXT) { "as sent" } else { "something else" })
        })
        .tool_raw(tool("step_aside"), async |_: &Context, _: IgnoredAny| {
            let mut polls = 0;
            std::future::poll_fn(|cx| {
                polls += 1;
                cx.waker().wake_by_ref();
                if polls < 3 { std::task::Poll::Pending } else { std::task::Poll::Ready(()) }
            })
            .await;
            Ok::<_, ToolError>("as sent")
        })
        .tool_raw(tool("wait"), async |_: &Context, _: IgnoredAny| {
            WAITING.fetch_add(1, Ordering::Relaxed);
            std::future::pending::<()>().await;
            Ok::<_, ToolError>("as sent")
        })
        .tool_raw(tool("watch"), async |_: &Context, _: IgnoredAny| {
            WATCHED.set(true);
            Ok::<_, ToolError>("as sent")
        })
}

/// Needs no escapes, so that the handler borrows it as it was sent.
const TEXT: &str = "plain text of some length, borrowed by the handler from the buffer it came in";

const WARM_UP: usize = 64;
const CALLS: usize = 1000;

/// Sends `bytes` and reads as many answers as it holds requests, by their last bytes.
fn exchange(stream: &mut TcpStream, bytes: &[u8], answers: usize, buffer: &mut Vec<u8>) {
    stream.write_all(bytes).expect("the server reads");
    buffer.clear();
    let mut room = [0; 16 * 1024];
    while buffer.windows(ENDING.len()).filter(|at| *at == ENDING).count() < answers {
        let n = match stream.read(&mut room) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            read => read.expect("an answer"),
        };
        assert_ne!(n, 0, "closed");
        buffer.extend_from_slice(&room[..n]);
    }
}

/// Only the answer of a successful call holds it.
const ENDING: &[u8] = br#""text":"as sent"}]"#;

/// What `CALLS` warm exchanges allocate on the worker.
fn allocations(server: &Running, bytes: &[u8], answers: usize) -> u64 {
    let mut stream = server.connect();
    let mut buffer = Vec::new();
    let watch = Request::call("watch", json!({ "text": TEXT })).bytes();
    exchange(&mut stream, &watch, 1, &mut buffer);
    (0..WARM_UP).for_each(|_| exchange(&mut stream, bytes, answers, &mut buffer));
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    TRACE.store(std::env::var_os("RINGMCP_ALLOC_TRACE").is_some(), Ordering::Relaxed);
    (0..CALLS).for_each(|_| exchange(&mut stream, bytes, answers, &mut buffer));
    TRACE.store(false, Ordering::Relaxed);
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

/// No exchange allocates, but for `allowed` allocations each on the named driver.
fn assert_only(allowed: (&str, u64), make: impl Fn() -> Builder, request: &Request, batch: usize) {
    let alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let bytes = request.bytes().repeat(batch);
    on_both_drivers(make, |server| {
        let allocated = allocations(server, &bytes, batch);
        let driver = server.handle().driver();
        let allowed = if driver == allowed.0 { allowed.1 * CALLS as u64 } else { 0 };
        assert_eq!(allocated, allowed, "in {CALLS} exchanges on {driver}");
    });
    drop(alone);
}

fn assert_none(make: impl Fn() -> Builder, request: &Request, batch: usize) {
    assert_only(("", 0), make, request, batch);
}

/// [SEC-07] a call on a kept connection
#[test]
fn a_warm_call_allocates_nothing() {
    assert_none(server, &Request::call("echo", json!({ "text": TEXT })), 1);
}

/// [SEC-07] calls that are sent together
#[test]
fn warm_pipelined_calls_allocate_nothing() {
    assert_none(server, &Request::call("echo", json!({ "text": TEXT })), 8);
}

/// [SEC-07] a call that is answered as an event
#[test]
fn a_warm_streamed_call_allocates_nothing() {
    let request = Request::call("echo", json!({ "text": TEXT }));
    assert_none(|| server().response_mode(ResponseMode::Sse), &request, 1);
}

/// [SEC-07] a call with everything a client may say of itself
#[test]
fn a_warm_call_with_all_metadata_allocates_nothing() {
    let request = Request::call("echo", json!({ "text": TEXT }))
        .capabilities(
            json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} }),
        )
        .meta("progressToken", json!("token"))
        .meta(support::LL, json!("info"))
        .meta("traceparent", json!("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
    assert_none(server, &request, 1);
}

/// [SEC-07] a call whose handler is pending at first: its peer is watched meanwhile. On io_uring the runtime boxes the
/// poll operation that is given up when the handler is done, once a call; nothing else allocates
#[test]
fn a_warm_pending_call_allocates_what_the_ring_needs() {
    let request = Request::call("step_aside", json!({ "text": TEXT }));
    assert_only(("io_uring", 1), server, &request, 1);
}

/// Slow calls at once.
const SLOW: usize = 500;

/// Bytes that a connection may hold of its core while its call waits, beside the kernel's: its own task and socket, the
/// request's future and bytes, its tape, and what a handler is given. Room that tables have grown by counts as well.
const SLOW_BYTES_MAX: i64 = 6000;

/// [SEC-06] a call that waits for its handler holds what it needs for that, on a connection of its own
#[test]
fn a_waiting_call_holds_little() {
    let alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let wait = Request::call("wait", json!({ "text": TEXT })).bytes();
    let echo = Request::call("echo", json!({ "text": TEXT })).bytes();
    on_both_drivers(server, |server| {
        let mut other = server.connect();
        let mut buffer = Vec::new();
        exchange(
            &mut other,
            &Request::call("watch", json!({ "text": TEXT })).bytes(),
            1,
            &mut buffer,
        );
        exchange(&mut other, &echo, 1, &mut buffer);
        let (held, waiting) = (HELD_BYTES.load(Ordering::Relaxed), WAITING.load(Ordering::Relaxed));
        let mut slow: Vec<_> = (0..SLOW).map(|_| server.connect()).collect();
        for stream in &mut slow {
            stream.write_all(&wait).expect("the server reads");
        }
        while WAITING.load(Ordering::Relaxed) - waiting < SLOW {
            exchange(&mut other, &echo, 1, &mut buffer);
        }
        let each = (HELD_BYTES.load(Ordering::Relaxed) - held) / SLOW as i64;
        println!("{} bytes a waiting call on {}", each, server.handle().driver());
        assert!(each <= SLOW_BYTES_MAX, "{each} bytes on {}", server.handle().driver());
        drop(slow);
    });
    drop(alone);
}
