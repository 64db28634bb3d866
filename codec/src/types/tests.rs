//! Tests of the wire types.
