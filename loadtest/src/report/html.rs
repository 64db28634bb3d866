//! One self-contained page: figures, charts, and what produced them. It loads nothing from anywhere.

use std::borrow::Cow;

use serde_json::Value;

use super::charts;
use super::latency::Latency;
use super::machine::Machine;
use super::model::Report;
use super::svg::put;
use super::units::{bytes, count, moment, rate, some_time, time};
use crate::subscribe::Figures;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page of one run.
pub(crate) fn page(report: &Report) -> String {
    let mut body = String::new();
    let tool = report.tool.as_ref().map(|tool| format!(" {tool}")).unwrap_or_default();
    let title = format!("{}{tool}", report.scenario);
    header(&mut body, &title, &format!("{} · {}", report.url, moment(report.ended_unix_s)));
    cards(&mut body, &report_cards(report));
    notes(&mut body, &report.notes);
    body.push_str("<div class=\"charts\">");
    charts::of(report).iter().for_each(|chart| body.push_str(&chart.draw()));
    body.push_str("</div>");
    latencies(&mut body, report);
    errors(&mut body, report);
    if let Some(ramp) = &report.ramp {
        steps(&mut body, ramp);
    }
    if let Some(subscribe) = &report.subscribe {
        subscriptions(&mut body, subscribe);
    }
    provenance(&mut body, report);
    document(&format!("{title} · {}", report.generator), &body)
}

/// A whole page around a body. The policy keeps it from loading anything, whatever text it shows.
pub(crate) fn document(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'\">\n<title>{}</title>\n<style>\n{STYLE}</style></head>\n<body><main>\n{body}\
         </main>\n<script>\n{SCRIPT}</script></body></html>\n",
        escape(title)
    )
}

/// Text as it may stand in an element or a quoted attribute.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(['&', '<', '>', '"', '\'']) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// The top of a page.
pub(crate) fn header(out: &mut String, title: &str, line: &str) {
    put(out, format_args!("<header><h1>{}</h1><p>{}</p></header>\n", escape(title), escape(line)));
}

/// A figure in large type.
pub(crate) struct Card {
    pub(crate) value: String,
    pub(crate) name: String,
    /// A class of the style sheet: `good`, `bad` or nothing.
    pub(crate) class: &'static str,
}

pub(crate) fn cards(out: &mut String, cards: &[Card]) {
    out.push_str("<div class=\"cards\">");
    for Card { value, name, class } in cards {
        let (value, name) = (escape(value), escape(name));
        put(
            out,
            format_args!("<div class=\"card {class}\"><b>{value}</b><span>{name}</span></div>"),
        );
    }
    out.push_str("</div>\n");
}

pub(crate) fn notes(out: &mut String, notes: &[String]) {
    out.push_str("<ul class=\"notes\">");
    notes.iter().for_each(|note| put(out, format_args!("<li>{}</li>", escape(note))));
    out.push_str("</ul>\n");
}

fn report_cards(report: &Report) -> Vec<Card> {
    let card = |value: String, name: &str| Card { value, name: name.into(), class: "" };
    let latency = &report.latency_us;
    let wrong = report.errors + report.warmup_errors + report.unasked;
    let mut cards = vec![
        card(rate(report.ok_per_s), &format!("right {} a second", report.operations())),
        card(some_time(latency.p50), "median latency"),
        card(some_time(latency.p99), "p99"),
        card(some_time(latency.p99_9), "p99.9"),
        Card {
            value: count(report.errors),
            name: match wrong - report.errors {
                0 => format!("errors of {}", count(report.requests)),
                more => {
                    format!("errors of {}, and {} outside", count(report.requests), count(more))
                }
            },
            class: if wrong > 0 { "bad" } else { "good" },
        },
    ];
    if let Some(cpu) = report.target.as_ref().and_then(|target| target.cpu_us_per_request) {
        cards.push(card(time(cpu), &format!("server CPU per {}", report.operation())));
    }
    let look = report.subscribe.as_ref().and_then(|figures| figures.target.as_ref());
    if let Some(stream) = look.and_then(|look| look.bytes_per_stream) {
        cards.push(card(bytes(stream.max(0.0) as u64), "server memory per stream"));
    } else if let Some(memory) = report.target.as_ref().and_then(|target| target.rss_bytes) {
        cards.push(card(bytes(memory), "server memory"));
    }
    cards
}

fn latencies(out: &mut String, report: &Report) {
    if report.latency_us.max.is_none() {
        return;
    }
    let names = Latency::default().percentiles().map(|(name, _)| name);
    out.push_str("<section><h2>Latencies</h2><table><thead><tr><th></th>");
    names.iter().for_each(|name| put(out, format_args!("<th>{name}</th>")));
    out.push_str("<th>min</th><th>mean</th></tr></thead><tbody>");
    let mut row = |name: &str, latency: &Latency| {
        put(out, format_args!("<tr><td>{}</td>", escape(name)));
        let values = latency.percentiles().map(|(_, value)| value);
        for value in values.into_iter().chain([latency.min, latency.mean]) {
            put(out, format_args!("<td>{}</td>", some_time(value)));
        }
        out.push_str("</tr>");
    };
    row(
        if report.uncorrected_us.is_some() { "from the intended start" } else { "all" },
        &report.latency_us,
    );
    if let Some(uncorrected) = &report.uncorrected_us {
        row("from the actual sending", uncorrected);
    }
    report.parts.iter().for_each(|part| row(&part.name, &part.latency_us));
    out.push_str("</tbody></table></section>\n");
}

