//! Publishers on other threads. No time is waited for: the core's side sleeps until its bell rings.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::thread;

use super::super::{Bus, Exchange, ExchangeConfig, Hub, LocalBus, Topic};
use super::{config, deliver, filter, open, take_all};
use crate::notifier::Notifier;

const CORES: usize = 2;
const PUBLISHERS: usize = 4;
const ROUNDS: u64 = 2_000;

/// What the readers compare with: a change is made here first and published after, as an application would.
#[derive(Default)]
struct World {
    tools: AtomicU64,
    resources: Mutex<HashMap<String, u64>>,
}

/// [SUB-19] [SUB-20] a storm from several threads: once it is over, every reader has looked at the newest state
/// of everything it follows, and no core was roused more often than it looked
#[test]
fn no_change_is_lost_across_threads() {
    let bus: Arc<dyn Bus> = Arc::new(LocalBus::new());
    let exchange = Exchange::new(ExchangeConfig { cores: CORES, ..config() }, &*bus);
    let world = Arc::new(World::default());
    let (ready, all_ready) = sync_channel(CORES);
    let (mut cores, mut bells) = (Vec::new(), Vec::new());
    for core in 0..CORES {
        let (bell, ring) = sync_channel::<bool>(64);
        bells.push(bell.clone());
        let rings = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&rings);
        exchange.inbox(core).set_bell(Box::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            let _ = bell.send(true);
        }));
        let (exchange, world, ready) = (Arc::clone(&exchange), Arc::clone(&world), ready.clone());
        cores.push(thread::spawn(move || {
            let hub = Hub::new(exchange, core, Arc::default());
            let names: Vec<String> = (0..PUBLISHERS).map(|n| format!("u:{n}")).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let stream = open(&hub, 1, filter(&[Topic::ToolsListChanged], &names));
            ready.send(()).expect("the test waits");
            let (mut tools, mut seen, mut looks) = (0, HashMap::new(), 0);
            let mut going = true;
            while going {
                going = ring.recv().expect("the bell outlives the core");
                looks += 1;
                deliver(&hub);
                for frame in take_all(&stream) {
                    match frame["params"]["uri"].as_str() {
                        None => tools = world.tools.load(Ordering::Acquire),
                        Some(uri) => {
                            let newest = world.resources.lock().expect("whole").get(uri).copied();
                            seen.insert(uri.to_owned(), newest.expect("changed before published"));
                        }
                    }
                }
            }
            assert!(rings.load(Ordering::Relaxed) <= looks, "one ring per look at most");
            (tools, seen)
        }));
    }
    for _ in 0..CORES {
        all_ready.recv().expect("every core opens its stream");
    }
    let publishers: Vec<_> = (0..PUBLISHERS)
        .map(|n| {
            let (notifier, world) = (Notifier::new(Arc::clone(&bus)), Arc::clone(&world));
            thread::spawn(move || {
                let uri = format!("u:{n}");
                for round in 1..=ROUNDS {
                    world.tools.fetch_add(1, Ordering::AcqRel);
                    notifier.tools_changed();
                    world.resources.lock().expect("whole").insert(uri.clone(), round);
                    notifier.resource_updated(&uri);
                    notifier.resource_updated("u:unknown");
                }
            })
        })
        .collect();
    for publisher in publishers {
        publisher.join().expect("publishing never fails");
    }
    for bell in bells {
        bell.send(false).expect("the core listens");
    }
    for core in cores {
        let (tools, seen) = core.join().expect("the core's side holds");
        assert_eq!(tools, PUBLISHERS as u64 * ROUNDS);
        assert_eq!(seen.len(), PUBLISHERS);
        assert!(seen.values().all(|round| *round == ROUNDS), "{seen:?}");
    }
}

/// [SUB-19] a core that never looks holds up nobody, is rung once, and keeps only what its streams follow
#[test]
fn a_core_that_does_not_look_costs_nothing() {
    let exchange = Exchange::new(config(), &LocalBus::new());
    let rings = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&rings);
    exchange.inbox(0).set_bell(Box::new(move || {
        counted.fetch_add(1, Ordering::Relaxed);
    }));
    let hub = Hub::new(Arc::clone(&exchange), 0, Arc::default());
    let _stream = open(&hub, 1, filter(&[Topic::ToolsListChanged], &["u:1", "u:2"]));
    for n in 0..100_000 {
        exchange.offer(&super::super::Event::ListChanged(Topic::ToolsListChanged));
        exchange.offer(&super::super::Event::ResourceUpdated(format!("u:{n}").into()));
    }
    assert_eq!(rings.load(Ordering::Relaxed), 1);
    let news = exchange.inbox(0).take();
    assert_eq!((news.keys.len(), news.wide.len()), (2, 0));
}

/// [SUB-20] news that came before the bell was installed rings it
#[test]
fn a_late_bell_rings_for_what_is_waiting() {
    let exchange = Exchange::new(config(), &LocalBus::new());
    let hub = Hub::new(Arc::clone(&exchange), 0, Arc::default());
    let stream = open(&hub, 1, filter(&[Topic::ToolsListChanged], &[]));
    exchange.offer(&super::super::Event::ListChanged(Topic::ToolsListChanged));
    let rings = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&rings);
    exchange.inbox(0).set_bell(Box::new(move || {
        counted.fetch_add(1, Ordering::Relaxed);
    }));
    assert_eq!(rings.load(Ordering::Relaxed), 1);
    deliver(&hub);
    assert!(stream.is_dirty());
}
