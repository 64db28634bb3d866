//! Tests of the links and the listener.
