//! The arguments of `compare`: its own, and those of `run`, which are the same by construction.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{ArgMatches, Args, Command, FromArgMatches};

use crate::cli::RunArgs;
use crate::url::Url;

/// Rounds at most: more tell nothing that a longer round does not.
const ROUNDS_MAX: u64 = 1000;

pub(crate) const EXAMPLES: &str = "\
Examples:
  Compare two servers that are running, in five rounds of ten seconds each:
    ringmcp-loadtest compare --target ours=http://127.0.0.1:8301/mcp --target rmcp=http://127.0.0.1:8111/mcp \\
        --scenario tools-call --connections 16 --duration 10s --rounds 5
  The same with their CPU time and memory, and a page of charts:
    ringmcp-loadtest compare --target ours=http://127.0.0.1:8301/mcp --target-pid ours=1234 \\
        --target rmcp=http://127.0.0.1:8111/mcp --target-pid rmcp=1235 \\
        --scenario tools-call --connections 16 --duration 10s --html compare.html
  Start each server in its turn, on a core of its own (the file's form is below):
    ringmcp-loadtest compare --targets targets.toml --scenario tools-list --connections 16 --duration 10s

A targets file:
    generator = { cores = [1] }         # where this program runs
    [[target]]
    name = \"ours\"
    url = \"http://127.0.0.1:8301/mcp\"
    start = [\"./ringmcp-server\", \"--listen\", \"127.0.0.1:8301\", \"--workers\", \"1\"]
    cores = [0]                         # optional
    ready_within = \"10s\"                # optional: how long it may take until it accepts connections
    warmup = \"3s\"                       # optional: instead of --warmup, for one that is slow to get going
    dir = \"/srv\"                        # optional
    env = { RUST_LOG = \"off\" }          # optional
    [[target]]
    name = \"rmcp\"
    url = \"http://127.0.0.1:8111/mcp\"
    pid = 1235                          # instead of start: one that is running

All options of run but --url and --pid apply to every target.
Exit status: 0 when every answer was right, 1 when one was not or nothing could be measured, 2 for wrong options,
3 when a --fail-if condition held in most rounds of a target (one about errors: in any); 'ours.p99>5ms' is about one
target.";

/// What is compared, and how often.
#[derive(Debug, Args)]
struct OwnArgs {
    /// A server, by a name for the table and its endpoint; repeat it for each. The first is what the others are
    /// held against.
    #[arg(long = "target", value_name = "NAME=URL", value_parser = named_url)]
    targets: Vec<(String, Url)>,
    /// The process of a --target, so that its CPU time and memory are in the table.
    #[arg(long, value_name = "NAME=PID", value_parser = named_pid)]
    target_pid: Vec<(String, u32)>,
    /// A TOML file with targets that are started, pinned and stopped; see below.
    #[arg(long, value_name = "FILE")]
    targets_file: Option<PathBuf>,
    /// How often each target is measured.
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u64).range(1..=ROUNDS_MAX))]
    rounds: u64,
}

/// Arguments of `compare`.
#[derive(Debug)]
pub(crate) struct CompareArgs {
    pub(crate) targets: Vec<(String, Url)>,
    pub(crate) target_pids: Vec<(String, u32)>,
    pub(crate) targets_file: Option<PathBuf>,
    pub(crate) rounds: u64,
    /// The load; its URL is each target's in turn.
    pub(crate) load: RunArgs,
}

impl Args for CompareArgs {
    fn augment_args(command: Command) -> Command {
        let command = RunArgs::augment_args(command)
            .mut_arg("url", |url| url.required(false).default_value("http://unset/").hide(true));
        let command =
            OwnArgs::augment_args(command).mut_arg("targets_file", |file| file.long("targets"));
        let has_pid = command.get_arguments().any(|arg| arg.get_id() == "pid");
        if has_pid { command.mut_arg("pid", |pid| pid.hide(true)) } else { command }
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for CompareArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let own = OwnArgs::from_arg_matches(matches)?;
        if own.targets.is_empty() && own.targets_file.is_none() {
            let text =
                "name what to compare: --target NAME=URL for each server, or --targets FILE\n";
            return Err(clap::Error::raw(ErrorKind::MissingRequiredArgument, text));
        }
        Ok(Self {
            targets: own.targets,
            target_pids: own.target_pid,
            targets_file: own.targets_file,
            rounds: own.rounds,
            load: RunArgs::from_arg_matches(matches)?,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn named_url(text: &str) -> Result<(String, Url), String> {
    let (name, url) = text
        .split_once('=')
        .ok_or("a target is NAME=URL, such as ours=http://127.0.0.1:8080/mcp")?;
    Ok((target_name(name)?, url.parse()?))
}

fn named_pid(text: &str) -> Result<(String, u32), String> {
    let (name, pid) = text.split_once('=').ok_or("use NAME=PID, such as ours=1234")?;
    Ok((target_name(name)?, pid.parse().map_err(|_| format!("{pid:?} is no process id"))?))
}

/// A target's name stands in tables, and before a dot in `--fail-if`.
///
/// # Errors
/// What is allowed.
pub(crate) fn target_name(text: &str) -> Result<String, String> {
    let legal = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    if (1..=32).contains(&text.len()) && text.chars().all(legal) {
        return Ok(text.to_owned());
    }
    Err(format!("{text:?}: a target's name is 1 to 32 of A-Z a-z 0-9 _ -"))
}
