//! Tools for measuring: changes announced many times over, and calls that tell when their handler was dropped.

use std::fmt::Write;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ringmcp::{Builder, Context, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::handlers::NoArgs;

/// The most that one call of `publish` announces.
const PUBLISHED_MAX: u32 = 100_000;

/// How long `hold` waits for its client to leave.
const HELD: Duration = Duration::from_secs(3600);

/// Ends of `hold` that are kept until `released` asks; further ones are forgotten.
const RELEASES_MAX: usize = 16_384;

pub(super) fn add(builder: Builder) -> Builder {
    let holds = Arc::new(Releases::default());
    let releases = holds.clone();
    builder
        .tool("publish", "Announces an update of a resource, or that the tools changed", publish)
        .tool("hold", "Waits until its client leaves", {
            async move |ctx: &Context<'_>, args: Hold| hold(ctx, &args, &holds).await
        })
        .tool("released", "Says when handlers of hold were dropped since it was last asked", {
            async move |_: &Context<'_>, _: NoArgs| Ok::<_, ToolError>(releases.take())
        })
}

#[derive(Deserialize, JsonSchema)]
struct Publish {
    /// The resource that is updated; without it the list of tools has changed.
    uri: Option<String>,
    /// How often that is announced.
    #[schemars(range(max = 100_000))]
    times: u32,
}

/// Its result is the moment right before the last announcement, in nanoseconds of Unix time.
async fn publish(ctx: &Context<'_>, args: Publish) -> Result<String, ToolError> {
    let notifier = ctx.notifier();
    let mut last = 0;
    for _ in 0..args.times.min(PUBLISHED_MAX) {
        last = now_ns();
        match &args.uri {
            Some(uri) => notifier.resource_updated(uri),
            None => notifier.tools_changed(),
        }
    }
    Ok(last.to_string())
}

#[derive(Deserialize, JsonSchema)]
struct Hold {
    /// What `released` calls this one.
    tag: u64,
}

async fn hold(ctx: &Context<'_>, args: &Hold, releases: &Releases) -> Result<(), ToolError> {
    let _held = Held { tag: args.tag, releases };
    // A client that asks for progress learns from it that the handler runs.
    ctx.progress(0, 1);
    ctx.sleep(HELD).await;
    Ok(())
}

/// Stands in the handler's future and notes when that is dropped.
struct Held<'a> {
    tag: u64,
    releases: &'a Releases,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.releases.note(self.tag, now_ns());
    }
}

/// Tags and times of the handlers that were dropped.
#[derive(Default)]
struct Releases(Mutex<Vec<(u64, u128)>>);

impl Releases {
    fn note(&self, tag: u64, at: u128) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < RELEASES_MAX {
            kept.push((tag, at));
        }
    }

    /// One line for each: the tag and nanoseconds of Unix time.
    fn take(&self) -> String {
        let kept = mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        kept.iter().fold(String::new(), |mut lines, (tag, at)| {
            // Writing to a String cannot fail.
            let _ = writeln!(lines, "{tag} {at}");
            lines
        })
    }
}

/// Nanoseconds of Unix time: whoever measures reads the same clock on the same machine.
fn now_ns() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()
}
