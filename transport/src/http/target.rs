//! The request target (RFC 9112, 3.2) and the authority rules it shares with `Host` (RFC 9110, 7.2).

use std::net::Ipv6Addr;

use super::head::{Head, Span};
use super::reject::Reject;

/// Finds path and authority in the target and refuses forms the method does not allow.
/// `head.target` must be set, `target` its text.
pub(crate) fn resolve(head: &mut Head, method: &str, target: &str) -> Result<(), Reject> {
    // A fragment never goes on the wire (RFC 9112, 3.2), raw non-ASCII neither (RFC 3986, 2).
    if target.bytes().any(|byte| byte == b'#' || !byte.is_ascii()) {
        return Err(Reject::bad("illegal character in request target"));
    }
    let start = head.target.start;
    let part = |from: usize, to: usize| Span { start: start + from as u32, end: start + to as u32 };
    let path_end = |from: usize| {
        let query = target.as_bytes()[from..].iter().position(|byte| *byte == b'?');
        query.map_or(target.len(), |at| from + at)
    };

    if target.starts_with('/') {
        head.path = part(0, path_end(0));
    } else if method == "CONNECT" {
        check_authority(target)?;
        head.path = part(0, target.len());
    } else if target == "*" && method == "OPTIONS" {
        head.path = part(0, 1);
    } else if let Some(from) = authority_start(target) {
        let to = target[from..].find(['/', '?']).map_or(target.len(), |at| from + at);
        check_authority(&target[from..to])?;
        head.host = Some(part(from, to));
        head.path = part(to, path_end(to));
    } else {
        return Err(Reject::bad("malformed request target"));
    }
    Ok(())
}

/// Checks `uri-host [":" port]`.
///
/// Stricter than RFC 3986: no user information, no sub-delimiters (so no lists), never empty, and a
/// port is a 16-bit number. No name a client can resolve is lost by that.
pub(crate) fn check_authority(authority: &str) -> Result<(), Reject> {
    if split_authority(authority).is_some() { Ok(()) } else { Err(Reject::bad("malformed host")) }
}

/// Splits an authority into host (an IPv6 literal with its brackets) and port, if it is well formed.
/// An empty port counts as none (RFC 3986, 3.2.3).
pub(crate) fn split_authority(authority: &str) -> Option<(&str, Option<u16>)> {
    let host_end = match authority.strip_prefix('[') {
        Some(rest) => {
            let close = rest.find(']')?;
            rest[..close].parse::<Ipv6Addr>().ok()?;
            close + 2
        }
        None => {
            let colon = authority.bytes().position(|byte| byte == b':');
            let end = colon.unwrap_or(authority.len());
            is_name(&authority.as_bytes()[..end]).then_some(end)?
        }
    };
    let (host, port) = authority.split_at(host_end);
    match port.strip_prefix(':') {
        None => port.is_empty().then_some((host, None)),
        Some("") => Some((host, None)),
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some((host, Some(digits.parse().ok()?)))
        }
        Some(_) => None,
    }
}

/// Where the authority of an absolute-form target starts; only http and https are ours to serve.
fn authority_start(target: &str) -> Option<usize> {
    let scheme = target.find("://")?;
    let known = ["http", "https"].iter().any(|name| target[..scheme].eq_ignore_ascii_case(name));
    known.then_some(scheme + "://".len())
}

/// The unreserved characters of RFC 3986, 2.3.
const UNRESERVED: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let at = byte as u8;
        table[byte] = at.is_ascii_alphanumeric() || matches!(at, b'-' | b'.' | b'_' | b'~');
        byte += 1;
    }
    table
};

/// Unreserved characters and complete percent escapes, at least one.
fn is_name(mut name: &[u8]) -> bool {
    if name.is_empty() {
        return false;
    }
    if name.iter().all(|byte| UNRESERVED[usize::from(*byte)]) {
        return true;
    }
    while let [byte, rest @ ..] = name {
        name = match (byte, rest) {
            (b'%', [high, low, rest @ ..])
                if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
                rest
            }
            (byte, _) if UNRESERVED[usize::from(*byte)] => rest,
            _ => return false,
        };
    }
    true
}
