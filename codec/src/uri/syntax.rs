//! The RFC 3986 `URI` rule (appendix A), as a straight scan.

use std::net::Ipv6Addr;

use super::percent::{is_sub_delim, is_unreserved, triplet};

/// Whether `text` is an absolute URI by RFC 3986 `URI = scheme ":" hier-part [ "?" query ]
/// [ "#" fragment ]` (RES-08, RES-11). Syntax only: nothing is resolved, and the scheme may be any.
/// A relative reference and a raw non-ASCII character are refused. Linear; no cap of its own.
#[must_use]
pub fn is_valid(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (hierarchy, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = match hierarchy.strip_prefix("//") {
        Some(after) => {
            let end = after.find('/').unwrap_or(after.len());
            (Some(&after[..end]), &after[end..])
        }
        None => (None, hierarchy),
    };
    is_scheme(scheme)
        && authority.is_none_or(is_authority)
        // Without authority a path cannot start with "//": the split above took that as authority.
        && all(path, |byte| is_pchar(byte) || byte == b'/')
        && all(query, |byte| is_pchar(byte) || matches!(byte, b'/' | b'?'))
        && all(fragment, |byte| is_pchar(byte) || matches!(byte, b'/' | b'?'))
}

fn is_scheme(scheme: &str) -> bool {
    scheme.starts_with(|ch: char| ch.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

fn is_authority(authority: &str) -> bool {
    let (userinfo, host_port) = authority.split_once('@').unwrap_or(("", authority));
    let (host_ok, port) = match host_port.strip_prefix('[') {
        Some(literal) => {
            let Some((address, port)) = literal.split_once(']') else { return false };
            (is_ip_literal(address), port)
        }
        None => {
            let end = host_port.find(':').unwrap_or(host_port.len());
            let (name, port) = host_port.split_at(end);
            // A dotted IPv4 address is a registered name by syntax.
            (all(name, |byte| is_unreserved(byte) || is_sub_delim(byte)), port)
        }
    };
    let port_ok = port.is_empty()
        || port.strip_prefix(':').is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()));
    host_ok
        && port_ok
        && all(userinfo, |byte| is_unreserved(byte) || is_sub_delim(byte) || byte == b':')
}

fn is_ip_literal(address: &str) -> bool {
    let Some(future) = address.strip_prefix(['v', 'V']) else {
        // The standard parser takes exactly the RFC 3986 forms: no zone, no leading zeros in IPv4.
        return address.parse::<Ipv6Addr>().is_ok();
    };
    let Some((version, rest)) = future.split_once('.') else { return false };
    !version.is_empty()
        && version.bytes().all(|byte| byte.is_ascii_hexdigit())
        && !rest.is_empty()
        && rest.bytes().all(|byte| is_unreserved(byte) || is_sub_delim(byte) || byte == b':')
}

fn is_pchar(byte: u8) -> bool {
    is_unreserved(byte) || is_sub_delim(byte) || matches!(byte, b':' | b'@')
}

/// Whether `text` consists of bytes that `class` takes and of complete triplets.
fn all(text: &str, class: impl Fn(u8) -> bool) -> bool {
    let mut bytes = text.as_bytes();
    while let [first, rest @ ..] = bytes {
        bytes = if class(*first) {
            rest
        } else if triplet(bytes).is_some() {
            &bytes[3..]
        } else {
            return false;
        };
    }
    true
}
