//! The deadline table against a naive list, and the clock.

use std::cell::RefCell;
use std::rc::Rc;
use std::task::{Context, Poll};

use proptest::prelude::*;

use super::{bells, date_of};
use crate::engine::clock::Clock;
use crate::engine::deadline::{Deadlines, Kind};
use crate::io::link::{Ends, How, Shutdown};

/// Remembers how it was shut down.
#[derive(Default)]
struct Witness(RefCell<Vec<How>>);

impl Ends for Witness {
    fn end(&self, how: How) {
        self.0.borrow_mut().push(how);
    }
}

const KINDS: [Kind; 9] = [
    Kind::Body,
    Kind::Drain,
    Kind::Handler,
    Kind::Head,
    Kind::Idle,
    Kind::KeepAlive,
    Kind::Quiet,
    Kind::Sleep,
    Kind::Write,
];

/// Head, body and idle deadlines end reading only, so that an answer can still be written; a write deadline ends both; a
/// quiet one interrupts; all others wake their task and leave the link alone.
#[test]
fn each_kind_does_its_own_thing() {
    for kind in KINDS {
        let table = Deadlines::new();
        let witness = Rc::new(Witness::default());
        let slot = table.slot(Some(Shutdown::new(witness.clone())));
        let (bell, waker) = bells();
        slot.arm(kind, 100);
        assert_eq!(slot.poll_fired(&Context::from_waker(&waker)), Poll::Pending);
        assert_eq!((table.tick(99), bell.count(), slot.fired()), (0, 0, None));
        assert_eq!((table.tick(100), bell.count(), slot.fired()), (1, 1, Some(kind)));
        let expected: &[How] = match kind {
            Kind::Body | Kind::Head | Kind::Idle => &[How::Read],
            Kind::Quiet => &[How::Interrupt],
            Kind::Write => &[How::Both],
            _ => &[],
        };
        assert_eq!(*witness.0.borrow(), expected, "{kind:?}");
        assert_eq!(slot.poll_fired(&Context::from_waker(&waker)), Poll::Ready(kind));
        assert_eq!(table.tick(u64::MAX - 1), 0, "a deadline fires once");
    }
}

/// A disarmed slot keeps its link alive and open; a dropped one forgets link and waker at once.
#[test]
fn a_dropped_slot_holds_nothing() {
    let table = Deadlines::new();
    let witness = Rc::new(Witness::default());
    let (bell, waker) = bells();
    let slot = table.slot(Some(Shutdown::new(witness.clone())));
    slot.arm(Kind::Write, 10);
    let _ = slot.poll_fired(&Context::from_waker(&waker));
    drop(waker);
    slot.disarm();
    assert_eq!((table.tick(20), witness.0.borrow().len()), (0, 0));
    slot.arm(Kind::Write, 30);
    drop(slot);
    assert_eq!((Rc::strong_count(&witness), std::sync::Arc::strong_count(&bell)), (1, 1));
    assert_eq!(table.tick(40), 0);
    // The place is used again and starts clean.
    let next = table.slot(None);
    next.arm(Kind::Sleep, 50);
    assert_eq!((next.fired(), table.tick(50), next.fired()), (None, 1, Some(Kind::Sleep)));
}

#[derive(Clone, Debug)]
enum Step {
    Arm(usize, u64),
    Disarm(usize),
    Replace(usize),
    Tick(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0..6_usize, 0..200_u64).prop_map(|(slot, after)| Step::Arm(slot, after)),
        1 => (0..6_usize).prop_map(Step::Disarm),
        1 => (0..6_usize).prop_map(Step::Replace),
        3 => (0..90_u64).prop_map(Step::Tick),
    ];
    proptest::collection::vec(step, 0..120)
}

proptest! {
    /// Whatever is armed, disarmed and replaced in whatever order, each tick fires exactly what a plain list would.
    #[test]
    fn the_table_fires_what_a_list_would(steps in steps()) {
        let table = Deadlines::new();
        let mut slots: Vec<_> = (0..6).map(|_| table.slot(None)).collect();
        let mut list: Vec<Option<u64>> = vec![None; 6];
        let mut fired = [false; 6];
        let mut now = 0;
        for step in steps {
            match step {
                Step::Arm(i, after) => {
                    slots[i].arm(Kind::Sleep, now + after);
                    (list[i], fired[i]) = (Some(now + after), false);
                }
                Step::Disarm(i) => {
                    slots[i].disarm();
                    list[i] = None;
                }
                Step::Replace(i) => {
                    slots[i] = table.slot(None);
                    (list[i], fired[i]) = (None, false);
                }
                Step::Tick(by) => {
                    now += by;
                    let due: Vec<_> = (0..6).filter(|&i| list[i].is_some_and(|at| at <= now)).collect();
                    prop_assert_eq!(table.tick(now), due.len());
                    for i in due {
                        (list[i], fired[i]) = (None, true);
                    }
                }
            }
            for i in 0..6 {
                prop_assert_eq!(slots[i].fired().is_some(), fired[i]);
            }
        }
    }
}

/// Virtual time moves only when told; the date is written anew once per second of it.
#[test]
fn a_simulated_clock_moves_by_hand() {
    let clock = Clock::simulated(1_000, date_of);
    assert_eq!((clock.now_ms(), clock.unix_secs(), clock.date()), (0, 1_000, date_of(1_000)));
    clock.refresh();
    clock.advance(999);
    assert_eq!((clock.now_ms(), clock.unix_secs(), clock.date()), (999, 1_000, date_of(1_000)));
    clock.advance(1);
    assert_eq!((clock.now_ms(), clock.unix_secs(), clock.date()), (1_000, 1_001, date_of(1_001)));
}

/// The system's clock starts at zero with a real date, and takes no orders.
#[test]
fn the_system_clock_takes_no_orders() {
    let clock = Clock::system(date_of);
    assert!(clock.unix_secs() > 1_600_000_000);
    let before = clock.now_ms();
    clock.advance(1_000_000);
    assert_eq!(clock.now_ms(), before);
    clock.refresh();
    assert!(clock.now_ms() >= before && clock.now_ms() < before + 1_000_000);
}

/// Firing all of a kind fires what is armed with that kind, and nothing else.
#[test]
fn firing_all_of_a_kind_leaves_the_others() {
    let table = Deadlines::new();
    let slots: Vec<_> = KINDS.map(|kind| (kind, table.slot(None))).into();
    for (kind, slot) in &slots {
        slot.arm(*kind, 1000);
    }
    let unarmed = table.slot(None);
    unarmed.arm(Kind::Idle, 1000);
    unarmed.disarm();
    table.fire_all(Kind::Idle);
    for (kind, slot) in &slots {
        assert_eq!(slot.fired(), (*kind == Kind::Idle).then_some(Kind::Idle));
    }
    assert_eq!((unarmed.fired(), table.tick(1000)), (None, KINDS.len() - 1));
}