fn errors(out: &mut String, report: &Report) {
    if report.errors_by_kind.is_empty() {
        return;
    }
    out.push_str("<section id=\"errors\"><h2>Errors</h2>");
    for (kind, errors) in &report.errors_by_kind {
        put(out, format_args!("<p><b>{}</b> {}</p>", escape(kind), count(errors.count)));
        put(out, format_args!("<pre>{}</pre>", escape(&errors.samples.join("\n"))));
    }
    out.push_str("</section>\n");
}

fn steps(out: &mut String, ramp: &Value) {
    let highest = ramp["highest_per_s"].as_f64().map_or("no rate tried held it".into(), rate);
    let objectives: Vec<&str> =
        ramp["objectives"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    put(
        out,
        format_args!(
            "<section id=\"ramp\"><h2>The highest rate that holds {}: {}</h2><table><thead><tr><th>asked a second</th>\
         <th>right a second</th><th>errors</th><th>latencies</th><th>held</th></tr></thead><tbody>",
            escape(&objectives.join(", ")),
            escape(&highest),
        ),
    );
    for step in ramp["steps"].as_array().into_iter().flatten() {
        let number = |name: &str| step[name].as_f64().map_or("–".into(), rate);
        let times: Vec<String> = step["latencies_us"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_f64)
            .map(time)
            .collect();
        let held = step["failed"].as_str().map_or("<td class=\"better\">yes</td>".into(), |why| {
            format!("<td class=\"worse\">{}</td>", escape(why))
        });
        put(
            out,
            format_args!(
                "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td>{held}</tr>",
                number("asked_per_s"),
                number("ok_per_s"),
                step["errors"],
                times.join(", "),
            ),
        );
    }
    out.push_str("</tbody></table></section>\n");
}

/// The lines that the terminal shows are a table already.
fn subscriptions(out: &mut String, figures: &Figures) {
    out.push_str("<section id=\"subscriptions\"><h2>Subscriptions</h2>");
    put(out, format_args!("<pre>{}</pre></section>\n", escape(&figures.to_string())));
}

fn provenance(out: &mut String, report: &Report) {
    let workers = format!("workers: {} on {}", report.workers, report.driver);
    let how = if report.subscribe.is_some() {
        format!("{} streams, {workers}, answers checked", report.connections)
    } else {
        format!(
            "{} connections, {} deep, {workers}, {} loop, answers {}, {:.2} s after {:.2} s of warm-up",
            report.connections,
            report.pipeline,
            report.discipline,
            if report.verify == "none" { "not checked" } else { "checked" },
            report.measured_s,
            report.warmup_s,
        )
    };
    let own = match (report.own_cpu_s, report.own_share()) {
        (Some(cpu), Some(share)) => {
            format!("{cpu:.2} s of CPU, {:.0} % of what it had", share * 100.0)
        }
        _ => "unknown".into(),
    };
    let traffic = format!(
        "{} sent, {} received; {} reconnects",
        bytes(report.sent_bytes),
        bytes(report.received_bytes),
        count(report.reconnects)
    );
    let rows = [("Load", how), ("Traffic", traffic), ("Generator's own CPU", own)];
    origin(out, &rows, &report.machine, &report.generator, &report.protocol, &report.command);
}

/// What produced the figures: machine, versions, command line.
pub(crate) fn origin(
    out: &mut String,
    rows: &[(&str, String)],
    machine: &Machine,
    generator: &str,
    protocol: &str,
    command: &[String],
) {
    out.push_str("<section id=\"origin\"><h2>How this was measured</h2><dl>");
    let memory = machine.memory_bytes.map_or("unknown".into(), bytes);
    let fixed = [
        ("Machine", format!("{}, {} cores, {memory} of memory", machine.cpu, machine.cores)),
        ("System", format!("{}, Linux {}, {}", machine.os, machine.kernel, machine.architecture)),
        ("Versions", format!("{generator}, protocol {protocol}")),
    ];
    for (name, value) in rows.iter().chain(&fixed) {
        put(out, format_args!("<dt>{}</dt><dd>{}</dd>", escape(name), escape(value)));
    }
    let command: Vec<Cow<'_, str>> = command.iter().map(|word| quoted(word)).collect();
    put(
        out,
        format_args!(
            "<dt>Command line</dt><dd><pre>{}</pre></dd></dl></section>\n",
            escape(&command.join(" "))
        ),
    );
}

/// A word as a shell reads it.
fn quoted(word: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever a server sends stays text.
    #[test]
    fn escaping() {
        assert_eq!(escape("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
        assert!(matches!(escape("plain"), Cow::Borrowed(_)));
        assert_eq!(quoted(r#"{"a":"it's"}"#), r#"'{"a":"it'\''s"}'"#);
        assert_eq!(quoted("--rate"), "--rate");
    }
}
