//! Under construction.

mod engine;
mod hub;
mod io;
mod notifier;
