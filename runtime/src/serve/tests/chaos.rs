//! Seeded faults: short reads and writes, stalls, pauses, changes published meanwhile, and peers that leave at any
//! byte.

use std::time::Duration;

use serde_json::json;

use super::world::{Wire, World, patient, request};
use crate::limits::Limits;

/// [HTTP-01] [TOOL-03] a long list arrives whole among other answers, however little of it a write takes
#[test]
fn a_long_list_survives_small_writes() {
    let mut requests = request("tools/list", Some(1), json!({}), "");
    for id in 2..5 {
        let more = if id == 4 { "Connection: close\r\n" } else { "" };
        requests.extend(request("tools/list", Some(id), json!({}), more));
    }
    let heard = |capacity| {
        let world = World::new(patient());
        let mut wire = world.connect(capacity);
        wire.settle(&world, &requests, 100);
        assert!(wire.is_done(), "closed after the last answer");
        world.assert_empty("all have left");
        String::from_utf8(wire.received).expect("JSON")
    };
    let whole = heard(1 << 22);
    let lists = whole.split("HTTP/1.1 200 OK\r\n").filter(|answer| answer.contains("Long. "));
    assert_eq!(lists.count(), 4);
    for capacity in [100, 4096, 60_000, 121_000, 130_000, 300_000] {
        assert!(heard(capacity) == whole, "{capacity} bytes of room");
    }
}

/// Seeds of one run, unless `RINGMCP_SEEDS` asks for more; a failure names its seed.
const SEEDS: u64 = 1200;

fn seeds() -> std::ops::Range<u64> {
    let asked = std::env::var("RINGMCP_SEEDS").ok().and_then(|text| text.parse().ok());
    0..asked.unwrap_or(SEEDS)
}

/// Steps during which faults happen; afterwards the network behaves.
const STEPS: usize = 120;

/// No handler of a script takes longer.
const HANDLER_MS: u64 = 500;

/// splitmix64: small, and the same everywhere.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Less than `n`.
    pub(super) fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    pub(super) fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// What a client sends, and what it is owed.
struct Script {
    bytes: Vec<u8>,
    /// Requests that are answered.
    answers: usize,
    listens: bool,
}

fn script(random: &mut Random) -> Script {
    let mut script = Script { bytes: Vec::new(), answers: 0, listens: false };
    for id in 0..1 + random.below(6) as u64 {
        script.answers += 1;
        let text = "x".repeat(random.below(300));
        let one = match random.below(9) {
            0..3 => call("echo", id, json!({ "text": text }), ""),
            3 => call("steps", id, json!({ "n": random.below(5) }), ""),
            4 | 5 => call("steps", id, json!({ "n": 1 + random.below(3), "ms": 60 }), ""),
            6 => request("notifications/cancelled", None, json!({ "requestId": 0 }), ""),
            7 => call("nobody", id, json!({ "text": text }), ""),
            _ => request("tools/list", Some(id), json!({}), ""),
        };
        script.bytes.extend(one);
    }
    match random.below(6) {
        0 => {
            script.answers += 1;
            script.bytes.extend(call("echo", 99, json!({}), "Connection: close\r\n"));
            script.bytes.extend(call("echo", 100, json!({}), ""));
        }
        1 => {
            script.listens = true;
            let filter = json!({ "notifications": { "toolsListChanged": true } });
            script.bytes.extend(request("subscriptions/listen", Some(99), filter, ""));
        }
        _ => {}
    }
    script
}

fn call(name: &str, id: u64, arguments: serde_json::Value, more: &str) -> Vec<u8> {
    let meta = json!({ "progressToken": id });
    let params = json!({ "name": name, "arguments": arguments, "_meta": meta });
    request("tools/call", Some(id), params, more)
}

