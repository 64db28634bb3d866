//! Draws a chart as inline SVG: axes, lines, bars, and what a pointer over it reads.
//!
//! Colours and sizes of text are the style sheet's; here is geometry only.

use std::fmt::Write;

use super::axis::Scale;
use super::html::escape;

const WIDTH: f64 = 580.0;
const HEIGHT: f64 = 280.0;
const LEFT: f64 = 68.0;
const RIGHT: f64 = 18.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 46.0;

/// Bars keep this much from each other, unless they are thin.
const BAR_GAP: f64 = 1.0;

/// A labelled axis.
pub(crate) struct Axis {
    pub(crate) label: &'static str,
    pub(crate) scale: Scale,
    pub(crate) ticks: Vec<(f64, String)>,
}

impl Axis {
    /// An axis with the scale's own ticks, written by `write`.
    pub(crate) fn new(label: &'static str, scale: Scale, write: fn(f64) -> String) -> Self {
        let ticks = scale.ticks().into_iter().map(|tick| (tick, write(tick))).collect();
        Self { label, scale, ticks }
    }
}

/// Something drawn. `colour` counts from 0; the style sheet has a few.
pub(crate) enum Layer {
    Line {
        name: String,
        colour: usize,
        dashed: bool,
        points: Vec<(f64, f64)>,
    },
    /// A line with the space below it filled.
    Area {
        name: String,
        colour: usize,
        points: Vec<(f64, f64)>,
    },
    /// From, to, height.
    Bars {
        name: String,
        colour: usize,
        bars: Vec<(f64, f64, f64)>,
    },
    /// A vertical line where something is. Labels are `row` rows below the top, so that near ones do not meet.
    Mark {
        at: f64,
        row: usize,
        label: String,
    },
}

/// A chart. `id` is the element's, by which tests find it.
pub(crate) struct Chart {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// A sentence on how to read it.
    pub(crate) about: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) layers: Vec<Layer>,
    /// What the pointer reads: at this x, this text.
    pub(crate) readings: Vec<(f64, String)>,
}

impl Chart {
    /// The chart with its caption and legend.
    pub(crate) fn draw(&self) -> String {
        let mut out = String::new();
        put(
            &mut out,
            format_args!(
                "<figure class=\"chart\" id=\"{}\"><figcaption><h2>{}</h2><p>{}</p></figcaption>{}\
             <div class=\"plot\"><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\"{}>",
                self.id,
                escape(self.title),
                escape(&self.about),
                self.legend(),
                escape(&format!("{}. {}", self.title, self.about)),
                self.readings(),
            ),
        );
        self.draw_axes(&mut out);
        self.layers.iter().for_each(|layer| self.draw_layer(&mut out, layer));
        out.push_str("<line class=\"cross\"/></svg><output></output></div></figure>\n");
        out
    }

    fn x(&self, value: f64) -> f64 {
        LEFT + self.x.scale.place(value) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - self.y.scale.place(value) * (HEIGHT - TOP - BOTTOM)
    }

    /// Only where there is something to tell apart.
    fn legend(&self) -> String {
        let (mut items, mut named) = (String::new(), 0);
        for layer in &self.layers {
            let (name, colour, dashed) = match layer {
                Layer::Line { name, colour, dashed, .. } => (name, colour, *dashed),
                Layer::Area { name, colour, .. } | Layer::Bars { name, colour, .. } => {
                    (name, colour, false)
                }
                Layer::Mark { .. } => continue,
            };
            let dashed = if dashed { " dashed" } else { "" };
            named += 1;
            put(&mut items, format_args!("<li class=\"c{colour}{dashed}\">{}</li>", escape(name)));
        }
        if named < 2 { String::new() } else { format!("<ul class=\"legend\">{items}</ul>") }
    }

    /// Places and texts for the pointer, as attributes that the page's script reads.
    fn readings(&self) -> String {
        let places: Vec<String> =
            self.readings.iter().map(|(x, _)| format!("{:.1}", self.x(*x))).collect();
        let texts: Vec<&str> = self.readings.iter().map(|(_, text)| text.as_str()).collect();
        format!(
            " data-places=\"{}\" data-texts=\"{}\"",
            places.join(" "),
            escape(&texts.join("\n")),
        )
    }

