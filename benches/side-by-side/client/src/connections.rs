//! `connections`: memory of idle keep-alive connections (`--tool echo`) or of open slow calls (`--tool hold`).

use std::net::SocketAddr;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{json, Value};

use crate::args::Args;
use crate::crowd::Crowd;
use crate::process::{allow_files, Process};
use crate::{wire, Outcome};

pub fn measure(args: &Args) -> Outcome<Value> {
    allow_files()?;
    let to = SocketAddr::from(([127, 0, 0, 1], args.needed("--port")?));
    let server = Process::new(args.needed("--pid")?);
    let count: usize = args.needed("--count")?;
    let tool = args.text("--tool").unwrap_or("echo");
    let (request, wanted) = match tool {
        "echo" => (wire::call("echo", r#"{"text":"hello"}"#), Some(r#""text":"hello""#)),
        "hold" => (wire::call("hold", r#"{"tag":0}"#), None),
        other => return Err(format!("--tool is echo or hold, not {other:?}").into()),
    };
    // What a first call costs for good is not the connections'.
    wire::text_of(to, &wire::call("released", "{}"))?;
    let base = server.settled_rss()?;
    let crowd = Crowd::open(to, count, &request, wanted)?;
    let open = server.settled_rss()?;
    drop(crowd);
    sleep(Duration::from_secs(1));
    let closed = server.settled_rss()?;
    // Every call that was open has been dropped since.
    let released = wire::text_of(to, &wire::call("released", "{}"))?.matches("\\n").count();
    if tool == "hold" && released != count {
        return Err(format!("{released} of {count} calls were open").into());
    }
    Ok(json!({
        "count": count, "tool": tool, "rss_base": base, "rss_open": open, "rss_closed": closed,
        "bytes_each": (open - base) as f64 / count as f64,
    }))
}
