//! The boxed future of a running handler.

use super::Outcome;
use crate::io::PooledFuture;

/// A running handler. Dropping it is its cancellation: its destructors run.
pub(crate) type HandlerFuture<'a> = PooledFuture<'a, Outcome>;
