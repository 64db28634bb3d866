//! The events of a session against a model that keeps everything.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use proptest::prelude::*;
use transport::mcp::legacy::EventId;

use crate::legacy::feed::{Feed, News};
use crate::legacy::streams::{Kept, Lost, STANDING, Streams};

fn feed() -> Arc<Feed> {
    Arc::new(Feed::new(usize::MAX))
}

/// What a reader has been sent: event ids with their data, and whether the stream has ended.
fn read(feed: &Feed) -> (Vec<(EventId, String)>, bool) {
    let (mut text, mut ended) = (Vec::new(), false);
    while let Poll::Ready(news) = feed.poll_news(&mut Context::from_waker(Waker::noop())) {
        match news {
            News::Events(events) => text.extend(events),
            News::End => {
                ended = true;
                break;
            }
            News::Answer(answer) => panic!("{answer:?}"),
        }
    }
    let text = String::from_utf8(text).expect("UTF-8");
    let field = |block: &str, name: &str| {
        block.lines().find_map(|line| line.strip_prefix(name)).expect(name).to_owned()
    };
    let events = text.split_terminator("\n\n").map(|block| {
        (EventId::parse(field(block, "id: ").as_bytes()).expect("an id"), field(block, "data: "))
    });
    (events.filter(|(_, data)| !data.is_empty()).collect(), ended)
}

#[derive(Clone, Debug)]
enum Step {
    Begin,
    Push {
        stream: usize,
        bytes: usize,
    },
    End {
        stream: usize,
    },
    /// The client loses the stream's connection.
    Lose {
        stream: usize,
    },
    /// It comes back with the last event it has seen, or one that is older by so many.
    Resume {
        stream: usize,
        older: u64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        Just(Step::Begin),
        (0..4usize, 0..40usize).prop_map(|(stream, bytes)| Step::Push { stream, bytes }),
        (0..4usize, 0..40usize).prop_map(|(stream, bytes)| Step::Push { stream, bytes }),
        (0..4usize).prop_map(|stream| Step::End { stream }),
        (0..4usize).prop_map(|stream| Step::Lose { stream }),
        (0..4usize, 0..6u64).prop_map(|(stream, older)| Step::Resume { stream, older }),
    ]
}

/// One stream as the model sees it.
struct Model {
    number: u64,
    /// All messages that were ever sent on it.
    sent: Vec<String>,
    ended: bool,
    reader: Option<Arc<Feed>>,
    /// The newest event that any reader has seen.
    seen: u64,
}

impl Model {
    /// The reader has got exactly what follows `after`, in order.
    fn check(&mut self, after: u64) {
        let Some(reader) = &self.reader else { return };
        let (events, ended) = read(reader);
        let expected: Vec<(EventId, String)> = (after + 1..)
            .zip(&self.sent[after as usize..])
            .map(|(sequence, text)| (EventId { stream: self.number, sequence }, text.clone()))
            .collect();
        assert_eq!(events, expected, "stream {}", self.number);
        assert_eq!(ended, self.ended);
        self.seen = self.sent.len() as u64;
        if ended {
            self.reader = None;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    /// [LEG-65] [LEG-64] a replay after a reconnect loses nothing and repeats nothing, or is refused; every message is on
    /// one stream; what is kept stays within its bounds, and nothing is left of streams that have ended and been
    /// forgotten.
    #[test]
    fn replays_are_exact(priming: bool, steps in prop::collection::vec(step(), 0..120)) {
        let kept = Kept { events: 12, bytes: 150 };
        let mut streams = Streams::new(kept, priming);
        let mut models: Vec<Model> = Vec::new();
        for (at, step) in steps.into_iter().enumerate() {
            let newest = models.len().saturating_sub(1);
            let of = |stream: usize| stream.min(newest);
            match step {
                Step::Begin if models.len() < 4 => {
                    let reader = feed();
                    let number = streams.begin(Arc::clone(&reader));
                    models.push(Model { number, sent: Vec::new(), ended: false, reader: Some(reader), seen: 0 });
                }
                _ if models.is_empty() => {}
                Step::Push { stream, bytes } => {
                    let model = &mut models[of(stream)];
                    if !model.ended {
                        let text = format!("\"{at}{}\"", "x".repeat(bytes));
                        streams.push(model.number, text.as_bytes());
                        model.sent.push(text);
                        model.check(model.sent.len() as u64 - 1);
                    }
                }
                Step::End { stream } => {
                    let model = &mut models[of(stream)];
                    if !std::mem::replace(&mut model.ended, true) {
                        streams.end(model.number);
                        model.check(model.sent.len() as u64);
                    }
                }
                Step::Lose { stream } => {
                    if let Some(reader) = models[of(stream)].reader.take() {
                        reader.leave();
                    }
                }
                Step::Resume { stream, older } => {
                    let model = &mut models[of(stream)];
                    let sequence = model.seen.saturating_sub(older);
                    let reader = feed();
                    let last = EventId { stream: model.number, sequence };
                    match streams.resume(last, &reader) {
                        Ok(()) => {
                            model.reader = Some(reader);
                            model.check(sequence);
                        }
                        // Only where something that should follow is kept no more.
                        Err(Lost) => prop_assert!((sequence as usize) < model.sent.len() || model.ended),
                    }
                }
                Step::Begin => {}
            }
            let (events, bytes, _) = streams.held();
            prop_assert!(events <= kept.events && bytes <= kept.bytes);
        }
    }
}

/// [LEG-65] an id of no stream, or of an event that was never sent, is refused.
#[test]
fn unknown_events() {
    let mut streams = Streams::new(Kept { events: 2, bytes: 100 }, true);
    let number = streams.begin(feed());
    streams.push(number, b"1");
    for (stream, sequence) in [(number, 2), (number + 1, 0), (STANDING, 0), (u64::MAX, u64::MAX)] {
        assert_eq!(streams.resume(EventId { stream, sequence }, &feed()), Err(Lost));
    }
    // An event that is larger than all that may be kept is lost to whoever was not there.
    streams.push(number, &[b'1'; 101]);
    assert_eq!(streams.resume(EventId { stream: number, sequence: 1 }, &feed()), Err(Lost));
    assert_eq!(streams.resume(EventId { stream: number, sequence: 2 }, &feed()), Ok(()));
    // A stream that has ended is forgotten with its last event.
    streams.end(number);
    assert_eq!(streams.held(), (0, 0, 0));
}

/// [LEG-63] one reader of the standing stream at a time; a reader that has left is none.
#[test]
fn one_standing_reader() {
    let mut streams = Streams::new(Kept { events: 2, bytes: 100 }, true);
    let first = feed();
    assert!(streams.stand(Arc::clone(&first)));
    assert!(!streams.stand(feed()));
    first.leave();
    assert!(streams.stand(feed()));
}
