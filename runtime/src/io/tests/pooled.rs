//! The boxes of handlers' futures.

use std::cell::Cell;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::io::PooledFuture;

/// Counts its drops, and answers with the address it stands at.
struct Counted<const BYTES: usize> {
    drops: Rc<Cell<usize>>,
    panics: bool,
    filling: [u8; BYTES],
}

impl<const BYTES: usize> Future for Counted<BYTES> {
    type Output = usize;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<usize> {
        assert!(self.filling.iter().all(|byte| *byte == 7), "nobody else writes here");
        Poll::Ready(std::ptr::from_ref(&*self).addr())
    }
}

impl<const BYTES: usize> Drop for Counted<BYTES> {
    fn drop(&mut self) {
        self.drops.set(self.drops.get() + 1);
        assert!(!self.panics, "as the test asked");
    }
}

fn boxed<const BYTES: usize>(
    drops: &Rc<Cell<usize>>,
    panics: bool,
) -> PooledFuture<'static, usize> {
    PooledFuture::new(Counted { drops: drops.clone(), panics, filling: [7; BYTES] })
}

fn poll<T>(future: &mut PooledFuture<'_, T>) -> T {
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("ready at once"),
    }
}

/// [SEC-07] a future is dropped once, whatever its size; the next of its size takes its place, also after a destructor
/// that panicked
#[test]
fn places_are_used_again() {
    fn check<const BYTES: usize>(pooled: bool) {
        let drops = Rc::new(Cell::new(0));
        let mut first = boxed::<BYTES>(&drops, true);
        let place = poll(&mut first);
        assert_eq!(poll(&mut first), place, "pinned");
        catch_unwind(AssertUnwindSafe(|| drop(first))).expect_err("it panics");
        assert_eq!(drops.get(), 1);
        let mut next = boxed::<BYTES>(&drops, false);
        assert!(!pooled || poll(&mut next) == place, "{BYTES} bytes: the free place is taken");
        drop(next);
        assert_eq!((drops.get(), Rc::strong_count(&drops)), (2, 1));
    }
    check::<0>(true);
    check::<400>(true);
    check::<512>(true);
    check::<5000>(true);
    check::<100_000>(false);
}

/// [SEC-07] many at once do not share places, and what is beyond the kept number goes back to the allocator
#[test]
fn many_at_once_are_apart() {
    let drops = Rc::new(Cell::new(0));
    for _ in 0..3 {
        let mut many: Vec<_> = (0..500).map(|_| boxed::<600>(&drops, false)).collect();
        let mut places: Vec<usize> = many.iter_mut().map(poll).collect();
        places.sort_unstable();
        assert!(places.windows(2).all(|two| two[1] - two[0] >= size_of::<Counted<600>>()));
    }
    assert_eq!(drops.get(), 1500);
}

/// [SEC-07] a future that borrows, one without size, and one that asks for a large alignment
#[test]
fn odd_futures_are_served() {
    #[repr(align(256))]
    struct Aligned(u8);
    let text = String::from("borrowed");
    let mut borrowing = PooledFuture::new(async { text.len() });
    let mut empty = PooledFuture::new(std::future::ready(()));
    let mut aligned = PooledFuture::new(async {
        let large = Aligned(1);
        std::ptr::from_ref(&large).addr() % 256 + usize::from(large.0)
    });
    poll(&mut empty);
    assert_eq!((poll(&mut borrowing), poll(&mut aligned)), (8, 1));
}

/// [SEC-07] a thread that ends gives its places back, and a future that outlives nothing is dropped on its own thread
#[test]
fn threads_end_cleanly() {
    std::thread::spawn(|| {
        let drops = Rc::new(Cell::new(0));
        drop((0..10).map(|_| boxed::<600>(&drops, false)).collect::<Vec<_>>());
        assert_eq!(drops.get(), 10);
    })
    .join()
    .expect("no panic");
}
