//! Who may call: the `Host` and `Origin` lists that stop DNS rebinding (HTTP-02, HTTP-03, D-43).

use std::fmt;

use super::head::Field;
use crate::http::split_authority;

/// The lists of one listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// `Host` values served.
    pub hosts: HostPolicy,
    /// `Origin` values served; a request without one always passes.
    pub origins: OriginPolicy,
}

/// What [`Guard::check`] refuses: answer 403 before the body is read (rung 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The request is for a host that is not listed.
    Host,
    /// The request comes from an origin that is not listed, or from several.
    Origin,
}

impl Guard {
    /// The default guard of a listener, adjusted by the operator's lists (D-43).
    ///
    /// Bound to loopback: `localhost`, `127.0.0.1` and `[::1]` on any port, as hosts and as http or
    /// https origins. Bound elsewhere: any host, no origin. A list that is not empty replaces its
    /// default; `*` in it allows everything.
    pub fn new<S: AsRef<str>>(
        loopback: bool,
        hosts: &[S],
        origins: &[S],
    ) -> Result<Guard, PolicyError> {
        let hosts = match (hosts, loopback) {
            ([], false) => HostPolicy::Any,
            ([], true) => HostPolicy::loopback(),
            (listed, _) => HostPolicy::parse(listed)?,
        };
        let origins = match (origins, loopback) {
            ([], false) => OriginPolicy::List(Vec::new()),
            ([], true) => OriginPolicy::loopback(),
            (listed, _) => OriginPolicy::parse(listed)?,
        };
        Ok(Guard { hosts, origins })
    }

    /// Checks the effective host (`HeadView::host`) and the `Origin` of a request.
    pub fn check(&self, host: Option<&str>, origin: Option<Field<'_>>) -> Result<(), Refusal> {
        if !self.hosts.allows(host) {
            return Err(Refusal::Host);
        }
        match origin {
            None => Ok(()),
            Some(Field { value, repeated: false }) if self.origins.allows(value) => Ok(()),
            Some(_) => Err(Refusal::Origin),
        }
    }
}

/// Which `Host` values are served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostPolicy {
    /// Not checked.
    Any,
    /// Only these.
    List(Vec<HostPattern>),
}

/// A host name or literal, and a port if only one is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPattern {
    host: String,
    port: Option<u16>,
}

impl HostPolicy {
    /// Reads `host`, `host:port`, `[::1]`, `[::1]:port` or `*` entries.
    pub fn parse<S: AsRef<str>>(entries: &[S]) -> Result<HostPolicy, PolicyError> {
        if entries.iter().any(|entry| entry.as_ref() == "*") {
            return Ok(HostPolicy::Any);
        }
        let pattern = |entry: &S| HostPattern::parse(entry.as_ref());
        Ok(HostPolicy::List(entries.iter().map(pattern).collect::<Result<_, _>>()?))
    }

    /// Whether a request for `host` is served; one that names no host only if hosts are not checked.
    pub fn allows(&self, host: Option<&str>) -> bool {
        match self {
            HostPolicy::Any => true,
            HostPolicy::List(patterns) => {
                host.is_some_and(|host| patterns.iter().any(|pattern| pattern.matches(host)))
            }
        }
    }

    fn loopback() -> HostPolicy {
        let pattern = |host: &&str| HostPattern { host: host.to_string(), port: None };
        HostPolicy::List(LOOPBACK_HOSTS.iter().map(pattern).collect())
    }
}

impl HostPattern {
    fn parse(entry: &str) -> Result<HostPattern, PolicyError> {
        let (host, port) = split_authority(entry).ok_or_else(|| PolicyError::host(entry))?;
        Ok(HostPattern { host: host.to_owned(), port })
    }

    fn matches(&self, authority: &str) -> bool {
        let Some((host, rest)) = authority.split_at_checked(self.host.len()) else { return false };
        if !host.eq_ignore_ascii_case(&self.host) {
            return false;
        }
        if matches!(rest, "" | ":") {
            return self.port.is_none();
        }
        let digits = rest.strip_prefix(':').filter(|rest| rest.bytes().all(|b| b.is_ascii_digit()));
        let port = digits.and_then(|digits| digits.parse().ok());
        port.is_some() && (self.port.is_none() || self.port == port)
    }
}

