//! The charts of a report: which figures, on which scales, in which words.

use serde_json::Value;

use super::axis::Scale;
use super::latency::{Bar, Point};
use super::model::Report;
use super::series::Interval;
use super::svg::{Axis, Chart, Layer};
use super::units::{count, rate, short, short_time, some_time, time};

/// The quantiles marked on the percentile curve.
const MARKED: [(f64, &str); 7] = [
    (0.0, "0"),
    (0.5, "50 %"),
    (0.9, "90 %"),
    (0.99, "99 %"),
    (0.999, "99.9 %"),
    (0.9999, "99.99 %"),
    (0.99999, "99.999 %"),
];

/// Colours of the style sheet.
const COLOURS: usize = 6;

/// A percentile curve with its name.
pub(crate) struct Curve<'a> {
    pub(crate) name: String,
    pub(crate) points: &'a [Point],
    pub(crate) dashed: bool,
}

/// Everything a single run shows; what has no data is left out.
pub(crate) fn of(report: &Report) -> Vec<Chart> {
    let mut curves = vec![Curve {
        name: if report.uncorrected_us.is_some() {
            "from the intended start".into()
        } else {
            "latency".into()
        },
        points: &report.percentiles,
        dashed: false,
    }];
    if !report.uncorrected_percentiles.is_empty() {
        let name = "from the actual sending (uncorrected)".into();
        curves.push(Curve { name, points: &report.uncorrected_percentiles, dashed: true });
    }
    let charts = [
        percentiles(&curves),
        throughput(report),
        over_time(report),
        histogram(report),
        report.ramp.as_ref().and_then(rates_tried),
    ];
    charts.into_iter().flatten().collect()
}

