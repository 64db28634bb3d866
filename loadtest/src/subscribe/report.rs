//! What a subscribe run found, for people and for programs.

use std::fmt;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde_json::{Map, Value, json};

use super::tally::Tally;
use super::target::Target;
use crate::request::VERSION;

/// Changes when a member of the JSON changes its name or meaning.
const FORMAT: u64 = 1;

/// The times shown, as quantiles.
const QUANTILES: [(&str, f64); 5] =
    [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0)];

/// The share of a core from which the generator itself may be what delays arrivals.
const BUSY_SHARE: f64 = 0.9;

/// Publishing times too short for the generator's share of CPU, which is known to 10 ms, to mean something.
const SHARE_MEANT: Duration = Duration::from_millis(200);

const SPACED: &str = "a publish is followed by the next only when every open stream has its event, or --timeout is \
     over: servers may fold changes that follow each other faster than a stream takes them into one event, and such \
     events could not be told from lost ones";

const ALIKE: &str = "these events do not say whose they are: each is taken for the publish under way, so disorder \
     cannot be seen (a URI with {n} in --filter and --publish-request makes it visible)";

const KERNEL: &str =
    "memory is the target's resident set; what the kernel holds for its sockets is not part of it";

/// What was run.
#[derive(Debug)]
pub(crate) struct Setting {
    pub(crate) url: String,
    pub(crate) driver: String,
    pub(crate) workers: u64,
    pub(crate) streams: u64,
    pub(crate) open_rate: u64,
    /// What publishes, in words.
    pub(crate) publish: Option<String>,
    pub(crate) filter: Value,
    /// Whether events say whose they are.
    pub(crate) numbered: bool,
}

/// How long the parts of a run took.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    pub(crate) opening: Duration,
    pub(crate) publishing: Duration,
    pub(crate) holding: Duration,
    pub(crate) closing: Duration,
}

/// The publishes of a run.
#[derive(Debug)]
pub(crate) struct Publishes {
    /// Answered as they should be.
    pub(crate) right: u64,
    pub(crate) wrong: u64,
    /// Events that streams should have got from the right ones.
    pub(crate) expected: u64,
    /// Of these, events that did not come in time.
    pub(crate) missed: u64,
    /// From request to answer, in ns.
    pub(crate) to_answer: Histogram<u64>,
    /// From request to the last stream's arrival, in ns.
    pub(crate) to_last: Histogram<u64>,
    /// This program's CPU time meanwhile.
    pub(crate) own_cpu: Option<Duration>,
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) setting: Setting,
    pub(crate) times: Times,
    pub(crate) opened: u64,
    /// Opened streams that ended by themselves.
    pub(crate) broken: u64,
    pub(crate) publishes: Publishes,
    pub(crate) tally: Tally,
    pub(crate) target: Option<Target>,
    /// This program's CPU time from first to last.
    pub(crate) own_cpu: Option<Duration>,
    /// Ctrl-C ended it early.
    pub(crate) interrupted: bool,
}

impl Report {
    /// Events that never came. Ones that look alike and came late are no loss.
    pub(crate) fn lost(&self) -> u64 {
        let late = if self.setting.numbered { 0 } else { self.tally.late };
        self.publishes.missed.saturating_sub(late)
    }

    /// Everything that was not as it should be.
    pub(crate) fn error_count(&self) -> u64 {
        let tally = &self.tally;
        tally.error_count() + self.lost() + tally.duplicates + tally.late + tally.out_of_order
    }

    /// Whether all streams opened, and each got every event once and nothing else.
    pub(crate) fn clean(&self) -> bool {
        self.error_count() == 0 && self.opened > 0 && self.publishes.wrong == 0
    }

    /// From a publish to its event on a stream, in ns.
    pub(crate) fn arrivals(&self) -> &Histogram<u64> {
        &self.tally.to_arrival
    }

