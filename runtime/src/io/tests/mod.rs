//! Tests of the links and the listener.

mod mem;
mod pooled;
mod tcp;

/// Room for one read.
const ROOM: usize = 64;

fn buffer() -> Vec<u8> {
    Vec::with_capacity(ROOM)
}
