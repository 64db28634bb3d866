//! Host and Origin against the defaults and against an operator's lists.

use super::{Guard, HostPolicy, OriginPolicy, Refusal};
use crate::mcp::head::Field;

fn guard(loopback: bool, hosts: &[&str], origins: &[&str]) -> Guard {
    Guard::new(loopback, hosts, origins).expect("well-formed lists")
}

fn check(guard: &Guard, host: &str, origins: &[&str]) -> Result<(), Refusal> {
    let origin = origins
        .first()
        .map(|origin| Field { value: origin.as_bytes(), repeated: origins.len() > 1 });
    guard.check(Some(host), origin)
}

/// [HTTP-03] [D-43] a loopback listener serves the names of this machine, on any port, in any case
#[test]
fn loopback_hosts() {
    let guard = guard(true, &[], &[]);
    for host in ["localhost", "LocalHost:1", "127.0.0.1", "127.0.0.1:8080", "[::1]", "[::1]:9"] {
        assert_eq!(check(&guard, host, &[]), Ok(()), "{host}");
    }
    let others = [
        "evil.example",
        "localhost.evil.example",
        "evil-localhost",
        "localhost.",
        "127.0.0.2",
        "::1",
        "[::2]",
        "0.0.0.0",
        "2130706433",
        "localhost:x",
        "localhost@evil.example",
        "",
    ];
    for host in others {
        assert_eq!(check(&guard, host, &[]), Err(Refusal::Host), "{host}");
    }
    assert_eq!(guard.check(None, None), Err(Refusal::Host), "an HTTP/1.0 request may name no host");
}

/// [HTTP-02] [D-43] a loopback listener serves pages of this machine, and callers that are no pages
#[test]
fn loopback_origins() {
    let guard = guard(true, &[], &[]);
    for origin in
        ["http://localhost", "HTTPS://LOCALHOST:3000", "http://127.0.0.1:1", "http://[::1]"]
    {
        assert_eq!(check(&guard, "localhost", &[origin]), Ok(()), "{origin}");
    }
    let others = [
        "http://evil.example",
        "null",
        "",
        "localhost",
        "http://localhost.evil.example",
        "file://",
        "http://localhost/",
        "http://user@localhost",
        "ftp://localhost",
        "http://",
        "://localhost",
        "http://localhost http://localhost",
        "http://localhost, http://localhost",
    ];
    for origin in others {
        assert_eq!(check(&guard, "localhost", &[origin]), Err(Refusal::Origin), "{origin}");
    }
    let twice = ["http://localhost", "http://localhost"];
    assert_eq!(check(&guard, "localhost", &twice), Err(Refusal::Origin), "two lines are refused");
    assert!(!guard.origins.allows(b"http://caf\xe9"));
}

/// [HTTP-03] [D-43] elsewhere, without lists: any host, but no page may call
#[test]
fn other_binds_without_lists() {
    let guard = guard(false, &[], &[]);
    assert_eq!(check(&guard, "anything.example:1", &[]), Ok(()));
    assert_eq!(guard.check(None, None), Ok(()));
    for origin in ["http://localhost", "https://anything.example", "null"] {
        assert_eq!(check(&guard, "anything.example", &[origin]), Err(Refusal::Origin), "{origin}");
    }
}

/// [HTTP-02] [HTTP-03] an operator's list replaces the default; entries with a port mean that port
#[test]
fn lists() {
    let guard = guard(
        true,
        &["MCP.example", "other.example:8443", "[::1]:1"],
        &["https://App.example", "http://dev.example:*", "http://x.example:81", "null"],
    );
    let hosts = ["mcp.example", "MCP.EXAMPLE:5", "other.example:8443", "[::1]:1"];
    for host in hosts {
        assert_eq!(check(&guard, host, &[]), Ok(()), "{host}");
    }
    for host in ["localhost", "other.example", "other.example:443", "[::1]", "[::1]:2"] {
        assert_eq!(check(&guard, host, &[]), Err(Refusal::Host), "{host}");
    }
    let origins = [
        "https://app.example",
        "https://app.example:443",
        "HTTPS://APP.example",
        "null",
        "http://dev.example",
        "http://dev.example:99",
        "http://x.example:81",
    ];
    for origin in origins {
        assert_eq!(check(&guard, "mcp.example", &[origin]), Ok(()), "{origin}");
    }
    let others = [
        "http://app.example",
        "https://app.example:444",
        "https://dev.example:99",
        "NULL",
        "http://x.example",
        "https://sub.app.example",
        "http://localhost",
    ];
    for origin in others {
        assert_eq!(check(&guard, "mcp.example", &[origin]), Err(Refusal::Origin), "{origin}");
    }
}

/// [HTTP-03] the wildcard is explicit and allows everything, but still not two origins
#[test]
fn wildcards() {
    let guard = guard(true, &["*"], &["*"]);
    assert_eq!((&guard.hosts, &guard.origins), (&HostPolicy::Any, &OriginPolicy::Any));
    assert_eq!(check(&guard, "evil.example", &["null"]), Ok(()));
    assert_eq!(check(&guard, "a", &["http://a", "http://b"]), Err(Refusal::Origin));
}

/// An entry nobody can match is an error at start-up, and names itself
#[test]
fn malformed_lists() {
    for host in ["", "http://a", "a/b", "a b", "*.example", "a:x", "[::1"] {
        let error = Guard::new(true, &[host], &[]).expect_err(host);
        assert!(error.to_string().contains(host), "{error}");
    }
    for origin in
        ["", "a", "https://", "https://a/", "https://a:x", "https://*.a", "https://*", "1://a"]
    {
        assert!(Guard::new(true, &[], &[origin]).is_err(), "{origin}");
    }
}
