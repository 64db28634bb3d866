//! Whole connections over a simulated network: seeded faults, virtual time, no runtime, no sleeps.
//!
//! [`world`] is the server and one peer of it, polled only when something woke it, so that a lost wake shows as an
//! answer that never comes.

mod buffers;
mod chaos;
mod sessions;
mod sizes;
mod world;
