//! What changes by itself: a clock, a counter, and a tool that comes and goes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ringmcp::types::Resource;
use ringmcp::{Builder, Context, Handle, HandlerError, ToolError};

use crate::handlers::NoArgs;

/// The resource that changes every second.
pub(crate) const CLOCK: &str = "demo://clock";

/// The resource that counts the seconds since the start.
const COUNTER: &str = "demo://counter";

/// The tool that is listed half of the time.
const TOGGLED: &str = "lucky_number";

/// Between two changes of the clock and the counter.
const TICK: Duration = Duration::from_secs(1);

/// The toggled tool comes or goes after this many ticks.
const TICKS_PER_TOGGLE: u64 = 10;

/// Ticks since the start.
static TICKS: AtomicU64 = AtomicU64::new(0);

pub(super) fn add(builder: Builder) -> Builder {
    let resource = |uri: &str, name: &str, description: &str| {
        Resource::new(uri, name).description(description).mime_type("text/plain")
    };
    builder
        .tool(TOGGLED, "A number for this moment; this tool comes and goes", lucky_number)
        .resource(resource(CLOCK, "clock", "The time in UTC; changes every second"), clock)
        .resource(resource(COUNTER, "counter", "Seconds since the start"), counter)
}

/// Lets time pass: a thread that tells subscribers of every tick, until the server ends.
pub(crate) fn animate(server: &Handle) -> std::io::Result<()> {
    let (notifier, registrations) = (server.notifier(), server.registrations());
    std::thread::Builder::new().name("demo-clock".to_owned()).spawn(move || {
        loop {
            std::thread::sleep(TICK);
            let ticks = TICKS.fetch_add(1, Ordering::Relaxed) + 1;
            notifier.resource_updated(CLOCK);
            notifier.resource_updated(COUNTER);
            if ticks.is_multiple_of(TICKS_PER_TOGGLE) {
                let shown = (ticks / TICKS_PER_TOGGLE).is_multiple_of(2);
                if let Err(error) = registrations.set_tool_enabled(TOGGLED, shown) {
                    tracing::warn!(%error, "the demonstration stopped");
                    return;
                }
            }
        }
    })?;
    Ok(())
}

async fn clock(_: &Context<'_>) -> Result<String, HandlerError> {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let (hours, minutes) = (seconds / 3_600 % 24, seconds / 60 % 60);
    Ok(format!("{hours:02}:{minutes:02}:{:02} UTC", seconds % 60))
}

async fn counter(_: &Context<'_>) -> Result<String, HandlerError> {
    Ok(TICKS.load(Ordering::Relaxed).to_string())
}

async fn lucky_number(_: &Context<'_>, _: NoArgs) -> Result<u64, ToolError> {
    Ok(TICKS.load(Ordering::Relaxed) % 49 + 1)
}
