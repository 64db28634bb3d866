//! Rung 13: the envelope keys beside the version, read once and kept for the handler.

use codec::error::RpcError;
use codec::id::Id;
use codec::meta::{ClientInfo, LoggingLevel};
use codec::value::Object;

use super::ladder::{Case, Surface};

/// What a request says of its client (ENV-07: of this request only).
#[derive(Clone, Copy, Debug, Default)]
pub struct Envelope<'a> {
    /// `clientCapabilities`; set once rung 13 has passed.
    pub capabilities: Option<Object<'a>>,
    /// `clientInfo`, an unverified self-description (ENV-08).
    pub client: Option<ClientInfo<'a>>,
    /// `logLevel`: the request wants log messages at or above it.
    pub log_level: Option<LoggingLevel>,
    /// `progressToken`: the request wants progress.
    pub progress_token: Option<Id<'a>>,
}

impl<'a> Envelope<'a> {
    pub(super) fn read<S: Surface + ?Sized>(case: &mut Case<'a, S>) -> Result<(), RpcError> {
        let meta = &case.meta;
        case.envelope = Envelope {
            capabilities: Some(meta.capabilities()?),
            client: meta.client_info()?,
            log_level: meta.log_level()?,
            progress_token: meta.progress_token()?,
        };
        Ok(())
    }
}
