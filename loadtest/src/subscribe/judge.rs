//! Is this the message that a subscription should get now? One judge for each stream.

use std::cell::OnceCell;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::filter::{Filter, Honoured};
use crate::fault::{Fault, Kind};
use crate::request::Digits;

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// What the streams of one thread have in common.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) filter: Arc<Filter>,
    /// The first acknowledgement; all others must promise the same.
    pub(crate) honoured: OnceCell<(String, Honoured)>,
}

/// What a message was.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// The acknowledgement, first and right.
    Acknowledged,
    /// The first event of this publish on this stream; a later publish's may have come before it.
    Arrived {
        publish: u64,
        in_order: bool,
    },
    /// A second event of one publish.
    Duplicate,
    /// An event that an earlier publish had been waited for in vain.
    Late,
    /// The closing result.
    Closed,
    Wrong(Fault),
}

/// The state of one subscription.
#[derive(Debug)]
pub(crate) struct Judge {
    id: u64,
    acknowledged: bool,
    closed: bool,
    book: Book,
}

/// Which publishes' events a stream has.
#[derive(Debug)]
enum Book {
    /// Events look alike: each belongs to the publish under way.
    Alike { last: u64, owed: u64 },
    /// Events say whose they are: a bit for each publish, from 0 for number 1.
    Numbered { seen: Vec<u64>, highest: u64 },
}

#[derive(Deserialize)]
struct Message<'m> {
    #[serde(borrow)]
    jsonrpc: Option<&'m RawValue>,
    #[serde(borrow)]
    id: Option<&'m RawValue>,
    method: Option<String>,
    #[serde(borrow)]
    params: Option<Params<'m>>,
    #[serde(borrow)]
    result: Option<Params<'m>>,
}

/// The members of `params` and of a closing `result` that matter here.
#[derive(Deserialize)]
struct Params<'m> {
    #[serde(borrow, rename = "_meta")]
    meta: Option<Meta<'m>>,
    #[serde(borrow)]
    notifications: Option<&'m RawValue>,
    uri: Option<String>,
}

#[derive(Deserialize)]
struct Meta<'m> {
    #[serde(borrow, rename = "io.modelcontextprotocol/subscriptionId")]
    subscription: Option<&'m RawValue>,
}

impl Judge {
    /// For the subscription with this id.
    pub(crate) fn new(id: u64, filter: &Filter) -> Self {
        let book = match filter.is_numbered() {
            false => Book::Alike { last: 0, owed: 0 },
            true => Book::Numbered { seen: Vec::new(), highest: 0 },
        };
        Self { id, acknowledged: false, closed: false, book }
    }

    pub(crate) fn is_acknowledged(&self) -> bool {
        self.acknowledged
    }

    /// Whether the closing result was there.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether this stream has the event of that publish.
    pub(crate) fn has(&self, publish: u64) -> bool {
        match &self.book {
            Book::Alike { last, .. } => *last >= publish,
            Book::Numbered { seen, .. } => {
                let (word, bit) = place(publish);
                seen.get(word).is_some_and(|bits| bits & bit != 0)
            }
        }
    }

    /// Judges the next message; `current` is the publish under way.
    pub(crate) fn take(&mut self, event: &[u8], current: u64, rules: &Rules) -> Verdict {
        self.judge(event, current, rules)
            .unwrap_or_else(|(kind, reason)| Verdict::Wrong(Fault::showing(kind, reason, event)))
    }

    fn judge(
        &mut self,
        event: &[u8],
        current: u64,
        rules: &Rules,
    ) -> Result<Verdict, (Kind, String)> {
        let wrong = |kind, reason: &str| Err((kind, reason.to_owned()));
        let message: Message<'_> = serde_json::from_slice(event)
            .map_err(|error| (Kind::Message, format!("no message ({error})")))?;
        if message.jsonrpc.map(RawValue::get) != Some(r#""2.0""#) {
            return wrong(Kind::Message, "not JSON-RPC 2.0");
        }
        if self.closed {
            return wrong(Kind::Stray, "a message after the closing result");
        }
        let Some(method) = message.method else { return self.judge_closing(&message) };
        if message.id.is_some() {
            return wrong(Kind::Stray, "a request on a subscription");
        }
        if !self.is_mine(message.params.as_ref()) {
            return Err((Kind::Tag, format!("not tagged with subscription {}", self.id)));
        }
        let params = message.params.as_ref();
        if method == ACKNOWLEDGED {
            return self.judge_acknowledgement(params, rules);
        }
        if !self.acknowledged {
            return wrong(Kind::Ack, "a message before the acknowledgement");
        }
        let uri = params.and_then(|params| params.uri.as_deref());
        let honoured = rules.honoured.get().map(|(_, honoured)| honoured);
        if !honoured.is_some_and(|honoured| honoured.covers(&method, uri)) {
            return wrong(Kind::Stray, "outside the acknowledged filter");
        }
        self.enter(uri.and_then(|uri| rules.filter.number_of(uri)), current)
    }

