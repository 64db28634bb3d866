//! Tools for probes: echoes, waiting, floods, a panic, and gauges of what the server does at this moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ringmcp::types::{LoggingLevel, Tool};
use ringmcp::{Builder, Context, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;

use crate::handlers::{NoArgs, Seat, tool_with_schema};

/// The most that `big_text` makes, in bytes.
const BIG_TEXT_BYTES_MAX: usize = 128 * 1024 * 1024;

/// The longest `sleep`, in milliseconds: an hour.
const SLEEP_MS_MAX: u64 = 3_600_000;

/// Lines that `log_spam` writes.
const SPAM_LINES: u32 = 1_000;

pub(super) fn add(builder: Builder, seat: &Seat) -> Builder {
    let sleeping = Arc::new(AtomicU64::new(0));
    let gauge = sleeping.clone();
    let seat = seat.clone();
    builder
        .tool("echo", "Returns its text", echo)
        .tool_raw(any_value("echo_json"), echo_json)
        .tool_raw(Tool::new("noargs").description("Takes nothing"), noargs)
        .tool("sleep", "Waits, and stops when it is cancelled", {
            async move |ctx: &Context<'_>, args: Sleep| sleep(ctx, args, &sleeping).await
        })
        .tool("gauge", "Counts the handlers that are inside sleep", {
            async move |_: &Context<'_>, _: NoArgs| {
                Ok::<_, ToolError>(gauge.load(Ordering::Relaxed))
            }
        })
        .tool("listening", "Counts the open subscriptions", {
            async move |_: &Context<'_>, _: NoArgs| {
                let counters =
                    seat.get().ok_or(ToolError::new("the server is starting"))?.counters();
                Ok::<_, ToolError>(counters.subscriptions_open)
            }
        })
        .tool("big_text", "Returns as many bytes of text as asked for", big_text)
        .tool("whoami", "Says who the caller is", whoami)
        .tool("log_spam", "Floods the log of the server and of the request", log_spam)
        .tool("panic", "Panics", panics)
}

#[derive(Deserialize, JsonSchema)]
struct Echo {
    /// What comes back.
    text: String,
}

async fn echo(ctx: &Context<'_>, args: Echo) -> Result<String, ToolError> {
    ctx.progress(1, 1);
    Ok(args.text)
}

fn any_value(name: &str) -> Tool {
    let tool = Tool::new(name).description("Returns the JSON text of its argument");
    let properties = json!({ "v": { "description": "Any JSON value" } });
    tool_with_schema(tool, json!({ "type": "object", "properties": properties, "required": ["v"] }))
}

/// Reads the value where it lies in the request. Numbers come back as 64-bit integers or doubles.
async fn echo_json(ctx: &Context<'_>, _: IgnoredAny) -> Result<String, ToolError> {
    let arguments = ctx.arguments().as_object();
    let value = arguments.and_then(|arguments| arguments.get("v"));
    let mut text = Vec::new();
    value.ok_or(ToolError::new("there is no v"))?.write_json(&mut text);
    Ok(String::from_utf8(text)?)
}

async fn noargs(_: &Context<'_>, _: IgnoredAny) -> Result<&'static str, ToolError> {
    Ok("nothing taken")
}

#[derive(Deserialize, JsonSchema)]
struct Sleep {
    /// How long, in milliseconds.
    #[schemars(range(max = 3_600_000))]
    ms: u64,
}

/// Counts one handler while it lives: dropping the handler's future takes it off again.
struct Counted<'a>(&'a AtomicU64);

impl<'a> Counted<'a> {
    fn new(count: &'a AtomicU64) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn sleep(ctx: &Context<'_>, args: Sleep, sleeping: &AtomicU64) -> Result<String, ToolError> {
    let ms = args.ms.min(SLEEP_MS_MAX);
    let _counted = Counted::new(sleeping);
    ctx.progress(0, ms);
    ctx.sleep(Duration::from_millis(ms)).await;
    Ok(format!("slept {ms} ms"))
}

#[derive(Deserialize, JsonSchema)]
struct BigText {
    /// Bytes of text.
    #[schemars(range(max = 134_217_728))]
    size: usize,
}

async fn big_text(_: &Context<'_>, args: BigText) -> Result<String, ToolError> {
    Ok("x".repeat(args.size.min(BIG_TEXT_BYTES_MAX)))
}

async fn whoami(ctx: &Context<'_>, _: NoArgs) -> Result<String, ToolError> {
    Ok(match ctx.principal() {
        Some(principal) => principal.subject.to_string(),
        None => "anonymous".to_owned(),
    })
}

async fn log_spam(ctx: &Context<'_>, _: NoArgs) -> Result<String, ToolError> {
    for line in 0..SPAM_LINES {
        tracing::info!(line, "log_spam was called");
        ctx.log_as("log_spam", LoggingLevel::Info, json!({ "line": line }));
    }
    Ok(format!("logged {SPAM_LINES} lines"))
}

async fn panics(_: &Context<'_>, _: NoArgs) -> Result<(), ToolError> {
    panic!("the tool panic was called");
}
