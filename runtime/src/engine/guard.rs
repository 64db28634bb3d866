//! Panics stay where they happen: a future is polled and dropped inside `catch_unwind`, so the worker goes on.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

/// What a caught panic said, for the log. Never sent to a client.
#[derive(Debug)]
pub(crate) struct Panic(String);

impl std::fmt::Display for Panic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Panic {
    pub(crate) fn new(payload: Box<dyn Any + Send>) -> Self {
        let text = payload
            .downcast_ref::<&'static str>()
            .map(|text| (*text).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "a panic without text".into());
        // A payload may panic in its own drop; leaking it costs a few bytes and cannot.
        std::mem::forget(payload);
        Self(text)
    }
}

/// Runs `f`, turning a panic into a value.
pub(crate) fn catch<T>(f: impl FnOnce() -> T) -> Result<T, Panic> {
    // State shared with `f` may be left half-changed: the callers drop what the panic touched.
    catch_unwind(AssertUnwindSafe(f)).map_err(Panic::new)
}

/// Runs a future to its end, turning a panic of any poll, or of its drop, into a value. It is made in here, since an
/// async function would keep one that it was given twice.
pub(crate) async fn catch_future<F: Future>(make: impl FnOnce() -> F) -> Result<F::Output, Panic> {
    let mut place = pin!(Some(make()));
    let result = poll_fn(|cx| {
        let poll = catch(|| match place.as_mut().as_pin_mut() {
            Some(future) => future.poll(cx),
            None => Poll::Pending,
        });
        match poll {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    })
    .await;
    let dropped = catch(|| place.set(None));
    result.and_then(|output| dropped.map(|()| output))
}
