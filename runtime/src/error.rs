//! Errors of the public API, sorted by blame: the program that embeds the server, the machine it runs on, or
//! one request's handler.

use std::borrow::Cow;
use std::fmt;

use codec::error::RpcError;
use codec::types::{CallToolResult, InputRequired};

use crate::handler::Outcome;

use crate::registry::RegistrationError;

/// Why a server did not start or stopped. The text names the cause and, where there is one, the remedy.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A tool, prompt or resource was registered wrongly: the program's fault.
    Registration(RegistrationError),
    /// The configuration contradicts itself or cannot be met: the program's or the operator's fault.
    Config(String),
    /// The address cannot be listened on.
    Address(String),
    /// The kernel refuses the driver that was asked for.
    Driver(String),
    /// Any other failure of the system.
    System(std::io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Registration(error) => error.fmt(f),
            Self::Config(text) | Self::Address(text) | Self::Driver(text) => f.write_str(text),
            Self::System(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<RegistrationError> for Error {
    fn from(error: RegistrationError) -> Self {
        Self::Registration(error)
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::System(error)
    }
}

/// Why a tool gives no ordinary result.
///
/// Any `std::error::Error` becomes a result with `isError` and its text: the model sees it and can react. Faults
/// of the protocol are made on purpose with [`ToolError::protocol`].
#[derive(Debug)]
pub struct ToolError(ToolFault);

#[derive(Debug)]
pub(crate) enum ToolFault {
    Text(Cow<'static, str>),
    Result(Box<CallToolResult>),
    Rpc(RpcError),
    Input(Box<InputRequired>),
}

impl ToolError {
    /// A failure of the tool itself, told to the model (CALL-05).
    pub fn new(text: impl Into<Cow<'static, str>>) -> Self {
        Self(ToolFault::Text(text.into()))
    }

    /// The same with a result of your making; `isError` is set.
    #[must_use]
    pub fn with_result(mut result: CallToolResult) -> Self {
        result.is_error = Some(true);
        Self(ToolFault::Result(Box::new(result)))
    }

    /// A JSON-RPC error. Application codes lie outside -32768 to -32000; a reserved one is answered as `-32603`
    /// and logged (ERR-04).
    #[must_use]
    pub const fn protocol(error: RpcError) -> Self {
        Self(ToolFault::Rpc(error))
    }

    /// Ends this round: the client gathers the input and calls again (ledger section 16).
    #[must_use]
    pub fn input_required(input: InputRequired) -> Self {
        Self(ToolFault::Input(Box::new(input)))
    }

    pub(crate) fn into_fault(self) -> ToolFault {
        self.0
    }
}

impl<E: std::error::Error + 'static> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self(ToolFault::Text(error.to_string().into()))
    }
}

impl From<Interrupt> for ToolError {
    fn from(interrupt: Interrupt) -> Self {
        Self(match interrupt.0 {
            Reason::Input(input) => ToolFault::Input(input),
            Reason::Rpc(error) => ToolFault::Rpc(error),
        })
    }
}

/// Why a prompt, resource, completion or custom method gives no ordinary result.
///
/// Any `std::error::Error` is the server's fault: the client gets "Internal error", the log gets the text (ERR-10).
#[derive(Debug)]
pub struct HandlerError(HandlerFault);

#[derive(Debug)]
enum HandlerFault {
    Internal(String),
    NotFound,
    Rpc(RpcError),
    Input(Box<InputRequired>),
}

impl HandlerError {
    /// The request asks for something that cannot be: `-32602` with this text.
    pub fn invalid(text: impl Into<Cow<'static, str>>) -> Self {
        Self(HandlerFault::Rpc(RpcError::invalid_params(text)))
    }

    /// There is no such resource: `-32602` with `data.uri` (RES-05).
    #[must_use]
    pub const fn not_found() -> Self {
        Self(HandlerFault::NotFound)
    }

    /// A JSON-RPC error of your making; reserved codes as for [`ToolError::protocol`].
    #[must_use]
    pub const fn protocol(error: RpcError) -> Self {
        Self(HandlerFault::Rpc(error))
    }

    /// Ends this round: the client gathers the input and asks again (ledger section 16).
    #[must_use]
    pub fn input_required(input: InputRequired) -> Self {
        Self(HandlerFault::Input(Box::new(input)))
    }

    pub(crate) fn for_resource(self, uri: &str) -> Self {
        match self.0 {
            HandlerFault::NotFound => Self(HandlerFault::Rpc(RpcError::resource_not_found(uri))),
            other => Self(other),
        }
    }

    pub(crate) fn into_outcome(self) -> Outcome {
        match self.0 {
            HandlerFault::Internal(text) => {
                tracing::error!(error = %text, "a handler failed");
                Outcome::Error(RpcError::internal())
            }
            HandlerFault::NotFound => Outcome::Error(RpcError::invalid_params("Not found")),
            HandlerFault::Rpc(error) => Outcome::Error(error),
            HandlerFault::Input(input) => Outcome::Input(input),
        }
    }
}

impl<E: std::error::Error + 'static> From<E> for HandlerError {
    fn from(error: E) -> Self {
        Self(HandlerFault::Internal(error.to_string()))
    }
}

impl From<Interrupt> for HandlerError {
    fn from(interrupt: Interrupt) -> Self {
        Self(match interrupt.0 {
            Reason::Input(input) => HandlerFault::Input(input),
            Reason::Rpc(error) => HandlerFault::Rpc(error),
        })
    }
}

/// A round that ends early because input is missing; pass it on with `?`.
#[derive(Debug)]
pub struct Interrupt(Reason);

#[derive(Debug)]
enum Reason {
    Input(Box<InputRequired>),
    Rpc(RpcError),
}

impl Interrupt {
    pub(crate) fn input(input: InputRequired) -> Self {
        Self(Reason::Input(Box::new(input)))
    }

    pub(crate) const fn rpc(error: RpcError) -> Self {
        Self(Reason::Rpc(error))
    }
}