/// What the server sends when nothing goes wrong.
fn faultless(world: &World, script: &Script, case: &str) -> Vec<u8> {
    let mut wire = world.connect(1 << 20);
    wire.settle(world, &script.bytes, 500);
    let text = String::from_utf8_lossy(&wire.received).into_owned();
    let heads = text.matches("HTTP/1.1 ").count();
    assert_eq!(heads, script.answers + usize::from(script.listens), "{case}: {text}");
    let ids: Vec<u64> = text
        .match_indices(r#""id":"#)
        .filter_map(|(at, key)| {
            let digits = &text[at + key.len()..];
            digits[..digits.find(|c: char| !c.is_ascii_digit())?].parse().ok()
        })
        .collect();
    assert!(ids.is_sorted() && !ids.contains(&100), "{case}: answers in order: {ids:?}");
    wire.leave();
    assert!(wire.is_done(), "{case}: the faultless connection ends with its peer");
    wire.received
}

/// Sends the script over a bad network. False when the peer left before the end.
fn suffer(
    world: &World,
    wire: &mut Wire,
    script: &Script,
    random: &mut Random,
    leaves: bool,
) -> bool {
    let mut sent = 0;
    for _ in 0..STEPS {
        match random.below(8) {
            0..3 => {
                let end = (sent + 1 + random.below(400)).min(script.bytes.len());
                sent += wire.send(&script.bytes[sent..end]);
            }
            3 => wire.receive(),
            4 => world.advance(random.below(400) as u64),
            5 => world.publish(),
            6 => {
                let stalled = random.once_in(2);
                wire.peer.iter().for_each(|peer| peer.stall(stalled));
            }
            _ if leaves && random.once_in(12) => {
                let Some(peer) = &wire.peer else { return false };
                match random.below(3) {
                    0 => peer.close(),
                    1 => peer.reset(),
                    _ => {
                        wire.receive();
                        wire.peer.iter().for_each(|peer| peer.half_close());
                    }
                }
                wire.poll();
                return false;
            }
            _ => {}
        }
        wire.poll();
    }
    wire.peer.iter().for_each(|peer| peer.stall(false));
    wire.settle(world, &script.bytes[sent..], 500);
    true
}

fn faulty(world: &World, random: &mut Random) -> Wire {
    let wire = world.connect(1 + random.below(2000));
    let mut own = Random(random.next());
    let stingy = 1 + random.below(200);
    if let Some(peer) = &wire.peer {
        peer.set_faults(Box::new(move |_, available| 1 + own.below(available.min(stingy))));
    }
    wire
}

/// The answers, byte for byte as without faults; behind them nothing but changes of a subscription.
fn assert_agrees(received: &[u8], expected: &[u8], whole: bool, listens: bool, case: &str) {
    let common = received.len().min(expected.len());
    assert!(received[..common] == expected[..common], "{case}: another answer");
    if whole {
        assert!(received.len() >= expected.len(), "{case}: an answer never came");
    }
    let rest = String::from_utf8_lossy(&received[common..]);
    assert!(rest.is_empty() || listens, "{case}: more than was asked for: {rest}");
    for event in rest.split("event: ").skip(1) {
        let known = event.starts_with("message\ndata: ") || "message\ndata: ".starts_with(event);
        assert!(known, "{case}: {event:?}");
    }
}

/// [RPC-05] [SSE-06] [SSE-08] [SSE-09] [SUB-02] [SEC-06] whatever the network does, each whole request gets one answer,
/// in order and byte for byte as without faults, and nothing is left of a connection that ended
#[test]
fn answers_survive_a_bad_network() {
    let world = World::new(patient());
    for seed in seeds() {
        let case = format!("seed {seed}");
        let random = &mut Random(seed);
        let script = script(random);
        let expected = faultless(&world, &script, &case);
        let leaves = random.once_in(2);
        let mut wire = faulty(&world, random);
        let whole = suffer(&world, &mut wire, &script, random, leaves);
        assert_agrees(&wire.received, &expected, whole, script.listens, &case);
        wire.leave();
        for _ in 0..HANDLER_MS / 50 {
            // Only behind a full stash is a peer's leaving seen no sooner than its handler answers.
            world.advance(50);
            wire.poll();
        }
        assert!(wire.is_done(), "{case}: the connection outlives its peer");
        drop(wire);
        world.assert_empty(&case);
    }
}

/// [SEC-06] [CAN-01] with short timeouts every connection ends by itself, whatever its peer does
#[test]
fn every_connection_ends_by_itself() {
    let short = Duration::from_millis(500);
    let world = World::new(Limits {
        head_timeout: short,
        body_timeout: short,
        idle_timeout: Duration::from_millis(1500),
        write_timeout: short,
        handler_timeout: short,
        ..patient()
    });
    for seed in seeds() {
        let case = format!("seed {seed}");
        let random = &mut Random(seed ^ 0x5eed << 32);
        let script = script(random);
        let mut wire = faulty(&world, random);
        suffer(&world, &mut wire, &script, random, false);
        if script.listens {
            // Subscriptions stay for as long as their peer does.
            wire.leave();
        }
        for _ in 0..200 {
            world.advance(50);
            wire.poll();
        }
        assert!(wire.is_done(), "{case}: still open");
        world.assert_empty(&case);
    }
}

/// [SSE-08] [SEC-06] the peer leaves after each byte it could send, and after each byte it could receive
#[test]
fn a_peer_may_leave_at_any_byte() {
    let world = World::new(patient());
    let mut bytes = call("echo", 1, json!({ "text": "one" }), "");
    bytes.extend(call("steps", 2, json!({ "n": 2, "ms": 60 }), ""));
    let script = Script { bytes, answers: 2, listens: false };
    let expected = faultless(&world, &script, "faultless");
    for at in 0..=script.bytes.len() {
        let case = format!("after {at} bytes sent");
        let mut wire = world.connect(1 << 20);
        wire.send(&script.bytes[..at]);
        wire.poll();
        wire.receive();
        wire.leave();
        assert!(wire.is_done(), "{case}");
        assert_agrees(&wire.received, &expected, false, false, &case);
        world.assert_empty(&case);
    }
    for at in 0..expected.len() {
        let case = format!("after {at} bytes received");
        let mut wire = world.connect(1 << 12);
        let mut sent = 0;
        if let Some(peer) = &wire.peer {
            peer.set_faults(Box::new(move |_, _| usize::MAX));
        }
        while wire.received.len() < at {
            sent += wire.send(&script.bytes[sent..]);
            wire.poll();
            wire.receive();
            world.advance(10);
        }
        wire.leave();
        assert!(wire.is_done(), "{case}");
        assert_agrees(&wire.received, &expected, false, false, &case);
        world.assert_empty(&case);
    }
}
