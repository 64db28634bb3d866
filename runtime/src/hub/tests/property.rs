//! Random interleavings of everything that can happen to a hub, against an oracle that keeps every change.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::event::{Event, Payload};
use super::super::topic::Topic;
use super::super::{Filter, Subscription};
use super::{TAG, deliver, filter, hub, kinds, matching_hub, method, open, take, take_all};

const URIS: [&str; 5] = ["u:a", "u:a/x", "u:a/y", "u:b", "u:b/x"];
const TASKS: [&str; 2] = ["t0", "t1"];

/// One thing that can change, as the reader names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Thing {
    List(&'static str),
    Uri(&'static str),
    Task(&'static str),
}

#[derive(Clone, Debug)]
enum Step {
    Open { topics: u8, uris: u8, tasks: u8 },
    Close(usize),
    Publish(Thing),
    Deliver,
    Take(usize),
}

fn thing() -> impl Strategy<Value = Thing> {
    prop_oneof![
        (0..3usize).prop_map(|at| Thing::List(Topic::ALL[at].method())),
        (0..URIS.len()).prop_map(|at| Thing::Uri(URIS[at])),
        (0..TASKS.len()).prop_map(|at| Thing::Task(TASKS[at])),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => (0..8u8, 0..32u8, 0..4u8).prop_map(|(topics, uris, tasks)| Step::Open { topics, uris, tasks }),
        1 => any::<usize>().prop_map(Step::Close),
        6 => thing().prop_map(Step::Publish),
        3 => Just(Step::Deliver),
        3 => any::<usize>().prop_map(Step::Take),
    ]
}

/// What the oracle knows of one open stream.
struct Reader {
    subscription: Subscription,
    number: u64,
    wants: BTreeSet<Thing>,
    /// Changes since the stream opened that no frame has followed yet, with the newest number of each.
    owed: BTreeMap<Thing, u64>,
}

impl Reader {
    /// Whether a change of `thing` concerns this stream, with a matcher by prefix or without.
    fn concerned(&self, thing: &Thing, wide: bool) -> bool {
        let covers = |wanted: &Thing| match (wanted, thing) {
            (Thing::Uri(wanted), Thing::Uri(updated)) => wide && updated.starts_with(wanted),
            _ => false,
        };
        self.wants.contains(thing) || self.wants.iter().any(covers)
    }

    /// Checks frames against what was asked for and takes what they tell off the debt.
    fn read(&mut self, frames: &[Value], wide: bool) {
        let mut told = BTreeSet::new();
        for frame in frames {
            assert_eq!(frame["params"]["_meta"][TAG], json!(self.number));
            let thing = named(frame);
            assert!(self.concerned(&thing, wide), "not asked for: {frame}");
            assert!(told.insert(thing.clone()), "told twice in one write: {frame}");
            let newest = self.owed.remove(&thing);
            if let Thing::Task(_) = thing {
                assert_eq!(Some(frame["params"]["n"].as_u64().expect("a number")), newest);
            }
        }
    }
}

fn named(frame: &Value) -> Thing {
    let known = |names: &[&'static str], value: &Value| {
        *names.iter().find(|name| **name == *value).expect("a name of this test")
    };
    match method(frame) {
        "notifications/resources/updated" => Thing::Uri(known(&URIS, &frame["params"]["uri"])),
        "notifications/tasks" => Thing::Task(known(&TASKS, &frame["params"]["id"])),
        other => Thing::List(known(&Topic::ALL.map(Topic::method), &json!(other))),
    }
}

fn event(thing: &Thing, number: u64) -> Event {
    match thing {
        Thing::List(name) => {
            let topic = Topic::ALL.into_iter().find(|topic| topic.method() == *name);
            Event::ListChanged(topic.expect("a topic"))
        }
        Thing::Uri(uri) => Event::ResourceUpdated((*uri).into()),
        Thing::Task(id) => Event::Extension {
            field: "taskIds".into(),
            key: (*id).into(),
            payload: Payload::new(json!({ "id": id, "n": number }).as_object().expect("an object")),
        },
    }
}

fn wish(topics: u8, uris: u8, tasks: u8) -> (Filter, BTreeSet<Thing>) {
    let picked = |bits: u8, at: usize| bits & 1 << at != 0;
    let topics: Vec<_> = (0..3).filter(|at| picked(topics, *at)).map(|at| Topic::ALL[at]).collect();
    let uris: Vec<_> = (0..URIS.len()).filter(|at| picked(uris, *at)).map(|at| URIS[at]).collect();
    let tasks: Vec<_> = (0..2).filter(|at| picked(tasks, *at)).map(|at| TASKS[at]).collect();
    let mut filter = filter(&topics, &uris);
    let kind = kinds().named("taskIds").expect("registered");
    filter.keys.extend(tasks.iter().map(|id| (kind, Box::from(*id))));
    let wants = topics.iter().map(|topic| Thing::List(topic.method()));
    let wants = wants.chain(uris.iter().map(|uri| Thing::Uri(uri)));
    (filter, wants.chain(tasks.iter().map(|id| Thing::Task(id))).collect())
}

fn run(steps: &[Step], wide: bool) {
    let (exchange, hub) = if wide {
        matching_hub(|subscribed, updated| updated.starts_with(subscribed))
    } else {
        hub()
    };
    let mut readers: Vec<Reader> = Vec::new();
    for (number, step) in (1u64..).zip(steps) {
        match step {
            Step::Open { topics, uris, tasks } => {
                let (filter, wants) = wish(*topics, *uris, *tasks);
                let subscription = open(&hub, number, filter);
                readers.push(Reader { subscription, number, wants, owed: BTreeMap::new() });
            }
            Step::Close(at) if !readers.is_empty() => {
                readers.swap_remove(at % readers.len());
            }
            Step::Publish(thing) => {
                exchange.offer(&event(thing, number));
                for reader in readers.iter_mut().filter(|reader| reader.concerned(thing, wide)) {
                    reader.owed.insert(thing.clone(), number);
                }
            }
            Step::Deliver => deliver(&hub),
            Step::Take(at) if !readers.is_empty() => {
                let at = at % readers.len();
                let frames = take(&readers[at].subscription);
                // A frame about a change before this stream opened is harmless; it names something asked for.
                readers[at].read_leniently(&frames, wide);
            }
            Step::Close(_) | Step::Take(_) => {}
        }
    }
    deliver(&hub);
    for reader in &mut readers {
        let frames = take_all(&reader.subscription);
        reader.read_leniently(&frames, wide);
        assert!(reader.owed.is_empty(), "lost: {:?}", reader.owed);
    }
    drop(readers);
    assert_eq!((hub.len(), exchange.open_count(), hub.inbox.keys_wanted()), (0, 0, 0));
}

impl Reader {
    /// As [`Reader::read`]; a task's frame that follows no change since the opening may be of an older one, and
    /// one taken before the newest change was delivered leaves that change owed.
    fn read_leniently(&mut self, frames: &[Value], wide: bool) {
        let owed_before = self.owed.clone();
        let mut strict = Vec::new();
        for frame in frames {
            let thing = named(frame);
            let newest = owed_before.get(&thing);
            let is_newest = frame["params"]["n"].as_u64().is_none_or(|n| newest == Some(&n));
            if is_newest {
                strict.push(frame.clone());
            } else {
                assert!(self.concerned(&thing, wide), "not asked for: {frame}");
                assert!(newest.is_none_or(|newest| frame["params"]["n"].as_u64() < Some(*newest)));
            }
        }
        self.read(&strict, wide);
    }
}

proptest! {
    /// [SUB-06] [SUB-08] [SUB-11] [SUB-20] [SUB-23] after quiescence every stream was told of each thing it asked
    /// for after its last change, once per write, and never of anything else
    #[test]
    fn nothing_is_lost_and_nothing_is_told_unasked(steps in prop::collection::vec(step(), 0..120)) {
        run(&steps, false);
    }

    /// [SUB-09] the same with a matcher that covers everything below a URI
    #[test]
    fn nothing_is_lost_with_a_matcher(steps in prop::collection::vec(step(), 0..120)) {
        run(&steps, true);
    }
}
