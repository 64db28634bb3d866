//! The boxed future of a running handler.

use std::future::Future;
use std::pin::Pin;

use super::Outcome;

/// A running handler. Dropping it is its cancellation: its destructors run.
pub(crate) type HandlerFuture<'a> = Pin<Box<dyn Future<Output = Outcome> + 'a>>;
