//! The options of `run --scenario subscribe`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::Value;

use crate::cli::{positive_time, time, tool_name};

/// Streams of one run at most: about as many as there are ports towards one address.
const STREAMS_MAX: u64 = 60_000;

/// Streams opened a second at most.
const OPEN_RATE_MAX: u64 = 1_000_000;

/// Publishes of one run at most.
const EVENTS_MAX: u64 = 100_000;

/// What is subscribed to without `--filter`.
const FILTER: &str = r#"{"toolsListChanged":true}"#;

/// Options of scenario subscribe.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Scenario subscribe")]
pub(crate) struct SubscribeArgs {
    /// Subscription streams to open, each on a connection of its own.
    #[arg(long, value_name = "N", default_value = "100", value_parser = clap::value_parser!(u64).range(1..=STREAMS_MAX))]
    pub(crate) streams: u64,
    /// Streams opened a second.
    #[arg(long, value_name = "R", default_value = "1000", value_parser = clap::value_parser!(u64).range(1..=OPEN_RATE_MAX))]
    pub(crate) open_rate: u64,
    /// What to subscribe to: the `notifications` of subscriptions/listen. One of its resourceSubscriptions may hold
    /// {n}: it becomes one URI for each publish, and events are told apart by it.
    #[arg(long, value_name = "JSON", default_value = FILTER, value_parser = filter)]
    pub(crate) filter: Value,
    /// Publishes by calling this tool without arguments.
    #[arg(long, value_name = "NAME", default_value = "test_trigger_tool_change", value_parser = tool_name)]
    pub(crate) publish_tool: String,
    /// Publishes by this request: a file with {"method": ..., "params": {...}}. {n} in it becomes the publish's
    /// number, from 1.
    #[arg(long, value_name = "FILE", conflicts_with = "publish_tool")]
    pub(crate) publish_request: Option<PathBuf>,
    /// Publishes, each of which every stream must see once. 0: only open and hold.
    #[arg(long, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u64).range(0..=EVENTS_MAX))]
    pub(crate) events: u64,
    /// From one publish to the next at least; it also waits until every stream has its event, for --timeout at most.
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = time)]
    pub(crate) event_interval: Duration,
    /// How long the streams are held idle after the last publish: the target's memory is measured, and any further
    /// event is one too many.
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = positive_time)]
    pub(crate) hold: Duration,
}

fn filter(text: &str) -> Result<Value, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(fields)) if fields.is_empty() => {
            Err("an empty filter subscribes to nothing".into())
        }
        Ok(object @ Value::Object(_)) => Ok(object),
        Ok(_) => Err(format!("a filter is a JSON object, such as {FILTER}")),
        Err(error) => Err(format!("not JSON: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// [SUB-01] A filter is an object that asks for something.
    #[test]
    fn filters() {
        assert!(filter(FILTER).is_ok());
        for wrong in ["", "{", "{}", "[]", "true", "\"x\""] {
            assert!(filter(wrong).is_err(), "{wrong:?}");
        }
    }
}
