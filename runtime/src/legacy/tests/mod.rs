//! Sessions without a network: replay, expiry, and the shapes of answers.

mod expiry;
mod replay;
mod shaping;
