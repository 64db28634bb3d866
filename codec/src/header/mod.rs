//! What an HTTP field value means to MCP: legality, the Base64 sentinel, comparison with a body value,
//! and the `x-mcp-header` annotations of a tool's input schema.
//!
//! Nothing here knows HTTP framing: a value arrives as the bytes between the colon and the line end.
//! Reading order: [`decode`] (value.rs), [`check_param`] (param.rs), [`scan`] (annotation.rs).

mod annotation;
mod param;
mod value;

#[cfg(test)]
mod tests;

pub use annotation::{
    ANNOTATION, Declaration, SCHEMA_DEPTH_MAX, Violation, ViolationKind, lint, scan,
};
pub use param::{
    Argument, Number, PARAM_BYTES_MAX, ParamFault, ParamKind, bool_matches, check_param,
    number_matches,
};
pub use value::{HeaderFault, decode, encode, is_token, legal, trim};
