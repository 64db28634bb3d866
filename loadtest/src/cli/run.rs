//! The options of `run`.

use std::net::SocketAddr;
use std::time::Duration;

use clap::{ArgGroup, Args, ValueEnum};
use serde_json::Value;

use super::values::{
    answers, json_object, mix, positive_rate, positive_time, schema, time, tool_name, uri,
};
use crate::check::{Expected, Schema};
use crate::ramp::{Objective, Plan};
use crate::report::cli::OutputArgs;
use crate::run::Load;
use crate::scenario::{Ask, Handshake, Mix, Name, Script, Sessions};
use crate::subscribe::Job;
use crate::subscribe::cli::SubscribeArgs;
use crate::url::Url;

/// Connections of one run at most: the usual ceiling of open files less a margin for everything else.
const CONNECTIONS_MAX: u64 = 60_000;

/// Requests a connection may have unanswered at most.
const PIPELINE_MAX: u64 = 1024;

/// Worker threads at most.
const WORKERS_MAX: u64 = 1024;

/// Bytes of a large body: less than what a request needs anyway, and more than any server is known to take.
const BODY_BYTES: std::ops::RangeInclusive<u64> = 1..=67_108_864;

/// The default of `--warmup` with `--duration`; with `--requests` there is none.
const WARMUP: Duration = Duration::from_secs(1);

/// The scenarios of one request each, whose answers can go unchecked.
const UNCHECKABLE: [Name; 7] = [
    Name::ToolsCall,
    Name::ToolsList,
    Name::Discover,
    Name::ResourcesRead,
    Name::Mixed,
    Name::Large,
    Name::Churn,
];

pub(crate) const EXAMPLES: &str = "\
Examples, one for each scenario:
  Call a tool for ten seconds over 16 connections, and hold every answer to its text:
    ringmcp-loadtest run --url http://127.0.0.1:8080/mcp --scenario tools-call \\
        --tool echo --args '{\"text\":\"hello\"}' --expect hello --connections 16 --duration 10s
  The same at 20000 calls a second, latencies counted from when each was due:
    ringmcp-loadtest run --url http://127.0.0.1:8080/mcp --scenario tools-call \\
        --connections 64 --duration 10s --rate 20000
  Find the highest rate at which 99 of 100 calls take 2 ms at most:
    ringmcp-loadtest run --url http://127.0.0.1:8080/mcp --scenario tools-call \\
        --connections 64 --duration 5s --ramp --slo p99=2ms
  List the tools exactly 100000 times, 16 requests in flight on each connection:
    ringmcp-loadtest run --url http://127.0.0.1:8080/mcp --scenario tools-list \\
        --connections 4 --pipeline 16 --requests 100000
  Ask for the server's capabilities, and keep the figures:
    ringmcp-loadtest run --url http://127.0.0.1:8080/mcp --scenario discover --duration 5s --json discover.json
  Read a resource:
    ringmcp-loadtest run --url http://127.0.0.1:8080/mcp --scenario resources-read --uri test://static-text \\
        --connections 16 --duration 10s
  Several kinds of requests by weight, from a file of [[part]] tables with scenario, weight and options:
    ringmcp-loadtest run --url http://127.0.0.1:8080/mcp --scenario mixed --mix mix.toml \\
        --connections 16 --duration 10s
  Send and get back a megabyte:
    ringmcp-loadtest run --url http://127.0.0.1:8080/mcp --scenario large --body-bytes 1000000 --duration 10s
  Calls that report progress, three notifications each:
    ringmcp-loadtest run --url http://127.0.0.1:8080/mcp --scenario progress --tool test_tool_with_progress \\
        --args '{}' --notifications 3 --connections 16 --duration 10s
  Calls that ask for input, answered and repeated until they are complete:
    ringmcp-loadtest run --url http://127.0.0.1:8080/mcp --scenario mrtr \\
        --tool test_input_required_result_elicitation --args '{}' --connections 16 --duration 10s
  Open 5000 subscriptions, publish, and see every one of them get it:
    ringmcp-loadtest run --url http://127.0.0.1:8080/mcp --scenario subscribe --streams 5000
  A new connection for every call:
    ringmcp-loadtest run --url http://127.0.0.1:8080/mcp --scenario churn --connections 16 --duration 10s
  Give slow calls up after 10 ms, and see that the server goes on:
    ringmcp-loadtest run --url http://127.0.0.1:8080/mcp --scenario cancel --tool sleep --args '{\"ms\":60000}' \\
        --cancel-after 10ms --connections 16 --duration 10s
  Revision 2025-11-25, hands shaken before every call, sessions used where the server gives them:
    ringmcp-loadtest run --url http://127.0.0.1:8080/mcp --scenario legacy --handshake each \\
        --connections 16 --duration 10s