    fn draw_axes(&self, out: &mut String) {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for (value, text) in &self.y.ticks {
            let y = self.y(*value);
            put(
                out,
                format_args!(
                    "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
                 <text class=\"tick end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                    LEFT - 8.0,
                    y + 4.0,
                    escape(text),
                ),
            );
        }
        for (value, text) in &self.x.ticks {
            let x = self.x(*value);
            put(
                out,
                format_args!(
                    "<line class=\"grid faint\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{bottom}\"/>\
                 <text class=\"tick middle\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
                    bottom + 18.0,
                    escape(text),
                ),
            );
        }
        let (middle_x, middle_y) = ((LEFT + right) / 2.0, (TOP + bottom) / 2.0);
        put(
            out,
            format_args!(
                "<line class=\"axis\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{bottom}\" y2=\"{bottom}\"/>\
             <text class=\"label middle\" x=\"{middle_x:.1}\" y=\"{:.1}\">{}</text>\
             <text class=\"label middle\" transform=\"translate(14 {middle_y:.1}) rotate(-90)\">{}</text>",
                HEIGHT - 8.0,
                escape(self.x.label),
                escape(self.y.label),
            ),
        );
    }

    fn draw_layer(&self, out: &mut String, layer: &Layer) {
        let bottom = HEIGHT - BOTTOM;
        match layer {
            Layer::Line { colour, dashed, points, .. } => {
                let dashed = if *dashed { " dashed" } else { "" };
                put(
                    out,
                    format_args!(
                        "<polyline class=\"line c{colour}{dashed}\" points=\"{}\"/>",
                        self.path(points),
                    ),
                );
                // A line of one point is none; most points are told by the line alone.
                if let [(x, y)] = points.as_slice() {
                    put(
                        out,
                        format_args!(
                            "<circle class=\"dot c{colour}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\"/>",
                            self.x(*x),
                            self.y(*y),
                        ),
                    );
                }
            }
            Layer::Area { colour, points, .. } => {
                let path = self.path(points);
                if let (Some((first, _)), Some((last, _))) = (points.first(), points.last()) {
                    put(
                        out,
                        format_args!(
                            "<polygon class=\"area c{colour}\" points=\"{:.1},{bottom} {path} {:.1},{bottom}\"/>",
                            self.x(*first),
                            self.x(*last),
                        ),
                    );
                }
                put(out, format_args!("<polyline class=\"line c{colour}\" points=\"{path}\"/>"));
            }
            Layer::Bars { colour, bars, .. } => {
                for (from, to, height) in bars.iter().filter(|(.., height)| *height > 0.0) {
                    let (left, right, top) = (self.x(*from), self.x(*to), self.y(*height));
                    let width = if right - left > 3.0 * BAR_GAP {
                        right - left - BAR_GAP
                    } else {
                        right - left
                    };
                    // What is there is seen, however little it is.
                    let tall = (bottom - top).max(1.0);
                    put(
                        out,
                        format_args!(
                            "<rect class=\"bar c{colour}\" x=\"{left:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{tall:.1}\"/>",
                            bottom - tall,
                        ),
                    );
                }
            }
            Layer::Mark { at, row, label } => {
                let x = self.x(*at);
                // Near the right edge the text would leave the chart.
                let (side, text_x) =
                    if x > WIDTH * 0.85 { ("end", x - 4.0) } else { ("start", x + 4.0) };
                put(
                    out,
                    format_args!(
                        "<line class=\"mark\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{bottom}\"/>\
                     <text class=\"tick {side}\" x=\"{text_x:.1}\" y=\"{:.1}\">{}</text>",
                        TOP + 9.0 + 13.0 * *row as f64,
                        escape(label),
                    ),
                );
            }
        }
    }

    fn path(&self, points: &[(f64, f64)]) -> String {
        let place = |(x, y): &(f64, f64)| format!("{:.1},{:.1}", self.x(*x), self.y(*y));
        points.iter().map(place).collect::<Vec<_>>().join(" ")
    }
}

/// Appends; a `String` takes everything.
pub(crate) fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a String cannot fail");
}
