//! What a failed rung answers: a status, a JSON-RPC error, and the headers that belong to it.

use std::borrow::Cow;

use codec::error::RpcError;

use super::ladder::Rung;

/// A request that failed a rung of the ladder. No handler has run.
#[derive(Debug)]
pub struct Refusal {
    /// The rung that failed.
    pub rung: Rung,
    /// HTTP status.
    pub status: u16,
    /// The JSON-RPC error of the body; `None` for a body of another kind.
    pub error: Option<RpcError>,
    /// A JSON body that is no JSON-RPC message, such as an authorization error (AUTH-20).
    pub body: Option<Vec<u8>>,
    /// Extra response headers, such as `Allow` or `WWW-Authenticate`.
    pub headers: Vec<(&'static str, Cow<'static, str>)>,
}

impl Refusal {
    /// The refusal of `rung` with this error, at the status that the ladder gives the rung.
    #[must_use]
    pub fn at(rung: Rung, error: RpcError) -> Self {
        Self {
            rung,
            status: rung.row().status,
            error: Some(error),
            body: None,
            headers: Vec::new(),
        }
    }

    /// A refusal of `rung` in somebody else's words: no JSON-RPC error.
    #[must_use]
    pub fn without_error(rung: Rung, status: u16) -> Self {
        Self { rung, status, error: None, body: None, headers: Vec::new() }
    }

    /// The same with another status than the rung's usual one (406, 429, …).
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// The same with a JSON body that is no JSON-RPC message.
    #[must_use]
    pub fn with_body(mut self, body: Vec<u8>) -> Self {
        self.error = None;
        self.body = Some(body);
        self
    }

    /// The same with one more response header.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: impl Into<Cow<'static, str>>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}
