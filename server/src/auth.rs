//! `--bearer`: one secret token for all callers, for tests and trusted networks. Real deployments verify the tokens of
//! an authorization server in an authenticator of their own.

use ringmcp::{Builder, Denied, Principal, RequestHead};

use crate::Failure;
use crate::cli::Args;

/// Where the token is taken from without `--bearer`.
const VARIABLE: &str = "RINGMCP_BEARER";

/// Shortest token, in bytes: enough for 128 random bits in hex.
const TOKEN_BYTES_MIN: usize = 16;

/// What a caller without a valid token is told.
const CHALLENGE: &str = r#"Bearer realm="mcp""#;

/// The same where a token was presented (RFC 6750 section 3.1).
const CHALLENGE_INVALID: &str = r#"Bearer realm="mcp", error="invalid_token""#;

/// The token that every request must carry.
pub(crate) struct Bearer(Vec<u8>);

/// The token of the flags or the environment, if there is one.
pub(crate) fn token(args: &Args) -> Result<Option<Bearer>, Failure> {
    let text = match (&args.bearer, std::env::var(VARIABLE)) {
        (Some(file), _) => std::fs::read_to_string(file).map_err(|error| {
            Failure::Usage(format!(
                "--bearer {}: {error}; name a file with a token",
                file.display()
            ))
        })?,
        (None, Ok(text)) => text,
        (None, Err(_)) => return Ok(None),
    };
    let token = text.trim();
    let legal = token.bytes().all(|byte| byte.is_ascii_graphic());
    if !legal || token.len() < TOKEN_BYTES_MIN {
        return Err(Failure::Usage(format!(
            "the bearer token must be at least {TOKEN_BYTES_MIN} ASCII characters without blanks"
        )));
    }
    Ok(Some(Bearer(token.as_bytes().to_vec())))
}

/// The header for the banner's command: the shell reads the token, the screen does not show it.
pub(crate) fn shell_header(args: &Args) -> Option<String> {
    match &args.bearer {
        Some(file) => Some(format!("\"Authorization: Bearer $(cat '{}')\"", file.display())),
        None => {
            std::env::var_os(VARIABLE).map(|_| format!("\"Authorization: Bearer ${VARIABLE}\""))
        }
    }
}

impl Bearer {
    /// Lets only callers with the token in.
    pub(crate) fn guard(self, builder: Builder) -> Builder {
        builder.authenticate(async move |head: &RequestHead<'_>| self.check(head))
    }

    fn check(&self, head: &RequestHead<'_>) -> Result<Principal, Denied> {
        let mut lines = head.headers("authorization");
        let Some(line) = lines.next() else { return Err(Denied::unauthorized(CHALLENGE)) };
        // AUTH-06: two credentials are no credential.
        if lines.next().is_some() {
            return Err(Denied::invalid_request("There is more than one Authorization header"));
        }
        match presented(line) {
            Some(token) if same(token, &self.0) => Ok(Principal::new("bearer")),
            _ => Err(Denied::unauthorized(CHALLENGE_INVALID)),
        }
    }
}

/// The token of an `Authorization` line; the scheme's case does not matter (AUTH-07).
fn presented(line: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = line.split_at_checked(6)?;
    let token = token.strip_prefix(b" ")?.trim_ascii_start();
    scheme.eq_ignore_ascii_case(b"bearer").then_some(token)
}

/// Compares in a time that depends on the lengths alone (SEC-11).
fn same(a: &[u8], b: &[u8]) -> bool {
    let differ = a.iter().zip(b).fold(0, |differ, (a, b)| differ | std::hint::black_box(a ^ b));
    a.len() == b.len() && differ == 0
}
