//! What a connection holds while nothing happens on it.

use serde_json::json;

use super::world::{World, patient, request};

fn echo(id: u64, text: &str) -> Vec<u8> {
    let params = json!({ "name": "echo", "arguments": { "text": text } });
    request("tools/call", Some(id), params, "")
}

/// [SEC-06] a connection that is quiet gives its buffer back, before its first request and between two, and takes one
/// again when bytes come; none is lost
#[test]
fn quiet_connections_hold_no_buffer() {
    let world = World::new(patient());
    let mut wires: Vec<_> = (0..10).map(|_| world.connect(1 << 16)).collect();
    wires.iter_mut().for_each(|wire| wire.poll());
    assert_eq!(world.core.buffers.idle(), 0, "each reads into its own");
    for round in 0..3 {
        world.advance(900);
        wires.iter_mut().for_each(|wire| wire.poll());
        assert_eq!(world.core.buffers.idle(), 0, "busy until a while ago");
        world.advance(100);
        wires.iter_mut().for_each(|wire| wire.poll());
        assert_eq!(world.core.buffers.idle(), 10, "quiet now");
        // The first bytes are no whole request.
        let bytes = echo(round, "again");
        for wire in &mut wires {
            assert_eq!(wire.send(&bytes[..1]), 1);
            wire.poll();
            assert_eq!(wire.send(&bytes[1..]), bytes.len() - 1);
            wire.poll();
            wire.receive();
            let text = String::from_utf8_lossy(&std::mem::take(&mut wire.received)).into_owned();
            assert!(text.contains(r#"{\"text\":\"again\"}"#), "{text}");
        }
        assert_eq!(world.core.buffers.idle(), 0);
    }
    for mut wire in wires {
        wire.leave();
        assert!(wire.is_done());
    }
    assert_eq!(world.core.buffers.idle(), 10);
    world.assert_empty("all have left");
}

/// [SEC-06] a peer that leaves, or stays silent for too long, is noticed while the connection holds no buffer
#[test]
fn quiet_connections_end() {
    let world = World::new(crate::limits::Limits {
        idle_timeout: std::time::Duration::from_secs(3),
        ..patient()
    });
    let mut left = world.connect(1 << 16);
    let mut silent = world.connect(1 << 16);
    for _ in 0..2 {
        left.poll();
        silent.poll();
        world.advance(1000);
    }
    left.poll();
    silent.poll();
    left.leave();
    assert!(left.is_done() && !silent.is_done());
    world.advance(1000);
    silent.poll();
    assert!(silent.is_done());
    assert_eq!(world.core.counters.idle_timeouts.get(), 1);
    world.assert_empty("both have ended");
}

/// [SEC-07] one large request does not pin its memory: the grown buffer is not pooled
#[test]
fn a_large_request_is_not_kept() {
    let world = World::new(patient());
    let mut wire = world.connect(1 << 20);
    wire.settle(&world, &echo(1, &"x".repeat(200_000)), 100);
    assert!(wire.received.len() > 200_000);
    world.advance(1000);
    wire.poll();
    assert_eq!(world.core.buffers.idle(), 0, "too large to be worth keeping");
    wire.received.clear();
    wire.settle(&world, &echo(2, "small"), 100);
    assert!(String::from_utf8_lossy(&wire.received).contains("small"));
    wire.leave();
    assert!(wire.is_done());
    world.assert_empty("it has ended");
}

/// [SEC-06] a drain closes connections that hold no buffer, too
#[test]
fn a_drain_reaches_quiet_connections() {
    let world = World::new(patient());
    let mut quiet = world.connect(1 << 16);
    let mut busy = world.connect(1 << 16);
    quiet.poll();
    world.advance(1000);
    quiet.poll();
    busy.poll();
    world.core.draining.set(true);
    <crate::app::App as crate::engine::core::Serve>::draining(&world.core);
    world.core.deadlines.fire_all(crate::engine::deadline::Kind::Idle);
    world.core.deadlines.fire_all(crate::engine::deadline::Kind::Quiet);
    quiet.poll();
    busy.poll();
    assert!(quiet.is_done() && busy.is_done());
    assert_eq!(world.core.counters.idle_timeouts.get(), 0, "nobody was too slow");
    world.assert_empty("both have ended");
}