    /// [SUB-03] [SUB-04] Whether it carries this subscription's id, as it was sent.
    fn is_mine(&self, params: Option<&Params<'_>>) -> bool {
        let tag = params.and_then(|params| params.meta.as_ref()?.subscription);
        tag.is_some_and(|tag| tag.get().as_bytes() == Digits::default().of(self.id))
    }

    /// [SUB-02] [SUB-05] Once, first, and no more than asked for.
    fn judge_acknowledgement(
        &mut self,
        params: Option<&Params<'_>>,
        rules: &Rules,
    ) -> Result<Verdict, (Kind, String)> {
        let wrong = |reason: String| Err((Kind::Ack, reason));
        if self.acknowledged {
            return wrong("a second acknowledgement".to_owned());
        }
        let Some(text) = params.and_then(|params| params.notifications).map(RawValue::get) else {
            return wrong("no notifications in it".to_owned());
        };
        match rules.honoured.get() {
            Some((first, _)) if first == text => {}
            first => {
                let honoured =
                    Honoured::read(text, &rules.filter).map_err(|reason| (Kind::Ack, reason))?;
                if first.is_some_and(|(_, first)| *first != honoured) {
                    return wrong("it honours something else than another stream's".to_owned());
                }
                rules.honoured.get_or_init(|| (text.to_owned(), honoured));
            }
        }
        self.acknowledged = true;
        Ok(Verdict::Acknowledged)
    }

    /// [SUB-14] A response is the closing result.
    fn judge_closing(&mut self, message: &Message<'_>) -> Result<Verdict, (Kind, String)> {
        let mut digits = Digits::default();
        if message.id.map(|id| id.get().as_bytes()) != Some(digits.of(self.id)) {
            return Err((Kind::Id, format!("the id is not {}", self.id)));
        }
        if message.result.is_none() {
            return Err((Kind::Error, "an error".to_owned()));
        }
        if !self.acknowledged {
            return Err((Kind::Ack, "a result before the acknowledgement".to_owned()));
        }
        if !self.is_mine(message.result.as_ref()) {
            return Err((Kind::Tag, format!("not tagged with subscription {}", self.id)));
        }
        self.closed = true;
        Ok(Verdict::Closed)
    }

    /// Finds the publish of an event: `number` is what the event says, if it says something.
    fn enter(&mut self, number: Option<u64>, current: u64) -> Result<Verdict, (Kind, String)> {
        let wrong = |reason: &str| Err((Kind::Stray, reason.to_owned()));
        match &mut self.book {
            Book::Alike { .. } if current == 0 => wrong("an event before the first publish"),
            Book::Alike { last, owed } if *last < current => {
                *owed += current - *last - 1;
                *last = current;
                Ok(Verdict::Arrived { publish: current, in_order: true })
            }
            Book::Alike { owed: 0, .. } => Ok(Verdict::Duplicate),
            Book::Alike { owed, .. } => {
                *owed -= 1;
                Ok(Verdict::Late)
            }
            Book::Numbered { seen, highest } => match number {
                None => wrong("an event without a publish's number"),
                Some(number) if number > current => wrong("an event before its publish"),
                Some(publish) => {
                    let (word, bit) = place(publish);
                    if seen.len() <= word {
                        seen.resize(word + 1, 0);
                    }
                    if seen[word] & bit != 0 {
                        return Ok(Verdict::Duplicate);
                    }
                    seen[word] |= bit;
                    let in_order = publish > *highest;
                    *highest = publish.max(*highest);
                    Ok(Verdict::Arrived { publish, in_order })
                }
            },
        }
    }
}

/// Word and bit of a publish in [`Book::Numbered`].
fn place(publish: u64) -> (usize, u64) {
    let index = publish.saturating_sub(1);
    (usize::try_from(index / 64).unwrap_or(usize::MAX - 1), 1 << (index % 64))
}

#[cfg(test)]
mod tests;