Exit status: 0 when every answer was right, 1 when one was not or nothing could be measured, 2 for wrong options,
3 when a --fail-if condition held.";

/// Options of `run`.
#[derive(Clone, Debug, Args)]
#[command(group = ArgGroup::new("amount").args(["duration", "requests"]))]
pub(crate) struct RunArgs {
    /// The server's endpoint; plain http only.
    #[arg(long, value_name = "URL")]
    pub(crate) url: Url,
    /// What to do again and again.
    #[arg(long, value_enum)]
    pub(crate) scenario: Name,
    /// The tool that is called: 1 to 128 of A-Z a-z 0-9 _ - . [default: echo, or what the conformance fixture calls
    /// the scenario's]
    #[arg(long, value_name = "NAME", value_parser = tool_name)]
    pub(crate) tool: Option<String>,
    /// The tool's arguments: a JSON object, or @FILE with one. [default: {"text":"hello"} for echo]
    #[arg(long, value_name = "JSON", value_parser = json_object)]
    pub(crate) args: Option<Value>,
    /// What every answer must show: calls and resources, in a text; tools-list, a tool's name; discover, the
    /// server's name.
    #[arg(long, value_name = "TEXT")]
    pub(crate) expect: Option<String>,
    /// A file with the JSON Schema that the structured content of every call must match.
    #[arg(long, value_name = "FILE", value_parser = schema)]
    pub(crate) expect_schema: Option<Schema>,
    /// Whether answers are checked. `none` takes any 200.
    #[arg(long, value_enum, default_value = "full")]
    pub(crate) verify: Verify,
    /// Connections, all open from the start.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u64).range(1..=CONNECTIONS_MAX))]
    pub(crate) connections: u64,
    /// How long to measure: a number with us, ms, s or m. With --ramp, each step.
    #[arg(long, value_name = "TIME", value_parser = positive_time)]
    pub(crate) duration: Option<Duration>,
    /// How many operations to measure, exactly.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) requests: Option<u64>,
    /// Operations a second, evenly spaced, whatever the server does; latencies count from when each was due. Without
    /// it a connection asks again after each answer.
    #[arg(long, value_name = "R", value_parser = positive_rate)]
    pub(crate) rate: Option<f64>,
    /// Operations each connection keeps under way.
    #[arg(long, value_name = "D", default_value = "1", value_parser = clap::value_parser!(u64).range(1..=PIPELINE_MAX))]
    pub(crate) pipeline: u64,
    /// Threads, each with its share of the connections: about one for each core that this program may have.
    #[arg(long, value_name = "W", default_value = "1", value_parser = clap::value_parser!(u64).range(1..=WORKERS_MAX))]
    pub(crate) workers: u64,
    /// Load before the measured part: checked, not counted. Default: 1s with --duration, none with --requests.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) warmup: Option<Duration>,
    /// How long an answer or a connection may take before it counts as an error.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = positive_time)]
    pub(crate) timeout: Duration,
    /// The kernel interface this generator uses.
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) driver: Driver,
    /// The server's process on this machine: its CPU time and memory are reported too.
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) pid: Option<u32>,
    #[command(flatten)]
    pub(crate) search: SearchArgs,
    #[command(flatten)]
    pub(crate) one: ScenarioArgs,
    #[command(flatten)]
    pub(crate) subscribe: SubscribeArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// The options of `--ramp`.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "The highest rate")]
pub(crate) struct SearchArgs {
    /// Finds the highest rate that holds every --slo, with a step of --duration for each rate tried.
    #[arg(long, requires = "slo", requires = "duration", conflicts_with_all = ["rate", "requests"])]
    pub(crate) ramp: bool,
    /// What a rate must hold, such as p99=2ms or max=50ms; may be repeated.
    #[arg(long, value_name = "OBJECTIVE", requires = "ramp")]
    pub(crate) slo: Vec<Objective>,
    /// The first rate tried.
    #[arg(long, value_name = "R", default_value = "1000", value_parser = positive_rate)]
    pub(crate) ramp_from: f64,
    /// No rate above this is tried.
    #[arg(long, value_name = "R", default_value = "1000000", value_parser = positive_rate)]
    pub(crate) ramp_to: f64,
}