    /// Reasons to read the figures with care.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = vec![SPACED.to_owned()];
        if !self.setting.numbered {
            notes.push(ALIKE.to_owned());
        }
        if self.target.is_some() {
            notes.push(KERNEL.to_owned());
        }
        let busy = self.delivering();
        if let Some(share) = self
            .publishes
            .own_cpu
            .filter(|_| busy >= SHARE_MEANT)
            .map(|cpu| cpu.as_secs_f64() / busy.as_secs_f64() / self.setting.workers as f64)
            && share >= BUSY_SHARE
        {
            notes.push("the client was the limit: it was busy for most of the time in which events arrived".to_owned());
        }
        if self.interrupted {
            notes.push("Ctrl-C ended this run early".to_owned());
        }
        notes
    }

    /// The time in which events arrived.
    fn delivering(&self) -> Duration {
        let last = &self.publishes.to_last;
        Duration::from_secs_f64((last.mean() * last.len() as f64 / 1e9).max(0.0))
    }

    /// The figures as JSON: times in the unit their names end with.
    pub(crate) fn to_json(&self) -> Value {
        let Self { setting, times, publishes, tally, .. } = self;
        let errors = tally.errors.iter().map(|(kind, errors)| {
            (kind.name().to_owned(), json!({ "count": errors.count, "samples": errors.samples }))
        });
        let target = self.target.as_ref().map(|target| target.to_json(self.opened, tally.arrived));
        json!({
            "format": FORMAT,
            "generator": concat!("ringmcp-loadtest ", env!("CARGO_PKG_VERSION")),
            "protocol": VERSION,
            "scenario": "subscribe",
            "url": setting.url,
            "driver": setting.driver,
            "workers": setting.workers,
            "filter": setting.filter,
            "honoured": tally.honoured.as_ref().map(|honoured| honoured.fields()),
            "publish": setting.publish,
            "interrupted": self.interrupted,
            "streams": {
                "asked": setting.streams,
                "opened": self.opened,
                "broken": self.broken,
                "asked_per_s": setting.open_rate,
                "opening_s": times.opening.as_secs_f64(),
                "closing_s": times.closing.as_secs_f64(),
                "ack_us": quantiles_us(&tally.to_ack),
            },
            "publishes": {
                "right": publishes.right,
                "wrong": publishes.wrong,
                "publishing_s": times.publishing.as_secs_f64(),
                "answer_us": quantiles_us(&publishes.to_answer),
            },
            "deliveries": {
                "expected": publishes.expected,
                "arrived": tally.arrived,
                "lost": self.lost(),
                "duplicates": tally.duplicates,
                "late": tally.late,
                "out_of_order": setting.numbered.then_some(tally.out_of_order),
                "arrival_us": quantiles_us(&tally.to_arrival),
                "last_arrival_us": quantiles_us(&publishes.to_last),
            },
            "hold_s": times.holding.as_secs_f64(),
            "target": target,
            "received_bytes": tally.received_bytes,
            "own_cpu_s": self.own_cpu.map(|cpu| cpu.as_secs_f64()),
            "errors": self.error_count(),
            "errors_by_kind": errors.collect::<Map<_, _>>(),
            "notes": self.notes(),
        })
    }

    fn show_counts(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { setting, times, publishes, tally, .. } = self;
        writeln!(
            f,
            "streams    {} asked, {} opened in {:.2} s, {} ended by themselves; closed in {:.2} s",
            setting.streams,
            self.opened,
            times.opening.as_secs_f64(),
            self.broken,
            times.closing.as_secs_f64(),
        )?;
        writeln!(
            f,
            "publishes  {} right, {} wrong, in {:.2} s; then held for {:.2} s",
            publishes.right,
            publishes.wrong,
            times.publishing.as_secs_f64(),
            times.holding.as_secs_f64(),
        )?;
        let order = match setting.numbered {
            true => format!("{} out of order", tally.out_of_order),
            false => "order not visible".to_owned(),
        };
        writeln!(
            f,
            "events     {} expected, {} arrived: {} lost, {} duplicates, {} late, {order}",
            publishes.expected,
            tally.arrived,
            self.lost(),
            tally.duplicates,
            tally.late,
        )
    }

    fn show_target(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(target) = &self.target else {
            return writeln!(f, "target     not looked at (--pid names it)");
        };
        let json = target.to_json(self.opened, self.tally.arrived);
        let mib = |name: &str| match json[name].as_f64() {
            Some(bytes) => format!("{:.1}", bytes / 1024.0 / 1024.0),
            None => "-".to_owned(),
        };
        let per_stream = target.bytes_per_stream(self.opened);
        writeln!(
            f,
            "target     {} bytes per stream; MiB resident: {} before, {} opened, {} held, {} closed, {} at most",
            per_stream.map_or("-".to_owned(), |bytes| format!("{bytes:.0}")),
            mib("rss_before_bytes"),
            mib("rss_opened_bytes"),
            mib("rss_held_bytes"),
            mib("rss_closed_bytes"),
            mib("rss_peak_bytes"),
        )?;
        let seconds = |cpu: Option<Duration>| {
            cpu.map_or("-".to_owned(), |cpu| format!("{:.2} s", cpu.as_secs_f64()))
        };
        let [opening, publishing, holding] = target.cpu().map(seconds);
        let each =
            json["cpu_us_per_delivery"].as_f64().map_or("-".to_owned(), |us| format!("{us:.2} us"));
        writeln!(
            f,
            "target CPU {opening} opening, {publishing} publishing ({each} a delivery), {holding} holding"
        )?;
        writeln!(
            f,
            "open files {} before, {} held, {} closed",
            json["files_before"], json["files_held"], json["files_closed"]
        )
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { setting, publishes, tally, .. } = self;
        writeln!(f, "subscribe of {}", setting.url)?;
        writeln!(
            f,
            "{} workers, {}; filter {}; publishes by {}\n",
            setting.workers,
            setting.driver,
            shortened(&setting.filter.to_string()),
            setting.publish.as_deref().unwrap_or("nobody"),
        )?;
        self.show_counts(f)?;
        for (name, times) in [
            ("ack us", &tally.to_ack),
            ("arrival us", &tally.to_arrival),
            ("last us", &publishes.to_last),
            ("answer us", &publishes.to_answer),
        ] {
            write!(f, "{name:10}")?;
            for (quantile, us) in quantiles_us(times) {
                match us.as_f64() {
                    Some(us) => write!(f, "  {quantile} {us:.1}")?,
                    None => write!(f, "  {quantile} -")?,
                }
            }
            writeln!(f)?;
        }
        self.show_target(f)?;
        if let Some(cpu) = self.own_cpu {
            writeln!(f, "own CPU    {:.2} s", cpu.as_secs_f64())?;
        }
        for (kind, errors) in &tally.errors {
            writeln!(f, "error {:10} {}", kind.name(), errors.count)?;
            for sample in &errors.samples {
                writeln!(f, "    {sample}")?;
            }
        }
        let notes: Vec<String> = self.notes().iter().map(|note| format!("note: {note}")).collect();
        write!(f, "{}", notes.join("\n"))
    }
}

/// A numbered filter is long.
fn shortened(text: &str) -> String {
    const SHOWN: usize = 120;
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{} …", &text[..at]),
        None => text.to_owned(),
    }
}

fn quantiles_us(times: &Histogram<u64>) -> Map<String, Value> {
    let us = |quantile| (!times.is_empty()).then(|| times.value_at_quantile(quantile) as f64 / 1e3);
    QUANTILES.iter().map(|(name, quantile)| ((*name).to_owned(), json!(us(*quantile)))).collect()
}
