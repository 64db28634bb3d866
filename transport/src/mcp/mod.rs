//! MCP's rules about HTTP: who may call, which media types, which headers stand for the body.

pub mod accept;
pub mod head;
pub mod media_type;
pub mod origin;
