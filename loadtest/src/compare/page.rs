//! The comparison as one self-contained page.

use super::figures::{Figure, Verdict};
use super::model::Comparison;
use super::table::show_ratio;
use crate::report::charts::{self, Curve};
use crate::report::html::{Card, cards, document, escape, header, notes, origin};
use crate::report::series::Interval;
use crate::report::svg::put;
use crate::report::units::moment;

/// The page.
pub(crate) fn page(comparison: &Comparison) -> String {
    let mut body = String::new();
    let names: Vec<&str> = comparison.targets.iter().map(|target| target.name.as_str()).collect();
    let title = format!("{}: {}", comparison.scenario, names.join(" against "));
    let line = format!("{} · {}", comparison.title(), moment(comparison.ended_unix_s));
    header(&mut body, &title, &line);
    cards(&mut body, &rates(comparison));
    notes(&mut body, &comparison.notes);
    table(&mut body, comparison);
    body.push_str("<div class=\"charts below\">");
    for chart in charts(comparison) {
        body.push_str(&chart.draw());
    }
    body.push_str("</div>");
    how(&mut body, comparison);
    document(&format!("{title} · {}", comparison.generator), &body)
}

/// The median rate of each target.
fn rates(comparison: &Comparison) -> Vec<Card> {
    let rate = comparison.figures.iter().find(|figure| figure.metric == "rate");
    let named = comparison.targets.iter().zip(rate.into_iter().flat_map(|figure| &figure.targets));
    let card =
        |(target, median): (&super::model::Compared, &Option<super::figures::Median>)| Card {
            value: median
                .as_ref()
                .zip(rate)
                .map_or("–".into(), |(m, figure)| figure.show(m.median)),
            name: format!("{}, right answers a second", target.name),
            class: "",
        };
    named.map(card).collect()
}

fn table(out: &mut String, comparison: &Comparison) {
    let Some(first) = comparison.targets.first() else { return };
    out.push_str(
        "<section id=\"figures\"><h2>Medians, spread and ratios</h2><table><thead><tr><th></th>",
    );
    for (index, target) in comparison.targets.iter().enumerate() {
        put(out, format_args!("<th>{}</th>", escape(&target.name)));
        if index > 0 {
            put(out, format_args!("<th>{} / {}</th>", escape(&target.name), escape(&first.name)));
        }
    }
    out.push_str("</tr></thead><tbody>");
    comparison.figures.iter().for_each(|figure| row(out, figure));
    out.push_str(
        "</tbody></table><p class=\"foot\">Medians of the rounds, their range below. Ratios are of rounds in pairs. \
         ~ is noise: the rounds disagree about which is more, or differ by less than 1 %. ? is fewer than 3 \
         rounds.</p></section>\n",
    );
}

fn row(out: &mut String, figure: &Figure) {
    put(out, format_args!("<tr><th>{}</th>", escape(figure.title())));
    for (index, median) in figure.targets.iter().enumerate() {
        match median {
            Some(m) if m.min == m.max => {
                put(out, format_args!("<td>{}</td>", figure.show(m.median)))
            }
            Some(m) => put(
                out,
                format_args!(
                    "<td>{}<br><small>{} – {}</small></td>",
                    figure.show(m.median),
                    figure.show(m.min),
                    figure.show(m.max),
                ),
            ),
            None => out.push_str("<td>–</td>"),
        }
        if index == 0 {
            continue;
        }
        match median.as_ref().and_then(|m| m.ratio.as_ref()) {
            Some(ratio) => {
                let class = match ratio.is_better(figure.more_is_better) {
                    Some(true) => "better",
                    Some(false) => "worse",
                    None if ratio.verdict == Verdict::Noise => "noise",
                    None => "",
                };
                put(out, format_args!("<td class=\"{class}\">{}</td>", show_ratio(ratio)));
            }
            None => out.push_str("<td></td>"),
        }
    }
    out.push_str("</tr>\n");
}

/// Percentile curves and rates over time of each target's typical round.
fn charts(comparison: &Comparison) -> Vec<crate::report::svg::Chart> {
    let typical = || comparison.targets.iter().filter_map(|t| Some((t.name.clone(), t.typical()?)));
    let curves: Vec<Curve<'_>> = typical()
        .map(|(name, report)| Curve { name, points: &report.percentiles, dashed: false })
        .collect();
    let rates: Vec<(String, &[Interval])> =
        typical().map(|(name, report)| (name, report.series.as_slice())).collect();
    [charts::percentiles(&curves), charts::rates(&rates)].into_iter().flatten().collect()
}

fn how(out: &mut String, comparison: &Comparison) {
    let server = |target: &super::model::Compared| {
        let start = match &target.start {
            Some(words) => format!("started as {}", words.join(" ")),
            None => "was running".into(),
        };
        let cores = match target.cores.as_slice() {
            [] => String::new(),
            cores => format!(", on cores {cores:?}"),
        };
        format!("{}; {start}{cores}", target.url)
    };
    let rows: Vec<(&str, String)> =
        comparison.targets.iter().map(|target| (target.name.as_str(), server(target))).collect();
    let Comparison { machine, generator, protocol, command, .. } = comparison;
    origin(out, &rows, machine, generator, protocol, command);
}
