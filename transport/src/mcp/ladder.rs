//! The ladder of ledger section 1c: every check a request passes before a handler runs, in order.
//!
//! [`LADDER`] is the order, once, as data. The checks that need only the request stand in this file, in that
//! order; the server runs the others (authorization, JSON, parameters, …) under the same [`Rung`]s. A list of
//! checks that is out of order does not compile.

use codec::error::{RpcError, code};
use codec::message::{Notification, Request};
use codec::meta::RequestMeta;

use super::envelope::Envelope;
use super::head::StandardHeaders;
use super::method::Method;
use super::refusal::Refusal;
use super::{era, names};

macro_rules! rungs {
    ($($number:literal $rung:ident $status:literal $code:expr, $what:literal;)+) => {
        /// A rung of the ladder, lowest first (PREC-01).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rung { $(#[doc = $what] $rung = $number),+ }

        /// Every rung with what it answers when it fails.
        pub const LADDER: [Row; 24] = [$(Row {
            rung: Rung::$rung, status: $status, code: $code, what: $what,
        }),+];
    };
}

/// One row of [`LADDER`].
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The rung; its discriminant is its number in the ledger.
    pub rung: Rung,
    /// HTTP status of a refusal here.
    pub status: u16,
    /// JSON-RPC error code of a refusal here; `None` where the body is the handler's or the authenticator's.
    pub code: Option<i32>,
    /// What the rung checks.
    pub what: &'static str,
}

rungs! {
    1  HostOrigin       403 Some(code::INVALID_REQUEST), "Host and Origin are allowed.";
    2  HttpMethod       405 Some(code::INVALID_REQUEST), "The HTTP method is POST.";
    3  Authorization    401 None, "The caller may talk to this server.";
    4  MediaType        415 Some(code::INVALID_REQUEST), "The body is announced as JSON and an answer form is acceptable.";
    5  BodySize         413 Some(code::INVALID_REQUEST), "The body fits the limit.";
    6  Json             400 Some(code::PARSE_ERROR), "The body is UTF-8 and JSON.";
    7  Shape            400 Some(code::INVALID_REQUEST), "The JSON is one request or notification.";
    8  Era              400 Some(code::INVALID_PARAMS), "The request claims a protocol version in its body.";
    9  VersionType      400 Some(code::INVALID_PARAMS), "The claimed version is a string.";
    10 VersionMatch     400 Some(code::HEADER_MISMATCH), "MCP-Protocol-Version repeats the claimed version.";
    11 VersionSupported 400 Some(code::UNSUPPORTED_VERSION), "The claimed version is served.";
    12 VersionHeader    400 Some(code::HEADER_MISMATCH), "MCP-Protocol-Version is present.";
    13 Envelope         400 Some(code::INVALID_PARAMS), "The other envelope keys are present and well typed.";
    14 MethodHeader     400 Some(code::HEADER_MISMATCH), "Mcp-Method repeats the method.";
    15 NameHeader       400 Some(code::HEADER_MISMATCH), "Mcp-Name repeats the name or URI.";
    16 Method           404 Some(code::METHOD_NOT_FOUND), "The method is served.";
    17 ClientCapability 400 Some(code::MISSING_CLIENT_CAPABILITY), "The client declares what the method needs.";
    18 Params           200 Some(code::INVALID_PARAMS), "The params have the method's shape.";
    19 ParamHeaders     400 Some(code::HEADER_MISMATCH), "Mcp-Param-* repeat the arguments.";
    20 Scope            403 None, "The caller may use this tool, prompt or resource.";
    21 RequestState     200 Some(code::INVALID_PARAMS), "A returned requestState verifies.";
    22 Target           200 Some(code::INVALID_PARAMS), "The tool, prompt, resource or cursor exists.";
    23 Arguments        200 None, "The arguments fit the tool's schema.";
    24 Handler          200 None, "The handler answers.";
}

impl Rung {
    /// This rung's row.
    #[must_use]
    pub const fn row(self) -> &'static Row {
        &LADDER[self as usize - 1]
    }
}

/// Whether a list of rungs climbs: the compile-time check behind [`climb`](crate::climb).
#[must_use]
pub const fn climbs(rungs: &[Rung]) -> bool {
    let mut at = 1;
    while at < rungs.len() {
        if rungs[at - 1] as u8 >= rungs[at] as u8 {
            return false;
        }
        at += 1;
    }
    true
}

