//! MCP's rules about HTTP: who may call, which media types, which headers stand for the body.

pub mod accept;
pub mod envelope;
pub mod head;
pub mod ladder;
pub mod legacy;
pub mod media_type;
pub mod method;
pub mod origin;
pub mod params;
pub mod refusal;

mod era;
mod names;

pub use era::{FIRST_MODERN, is_modern};
