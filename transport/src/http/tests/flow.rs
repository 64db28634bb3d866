//! The order of events: pipelines, refusals that leave a body behind, 100 Continue.

use super::{Event, Limits, Machine, serve};
use crate::http::Waiting;
use crate::limits::CONSUMED_BYTES_MAX;

fn machine(stream: &str) -> (Machine, Vec<u8>) {
    (Machine::new(Limits::default()), stream.as_bytes().to_vec())
}

const NEXT: &str = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n";

/// [HTTP-21] a good request is served, the garbage behind it refused
#[test]
fn good_then_garbage() {
    let (requests, reject) = serve(Limits::default(), [format!("{NEXT}\0garbage").as_bytes()]);
    assert_eq!(requests.len(), 1);
    assert_eq!(reject.map(|reject| reject.status), Some(400));
}

/// Answered requests are not copied about while others wait, and leave when the buffer runs dry
#[test]
fn pipelined_bytes_stay_in_place() {
    let (mut machine, mut buf) = machine(&format!("{NEXT}{NEXT}GET /par"));
    for request in 0..2 {
        assert_eq!(machine.start(), request * NEXT.len());
        assert_eq!(machine.poll(&mut buf), Event::Head);
        machine.accept_body();
        let end = (request + 1) * NEXT.len();
        assert_eq!(machine.poll(&mut buf), Event::Body(end..end));
        machine.finish(&mut buf);
        assert_eq!(buf.len(), 2 * NEXT.len() + 8);
    }
    assert_eq!(machine.waiting(&buf), Waiting::Head);
    assert_eq!(machine.poll(&mut buf), Event::NeedMore);
    assert_eq!((machine.start(), &buf[..]), (0, &b"GET /par"[..]));
    buf.extend_from_slice(b"tial HTTP/1.0\r\n\r\n");
    assert_eq!(machine.poll(&mut buf), Event::Head);
    assert_eq!(machine.head().view(&buf).path(), "/partial");
}

/// A buffer that never runs dry is compacted all the same
#[test]
fn consumed_bytes_are_bounded() {
    let count = 2 * CONSUMED_BYTES_MAX / NEXT.len();
    let (mut machine, mut buf) = machine(&NEXT.repeat(count));
    for _ in 0..count {
        assert_eq!(machine.poll(&mut buf), Event::Head);
        assert_eq!(machine.head().view(&buf).path(), "/next");
        assert!(machine.start() <= CONSUMED_BYTES_MAX);
        machine.accept_body();
        assert!(matches!(machine.poll(&mut buf), Event::Body(_)));
        machine.finish(&mut buf);
    }
    assert!(buf.is_empty());
}

/// The offsets of a head follow when answered bytes leave in front of it
#[test]
fn head_survives_compaction() {
    let (mut machine, mut buf) = machine(&format!(
        "{NEXT}POST http://h/body HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab"
    ));
    machine.poll(&mut buf);
    machine.accept_body();
    machine.poll(&mut buf);
    machine.finish(&mut buf);
    assert_eq!(machine.poll(&mut buf), Event::Head);
    machine.accept_body();
    assert_eq!(machine.poll(&mut buf), Event::NeedMore);
    assert_eq!((machine.start(), machine.waiting(&buf)), (0, Waiting::Body));
    let view = machine.head().view(&buf);
    assert_eq!((view.method(), view.path(), view.host()), ("POST", "/body", Some("h")));
    assert_eq!(view.get("content-length"), Some(&b"4"[..]));
    buf.extend_from_slice(b"cd");
    let Event::Body(range) = machine.poll(&mut buf) else { panic!("the body is complete") };
    assert_eq!(&buf[range], b"abcd");
}

/// [HTTP-02] RFC 9112, 9.3: a body refused unread is skipped, however it comes, and never parsed
#[test]
fn refused_bodies_are_skipped() {
    let smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
    let length = format!("Content-Length: {}\r\n\r\n{smuggled}", smuggled.len());
    let size = smuggled.len();
    let chunked =
        format!("Transfer-Encoding: chunked\r\n\r\n{size:x}\r\n{smuggled}\r\n0\r\nA: b\r\n\r\n");
    for body in [length, chunked, "\r\n".to_owned()] {
        let stream = format!("POST /refused HTTP/1.1\r\nHost: a\r\n{body}{NEXT}");
        for step in 1..=stream.len() {
            for polls_before in 0..2 {
                let paths = paths_refusing_first(&stream, step, polls_before);
                assert_eq!(paths, ["/refused", "/next"], "{stream:?} by {step}");
            }
        }
    }
}

/// Serves a stream but refuses the first body, after `polls_before` further looks at it.
fn paths_refusing_first(stream: &str, step: usize, polls_before: usize) -> Vec<String> {
    let mut machine = Machine::new(Limits::default());
    let (mut buf, mut paths) = (Vec::new(), Vec::new());
    for piece in stream.as_bytes().chunks(step) {
        buf.extend_from_slice(piece);
        while machine.poll(&mut buf) == Event::Head {
            paths.push(machine.head().view(&buf).path().to_owned());
            if paths.len() == 1 {
                assert!(machine.keeps_alive());
                for _ in 0..polls_before {
                    machine.accept_body();
                    machine.poll(&mut buf);
                }
            }
            machine.finish(&mut buf);
        }
    }
    paths
}

