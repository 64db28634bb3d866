//! A counting allocator proves that reading a request and writing its answer allocates nothing once
//! the buffers are warm.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use ringmcp_codec::meta::{Capability, Claim, LoggingLevel, RequestMeta, declares};
use ringmcp_codec::{Document, Malformed, Message, Parser, RpcError, message, write};
use serde::Deserialize;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system allocator unchanged; the counter is a plain cell of
// this thread and allocates nothing itself.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of this thread while `work` runs.
fn allocations(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

#[derive(Deserialize)]
struct Arguments<'a> {
    #[serde(borrow)]
    city: &'a str,
    days: u32,
    scale: f64,
    #[serde(borrow)]
    tags: [&'a str; 2],
    nested: Option<Nested>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Nested {
    Depth(i64),
}

/// Without and with escapes, which take the path that saves the source of the id.
const REQUESTS: [&str; 2] = [
    concat!(
        r#"{"jsonrpc":"2.0","id":42,"method":"tools/call","#,
        r#""params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
        r#""io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"#,
        r#""sampling":{"tools":{}}},"io.modelcontextprotocol/clientInfo":{"name":"t","#,
        r#""version":"1"},"io.modelcontextprotocol/logLevel":"info","progressToken":7,"#,
        r#""traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","#,
        r#""baggage":"k=v"},"name":"weather","arguments":{"city":"Paris","days":3,"#,
        r#""scale":1.5,"tags":["a","b"],"nested":{"depth":-1}}}}"#,
    ),
    concat!(
        r#"{"jsonrpc":"2.0","id":"a\u0062\n","method":"tools\/call","#,
        r#""params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
        r#""io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},"#,
        r#""io.modelcontextprotocol/logLevel":"info","progressToken":"\"p\"","#,
        r#""traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","#,
        r#""baggage":"k=v"},"name":"weather","arguments":{"city":"Par\u0069s","days":3,"#,
        r#""scale":1.5,"tags":["a\\","b"],"nested":{"depth":-1}}}}"#,
    ),
];

/// Everything a core does to a request, on buffers that are handed round.
fn serve(
    parser: &mut Parser,
    document: &mut Document,
    buffer: Vec<u8>,
    out: &mut Vec<u8>,
) -> Vec<u8> {
    let body = 0..buffer.len();
    document.parse(parser, buffer, body).expect("the request is JSON");
    let Ok(Message::Request(request)) = message::read(document) else { panic!("not a request") };
    let meta = RequestMeta::from_message(request.meta);
    assert_eq!(meta.claim(), Claim::Version("2026-07-28"));
    let capabilities = meta.capabilities().expect("capabilities are sent");
    assert!(declares(capabilities, &Capability::ElicitationForm));
    assert_eq!(
        meta.client_info().map(|info| info.is_some()).ok(),
        Some(request.id.as_int().is_some())
    );
    assert_eq!(meta.log_level(), Ok(Some(LoggingLevel::Info)));
    assert!(
        meta.traceparent().is_some() && meta.baggage().is_some() && meta.tracestate().is_none()
    );
    let token = meta.progress_token().expect("the token is legal").expect("the token is sent");

    let params = request.params.expect("params are sent");
    assert_eq!(params.get("name").and_then(|name| name.as_str()), Some("weather"));
    let arguments = params.get("arguments").expect("arguments are sent");
    let typed: Arguments<'_> = arguments.deserialize().expect("arguments fit");
    assert_eq!((typed.city, typed.days, typed.scale), ("Paris", 3, 1.5));
    assert!(typed.tags[1] == "b" && matches!(typed.nested, Some(Nested::Depth(-1))));

    out.clear();
    write::response_start(out, &request.id);
    out.extend_from_slice(b"{");
    write::key(out, "city");
    write::string(out, typed.city);
    out.extend_from_slice(b",");
    write::key(out, "days");
    write::float(out, f64::from(typed.days));
    out.extend_from_slice(b",");
    write::key(out, "token");
    token.write(out);
    out.extend_from_slice(b",");
    write::key(out, "echo");
    arguments.write_json(out);
    out.extend_from_slice(b"}");
    write::end(out);
    document.release()
}

/// A warm parser, document, buffer and output serve requests without one allocation.
#[test]
fn a_warm_request_allocates_nothing() {
    let mut parser = Parser::default();
    let mut document = Document::new();
    let mut buffer = Vec::with_capacity(4096);
    let mut out = Vec::with_capacity(4096);
    let refill = |mut buffer: Vec<u8>, text: &str| {
        buffer.clear();
        buffer.extend_from_slice(text.as_bytes());
        buffer
    };
    for text in REQUESTS {
        buffer = serve(&mut parser, &mut document, refill(buffer, text), &mut out);
    }
    for round in 0..10 {
        for text in REQUESTS {
            let count = allocations(|| {
                let full = refill(std::mem::take(&mut buffer), text);
                buffer = serve(&mut parser, &mut document, full, &mut out);
            });
            assert_eq!(count, 0, "round {round}: {text}");
        }
    }
    let echoed = String::from_utf8(out).expect("the answer is UTF-8");
    assert!(
        echoed
            .starts_with(r#"{"jsonrpc":"2.0","id":"a\u0062\n","result":{"city":"Paris","days":3,"#),
        "{echoed}"
    );
}

/// Refusing a message and writing the refusal allocates nothing either.
#[test]
fn a_warm_refusal_allocates_nothing() {
    let mut parser = Parser::default();
    let mut document = Document::new();
    let mut out = Vec::with_capacity(4096);
    let mut buffer = Vec::with_capacity(4096);
    let texts = [r#"{"jsonrpc":"2.0","id":"\u0035","method":7}"#, r#"{"jsonrpc":"2.0","id":5,"#];
    for round in 0..10 {
        for text in texts {
            let count = allocations(|| {
                let mut full = std::mem::take(&mut buffer);
                full.clear();
                full.extend_from_slice(text.as_bytes());
                let body = 0..full.len();
                out.clear();
                match document.parse(&mut parser, full, body) {
                    Err(error) => write::error_response(&mut out, None, &RpcError::from(error)),
                    Ok(()) => {
                        let malformed =
                            message::read(&document).expect_err("the message is no request");
                        let Malformed { id, .. } = malformed;
                        write::error_response(&mut out, id.as_ref(), &RpcError::from(malformed));
                    }
                }
                buffer = document.release();
            });
            assert!(round == 0 || count == 0, "round {round}: {count} allocations for {text}");
            assert!(!out.is_empty());
        }
    }
}

/// The counter counts: a test that could not fail would prove nothing.
#[test]
fn the_counter_counts() {
    assert!(allocations(|| drop(std::hint::black_box(vec![1_u8]))) > 0);
}