/// The percentile curves of one run or of several.
pub(crate) fn percentiles(curves: &[Curve<'_>]) -> Option<Chart> {
    let points = || curves.iter().flat_map(|curve| curve.points);
    // The last point, at one, has no place where each step is a tenth of the rest.
    let rest = |point: &Point| 1.0 / (1.0 - point.quantile).max(f64::MIN_POSITIVE);
    let inside = |point: &&Point| point.quantile < 1.0;
    let far = points().filter(inside).map(rest).fold(10.0, f64::max);
    points().next()?;
    let line = |(colour, curve): (usize, &Curve<'_>)| Layer::Line {
        name: curve.name.clone(),
        colour: colour % COLOURS,
        dashed: curve.dashed,
        points: curve.points.iter().map(|p| (rest(p).min(far), p.us)).collect(),
    };
    let reading =
        |p: &Point| (rest(p), format!("{} took at most {}", percent(p.quantile), time(p.us)));
    let ticks = MARKED.iter().map(|(q, text)| (1.0 / (1.0 - q), (*text).to_owned()));
    Some(Chart {
        id: "chart-percentiles",
        title: "Latency by percentile",
        about: "The share of requests, to the left, that took no longer than the height of the curve. Each step to \
                the right leaves a tenth of the rest."
            .into(),
        x: Axis {
            label: "percentile",
            scale: Scale::Log { from: 1.0, to: far },
            ticks: ticks.filter(|(x, _)| *x <= far).collect(),
        },
        y: Axis::new("latency", Scale::log_around(points().map(|p| p.us)), short_time),
        layers: curves.iter().enumerate().map(line).collect(),
        readings: match curves {
            [first, ..] => first.points.iter().filter(inside).map(reading).collect(),
            [] => Vec::new(),
        },
    })
}

fn throughput(report: &Report) -> Option<Chart> {
    let series = whole(&report.series);
    let per_s = |errors: u64, length: f64| errors as f64 / length.max(f64::MIN_POSITIVE);
    let highest = |i: &Interval| i.ok_per_s().max(per_s(i.errors, i.length_s));
    let most = series.iter().map(highest).fold(report.asked_per_s.unwrap_or(0.0), f64::max);
    let (first, last) = (series.first()?, series.last()?);
    let mut layers =
        vec![Layer::Area { name: "right answers".into(), colour: 0, points: steps(series) }];
    if series.iter().any(|i| i.errors > 0) {
        let bar = |i: &Interval| (i.from_s, i.from_s + i.length_s, per_s(i.errors, i.length_s));
        let bars = series.iter().map(bar).collect();
        layers.push(Layer::Bars { name: "errors".into(), colour: 5, bars });
    }
    if let Some(asked) = report.asked_per_s {
        let points = vec![(first.from_s, asked), (last.from_s + last.length_s, asked)];
        let name = "asked for".into();
        layers.push(Layer::Line { name, colour: 3, dashed: true, points });
    }
    let reading = |i: &Interval| {
        let text = format!(
            "second {}: {} right answers/s, {} errors",
            i.from_s,
            rate(i.ok_per_s()),
            count(i.errors)
        );
        (middle(i), text)
    };
    Some(Chart {
        id: "chart-throughput",
        title: "Throughput over time",
        about: "Right answers a second.".into(),
        x: Axis::new("seconds since the warm-up", Scale::up_to(last.from_s + last.length_s), short),
        y: Axis::new("answers a second", Scale::from_zero(most), short),
        layers,
        readings: series.iter().map(reading).collect(),
    })
}

/// The rates over time of several runs.
pub(crate) fn rates(runs: &[(String, &[Interval])]) -> Option<Chart> {
    let all = || runs.iter().flat_map(|(_, series)| whole(series));
    let most = all().map(Interval::ok_per_s).fold(0.0, f64::max);
    let end = all().map(|i| i.from_s + i.length_s).fold(0.0, f64::max);
    all().next()?;
    let line = |(colour, (name, series)): (usize, &(String, &[Interval]))| Layer::Line {
        name: name.clone(),
        colour: colour % COLOURS,
        dashed: false,
        points: steps(whole(series)),
    };
    Some(Chart {
        id: "chart-throughput",
        title: "Throughput over time",
        about: "Right answers a second in each target's round of median rate.".into(),
        x: Axis::new("seconds since the warm-up", Scale::up_to(end), short),
        y: Axis::new("answers a second", Scale::from_zero(most), short),
        layers: runs.iter().enumerate().map(line).collect(),
        readings: Vec::new(),
    })
}

fn over_time(report: &Report) -> Option<Chart> {
    let series = whole(&report.series);
    let last = series.last()?;
    let values = || series.iter().flat_map(|i| [i.p50_us, i.p99_us]).flatten();
    values().next()?;
    let line = |name: &str, colour, points| Layer::Line {
        name: name.into(),
        colour,
        dashed: false,
        points,
    };
    let reading = |i: &Interval| {
        let text = format!(
            "second {}: p50 {}, p99 {}",
            i.from_s,
            some_time(i.p50_us),
            some_time(i.p99_us)
        );
        (middle(i), text)
    };
    Some(Chart {
        id: "chart-latency",
        title: "Latency over time",
        about: "Of the answers that came in each interval: a stall is a peak of p99.".into(),
        x: Axis::new("seconds since the warm-up", Scale::up_to(last.from_s + last.length_s), short),
        y: Axis::new("latency", Scale::log_around(values()), short_time),
        layers: vec![
            line("p99", 1, over(series, |i| i.p99_us)),
            line("p50", 0, over(series, |i| i.p50_us)),
        ],
        readings: series.iter().map(reading).collect(),
    })
}

fn histogram(report: &Report) -> Option<Chart> {
    let bars = &report.histogram;
    let (first, last) = (bars.first()?, bars.last()?);
    let most = bars.iter().map(|bar| bar.count).max()? as f64;
    let all = bars.iter().map(|bar| bar.count).sum::<u64>().max(1) as f64;
    let latency = &report.latency_us;
    let marks = [("p50", latency.p50), ("p99", latency.p99), ("p99.9", latency.p99_9)];
    let mark = |(row, (name, at)): (usize, (&str, Option<f64>))| {
        Some(Layer::Mark { at: at?, row, label: name.into() })
    };
    let reading = |bar: &Bar| {
        let share = bar.count as f64 * 100.0 / all;
        let text = format!(
            "{} to {}: {} requests ({share:.2} %)",
            time(bar.from_us),
            time(bar.to_us),
            count(bar.count)
        );
        ((bar.from_us * bar.to_us).sqrt(), text)
    };
    let bars_layer = Layer::Bars {
        name: "requests".into(),
        colour: 0,
        bars: bars.iter().map(|bar| (bar.from_us, bar.to_us, bar.count as f64)).collect(),
    };
    Some(Chart {
        id: "chart-histogram",
        title: "Histogram of latencies",
        about: "How many requests took how long; two humps are two kinds of requests.".into(),
        x: Axis::new(
            "latency",
            Scale::log_around([first.from_us, last.to_us].into_iter()),
            short_time,
        ),
        y: Axis::new("requests", Scale::from_zero(most), short),
        layers: std::iter::once(bars_layer)
            .chain(marks.into_iter().enumerate().filter_map(mark))
            .collect(),
        readings: bars.iter().filter(|bar| bar.count > 0).map(reading).collect(),
    })
}

/// The latency that the first objective is about, by the rate asked for.
fn rates_tried(ramp: &Value) -> Option<Chart> {
    let step =
        |step: &Value| Some((step["asked_per_s"].as_f64()?, step["latencies_us"][0].as_f64()?));
    let mut points: Vec<(f64, f64)> = ramp["steps"].as_array()?.iter().filter_map(step).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let last = points.last()?.0;
    let reading =
        |(asked, us): &(f64, f64)| (*asked, format!("at {}/s: {}", rate(*asked), time(*us)));
    let mut layers = Vec::new();
    if let Some(at) = ramp["highest_per_s"].as_f64() {
        layers.push(Layer::Mark { at, row: 0, label: format!("{}/s held", rate(at)) });
    }
    layers.push(Layer::Line {
        name: "latency".into(),
        colour: 1,
        dashed: false,
        points: points.clone(),
    });
    Some(Chart {
        id: "chart-ramp",
        title: "Latency by rate",
        about: format!("Each rate that was tried, held to {}.", ramp["objectives"][0].as_str()?),
        x: Axis::new("asked a second", Scale::from_zero(last), short),
        y: Axis::new("latency", Scale::log_around(points.iter().map(|(_, us)| *us)), short_time),
        layers,
        readings: points.iter().map(reading).collect(),
    })
}

/// The intervals without a last one too short to have a rate of its own.
fn whole(series: &[Interval]) -> &[Interval] {
    match series {
        [rest @ .., last] if !rest.is_empty() && last.length_s < rest[0].length_s * 0.5 => rest,
        all => all,
    }
}

/// The rate of each interval, from its beginning to its end: it is known for no shorter time.
fn steps(series: &[Interval]) -> Vec<(f64, f64)> {
    let step = |i: &Interval| [(i.from_s, i.ok_per_s()), (i.from_s + i.length_s, i.ok_per_s())];
    series.iter().flat_map(step).collect()
}

/// A value of each interval, at its middle.
fn over(series: &[Interval], value: impl Fn(&Interval) -> Option<f64>) -> Vec<(f64, f64)> {
    series.iter().filter_map(|i| Some((middle(i), value(i)?))).collect()
}

fn middle(interval: &Interval) -> f64 {
    interval.from_s + interval.length_s / 2.0
}

/// A quantile as a percentage with the digits it has.
fn percent(quantile: f64) -> String {
    let text = format!("{:.5}", quantile * 100.0);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}
