//! What becomes of a report: printed, written, judged.

use std::path::Path;

use super::cli::OutputArgs;
use super::model::Report;
use super::{html, json};
use crate::compare::{self, Comparison};
use crate::fail_if::{Condition, HELD};

/// Some answer was wrong.
const WRONG: u8 = 1;

/// A report of either kind.
#[derive(Debug)]
pub(crate) enum Figures {
    Run(Box<Report>),
    Comparison(Box<Comparison>),
}

impl From<Report> for Figures {
    fn from(report: Report) -> Self {
        Self::Run(Box::new(report))
    }
}

impl From<Comparison> for Figures {
    fn from(comparison: Comparison) -> Self {
        Self::Comparison(Box::new(comparison))
    }
}

/// Prints and writes the figures as asked, and judges them; the status to exit with.
///
/// # Errors
/// A file that cannot be written, in words.
pub(crate) fn finish(figures: Figures, output: &OutputArgs) -> Result<u8, String> {
    print(&figures, output)?;
    let held = figures.held(&output.fail_if);
    held.iter().for_each(|condition| eprintln!("failed: {condition}"));
    Ok(match figures.clean() || output.fail_if.iter().any(Condition::is_about_errors) {
        _ if !held.is_empty() => HELD,
        true => 0,
        false => WRONG,
    })
}

/// Shows a saved report again. Only conditions make it fail: that answers were wrong was told by the run.
///
/// # Errors
/// A file that cannot be read or written, in words.
pub(crate) fn show(file: &Path, output: &OutputArgs) -> Result<u8, String> {
    let value = json::load(file).map_err(|error| error.to_string())?;
    let figures = if value.get("targets").is_some() {
        json::parse::<Comparison>(file, value).map(Figures::from)
    } else {
        json::parse::<Report>(file, value).map(Figures::from)
    };
    let figures = figures.map_err(|error| error.to_string())?;
    print(&figures, output)?;
    let held = figures.held(&output.fail_if);
    held.iter().for_each(|condition| eprintln!("failed: {condition}"));
    Ok(if held.is_empty() { 0 } else { HELD })
}

fn print(figures: &Figures, output: &OutputArgs) -> Result<(), String> {
    let written = match figures {
        Figures::Run(report) => {
            println!("{}", report.to_string().trim_end());
            let saved = output.json.as_ref().map(|path| json::save(path, &**report));
            saved
                .into_iter()
                .chain(output.html.as_ref().map(|path| json::write(path, &html::page(report))))
                .collect()
        }
        Figures::Comparison(comparison) => {
            print!("{comparison}");
            let saved = output.json.as_ref().map(|path| json::save(path, &**comparison));
            saved
                .into_iter()
                .chain(
                    output.html.as_ref().map(|path| json::write(path, &compare::page(comparison))),
                )
                .collect()
        }
    };
    Result::<(), json::FileError>::map_err(written, |error| error.to_string())
}

impl Figures {
    fn clean(&self) -> bool {
        match self {
            Self::Run(report) => report.clean(),
            Self::Comparison(comparison) => {
                let mut rounds = comparison.targets.iter().flat_map(|target| &target.rounds);
                rounds.all(Report::clean)
            }
        }
    }

    /// The conditions that held, each with the figure.
    fn held(&self, conditions: &[Condition]) -> Vec<String> {
        let of = |condition: &Condition| match self {
            Self::Run(report) => condition.held_by(report).into_iter().collect(),
            Self::Comparison(comparison) => held_in(condition, comparison),
        };
        conditions.iter().flat_map(of).collect()
    }
}

/// Of each target the condition is about: held in most of its rounds, or in any when it is about errors.
fn held_in(condition: &Condition, comparison: &Comparison) -> Vec<String> {
    let about = |name: &str| condition.target().is_none_or(|target| target == name);
    let targets = comparison.targets.iter().filter(|target| about(&target.name));
    let held = |target: &compare::model::Compared| {
        let mut held = target.rounds.iter().filter_map(|round| condition.held_by(round));
        let first = held.next()?;
        let count = 1 + held.count();
        let needed = if condition.is_about_errors() { 1 } else { target.rounds.len() / 2 + 1 };
        (count >= needed).then(|| {
            format!("{}, {first} (in {count} of {} rounds)", target.name, target.rounds.len())
        })
    };
    let found: Vec<String> = targets.clone().filter_map(held).collect();
    match targets.count() {
        0 => vec![format!("{condition}: there is no such target")],
        _ => found,
    }
}
