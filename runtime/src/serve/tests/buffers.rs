//! What a connection holds while nothing happens on it.

use serde_json::json;

use super::super::kept::{LIVELY_MS, Reading};
use super::super::large::KEPT_BYTES_MAX;
use super::super::workspace;
use super::world::{Wire, World, patient, request};
use crate::engine::ebb;

fn echo(id: u64, text: &str) -> Vec<u8> {
    let params = json!({ "name": "echo", "arguments": { "text": text } });
    request("tools/call", Some(id), params, "")
}

/// Every wire sends one request, its first byte ahead, and gets its answer.
fn ask(wires: &mut [Wire], id: u64) {
    let bytes = echo(id, "again");
    for wire in wires {
        assert_eq!(wire.send(&bytes[..1]), 1);
        wire.poll();
        assert_eq!(wire.send(&bytes[1..]), bytes.len() - 1);
        wire.poll();
        wire.receive();
        let text = String::from_utf8_lossy(&std::mem::take(&mut wire.received)).into_owned();
        assert!(text.contains(r#"{\"text\":\"again\"}"#), "{text}");
    }
}

/// [SEC-06] a connection that waits for its first request, or for one after it was quiet, holds no buffer; one whose
/// requests come shortly after each other holds its own until it has been quiet for a while; no byte is lost
#[test]
fn quiet_connections_hold_no_buffer() {
    let world = World::new(patient());
    let mut wires: Vec<_> = (0..10).map(|_| world.connect(1 << 16)).collect();
    wires.iter_mut().for_each(Wire::poll);
    for round in 0..3 {
        ask(&mut wires, round);
        // What one was served with serves the next.
        let idle = if round == 0 { 2 } else { 11 };
        assert_eq!(
            world.core.buffers.idle(),
            idle,
            "they rest: the pool has an output and all inputs"
        );
        ask(&mut wires, round);
        assert_eq!(world.core.buffers.idle(), 1, "lively: each keeps its input");
        world.advance(LIVELY_MS - 50);
        wires.iter_mut().for_each(Wire::poll);
        assert_eq!(world.core.buffers.idle(), 1, "quiet, but not for long");
        world.advance(50);
        wires.iter_mut().for_each(Wire::poll);
        assert_eq!(world.core.buffers.idle(), 11, "at rest again");
        world.advance(LIVELY_MS);
    }
    for mut wire in wires {
        wire.leave();
        assert!(wire.is_done());
    }
    world.assert_empty("all have left");
}

/// [SEC-06] connections that are served one after the other share one workspace; a core keeps no more than its bound
#[test]
fn workspaces_are_lent() {
    let world = World::new(patient());
    let mut wires: Vec<_> = (0..workspace::KEPT_MAX + 5).map(|_| world.connect(1 << 16)).collect();
    wires.iter_mut().for_each(Wire::poll);
    assert_eq!(world.core.app.workspaces.idle(), 0, "nobody has had a request yet");
    wires.iter_mut().for_each(|wire| wire.settle(&world, &echo(1, "x"), 50));
    assert_eq!(world.core.app.workspaces.idle(), 1);
    // A request that has begun holds one.
    for wire in &mut wires {
        wire.send(b"POST");
        wire.poll();
    }
    assert_eq!(world.core.app.workspaces.idle(), 0);
    for mut wire in wires {
        wire.leave();
        assert!(wire.is_done());
    }
    assert_eq!(world.core.app.workspaces.idle(), workspace::KEPT_MAX);
    world.assert_empty("all have left");
}

/// Pipelined requests that fill a read let the next one take more, so that all their answers leave together; a
/// connection that has been quiet begins anew
#[test]
fn room_grows_with_what_comes() {
    let mut reading = Reading::default();
    for bytes in [1, 2, 4, 8, 16, 32, 64, 64].map(|kib| kib * 1024) {
        let mut buf = Vec::new();
        reading.make_room(&mut buf);
        assert_eq!(buf.capacity(), bytes);
        buf.resize(bytes - 1, 0);
        let same = reading;
        reading.learn(&buf);
        assert_eq!(reading, same, "there was room left");
        buf.push(0);
        reading.learn(&buf);
    }
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

/// [SEC-07] the room that a large request grew to serves the next one of the core, on any connection; there is one, and
/// none beyond the bound
#[test]
fn one_large_input_is_kept() {
    let world = World::new(patient());
    let mut wires: Vec<_> = (0..3).map(|_| world.connect(1 << 20)).collect();
    let kept = || world.core.app.large.capacity();
    for (at, wire) in wires.iter_mut().enumerate() {
        wire.settle(&world, &echo(at as u64, &"x".repeat(100_000 + at)), 100);
        assert!(wire.received.len() > 100_000);
        assert!((100_000..200_000).contains(&kept()), "the same for each: {}", kept());
    }
    let held = &mut wires[0];
    let half = echo(8, &"x".repeat(100_000));
    held.settle(&world, &half[..50_000], 100);
    assert_eq!(kept(), 0, "lent");
    wires[1].settle(&world, &echo(9, &"x".repeat(1_000_000)), 100);
    let larger = kept();
    assert!((1_000_000..=KEPT_BYTES_MAX).contains(&larger), "meanwhile another one grew: {larger}");
    wires[0].settle(&world, &half[50_000..], 100);
    assert_eq!(kept(), larger, "the larger one stays");
    wires[2].settle(&world, &echo(10, &"x".repeat(KEPT_BYTES_MAX)), 100);
    assert!(wires[2].received.len() > KEPT_BYTES_MAX);
    assert_eq!(kept(), 0, "grown beyond the bound");
    for mut wire in wires {
        wire.leave();
        assert!(wire.is_done());
    }
    world.assert_empty("all have left");
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

/// [SEC-06] after a peak a core keeps neither what it lent nor tables for as many, and tells the program so, once
#[test]
fn a_peak_leaves_nothing() {
    const PEAK: usize = 200;
    let told = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let tells = std::sync::Arc::clone(&told);
    let world = World::with(patient(), |server| {
        server.after_peak(move || {
            tells.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        })
    });
    let slow = request(
        "tools/call",
        Some(1),
        json!({ "name": "steps", "arguments": { "n": 9, "ms": 9_000_000 } }),
        "",
    );
    let mut stays = world.connect(1 << 16);
    stays.settle(&world, &echo(1, "x"), 50);
    let mut wires: Vec<_> = (0..PEAK).map(|_| world.connect(1 << 16)).collect();
    wires.iter_mut().for_each(|wire| wire.settle(&world, &slow, 50));
    ebb::tick(&world.core);
    let peak = world.core.deadlines.capacity();
    assert!(peak >= 3 * PEAK, "connection, request, and what the handler sleeps on: {peak}");
    wires.iter_mut().for_each(Wire::leave);
    drop(wires);
    for _ in 0..3 {
        ebb::tick(&world.core);
        world.advance(1000);
    }
    assert_eq!(told.load(std::sync::atomic::Ordering::Relaxed), 1);
    assert_eq!((world.core.app.workspaces.idle(), world.core.buffers.idle()), (0, 0));
    let left = world.core.deadlines.capacity();
    assert!(left < 8, "{left}");
    stays.received.clear();
    stays.settle(&world, &echo(2, "still"), 50);
    assert!(String::from_utf8_lossy(&stays.received).contains("still"));
    stays.leave();
    world.assert_empty("all have left");
}
