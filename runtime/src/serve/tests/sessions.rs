//! A session of the 2025 era over a bad network: connections that are lost at any byte, and taken up again.

use std::time::Duration;

use serde_json::{Value, json};

use super::chaos::Random;
use super::world::{Wire, World, patient};
use crate::LegacyMode;
use crate::limits::Limits;

/// Seeds of one run; a failure names its seed.
const SEEDS: u64 = 300;

const IDLE: Duration = Duration::from_secs(600);

/// Connections that one call may lose before it is left in peace.
const LOSSES_MAX: usize = 4;

/// An event without its frame: the id, and the message if it is not the priming event.
type Event = (String, Option<Value>);

/// [LEG-65] [LEG-64] [LEG-21] wherever the connection breaks, the client that comes back gets every message of its call
/// once, in order; nothing is left of the session afterwards.
#[test]
fn calls_survive_lost_connections() {
    for seed in 0..SEEDS {
        let case = format!("seed {seed}");
        let random = &mut Random(seed);
        let limits = Limits { session_idle_timeout: IDLE, ..patient() };
        let world = World::of(limits, LegacyMode::Sessions);
        let session = begin(&world, &case);
        for id in 0..1 + random.below(4) as u64 {
            let steps = 1 + random.below(4) as u64;
            let seen = call(&world, random, &session, id, steps, &case);
            let messages: Vec<&Value> =
                seen.iter().filter_map(|(_, message)| message.as_ref()).collect();
            let Some((answer, progress)) = messages.split_last() else { continue };
            let told: Vec<_> =
                progress.iter().map(|message| message["params"]["progress"].clone()).collect();
            let expected: Vec<_> = (1..=steps).map(Value::from).collect();
            assert_eq!(told, expected, "{case}");
            assert_eq!(
                (&answer["id"], &answer["result"]["content"][0]["text"]),
                (&json!(id), &json!("stepped")),
                "{case}"
            );
            let mut ids: Vec<_> = seen.iter().map(|(id, _)| id).collect();
            ids.dedup();
            assert_eq!(ids.len(), seen.len(), "{case}");
        }
        if random.once_in(2) {
            let bytes = exchange(&world, "DELETE", &session, "", "");
            assert!(bytes.starts_with(b"HTTP/1.1 204 "), "{case}");
        }
        // What was lost before it had an id still runs to its end, and the session to its limit.
        (0..10).for_each(|_| world.advance(100));
        (0..2).for_each(|_| world.advance(IDLE.as_millis() as u64));
        assert_eq!(world.core.app.sessions.len(), 0, "{case}");
        world.assert_empty(&case);
    }
}

/// One call, over as many connections as it takes: all events that the client saw. Empty if the first was lost before
/// the client knew what to come back for.
fn call(
    world: &World,
    random: &mut Random,
    session: &str,
    id: u64,
    steps: u64,
    case: &str,
) -> Vec<Event> {
    let arguments = json!({ "n": steps, "ms": 60 });
    let params =
        json!({ "name": "steps", "arguments": arguments, "_meta": { "progressToken": id } });
    let body =
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string();
    let mut request = bytes("POST", session, "", &body);
    let mut seen: Vec<Event> = Vec::new();
    for loss in 0.. {
        let mut wire = world.connect(1 + random.below(2000));
        let breaks_at = if loss < LOSSES_MAX { random.below(900) } else { usize::MAX };
        suffer(world, random, &mut wire, &request, breaks_at);
        seen.extend(events(&wire.received, case));
        wire.leave();
        if seen.iter().any(|(_, message)| {
            message.as_ref().is_some_and(|message| message.get("result").is_some())
        }) {
            return seen;
        }
        let Some((last, _)) = seen.last() else { return seen };
        request = bytes("GET", session, &format!("Last-Event-ID: {last}\r\n"), "");
    }
    unreachable!("the last connection is not lost")
}

/// Sends and receives until so many bytes have come, or nothing more does.
fn suffer(world: &World, random: &mut Random, wire: &mut Wire, mut rest: &[u8], breaks_at: usize) {
    let mut quiet_ms = 0;
    while wire.received.len() < breaks_at && quiet_ms < 500 && !wire.is_done() {
        let before = wire.received.len();
        let sent = wire.send(&rest[..random.below(rest.len() + 1)]);
        rest = &rest[sent..];
        wire.poll();
        world.run();
        wire.poll();
        wire.receive();
        if random.once_in(2) {
            world.advance(random.below(70) as u64);
        }
        if sent == 0 && rest.is_empty() && wire.received.len() == before {
            world.advance(50);
            quiet_ms += 50;
        } else {
            quiet_ms = 0;
        }
    }
}

fn begin(world: &World, case: &str) -> String {
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let body =
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }).to_string();
    let answer = exchange(world, "POST", "", "", &body);
    let text = String::from_utf8(answer).expect("UTF-8");
    let line = text.lines().find_map(|line| line.strip_prefix("Mcp-Session-Id: "));
    line.unwrap_or_else(|| panic!("{case}: {text}")).to_owned()
}

fn exchange(world: &World, method: &str, session: &str, more: &str, body: &str) -> Vec<u8> {
    let mut wire = world.connect(1 << 20);
    wire.settle(world, &bytes(method, session, more, body), 200);
    wire.leave();
    wire.received
}

fn bytes(method: &str, session: &str, more: &str, body: &str) -> Vec<u8> {
    let session =
        if session.is_empty() { String::new() } else { format!("Mcp-Session-Id: {session}\r\n") };
    let content = match body.len() {
        0 => String::new(),
        length => format!("Content-Type: application/json\r\nContent-Length: {length}\r\n"),
    };
    format!("{method} /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n{session}{content}{more}\r\n{body}").into_bytes()
}

/// The whole events among the bytes of an answer that may have broken off anywhere.
fn events(answer: &[u8], case: &str) -> Vec<Event> {
    let Some(at) = answer.windows(4).position(|four| four == b"\r\n\r\n") else {
        return Vec::new();
    };
    assert!(answer.starts_with(b"HTTP/1.1 200 "), "{case}: {}", String::from_utf8_lossy(answer));
    let (mut chunks, mut text) = (&answer[at + 4..], Vec::new());
    while let Some(end) = chunks.windows(2).position(|two| two == b"\r\n") {
        let digits = std::str::from_utf8(&chunks[..end]).expect("ASCII");
        let size = usize::from_str_radix(digits, 16).expect("a chunk size");
        let data = &chunks[end + 2..];
        text.extend_from_slice(&data[..size.min(data.len())]);
        if data.len() < size + 2 {
            break;
        }
        chunks = &data[size + 2..];
    }
    let text = String::from_utf8(text).expect("UTF-8");
    let whole = text.rfind("\n\n").map_or("", |end| &text[..end + 2]);
    whole
        .split_terminator("\n\n")
        .map(|block| {
            let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
            let data = field("data: ").expect("data");
            let message = (!data.is_empty()).then(|| serde_json::from_str(data).expect("JSON"));
            (field("id: ").expect("an id").to_owned(), message)
        })
        .collect()
}
