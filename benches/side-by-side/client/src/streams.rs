//! `streams`: memory of subscription streams, the cost and time of an event to all of them, and bursts of updates.

use std::io::Write;
use std::net::SocketAddr;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{json, Value};

use crate::args::Args;
use crate::crowd::Crowd;
use crate::process::{allow_files, Process};
use crate::{wire, Outcome};

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// How long an event or a burst may take to reach everybody.
const LIMIT: Duration = Duration::from_secs(60);

/// A burst is over when nothing has come for so long.
const QUIET: Duration = Duration::from_secs(1);

/// Between two events, so that each finds the server at rest; also after one, for what the server tidies up.
const REST: Duration = Duration::from_millis(100);

struct Stage<'a> {
    to: SocketAddr,
    server: Process,
    uri: Option<&'a str>,
}

pub fn measure(args: &Args) -> Outcome<Value> {
    allow_files()?;
    let stage = Stage {
        to: SocketAddr::from(([127, 0, 0, 1], args.needed("--port")?)),
        server: Process::new(args.needed("--pid")?),
        uri: args.text("--uri"),
    };
    let count: usize = args.needed("--streams")?;
    let (events, burst) = (args.number("--events", 0)?, args.number("--burst", 0)?);
    // What a first call costs for good is not the streams'.
    wire::text_of(stage.to, &wire::publish(stage.uri, 1))?;
    let base = stage.server.settled_rss()?;

    let mut crowd = Crowd::open(stage.to, count, &wire::listen(stage.uri), Some(ACKNOWLEDGED))?;
    let open = stage.server.settled_rss()?;
    let told: Vec<Value> = (0..events).map(|_| stage.event(&mut crowd)).collect::<Outcome<_>>()?;
    let after_events = stage.server.settled_rss()?;
    let mut bursts = Vec::new();
    if burst > 0 {
        bursts.push(stage.burst("one call", &mut crowd, &wire::publish(stage.uri, burst))?);
        bursts.push(stage.burst(
            "pipelined calls",
            &mut crowd,
            &wire::publish(stage.uri, 1).repeat(burst),
        )?);
    }
    drop(crowd);
    sleep(Duration::from_secs(2));
    let closed = stage.server.settled_rss()?;
    Ok(json!({
        "streams": count, "rss_base": base, "rss_open": open, "rss_after_events": after_events, "rss_closed": closed,
        "events": told, "bursts": bursts,
    }))
}

impl Stage<'_> {
    fn needle(&self) -> &'static str {
        match self.uri {
            Some(_) => "notifications/resources/updated",
            None => "notifications/tools/list_changed",
        }
    }

    /// One event to all: CPU of the server per stream, and when the last stream had it.
    fn event(&self, crowd: &mut Crowd) -> Outcome<Value> {
        crowd.forget(self.needle());
        sleep(REST);
        let mut control = wire::connect(self.to)?;
        let request = wire::publish(self.uri, 1);
        sleep(REST);
        let before = self.server.cpu_ns()?;
        let begun = Instant::now();
        control.write_all(&request)?;
        let mut last = Duration::ZERO;
        let all = crowd.run_until(LIMIT, |crowd| {
            last = begun.elapsed();
            crowd.peers.iter().all(|peer| peer.messages > 0)
        })?;
        if !all {
            return Err("an event did not reach every stream".into());
        }
        sleep(REST);
        let streams = crowd.peers.len();
        let cpu = self.server.cpu_ns()? - before;
        let bytes: usize = crowd.peers.iter().map(|peer| peer.bytes).sum();
        Ok(json!({
            "cpu_us": cpu as f64 / 1e3 / streams as f64, "last_ms": last.as_secs_f64() * 1e3,
            "bytes": bytes as f64 / streams as f64,
        }))
    }

    /// Many updates at once: messages per stream, and the streams that were not told after the last update.
    fn burst(&self, name: &str, crowd: &mut Crowd, requests: &[u8]) -> Outcome<Value> {
        crowd.forget(self.needle());
        let control = wire::connect(self.to)?;
        let begun = SystemTime::now();
        let before = self.server.cpu_ns()?;
        let asked = std::thread::spawn({
            let (control, requests) = (control.try_clone()?, requests.to_vec());
            move || (&control).write_all(&requests)
        });
        let answers = std::thread::spawn(move || read_answers(control));
        let quiet = crowd.run_quiet(QUIET, LIMIT)?;
        let cpu = self.server.cpu_ns()? - before;
        asked.join().map_err(|_| "the writer failed")??;
        let published = answers.join().map_err(|_| "the reader of answers failed")?;
        let last_update =
            published.iter().copied().max().ok_or("no publishing call was answered")?;
        let mut messages: Vec<usize> = crowd.peers.iter().map(|peer| peer.messages).collect();
        messages.sort_unstable();
        let newest = crowd.peers.iter().map(|peer| peer.last_ns).max().unwrap_or_default();
        let begun = begun.duration_since(UNIX_EPOCH)?.as_nanos();
        Ok(json!({
            "by": name, "answers": published.len(), "quiet": quiet, "cpu_ms": cpu as f64 / 1e6,
            "messages_least": messages.first(), "messages_median": messages[messages.len() / 2],
            "messages_most": messages.last(),
            "stale": crowd.peers.iter().filter(|peer| peer.last_ns < last_update).count(),
            "published_ms": last_update.saturating_sub(begun) as f64 / 1e6,
            "last_ms": newest.saturating_sub(begun) as f64 / 1e6,
        }))
    }
}

/// The moments of publishing that the answers tell, until the connection is quiet.
fn read_answers(mut control: std::net::TcpStream) -> Vec<u128> {
    use std::io::Read;
    let (mut got, mut chunk) = (Vec::new(), [0; 65_536]);
    // An error is the time limit: whatever is missing then shows as missing.
    let _ = control.set_read_timeout(Some(QUIET * 4));
    while let Ok(read @ 1..) = control.read(&mut chunk) {
        got.extend_from_slice(&chunk[..read]);
    }
    wire::texts(&got).filter_map(|text| text.parse().ok()).collect()
}
