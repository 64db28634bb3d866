//! Tools for callers with scopes: two callers see two lists.

use ringmcp::{Builder, Context, ToolError};
use serde_json::json;

use crate::common::{NoArgs, Runs, ask, by, denial, names, server, with_callers};
use crate::support::{Request, Running, serve};

fn scoped(runs: &Runs) -> Builder {
    let tool = |builder: Builder, name: &str| {
        let runs = runs.clone();
        builder.tool(name, "", async move |_: &Context, _: NoArgs| {
            runs.add();
            Ok::<_, ToolError>("ran")
        })
    };
    let builder = ["open", "read", "write", "both"].into_iter().fold(server(), tool);
    builder
        .require_scopes("read", ["r"])
        .require_scopes("write", ["w"])
        .require_scopes("both", ["r", "w"])
}

fn list(server: &Running, token: &str) -> Vec<String> {
    names(&server.send(&by(token, ask("tools/list"))).result("tools/list")["tools"], "name")
}

/// [TOOL-02] [AUTH-12] [SEC-14] each caller sees what the scopes allow.
#[test]
fn lists_depend_on_scopes() {
    let server = serve(with_callers(scoped(&Runs::default())));
    assert_eq!(list(&server, "ann"), ["open"]);
    assert_eq!(list(&server, "ann:r"), ["open", "read"]);
    assert_eq!(list(&server, "ann:w"), ["open", "write"]);
    assert_eq!(list(&server, "bob:w,r"), ["open", "read", "write", "both"]);
    assert_eq!(list(&server, "ann:R"), ["open"], "scopes are compared exactly");
}

/// [AUTH-05] [AUTH-12] [PREC-02] a call without the scopes is refused with all that it needs, and nothing runs.
#[test]
fn calls_need_their_scopes() {
    let runs = Runs::default();
    let server = serve(with_callers(scoped(&runs)));
    for (token, tool) in [("ann", "read"), ("ann:w", "read"), ("ann:r", "both"), ("ann:w", "both")]
    {
        let answer = server.send(&by(token, Request::call(tool, json!({}))));
        assert_eq!(denial(&answer), (403, "insufficient_scope".into()), "{token} {tool}");
        let challenge = answer.header("www-authenticate").expect("a challenge");
        assert!(challenge.starts_with("Bearer "), "{challenge}");
        let needed = if tool == "both" { r#"scope="r w""# } else { r#"scope="r""# };
        assert!(challenge.contains(needed), "{challenge}");
    }
    assert_eq!(runs.count(), 0);
    assert_eq!(server.send(&by("ann:r,w", Request::call("both", json!({})))).text(), "ran");
}

/// [AUTH-12] without an authenticator nobody holds a scope.
#[test]
fn nobody_holds_scopes_without_an_authenticator() {
    let server = serve(scoped(&Runs::default()));
    assert_eq!(
        names(&server.send(&ask("tools/list")).result("tools/list")["tools"], "name"),
        ["open"]
    );
    assert_eq!(server.send(&Request::call("read", json!({}))).status, 403);
    assert_eq!(server.send(&Request::call("open", json!({}))).text(), "ran");
}

/// [PAG-01] [PAG-04] [TOOL-02] pages count what their caller sees.
#[test]
fn pages_of_a_filtered_list() {
    let runs = Runs::default();
    let builder = (0..9).fold(with_callers(scoped(&runs)).page_size(3), |builder, at| {
        let name = format!("n{at}");
        let builder =
            builder.tool(&name, "", async |_: &Context, _: NoArgs| Ok::<_, ToolError>(()));
        if at % 2 == 0 { builder.require_scopes(name, ["r"]) } else { builder }
    });
    let server = serve(builder);
    for (token, expected) in [
        ("ann", vec!["open", "n1", "n3", "n5", "n7"]),
        ("ann:r", vec!["open", "read", "n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8"]),
    ] {
        let mut seen = Vec::new();
        let mut request = by(token, ask("tools/list"));
        loop {
            let page = server.send(&request).result("tools/list");
            let shown = names(&page["tools"], "name");
            assert!(!shown.is_empty() && shown.len() <= 3, "{shown:?}");
            seen.extend(shown);
            let Some(cursor) = page.get("nextCursor") else { break };
            request = by(token, ask("tools/list")).param("cursor", cursor.clone());
        }
        assert_eq!(seen, expected, "{token}");
    }
}

/// [AUTH-12] scopes can be asked for while the server runs, from the next request on.
#[test]
fn scopes_change_while_running() {
    let server = serve(with_callers(scoped(&Runs::default())));
    let registrations = server.handle().registrations();
    assert_eq!(list(&server, "ann"), ["open"]);
    registrations.require_scopes("open", ["r"]).expect("it is registered");
    registrations.require_scopes("write", [""; 0]).expect("it is registered");
    assert_eq!(list(&server, "ann"), ["write"]);
    assert_eq!(denial(&server.send(&by("ann", Request::call("open", json!({}))))).0, 403);
    assert!(registrations.require_scopes("none", ["r"]).is_err());
}