/// Which `Origin` values are served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OriginPolicy {
    /// Every origin, also `null`.
    Any,
    /// Only these.
    List(Vec<OriginPattern>),
}

/// One entry of an origin list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OriginPattern {
    /// The opaque origin `null`, which sandboxed pages and local files share.
    Null,
    /// Scheme and host, and a port: `None` stands for any.
    Site {
        /// Scheme without `://`.
        scheme: String,
        /// Name or literal.
        host: String,
        /// The scheme's default port where the entry names none, `None` for `:*`.
        port: Option<u16>,
    },
}

impl OriginPolicy {
    /// Reads `scheme://host`, `scheme://host:port`, `scheme://host:*`, `null` or `*` entries.
    pub fn parse<S: AsRef<str>>(entries: &[S]) -> Result<OriginPolicy, PolicyError> {
        if entries.iter().any(|entry| entry.as_ref() == "*") {
            return Ok(OriginPolicy::Any);
        }
        let pattern = |entry: &S| OriginPattern::parse(entry.as_ref());
        Ok(OriginPolicy::List(entries.iter().map(pattern).collect::<Result<_, _>>()?))
    }

    /// Whether a request from `origin` is served.
    pub fn allows(&self, origin: &[u8]) -> bool {
        match self {
            OriginPolicy::Any => true,
            OriginPolicy::List(patterns) => std::str::from_utf8(origin)
                .is_ok_and(|origin| patterns.iter().any(|pattern| pattern.matches(origin))),
        }
    }

    fn loopback() -> OriginPolicy {
        let sites = LOOPBACK_HOSTS.iter().flat_map(|host| {
            ["http", "https"].map(|scheme| OriginPattern::Site {
                scheme: scheme.to_owned(),
                host: host.to_string(),
                port: None,
            })
        });
        OriginPolicy::List(sites.collect())
    }
}

impl OriginPattern {
    fn parse(entry: &str) -> Result<OriginPattern, PolicyError> {
        if entry == "null" {
            return Ok(OriginPattern::Null);
        }
        let (site, any_port) = match entry.strip_suffix(":*") {
            Some(site) => (site, true),
            None => (entry, false),
        };
        let (scheme, host, port) = split_origin(site).ok_or_else(|| PolicyError::origin(entry))?;
        let port = if any_port { None } else { port };
        Ok(OriginPattern::Site { scheme: scheme.to_owned(), host: host.to_owned(), port })
    }

    fn matches(&self, origin: &str) -> bool {
        let OriginPattern::Site { scheme, host, port } = self else {
            return origin == "null";
        };
        split_origin(origin).is_some_and(|(its_scheme, its_host, its_port)| {
            scheme.eq_ignore_ascii_case(its_scheme)
                && host.eq_ignore_ascii_case(its_host)
                && (port.is_none() || *port == its_port)
        })
    }
}

/// Scheme, host and port of an origin (RFC 6454, 6.2); a known scheme's default port is filled in.
fn split_origin(origin: &str) -> Option<(&str, &str, Option<u16>)> {
    let (scheme, authority) = origin.split_once("://")?;
    let (host, port) = split_authority(authority)?;
    let default = match scheme {
        _ if scheme.eq_ignore_ascii_case("http") => Some(80),
        _ if scheme.eq_ignore_ascii_case("https") => Some(443),
        _ => None,
    };
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    is_scheme.then_some((scheme, host, port.or(default)))
}

/// The names of this machine that no other machine answers to.
const LOOPBACK_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// An entry of a list that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyError {
    entry: String,
    expected: &'static str,
}

impl PolicyError {
    fn host(entry: &str) -> PolicyError {
        PolicyError { entry: entry.to_owned(), expected: "host, host:port or *" }
    }

    fn origin(entry: &str) -> PolicyError {
        let expected = "scheme://host, scheme://host:port, scheme://host:*, null or *";
        PolicyError { entry: entry.to_owned(), expected }
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not {}", self.entry.escape_debug(), self.expected)
    }
}

impl std::error::Error for PolicyError {}

#[cfg(test)]
mod tests;
