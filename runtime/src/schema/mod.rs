//! JSON Schema: what a tool's arguments and results are checked against.
//!
//! - [`input`]: a tool's `inputSchema`, checked in place on the parsed request (no copy of the arguments)
//! - [`output`]: a tool's `outputSchema`, checked on the handler's value
//! - [`survey`]: refuses schemas that reach outside themselves or cost too much, before they are compiled
//! - [`plan`]: settles ordinary schemas in one walk of the tape, where the document fits
//! - [`tape`]: the validator's view of a parsed document
//! - [`fuel`]: bounds the work of one check
//! - [`fault`]: says where and what, shortly
//!
//! Schemas come from whoever registers a tool, documents from whoever calls it. A schema is compiled once
//! (JSC-05); nothing here reads a file or opens a connection (JSC-03).
//!
//! Dialects: 2020-12 (also without `$schema`), 2019-09, draft-07, draft-06, draft-04 (JSC-01).

mod compile;
mod error;
mod fault;
mod fuel;
mod input;
mod output;
mod plan;
mod same;
mod survey;
mod tape;

#[cfg(test)]
mod tests;

pub use error::SchemaError;
pub(crate) use input::InputSchema;
pub(crate) use output::OutputSchema;

/// Levels of JSON nesting in one schema document (JSC-04). As deep as a request may be.
pub(crate) const SCHEMA_DEPTH_MAX: usize = 128;

/// Subschemas in one schema document (JSC-04).
pub(crate) const SUBSCHEMAS_MAX: usize = 10_000;

/// Subschemas that may apply to one and the same value, counted with repetition through `$ref`, `allOf`,
/// `anyOf`, `oneOf`, `not`, `if` and `dependentSchemas` (JSC-04): what makes nested `anyOf` exponential.
pub(crate) const SCHEMAS_PER_VALUE_MAX: u32 = 4096;

/// Longest chain of those through one value (JSC-04). Times the depth of a document, this bounds the stack.
pub(crate) const SCHEMA_CHAIN_MAX: u32 = 32;

/// Bytes one compiled `pattern` may take, and again for its lazily built automaton (JSC-04).
pub(crate) const PATTERN_BYTES_MAX: usize = 1 << 20;

/// Steps one check may take (JSC-04): about one per value, member or 64 bytes of text looked at.
/// A step is a few nanoseconds. Linear schemas spend some six steps per value, so this never stops one within the
/// default body limit; a recursive `oneOf` that tries every branch at every level does meet it.
pub(crate) const CHECK_STEPS_MAX: u64 = 50_000_000;

/// Faults one refused document may collect while the first ones are being told.
pub(crate) const FAULTS_COLLECTED_MAX: u32 = 256;

/// Faults named in one refusal.
pub(crate) const FAULTS_TOLD_MAX: usize = 3;

/// Characters of one refusal.
pub(crate) const FAULT_TEXT_CHARS_MAX: usize = 200;
