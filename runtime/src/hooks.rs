//! What an embedding program may put in front of dispatch: an authenticator, guards, and observers of answers.

use std::borrow::Cow;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use codec::value::Object;
use serde_json::{Map, Value};
use transport::http::HeadView;

/// Who a request is made for, as the authenticator found out. Never taken from what the client says of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Principal {
    /// The stable identifier that cursors, request states and subscription limits are bound to.
    pub subject: Arc<str>,
    /// The OAuth client, where known.
    pub client_id: Option<String>,
    /// Granted scopes, compared with those that a tool asks for (AUTH-12).
    pub scopes: Vec<String>,
    /// Unix seconds after which the grant is void; an open subscription ends then (AUTH-16).
    pub expires_at: Option<u64>,
    /// Further claims, for handlers.
    pub claims: Map<String, Value>,
}

impl Principal {
    /// A caller with this subject and no scopes.
    pub fn new(subject: impl Into<Arc<str>>) -> Self {
        Self {
            subject: subject.into(),
            client_id: None,
            scopes: Vec::new(),
            expires_at: None,
            claims: Map::new(),
        }
    }

    /// The same with one more scope.
    #[must_use]
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.scopes.push(scope.into());
        self
    }
}

/// The head of a request, before its body is read.
#[derive(Clone, Copy)]
pub struct RequestHead<'r> {
    pub(crate) view: HeadView<'r>,
    pub(crate) peer: Option<SocketAddr>,
}

impl<'r> RequestHead<'r> {
    /// The first header line of this name, whatever its case; raw bytes without surrounding blanks.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&'r [u8]> {
        self.view.get(name)
    }

    /// Every header line of this name.
    pub fn headers(&self, name: &str) -> impl Iterator<Item = &'r [u8]> {
        self.view.all(name)
    }

    /// The path and query as sent.
    #[must_use]
    pub fn target(&self) -> &'r str {
        self.view.target()
    }

    /// The other end of the connection; `None` in process.
    #[must_use]
    pub const fn peer(&self) -> Option<SocketAddr> {
        self.peer
    }
}

/// A refusal by an authenticator or a guard: a status, and what the client needs to do better.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    pub(crate) status: u16,
    pub(crate) challenge: Option<String>,
    pub(crate) error: Cow<'static, str>,
    pub(crate) description: Cow<'static, str>,
    pub(crate) retry_after: Option<Duration>,
}

impl Denied {
    /// `401` with a `WWW-Authenticate` challenge, such as `Bearer realm="mcp"` (AUTH-04).
    pub fn unauthorized(challenge: impl Into<String>) -> Self {
        Self {
            challenge: Some(challenge.into()),
            ..Self::with_status(401, "invalid_token", "Authenticate and send the request again")
        }
    }

    /// `400`: the credentials themselves are malformed, such as two of them (AUTH-06).
    pub fn invalid_request(description: impl Into<Cow<'static, str>>) -> Self {
        Self {
            challenge: Some(r#"Bearer error="invalid_request""#.to_owned()),
            ..Self::with_status(400, "invalid_request", description)
        }
    }

    /// `403` without a challenge.
    pub fn forbidden(description: impl Into<Cow<'static, str>>) -> Self {
        Self::with_status(403, "access_denied", description)
    }

    /// `403` for a valid credential that lacks scopes: names all that the operation needs (AUTH-05).
    #[must_use]
    pub fn insufficient_scope(scopes: &[String]) -> Self {
        // A scope is made of visible characters but for the quote and the backslash (RFC 6749, 3.3; AUTH-13).
        let scopes = scopes.join(" ").replace(['"', '\\'], "");
        Self {
            challenge: Some(format!(r#"Bearer error="insufficient_scope", scope="{scopes}""#)),
            ..Self::with_status(403, "insufficient_scope", format!("Needs the scopes: {scopes}"))
        }
    }

    /// `429` with `Retry-After` (SEC-03).
    #[must_use]
    pub fn too_many_requests(retry_after: Duration) -> Self {
        Self {
            retry_after: Some(retry_after),
            ..Self::with_status(429, "rate_limited", "Too many requests")
        }
    }

    /// `503`: the authority that would decide is out of reach (AUTH-14).
    #[must_use]
    pub fn unavailable() -> Self {
        Self::with_status(503, "temporarily_unavailable", "Authorization is out of reach")
    }

    fn with_status(
        status: u16,
        error: &'static str,
        description: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            status,
            challenge: None,
            error: error.into(),
            description: description.into(),
            retry_after: None,
        }
    }

    /// Another challenge.
    #[must_use]
    pub fn challenge(mut self, challenge: impl Into<String>) -> Self {
        self.challenge = Some(challenge.into());
        self
    }

    /// The body: small JSON in OAuth's style (AUTH-20).
    pub(crate) fn body(&self) -> Vec<u8> {
        serde_json::json!({ "error": self.error, "error_description": self.description })
            .to_string()
            .into_bytes()
    }
}

/// A request that has climbed the ladder, as guards see it: no handler has run.
#[derive(Clone, Copy)]
pub struct Observed<'r> {
    /// The method.
    pub method: &'r str,
    /// The tool or prompt name, or the resource URI.
    pub name: Option<&'r str>,
    /// The tool's or prompt's arguments.
    pub arguments: Option<Object<'r>>,
    /// Who asks, where an authenticator is set.
    pub principal: Option<&'r Principal>,
}

/// A request that was answered.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Answered<'r> {
    /// The method; empty when the request was refused before it was known.
    pub method: &'r str,
    /// The tool or prompt name, or the resource URI; clip it before it is logged.
    pub name: Option<&'r str>,
    /// HTTP status.
    pub status: u16,
    /// The JSON-RPC error code, if it was an error.
    pub code: Option<i32>,
    /// The rung of the ladder that refused, 1 to 24; `None` when a handler answered.
    pub rung: Option<u8>,
    /// From the whole request to the whole answer, in microseconds; 0 where the request was refused by its head.
    pub micros: u64,
}

pub(crate) type AuthFuture<'a> = Pin<Box<dyn Future<Output = Result<Rc<Principal>, Denied>> + 'a>>;

/// The erased authenticator.
pub(crate) trait Authenticate: Send + Sync {
    fn authenticate<'a>(&'a self, head: &'a RequestHead<'a>) -> AuthFuture<'a>;
}

impl<F> Authenticate for F
where
    F: AsyncFn(&RequestHead<'_>) -> Result<Principal, Denied> + Send + Sync + 'static,
{
    fn authenticate<'a>(&'a self, head: &'a RequestHead<'a>) -> AuthFuture<'a> {
        Box::pin(async move { self(head).await.map(Rc::new) })
    }
}

pub(crate) type Guard = Box<dyn Fn(&Observed<'_>) -> Result<(), Denied> + Send + Sync>;
pub(crate) type Observer = Box<dyn Fn(&Answered<'_>) + Send + Sync>;
pub(crate) type Hook = Box<dyn Fn() + Send + Sync>;
pub(crate) type UriRule = Arc<dyn Fn(Option<&Principal>, &str) -> bool + Send + Sync>;

/// The hooks of one server.
#[derive(Default)]
pub(crate) struct Hooks {
    pub(crate) authenticator: Option<Box<dyn Authenticate>>,
    pub(crate) guards: Vec<Guard>,
    pub(crate) observers: Vec<Observer>,
    pub(crate) may_watch: Option<UriRule>,
    pub(crate) after_peak: Option<Hook>,
}
