//! Tests of the wire types, by area. The round trip of the published examples is `tests/examples.rs`,
//! the comparison with the published schema `tests/schema.rs`.

mod builders;
mod elicitation;
mod input;
mod reading;
mod sampling;
