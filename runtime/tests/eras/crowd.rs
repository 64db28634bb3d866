//! Many clients at once, on several cores, that come, lose their connections, come back, and leave.

use std::time::Duration;

use ringmcp::{Context, Driver, ToolError};
use serde_json::{Map, Value, json};

use crate::client::{Client, LATEST, Stream, call, message};
use crate::sessions::server;
use crate::support::serve_on;

/// A small generator, so that every run is the same but for the threads' timing.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// One client's life: whatever it does, its answers are its own.
fn live(running: &crate::support::Running, seed: u64) {
    let mut dice = Dice(seed);
    let client = Client::connect(running, LATEST, json!({}));
    let mut standing: Option<Stream> = None;
    for round in 0..30_u64 {
        let tag = seed * 1000 + round;
        match dice.roll(6) {
            0 | 1 => {
                let answer = message(&client.post(&call(tag, "echo", json!({ "tag": tag }))));
                assert_eq!(answer["id"], tag);
                assert_eq!(answer["result"]["content"][0]["text"], format!("{{\"tag\":{tag}}}"));
            }
            // Lost in the middle, taken up again.
            2 => {
                let mut stream = client.stream(&call(tag, "nap", json!({ "tag": tag })));
                let primed = stream.event().expect("where the stream begins").id;
                drop(stream);
                let rest = client.get(primed.as_deref()).rest();
                assert_eq!(rest.len(), 1, "{rest:?}");
                assert_eq!(rest[0].message.as_ref().expect("an answer")["id"], tag);
            }
            // Lost for good.
            3 => drop(client.stream(&call(tag, "nap", json!({ "tag": tag })))),
            // The server hears of a lost connection a moment later.
            4 => {
                drop(standing.take());
                standing = client.try_get();
            }
            _ => running.handle().notifier().tools_changed(),
        }
    }
    drop(standing);
    if dice.roll(2) == 0 {
        assert_eq!(client.delete(), 204);
    }
}

/// [LEG-64] [LEG-60] [LEG-21] [SEC-14] nothing is mixed up between sessions and nothing is left of them.
#[test]
fn a_crowd_on_four_cores() {
    let limits =
        ringmcp::Limits { session_idle_timeout: Duration::from_secs(2), ..Default::default() };
    let builder = server().limits(limits).tool(
        "nap",
        "Sleeps a little",
        async |ctx: &Context<'_>, _: Map<String, Value>| {
            ctx.sleep(Duration::from_millis(60)).await;
            Ok::<_, ToolError>("awake")
        },
    );
    let running = serve_on(builder, Driver::Auto, 4);
    std::thread::scope(|scope| {
        for seed in 1..=12 {
            let running = &running;
            scope.spawn(move || live(running, seed));
        }
    });
    running.until("all sessions are gone", |counters| counters.sessions_open == 0);
    running.until("and all that they followed", |counters| counters.subscriptions_open == 0);
    assert_eq!(running.handle().counters().panics, 0);
    running.stop();
}
