//! The figures of a subscribe run: the `subscribe` member of a report, and how it is printed.

use std::fmt;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::found::Found;
use super::target::Look;
use crate::report::latency::Latency;
use crate::report::units::{bytes, count, some_time};

/// Characters of a filter shown.
const FILTER_SHOWN: usize = 100;

/// What the report shows of subscriptions. Times are in the unit their names end with; members about the target are
/// absent unless `--pid` named it.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Figures {
    /// Streams asked for.
    pub(crate) streams: u64,
    /// Streams that were acknowledged.
    pub(crate) opened: u64,
    /// Streams that ended by themselves after that.
    pub(crate) broken: u64,
    /// Streams opened a second, as asked for.
    pub(crate) open_per_s: u64,
    pub(crate) opening_s: f64,
    pub(crate) publishing_s: f64,
    pub(crate) holding_s: f64,
    pub(crate) closing_s: f64,
    /// The filter as it was given, and what servers honour of it.
    pub(crate) filter: String,
    pub(crate) honoured: Option<String>,
    /// What publishes.
    pub(crate) publish: Option<String>,
    /// Publishes with a right answer.
    pub(crate) publishes: u64,
    pub(crate) publishes_wrong: u64,
    /// Events that streams should have got from the right publishes.
    pub(crate) expected: u64,
    /// First events of a publish on a stream.
    pub(crate) arrived: u64,
    pub(crate) lost: u64,
    pub(crate) duplicates: u64,
    /// Came after they had been waited for in vain.
    pub(crate) late: u64,
    /// Came after an event of a later publish; absent where events do not say whose they are.
    pub(crate) out_of_order: Option<u64>,
    /// Arrivals a second of the time in which there were any.
    pub(crate) delivered_per_s: Option<f64>,
    /// From the start of a connection to the acknowledgement.
    pub(crate) ack_us: Latency,
    /// From the publish to an event's arrival.
    pub(crate) arrival_us: Latency,
    /// From the publish to the last stream's arrival.
    pub(crate) last_arrival_us: Latency,
    /// From the publish to its answer.
    pub(crate) answer_us: Latency,
    #[serde(flatten)]
    pub(crate) target: Option<Look>,
}

impl Figures {
    /// The figures of a run.
    pub(crate) fn of(found: &Found) -> Self {
        let Found { setting, times, publishes, tally, .. } = found;
        let delivering = found.delivering().as_secs_f64();
        let latency = |histogram: &Histogram<u64>| Latency::of(histogram);
        Self {
            streams: setting.streams,
            opened: found.opened,
            broken: found.broken,
            open_per_s: setting.open_rate,
            opening_s: times.opening.as_secs_f64(),
            publishing_s: times.publishing.as_secs_f64(),
            holding_s: times.holding.as_secs_f64(),
            closing_s: times.closing.as_secs_f64(),
            filter: setting.filter.to_string(),
            honoured: tally
                .honoured
                .as_ref()
                .map(|honoured| shortened(&Value::from(honoured.fields().clone()).to_string())),
            publish: setting.publish.clone(),
            publishes: publishes.right,
            publishes_wrong: publishes.wrong,
            expected: publishes.expected,
            arrived: tally.arrived,
            lost: found.lost(),
            duplicates: tally.duplicates,
            late: tally.late,
            out_of_order: setting.numbered.then_some(tally.out_of_order),
            delivered_per_s: (delivering > 0.0).then(|| tally.arrived as f64 / delivering),
            ack_us: latency(&tally.to_ack),
            arrival_us: latency(&tally.to_arrival),
            last_arrival_us: latency(&publishes.to_last),
            answer_us: latency(&publishes.to_answer),
            target: found.target.as_ref().map(|target| target.look(found.opened, tally.arrived)),
        }
    }

    fn show_counts(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "streams      {} asked, {} opened in {:.2} s, {} ended by themselves; closed in {:.2} s",
            count(self.streams),
            count(self.opened),
            self.opening_s,
            count(self.broken),
            self.closing_s,
        )?;
        writeln!(
            f,
            "publishes    {} right, {} wrong, in {:.2} s; then held for {:.2} s",
            count(self.publishes),
            count(self.publishes_wrong),
            self.publishing_s,
            self.holding_s,
        )?;
        let order = match self.out_of_order {
            Some(events) => format!("{} out of order", count(events)),
            None => "order not visible".to_owned(),
        };
        writeln!(
            f,
            "events       {} expected, {} arrived: {} lost, {} duplicates, {} late, {order}",
            count(self.expected),
            count(self.arrived),
            count(self.lost),
            count(self.duplicates),
            count(self.late),
        )
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "filter       {}", shortened(&self.filter))?;
        writeln!(f, "published by {}", self.publish.as_deref().unwrap_or("nobody"))?;
        self.show_counts(f)?;
        for (title, times) in [
            ("ack", &self.ack_us),
            ("arrival", &self.arrival_us),
            ("last arrival", &self.last_arrival_us),
            ("answer", &self.answer_us),
        ] {
            write!(f, "{title:12}")?;
            for (name, us) in times.percentiles() {
                write!(f, " {name} {:<9}", some_time(us))?;
            }
            writeln!(f)?;
        }
        match &self.target {
            Some(look) => write!(f, "{look}"),
            None => writeln!(f, "target       not looked at (--pid names it)"),
        }
    }
}

impl fmt::Display for Look {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = |size: Option<u64>| size.map_or_else(|| "?".to_owned(), bytes);
        let each = |each: Option<f64>| each.map_or_else(|| "?".to_owned(), |b| format!("{b:.0}"));
        writeln!(
            f,
            "target       {} bytes per stream while held, {} before the first publish",
            each(self.bytes_per_stream),
            each(self.bytes_per_new_stream),
        )?;
        writeln!(
            f,
            "resident     {} before, {} opened, {} held, {} closed, {} at most",
            bytes(self.rss_before_bytes),
            size(self.rss_opened_bytes),
            size(self.rss_held_bytes),
            size(self.rss_closed_bytes),
            size(self.rss_peak_bytes),
        )?;
        let seconds =
            |cpu: Option<f64>| cpu.map_or_else(|| "?".to_owned(), |cpu| format!("{cpu:.2} s"));
        writeln!(
            f,
            "target CPU   {} opening, {} publishing ({} a delivery), {} holding",
            seconds(self.cpu_opening_s),
            seconds(self.cpu_publishing_s),
            some_time(self.cpu_us_per_delivery),
            seconds(self.cpu_holding_s),
        )?;
        let files = |files: Option<u64>| files.map_or_else(|| "?".to_owned(), count);
        writeln!(
            f,
            "target files {} before, {} held, {} closed",
            files(self.files_before),
            files(self.files_held),
            files(self.files_closed),
        )
    }
}

/// A filter may be long.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(FILTER_SHOWN) {
        Some((at, _)) => format!("{} …", &text[..at]),
        None => text.to_owned(),
    }
}
