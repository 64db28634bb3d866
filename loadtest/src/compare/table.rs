//! The comparison as a table for a terminal.

use std::fmt;

use super::figures::{Figure, Median, Ratio, Verdict};
use super::model::Comparison;

/// Between columns.
const GAP: &str = "   ";

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.title())?;
        writeln!(f)?;
        let rows = self.rows();
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            rows.iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &rows {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
                if column == 0 { format!("{cell:width$}") } else { format!("{cell:>width$}") }
            });
            writeln!(f, "{}", cells.collect::<Vec<_>>().join(GAP).trim_end())?;
        }
        writeln!(f)?;
        self.show_legend(f)?;
        self.show_errors(f)?;
        for note in &self.notes {
            writeln!(f, "note: {note}")?;
        }
        Ok(())
    }
}

impl Comparison {
    /// What was run.
    pub(crate) fn title(&self) -> String {
        let done = self.targets.iter().map(|target| target.rounds.len()).max().unwrap_or(0);
        let load = self.targets.iter().find_map(|target| target.rounds.first());
        let load = load.map_or_else(String::new, |report| {
            let tool = report.tool.as_ref().map(|tool| format!(" {tool}")).unwrap_or_default();
            format!(
                "{tool}, {} connections, {} deep, {} loop, {:.1} s",
                report.connections, report.pipeline, report.discipline, report.measured_s
            )
        });
        format!("{}{load} in each of {done} rounds, in turns", self.scenario)
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let mut head = vec![String::new()];
        let baseline = self.targets.first().map(|target| target.name.as_str()).unwrap_or_default();
        for (index, target) in self.targets.iter().enumerate() {
            head.push(target.name.clone());
            if index > 0 {
                head.push(format!("{} / {baseline}", target.name));
            }
        }
        let row = |figure: &Figure| {
            let mut row = vec![figure.title().to_owned()];
            for (index, median) in figure.targets.iter().enumerate() {
                row.push(median.as_ref().map_or("–".into(), |m| cell(figure, m)));
                if index > 0 {
                    let ratio = median.as_ref().and_then(|m| m.ratio.as_ref());
                    row.push(ratio.map_or("".into(), show_ratio));
                }
            }
            row
        };
        std::iter::once(head).chain(self.figures.iter().map(row)).collect()
    }

    fn show_legend(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ratios = || {
            self.figures
                .iter()
                .flat_map(|figure| &figure.targets)
                .flatten()
                .filter_map(|m| m.ratio.as_ref())
        };
        let has = |verdict| ratios().any(|ratio| ratio.verdict == verdict);
        writeln!(
            f,
            "medians of the rounds, ± half the range; ratios of the rounds in pairs, (least–most)"
        )?;
        if has(Verdict::Noise) {
            writeln!(
                f,
                "~ noise: the rounds disagree about which is more, or differ by less than 1 %"
            )?;
        }
        if has(Verdict::FewRounds) {
            writeln!(f, "? fewer than 3 rounds: noise cannot be told")?;
        }
        Ok(())
    }

    fn show_errors(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for target in self.targets.iter().filter(|target| target.errors() > 0) {
            let sample = target.rounds.iter().find_map(|round| {
                let (kind, errors) = round.errors_by_kind.iter().next()?;
                Some(format!("{kind}: {}", errors.samples.first()?))
            });
            writeln!(
                f,
                "{} had {} errors; {}",
                target.name,
                target.errors(),
                sample.unwrap_or_default()
            )?;
        }
        Ok(())
    }
}

fn cell(figure: &Figure, median: &Median) -> String {
    let value = figure.show(median.median);
    if median.max == median.min {
        value
    } else {
        format!("{value} ±{:.1} %", median.spread_percent())
    }
}

/// `2.31× (2.25–2.40)`, with the sign of noise before it.
pub(crate) fn show_ratio(ratio: &Ratio) -> String {
    let sign = match ratio.verdict {
        Verdict::Clear => "",
        Verdict::Noise => "~ ",
        Verdict::FewRounds => "? ",
    };
    format!("{sign}{:.2}× ({:.2}–{:.2})", ratio.median, ratio.min, ratio.max)
}
