//! Tests of the engine: both drivers run the same bodies.
