//! `closes`: from a client's close until the handler's destructor has run, on the one clock that both sides read.

use std::collections::HashMap;
use std::io::Write;
use std::net::SocketAddr;
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{json, Value};

use crate::args::Args;
use crate::busy::Busy;
use crate::{wire, Outcome};

/// From sending a call to closing its connection: the handler is running by then.
const RUNNING: Duration = Duration::from_millis(10);

/// Some of the last releases may still be on their way.
const LATEST: Duration = Duration::from_millis(500);

pub fn measure(args: &Args) -> Outcome<Value> {
    let to = SocketAddr::from(([127, 0, 0, 1], args.needed("--port")?));
    let (count, busy): (u64, usize) = (args.needed("--count")?, args.number("--busy", 0)?);
    wire::text_of(to, &wire::call("released", "{}"))?;

    let load = Busy::start(to, busy)?;
    let mut closed = Vec::new();
    for tag in 0..count {
        let mut stream = wire::connect(to)?;
        stream.write_all(&wire::call("hold", &format!(r#"{{"tag":{tag}}}"#)))?;
        sleep(RUNNING);
        let at = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos();
        drop(stream);
        closed.push(at);
    }
    sleep(LATEST);
    let calls = load.stop()?;

    let text = wire::text_of(to, &wire::call("released", "{}"))?;
    let released: HashMap<u64, u128> = text.split("\\n").filter_map(parse).collect();
    let mut took: Vec<u128> = Vec::new();
    for (tag, at) in (0..).zip(&closed) {
        took.extend(released.get(&tag).map(|released| released.saturating_sub(*at)));
    }
    took.sort_unstable();
    let ms = |share: f64| took.get((took.len() as f64 * share) as usize).map(|ns| *ns as f64 / 1e6);
    Ok(json!({
        "closed": closed.len(), "released": took.len(), "busy": busy, "busy_calls": calls,
        "p50_ms": ms(0.50), "p90_ms": ms(0.90), "p99_ms": ms(0.99), "max_ms": took.last().map(|ns| *ns as f64 / 1e6),
    }))
}

/// A line of `released`: the tag and nanoseconds of Unix time.
fn parse(line: &str) -> Option<(u64, u128)> {
    let (tag, at) = line.split_once(' ')?;
    Some((tag.parse().ok()?, at.parse().ok()?))
}