/// [HTTP-17] what is skipped is not kept, nor what was read before the refusal
#[test]
fn skipped_bytes_are_not_kept() {
    let length = "Content-Length: 100000\r\n\r\n".to_owned() + &"x".repeat(5_000);
    let chunked = "Transfer-Encoding: chunked\r\n\r\n8000\r\n".to_owned() + &"x".repeat(5_000);
    for body in [length, chunked] {
        let (mut machine, mut buf) = machine(&format!("POST / HTTP/1.1\r\nHost: a\r\n{body}"));
        assert_eq!(machine.poll(&mut buf), Event::Head);
        machine.accept_body();
        assert_eq!(machine.poll(&mut buf), Event::NeedMore);
        machine.finish(&mut buf);
        for _ in 0..5 {
            buf.extend_from_slice(&[b'x'; 1_000]);
            assert_eq!(machine.poll(&mut buf), Event::NeedMore);
            assert!(buf.is_empty(), "{} bytes kept", buf.len());
            assert_eq!(machine.waiting(&buf), Waiting::Body);
        }
    }
}

/// RFC 9110, 10.1.1; [HTTP-17] bodies whose end cannot be told end the connection when refused
#[test]
fn refused_bodies_that_cannot_be_skipped() {
    for lines in ["Expect: 100-continue\r\nContent-Length: 4\r\n", "Content-Length: 99999999\r\n"] {
        let (mut machine, mut buf) = machine(&format!("POST / HTTP/1.1\r\nHost: a\r\n{lines}\r\n"));
        assert_eq!(machine.poll(&mut buf), Event::Head);
        assert!(!machine.keeps_alive());
        machine.finish(&mut buf);
        buf.extend_from_slice(NEXT.as_bytes());
        assert!(matches!(machine.poll(&mut buf), Event::Reject(_)), "{lines}");
    }
}

/// RFC 9110, 10.1.1: 100 Continue is due once, after the body is accepted and while none is here
#[test]
fn continue_is_due_once() {
    let head = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
    let (mut waiting, mut buf) = machine(head);
    assert_eq!(waiting.poll(&mut buf), Event::Head);
    assert!(!waiting.wants_continue(), "not accepted yet");
    waiting.accept_body();
    assert_eq!(waiting.poll(&mut buf), Event::NeedMore);
    assert!(waiting.wants_continue());
    waiting.continue_sent();
    assert!(!waiting.wants_continue());
    buf.extend_from_slice(b"{}");
    assert!(matches!(waiting.poll(&mut buf), Event::Body(_)));
    assert!(waiting.keeps_alive());

    let (mut eager, mut buf) = machine(&format!("{head}{{"));
    assert_eq!(eager.poll(&mut buf), Event::Head);
    eager.accept_body();
    assert_eq!(eager.poll(&mut buf), Event::NeedMore);
    assert!(!eager.wants_continue(), "the client does not wait");
}

/// [SEC-06] what a silent connection is waiting for
#[test]
fn waiting_tells_the_timeout() {
    let (mut machine, mut buf) = machine("");
    assert_eq!(machine.waiting(&buf), Waiting::Idle);
    buf.extend_from_slice(b"POST / HTTP/1.1\r\nHost: a\r\n");
    assert_eq!(machine.poll(&mut buf), Event::NeedMore);
    assert_eq!(machine.waiting(&buf), Waiting::Head);
    buf.extend_from_slice(b"Content-Length: 1\r\n\r\n");
    assert_eq!(machine.poll(&mut buf), Event::Head);
    machine.accept_body();
    assert_eq!(machine.poll(&mut buf), Event::NeedMore);
    assert_eq!(machine.waiting(&buf), Waiting::Body);
    buf.push(b'x');
    assert!(matches!(machine.poll(&mut buf), Event::Body(_)));
    assert_eq!(machine.waiting(&buf), Waiting::Nothing);
    machine.finish(&mut buf);
    assert_eq!(machine.waiting(&buf), Waiting::Idle);
}

/// A refusal stays; a reset starts over
#[test]
fn refusals_are_final_until_reset() {
    let (mut machine, mut buf) = machine("nonsense\r\n\r\n");
    let first = machine.poll(&mut buf);
    assert!(matches!(first, Event::Reject(_)));
    machine.finish(&mut buf);
    machine.accept_body();
    assert_eq!(machine.poll(&mut buf), first);
    assert!(!machine.keeps_alive());
    buf.clear();
    buf.extend_from_slice(NEXT.as_bytes());
    machine.reset();
    assert_eq!(machine.poll(&mut buf), Event::Head);
}

/// The machine is small: one per connection
#[test]
fn machine_size() {
    assert!(size_of::<Machine>() <= 320, "{}", size_of::<Machine>());
    assert!(size_of::<Event>() <= 32, "{}", size_of::<Event>());
}
