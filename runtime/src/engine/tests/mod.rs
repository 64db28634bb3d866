//! Tests of the engine. What touches a driver runs the same body on each.

mod deadlines;
mod drivers;
mod offloads;
mod panics;
mod wakes;
mod workers;

use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use super::core::CoreConfig;
use super::driver::{Chosen, Driver, choose};

/// Long enough for any machine: reaching it is the failure of the test.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The drivers of this machine. Where io_uring is forbidden, only epoll is left, loudly.
pub(crate) fn drivers() -> Vec<Chosen> {
    match choose(Driver::Uring) {
        Ok((uring, _)) => vec![uring, Chosen::Epoll],
        Err(e) => {
            eprintln!("SKIPPED: the io_uring half of this test: {e}");
            vec![Chosen::Epoll]
        }
    }
}

/// Runs the body on every driver.
pub(crate) fn on_each_driver(body: impl AsyncFn(Chosen)) {
    for chosen in drivers() {
        let mut runtime = chosen.runtime().expect("the probe has made a runtime like this one");
        runtime.block_on(body(chosen));
    }
}

/// A date that shows which second it was made from.
pub(crate) fn date_of(unix_secs: u64) -> [u8; 29] {
    let mut date = [b'0'; 29];
    for (place, digit) in date.iter_mut().rev().zip(unix_secs.to_string().bytes().rev()) {
        *place = digit;
    }
    date
}

pub(crate) fn core_config() -> CoreConfig {
    CoreConfig {
        connections_max: 64,
        mailbox_depth: 16,
        stall_threshold: Duration::ZERO,
        buffer_bytes: 1024,
        buffers_kept_max: 4,
        date: date_of,
    }
}

/// Counts its wakes.
#[derive(Default)]
pub(crate) struct Bells(std::sync::atomic::AtomicUsize);

impl Wake for Bells {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    }
}

impl Bells {
    pub(crate) fn count(&self) -> usize {
        self.0.load(std::sync::atomic::Ordering::SeqCst)
    }
}

pub(crate) fn bells() -> (Arc<Bells>, Waker) {
    let bells = Arc::new(Bells::default());
    (bells.clone(), Waker::from(bells))
}

/// Polls once with a waker that does nothing.
pub(crate) fn poll_once<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Runs a future that needs no runtime and is never pending.
pub(crate) fn now<F: Future>(future: F) -> F::Output {
    match poll_once(std::pin::pin!(future)) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("this future was to be ready at once"),
    }
}
