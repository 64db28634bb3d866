//! The search for the highest rate that holds latency objectives: doubles the rate until it does not, then halves
//! the gap between the last that did and the first that did not.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::cli::time;
use crate::live::Snapshot;
use crate::outcome::{Outcome, RATE_TOLERANCE, Ramp, Step};
use crate::run::{self, Error, Load};

/// Rates tried at most.
const STEPS_MAX: usize = 40;

/// The search ends when the highest rate that held is this close to the lowest that did not.
const PRECISION: f64 = 0.05;

/// A latency that a rate must hold, such as `p99=2ms`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Objective {
    text: String,
    /// 0 to 1.
    quantile: f64,
    at_most: Duration,
}

impl FromStr for Objective {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const FORM: &str = "an objective is a percentile and a time, such as p99=2ms or max=50ms";
        let (name, limit) = text.split_once('=').ok_or(FORM)?;
        let quantile = match name {
            "max" => 1.0,
            _ => {
                let percent: f64 =
                    name.strip_prefix('p').and_then(|p| p.parse().ok()).ok_or(FORM)?;
                if !(0.0..=100.0).contains(&percent) {
                    return Err("a percentile is p0 to p100".to_owned());
                }
                percent / 100.0
            }
        };
        Ok(Self { text: text.to_owned(), quantile, at_most: time(limit)? })
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What is searched.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The first rate, in operations a second.
    pub(crate) from: f64,
    /// No rate above this is tried.
    pub(crate) to: f64,
    pub(crate) objectives: Vec<Objective>,
}

/// Where the search stands.
#[derive(Clone, Copy, Debug, Default)]
struct Bounds {
    /// The highest rate that held.
    held: Option<f64>,
    /// The lowest that did not.
    failed: Option<f64>,
}

impl Bounds {
    /// The next rate to try, if one is worth it.
    fn next(&self, plan: &Plan) -> Option<f64> {
        match (self.held, self.failed) {
            (None, None) => Some(plan.from.min(plan.to)),
            (Some(held), None) if held >= plan.to => None,
            (Some(held), None) => Some((held * 2.0).min(plan.to)),
            (None, Some(failed)) => Some(failed / 2.0).filter(|rate| *rate >= 1.0),
            (Some(held), Some(failed)) if failed - held <= held * PRECISION => None,
            (Some(held), Some(failed)) => Some((held + failed) / 2.0),
        }
    }

    fn learn(&mut self, rate: f64, held: bool) {
        let bound = if held { &mut self.held } else { &mut self.failed };
        *bound = Some(rate);
    }
}

/// Tries rate after rate. The outcome is that of the highest rate that held, or of the last one tried.
///
/// # Errors
/// As [`run::once`].
pub(crate) fn climb(
    plan: &Plan,
    load: &Load,
    watch: &mut dyn FnMut(&Snapshot),
) -> Result<Outcome, Error> {
    let (mut bounds, mut steps) = (Bounds::default(), Vec::new());
    let mut best: Option<Outcome> = None;
    while let Some(rate) = bounds.next(plan).filter(|_| steps.len() < STEPS_MAX) {
        let outcome = run::once(&Load { rate: Some(rate), ..load.clone() }, watch)?;
        let step = judge(plan, rate, &outcome);
        let (held, interrupted) = (step.failed.is_none(), outcome.interrupted);
        if !interrupted {
            bounds.learn(rate, held);
            steps.push(step);
        }
        if best.is_none() || bounds.held.is_none() || (held && !interrupted) {
            best = Some(outcome);
        }
        if interrupted {
            best.iter_mut().for_each(|best| best.interrupted = true);
            break;
        }
    }
    let mut best = best.ok_or(Error::Worker)?;
    let objectives = plan.objectives.iter().map(Objective::to_string).collect();
    best.ramp = Some(Ramp { objectives, highest: bounds.held, steps });
    Ok(best)
}

/// Whether a rate held.
fn judge(plan: &Plan, asked: f64, outcome: &Outcome) -> Step {
    let (achieved, errors) = (outcome.ok_per_s(), outcome.tally.error_count());
    let latency =
        |objective: &Objective| outcome.tally.latencies.value_at_quantile(objective.quantile);
    let latencies_ns: Vec<u64> = plan.objectives.iter().map(latency).collect();
    let missed = plan
        .objectives
        .iter()
        .zip(&latencies_ns)
        .find(|(objective, ns)| u128::from(**ns) > objective.at_most.as_nanos());
    let failed = if errors > 0 {
        Some(format!("{errors} operations went wrong"))
    } else if let Some((objective, ns)) = missed {
        Some(format!("{objective}: it was {:?}", Duration::from_nanos(*ns)))
    } else if achieved < asked * (1.0 - RATE_TOLERANCE) {
        let why = outcome.rate_missed_because().unwrap_or_default();
        Some(format!("only {achieved:.0} a second: {why}"))
    } else {
        None
    };
    Step { asked, achieved, errors, latencies_ns, failed }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any capacity is found to within the precision, in few steps, from below and from above.
    #[test]
    fn the_search_ends_close_to_the_truth() {
        for capacity in [3.0, 777.0, 20_000.0, 123_456.0] {
            let plan = Plan { from: 1_000.0, to: 1e6, objectives: Vec::new() };
            let (mut bounds, mut steps) = (Bounds::default(), 0);
            while let Some(rate) = bounds.next(&plan) {
                bounds.learn(rate, rate <= capacity);
                steps += 1;
            }
            let found = bounds.held.expect("some rate holds");
            assert!(found <= capacity && found >= capacity * 0.95, "{found} of {capacity}");
            assert!(steps < 20, "{steps} steps");
        }
        let bounds = Bounds { held: Some(1e6), failed: None };
        assert_eq!(bounds.next(&Plan { from: 1.0, to: 1e6, objectives: Vec::new() }), None);
    }

    /// Objectives read as written; anything else says how.
    #[test]
    fn objectives() {
        let objective: Objective = "p99.9=1.5ms".parse().expect("an objective");
        assert_eq!(
            (objective.quantile, objective.at_most),
            (0.9990000000000001, Duration::from_micros(1500))
        );
        assert_eq!(objective.to_string(), "p99.9=1.5ms");
        assert_eq!("max=1s".parse::<Objective>().map(|o| o.quantile), Ok(1.0));
        for wrong in ["", "p99", "99=1ms", "p101=1ms", "p99=1", "px=1ms", "p99<1ms"] {
            assert!(wrong.parse::<Objective>().is_err(), "{wrong}");
        }
    }
}