/// The options of one scenario each.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Single scenarios")]
pub(crate) struct ScenarioArgs {
    /// resources-read: what is read.
    #[arg(long, value_name = "URI", value_parser = uri)]
    pub(crate) uri: Option<String>,
    /// mixed: a TOML file of `[[part]]` tables, each with scenario, weight, and what it needs of name, tool, args, uri,
    /// expect, body-bytes, notifications.
    #[arg(long, value_name = "FILE", value_parser = mix)]
    pub(crate) mix: Option<Mix>,
    /// large: bytes of the request's body; the argument `text` is made as long as that takes.
    #[arg(long, value_name = "N", default_value = "65536", value_parser = clap::value_parser!(u64).range(BODY_BYTES))]
    pub(crate) body_bytes: u64,
    /// progress: how many progress notifications every call must send. [default: at least one]
    #[arg(long, value_name = "N")]
    pub(crate) notifications: Option<u32>,
    /// mrtr: a JSON file with the answers to the server's questions, by their keys; others are made up to fit.
    #[arg(long, value_name = "FILE", value_parser = answers)]
    pub(crate) answers: Option<Script>,
    /// cancel: how long a call runs before its connection is closed.
    #[arg(long, value_name = "TIME", default_value = "10ms", value_parser = positive_time)]
    pub(crate) cancel_after: Duration,
    /// legacy: what is asked of sessions.
    #[arg(long, value_enum, default_value = "any")]
    pub(crate) sessions: Sessions,
    /// legacy: how often hands are shaken.
    #[arg(long, value_enum, default_value = "connection")]
    pub(crate) handshake: Handshake,
}

impl RunArgs {
    /// The warm-up to run.
    pub(crate) fn warmup(&self) -> Duration {
        self.warmup.unwrap_or(if self.requests.is_some() { Duration::ZERO } else { WARMUP })
    }

    /// What an operation is.
    pub(crate) fn ask(&self) -> Ask {
        let mut ask = Ask::new(self.scenario);
        if ask.tool.is_some() {
            ask.tool = self.tool.clone().or(ask.tool);
            ask.args = self.args.clone().or(ask.args);
        }
        ask.uri.clone_from(&self.one.uri);
        ask.expected = Expected { text: self.expect.clone(), schema: self.expect_schema.clone() };
        ask.body_bytes = usize::try_from(self.one.body_bytes).unwrap_or(usize::MAX);
        ask.notifications = self.one.notifications;
        ask.script = self.one.answers.clone().unwrap_or_default();
        ask.cancel_after = self.one.cancel_after;
        ask.sessions = self.one.sessions;
        ask.handshake = self.one.handshake;
        ask.mix.clone_from(&self.one.mix);
        ask
    }

    /// The load on this address.
    pub(crate) fn load(&self, addr: SocketAddr) -> Load {
        Load {
            url: self.url.clone(),
            addr,
            ask: self.ask(),
            verify: self.verify == Verify::Full,
            connections: self.connections,
            workers: self.workers,
            pipeline: usize::try_from(self.pipeline).unwrap_or(usize::MAX),
            rate: self.rate,
            warmup: self.warmup(),
            duration: self.duration,
            requests: self.requests,
            timeout: self.timeout,
            driver: self.driver,
        }
    }

    /// The subscriptions to open, where that is the scenario.
    pub(crate) fn subscribe_job(&self) -> Option<Job<'_>> {
        (self.scenario == Name::Subscribe).then_some(Job {
            url: &self.url,
            args: &self.subscribe,
            driver: self.driver,
            workers: self.workers,
            timeout: self.timeout,
            pid: self.pid,
        })
    }

    /// What `--ramp` searches.
    pub(crate) fn ramp(&self) -> Option<Plan> {
        let search = &self.search;
        search.ramp.then(|| Plan {
            from: search.ramp_from,
            to: search.ramp_to,
            objectives: search.slo.clone(),
        })
    }

    /// Whether the options go together.
    ///
    /// # Errors
    /// What does not, and what would.
    pub(crate) fn check(&self) -> Result<(), String> {
        let name = self.scenario.as_str();
        self.ask().check()?;
        if self.duration.is_none() && self.requests.is_none() && self.scenario != Name::Subscribe {
            return Err(format!("scenario {name} needs --duration TIME or --requests N"));
        }
        if self.verify == Verify::None && !UNCHECKABLE.contains(&self.scenario) {
            let known: Vec<_> = UNCHECKABLE.iter().map(|name| name.as_str()).collect();
            let known = known.join(", ");
            return Err(format!("scenario {name} reads its answers; --verify none is for {known}"));
        }
        if matches!(self.scenario, Name::Churn | Name::Cancel) && self.pipeline != 1 {
            return Err(format!("scenario {name} has one operation a connection: --pipeline 1"));
        }
        if self.scenario == Name::Cancel && self.one.cancel_after >= self.timeout {
            return Err("--cancel-after must be less than --timeout".to_owned());
        }
        Ok(())
    }
}

/// The choice of `--driver`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Driver {
    /// io_uring where it works, epoll elsewhere
    Auto,
    /// io_uring or nothing
    Uring,
    /// epoll
    Epoll,
}

/// The choice of `--verify`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Verify {
    /// Status, id, result type, the method's shape, expected text and schema
    Full,
    /// The status alone
    None,
}
