//! A panic stays in the future it happened in.

use std::cell::Cell;
use std::future::pending;
use std::rc::Rc;

use super::now;
use crate::engine::clock::Clock;
use crate::engine::guard::{catch, catch_future};
use crate::engine::pool::BufferPool;
use crate::engine::stall::StallMeter;

struct Flag(Rc<Cell<bool>>);

impl Drop for Flag {
    fn drop(&mut self) {
        self.0.set(true);
    }
}

/// The panic's text is kept for the log, and what the future held is dropped.
#[test]
fn a_panic_becomes_a_value() {
    let dropped = Rc::new(Cell::new(false));
    let flag = Flag(dropped.clone());
    let caught = now(catch_future(|| async move {
        let _held = flag;
        if std::hint::black_box(true) {
            panic!("row {} is odd", 7);
        }
        pending::<()>().await;
    }));
    assert_eq!(caught.expect_err("it panicked").to_string(), "row 7 is odd");
    assert!(dropped.get());
    assert_eq!(now(catch_future(|| async { 5 })).ok(), Some(5));
}

/// A destructor that panics is caught like any other code of the task, and so is a payload that is no text.
#[test]
fn panics_of_destructors_and_odd_payloads_are_caught() {
    struct Bad;
    impl Drop for Bad {
        fn drop(&mut self) {
            panic!("in drop");
        }
    }
    let bad = Bad;
    let future = async {
        std::future::ready(&bad).await;
    };
    assert!(now(catch_future(|| future)).is_ok());
    let moved = catch(move || drop(bad));
    assert_eq!(moved.expect_err("it panicked").to_string(), "in drop");
    let held = Bad;
    let caught = now(catch_future(|| async move {
        let _held = held;
    }));
    assert!(caught.is_err());
    let odd = catch(|| std::panic::panic_any(5_u8));
    assert_eq!(odd.expect_err("it panicked").to_string(), "a panic without text");
}

/// Above the threshold a poll is reported as a stall, at zero nothing is measured.
#[test]
fn stalls_are_told_from_quick_polls() {
    let clock = Clock::simulated(0, super::date_of);
    let always = StallMeter::new(std::time::Duration::from_nanos(1));
    let slow = || (0..1000).map(std::hint::black_box).sum::<u64>();
    assert_eq!(always.time(&clock, "sum", slow), (499_500, true));
    assert_eq!(always.time(&clock, "sum", slow), (499_500, true));
    let off = StallMeter::new(std::time::Duration::ZERO);
    assert_eq!(off.time(&clock, "sum", slow), (499_500, false));
    let patient = StallMeter::new(super::PATIENCE);
    assert_eq!(patient.time(&clock, "sum", slow), (499_500, false));
}

/// Buffers come back empty and with their capacity; grown and foreign ones, and more than the bound, are let go.
#[test]
fn the_pool_keeps_a_bounded_number_of_ordinary_buffers() {
    let pool = BufferPool::new(1024, 1);
    let mut first = pool.get();
    assert!(first.capacity() >= 1024);
    first.extend(b"left over");
    let place = first.as_ptr();
    pool.put(first);
    pool.put(Vec::with_capacity(1024));
    let again = pool.get();
    assert_eq!((again.as_ptr(), again.len()), (place, 0));
    pool.put(Vec::with_capacity(1024 * 5));
    pool.put(Vec::new());
    assert!(pool.get().capacity() >= 1024 && pool.get().capacity() < 1024 * 5);
}
