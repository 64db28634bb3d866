//! The endpoint's address: plain http, a name or an IP, a path.

use std::fmt;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::str::FromStr;

const PORT: u16 = 80;

/// An `http` URL. Its text can stand in a request as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url {
    /// A name, an IPv4 address, or an IPv6 address without brackets.
    host: String,
    port: u16,
    /// Path and query, from the first `/`.
    target: String,
}

impl Url {
    /// What the request line asks for.
    pub(crate) fn target(&self) -> &str {
        &self.target
    }

    /// What the `Host` header says.
    pub(crate) fn authority(&self) -> String {
        let host =
            if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port == PORT { host } else { format!("{host}:{}", self.port) }
    }

    /// The first address the host resolves to.
    ///
    /// # Errors
    /// The resolver's, or that there is no address.
    pub(crate) fn resolve(&self) -> io::Result<SocketAddr> {
        let none = || io::Error::new(io::ErrorKind::NotFound, "the host has no address");
        (self.host.as_str(), self.port).to_socket_addrs()?.next().ok_or_else(none)
    }
}

impl FromStr for Url {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let Some(rest) = text.strip_prefix("http://") else {
            return Err("must start with http:// (there is no TLS here: measure behind it)");
        };
        if !rest.bytes().all(|b| b.is_ascii_graphic() && b != b'#') {
            return Err("must be visible ASCII without a fragment; percent-encode the rest");
        }
        let (authority, target) = match rest.find(['/', '?']) {
            Some(at) if rest[at..].starts_with('/') => (&rest[..at], rest[at..].to_owned()),
            Some(at) => (&rest[..at], format!("/{}", &rest[at..])),
            None => (rest, "/".to_owned()),
        };
        let (host, port) = split(authority)?;
        let port = match port {
            None => PORT,
            Some(digits) => digits.parse().map_err(|_| "the port must be 1 to 65535")?,
        };
        if port == 0 {
            return Err("the port must be 1 to 65535");
        }
        Ok(Self { host: host.to_owned(), port, target })
    }
}

/// Host and digits of the port.
fn split(authority: &str) -> Result<(&str, Option<&str>), &'static str> {
    if let Some(rest) = authority.strip_prefix('[') {
        let (host, after) =
            rest.split_once(']').ok_or("an IPv6 address needs its closing bracket")?;
        host.parse::<std::net::Ipv6Addr>().map_err(|_| "no IPv6 address in the brackets")?;
        return match after {
            "" => Ok((host, None)),
            _ => after
                .strip_prefix(':')
                .map(|p| (host, Some(p)))
                .ok_or("only :PORT may follow the brackets"),
        };
    }
    let (host, port) = match authority.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    };
    if host.is_empty() || !host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b)) {
        return Err(
            "needs a host: a name, an IPv4 address, or an IPv6 address in brackets (and no user)",
        );
    }
    Ok((host, port))
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}{}", self.authority(), self.target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What goes in comes out, with the port and path every client assumes.
    #[test]
    fn accepted() {
        for (text, shown) in [
            ("http://127.0.0.1:8080/mcp", "http://127.0.0.1:8080/mcp"),
            ("http://localhost", "http://localhost/"),
            ("http://a.example:80?q=1", "http://a.example/?q=1"),
            ("http://[::1]:9/x?y=/z", "http://[::1]:9/x?y=/z"),
        ] {
            assert_eq!(text.parse::<Url>().map(|url| url.to_string()), Ok(shown.to_owned()));
        }
    }

    /// What could not be asked, or would break out of the request's head, is refused.
    #[test]
    fn refused() {
        for text in [
            "https://localhost/",
            "localhost:80",
            "http://",
            "http://:80/",
            "http://u@h/",
            "http://h:0/",
            "http://h:65536/",
            "http://h:/",
            "http://[::1/",
            "http://[x]/",
            "http://[::1]8/",
            "http://::1/",
            "http://h/a b",
            "http://h/\r\nX: y",
            "http://h/#top",
            "http://h/ü",
        ] {
            assert!(text.parse::<Url>().is_err(), "{text:?}");
        }
    }
}
