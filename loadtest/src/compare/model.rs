//! What a comparison holds, which is also what `compare --json` writes. `REPORT.md` documents it.

use serde::{Deserialize, Serialize};

use super::figures::Figure;
use crate::report::Report;
use crate::report::machine::Machine;

/// The figures of one comparison.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Comparison {
    pub(crate) format: u64,
    pub(crate) generator: String,
    pub(crate) protocol: String,
    pub(crate) command: Vec<String>,
    pub(crate) ended_unix_s: u64,
    pub(crate) machine: Machine,
    pub(crate) scenario: String,
    /// Rounds asked for; the targets have as many as were run.
    pub(crate) rounds: u64,
    pub(crate) interrupted: bool,
    /// The first is what the others are held against.
    pub(crate) targets: Vec<Compared>,
    /// Medians, spread and ratios, from the rounds below them.
    pub(crate) figures: Vec<Figure>,
    pub(crate) notes: Vec<String>,
}

/// One server of the comparison.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Compared {
    pub(crate) name: String,
    pub(crate) url: String,
    /// The command that started it; absent for one that ran already.
    pub(crate) start: Option<Vec<String>>,
    /// The cores it was pinned to; empty: none.
    pub(crate) cores: Vec<usize>,
    /// The report of each round.
    pub(crate) rounds: Vec<Report>,
}

impl Compared {
    /// The round whose rate is the median: the one whose curves are shown.
    pub(crate) fn typical(&self) -> Option<&Report> {
        let mut rounds: Vec<&Report> = self.rounds.iter().collect();
        rounds.sort_by(|a, b| a.ok_per_s.total_cmp(&b.ok_per_s));
        rounds.get(rounds.len().saturating_sub(1) / 2).copied()
    }

    /// Everything that was wrong in all rounds.
    pub(crate) fn errors(&self) -> u64 {
        self.rounds.iter().map(|r| r.errors + r.warmup_errors + r.unasked).sum()
    }
}
