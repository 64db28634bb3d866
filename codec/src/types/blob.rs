//! Base64 of binary payloads: standard alphabet, padded (CALL-09, RES-13).

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The text of a `data` or `blob` member is not padded standard Base64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotBase64;

impl fmt::Display for NotBase64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not padded standard Base64")
    }
}

impl std::error::Error for NotBase64 {}

pub(crate) fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

pub(crate) fn decode(text: &str) -> Result<Vec<u8>, NotBase64> {
    STANDARD.decode(text).map_err(|_| NotBase64)
}