/// Runs `Rung => check` pairs on one case in the order of the ladder; the first failing one refuses.
///
/// Each check is `fn(&mut Case) -> Result<(), RpcError>`. A list that is not in the order of [`LADDER`] does not
/// compile.
#[macro_export]
macro_rules! climb {
    ($case:expr; $($rung:ident => $check:expr),+ $(,)?) => {{
        const _: () = assert!(
            $crate::mcp::ladder::climbs(&[$($crate::mcp::ladder::Rung::$rung),+]),
            "rungs out of order"
        );
        (|| {
            $(if let Err(error) = $check($case) {
                return Err($crate::mcp::refusal::Refusal::at($crate::mcp::ladder::Rung::$rung, error));
            })+
            Ok(())
        })()
    }};
}

/// What the ladder must know of the server behind it.
pub trait Surface {
    /// The protocol versions served through the envelope, newest first.
    fn versions(&self) -> &[&str];
    /// Whether the method is served: the capability it needs is advertised, or it is an extension's.
    fn serves(&self, method: &str) -> bool;
}

/// A request on its way up the ladder.
pub struct Case<'a, S: ?Sized> {
    /// The request as read from the body.
    pub request: Request<'a>,
    /// Its `_meta`.
    pub meta: RequestMeta<'a>,
    /// The standard headers; `None` on a transport without headers, where the header rungs do not apply (PREC-03).
    pub headers: Option<StandardHeaders<'a>>,
    /// The server.
    pub surface: &'a S,
    /// What rung 13 read, for the rungs and the handler above it.
    pub envelope: Envelope<'a>,
}

impl<'a, S: Surface + ?Sized> Case<'a, S> {
    /// A request before its first message rung.
    pub fn new(request: Request<'a>, headers: Option<StandardHeaders<'a>>, surface: &'a S) -> Self {
        let meta = RequestMeta::from_message(request.meta);
        Self { request, meta, headers, surface, envelope: Envelope::default() }
    }

    /// Rungs 8 to 16.
    ///
    /// # Errors
    /// The refusal of the first failing rung.
    pub fn climb(&mut self) -> Result<(), Refusal> {
        climb!(self;
            Era => era::claim_present,
            VersionType => era::claim_is_string,
            VersionMatch => era::header_matches_claim,
            VersionSupported => era::claim_is_supported,
            VersionHeader => era::header_present,
            Envelope => Envelope::read,
            MethodHeader => names::method_header,
            NameHeader => names::name_header,
            Method => method_served,
        )
    }

    /// The method, when it is one of the revision's own.
    #[must_use]
    pub fn method(&self) -> Option<Method> {
        Method::from_name(self.request.method)
    }
}

fn method_served<S: Surface + ?Sized>(case: &mut Case<'_, S>) -> Result<(), RpcError> {
    if case.surface.serves(case.request.method) {
        return Ok(());
    }
    let mut error = RpcError::method_not_found(case.request.method);
    if case.request.method == "initialize" {
        error.message.to_mut().push_str(&era::speaks(case.surface));
    }
    Err(error)
}

/// The rungs of a notification: nothing has to be present, but nothing may contradict (HTTP-08, HTTP-09, D-11).
///
/// # Errors
/// The refusal of the first failing rung; its body carries no id.
pub fn notification<S: Surface + ?Sized>(
    notification: &Notification<'_>,
    headers: StandardHeaders<'_>,
    surface: &S,
) -> Result<(), Refusal> {
    let mut case = NotificationCase {
        meta: RequestMeta::from_message(notification.meta),
        method: notification.method,
        headers,
        versions: surface.versions(),
    };
    climb!(&mut case;
        VersionType => era::notification_claim,
        VersionMatch => era::notification_header,
        VersionSupported => era::notification_supported,
        MethodHeader => names::notification_method,
    )
}

/// A notification on its way up the ladder.
pub struct NotificationCase<'a> {
    pub(super) meta: RequestMeta<'a>,
    pub(super) method: &'a str,
    pub(super) headers: StandardHeaders<'a>,
    pub(super) versions: &'a [&'a str],
}

#[cfg(test)]
mod tests;
