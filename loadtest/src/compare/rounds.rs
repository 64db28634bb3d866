//! The turns: each round measures every target, and the order turns around with every round.

use std::sync::atomic::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

use super::cli::CompareArgs;
use super::figures;
use super::model::{Compared, Comparison};
use super::plan::{Plan, Target};
use super::server::{Pinned, Server};
use crate::measure::measure;
use crate::report::Report;
use crate::report::machine::Machine;
use crate::report::model::FORMAT;
use crate::request::VERSION;
use crate::run;

/// Compares as asked. Ctrl-C ends it with the rounds that are whole.
///
/// # Errors
/// What could not be planned, started or measured, in words.
pub(crate) fn compare(args: &CompareArgs) -> Result<Comparison, String> {
    let plan = Plan::new(args).map_err(|error| error.to_string())?;
    let machine = Machine::here();
    let stop = run::interrupted().map_err(|error| error.to_string())?;
    let _pinned =
        Pinned::to(&plan.generator_cores).map_err(|error| format!("generator: {error}"))?;
    let mut targets: Vec<Compared> = plan.targets.iter().map(Compared::new).collect();
    let mut interrupted = false;
    'rounds: for round in 0..args.rounds {
        for index in turns(round, plan.targets.len()) {
            let (target, compared) = (&plan.targets[index], &mut targets[index]);
            let title = format!("round {}/{} {}", round + 1, args.rounds, target.name);
            // Ctrl-C may come while a server starts, when no run is there to heed it.
            interrupted = stop.load(Ordering::Relaxed);
            if interrupted {
                break 'rounds;
            }
            let report = turn(args, target, &title).map_err(|error| {
                format!("target {:?}, round {}: {error}", target.name, round + 1)
            })?;
            interrupted = report.interrupted;
            compared.rounds.push(report);
            if interrupted {
                break 'rounds;
            }
        }
    }
    if interrupted {
        drop_unfinished(&mut targets);
    }
    let ended = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(Comparison {
        format: FORMAT,
        generator: concat!("ringmcp-loadtest ", env!("CARGO_PKG_VERSION")).into(),
        protocol: VERSION.into(),
        command: std::env::args().collect(),
        ended_unix_s: ended.as_secs(),
        machine,
        scenario: args.load.scenario.as_str().into(),
        rounds: args.rounds,
        interrupted,
        figures: figures::of(&targets),
        notes: notes(&targets, &plan, interrupted),
        targets,
    })
}

impl Compared {
    fn new(target: &Target) -> Self {
        Self {
            name: target.name.clone(),
            url: target.url.to_string(),
            start: target.start.as_ref().map(|start| start.words()),
            cores: target.start.as_ref().map(|start| start.cores.clone()).unwrap_or_default(),
            rounds: Vec::new(),
        }
    }
}

/// There and back: what grows or shrinks from turn to turn favours nobody.
fn turns(round: u64, targets: usize) -> Box<dyn Iterator<Item = usize>> {
    if round.is_multiple_of(2) { Box::new(0..targets) } else { Box::new((0..targets).rev()) }
}

/// One turn. A server that is started is alone on the machine meanwhile.
fn turn(args: &CompareArgs, target: &Target, title: &str) -> Result<Report, String> {
    let server = match &target.start {
        Some(start) => {
            let addr = target.url.resolve().map_err(|e| format!("{}: {e}", target.url))?;
            Some(Server::start(start, addr).map_err(|error| error.to_string())?)
        }
        None => None,
    };
    let mut load = args.load.clone();
    load.url = target.url.clone();
    load.warmup = target.warmup.or(load.warmup);
    load.pid = server.as_ref().map(Server::pid).or(target.pid);
    measure(&load, title)
}

/// A round that not every target has seen cannot be compared; the first is kept, for want of a better.
fn drop_unfinished(targets: &mut [Compared]) {
    let whole = |target: &Compared| target.rounds.iter().filter(|round| !round.interrupted).count();
    let rounds = targets.iter().map(whole).min().unwrap_or(0);
    if rounds > 0 {
        targets.iter_mut().for_each(|target| target.rounds.truncate(rounds));
    }
}

fn notes(targets: &[Compared], plan: &Plan, interrupted: bool) -> Vec<String> {
    let mut notes = Vec::new();
    for target in targets {
        // Every note that some round has, once; the discipline's own is the same for all.
        let mut seen: Vec<&String> = Vec::new();
        for note in target.rounds.iter().flat_map(|round| &round.notes) {
            let told = seen.contains(&note) || note.starts_with("closed loop");
            if !told {
                seen.push(note);
                notes.push(format!("{}: {note}", target.name));
            }
        }
    }
    if targets.iter().any(|t| t.rounds.iter().any(|r| r.discipline == "closed")) {
        notes.push("closed loop: each server sets its own pace, so latencies are at different rates; --rate makes them comparable".into());
    }
    let cores = |target: &Target| target.start.as_ref().map(|start| start.cores.clone());
    let overlap = plan
        .targets
        .iter()
        .filter_map(cores)
        .flatten()
        .any(|core| plan.generator_cores.contains(&core));
    if overlap {
        notes
            .push("a server and the generator share a core: the rates are of both together".into());
    }
    if interrupted {
        notes.push("ended early by Ctrl-C: the figures are of the rounds that were whole".into());
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nobody is always first.
    #[test]
    fn order() {
        let order = |round| turns(round, 3).collect::<Vec<_>>();
        assert_eq!([order(0), order(1), order(2)], [[0, 1, 2], [2, 1, 0], [0, 1, 2]]);
    }
}
