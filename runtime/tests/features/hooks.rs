//! What an embedding program puts in front of dispatch: authenticators, guards, observers.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ringmcp::types::{Resource, RpcError};
use ringmcp::{
    Answered, Builder, Context, Denied, HandlerError, Principal, RequestHead, ToolError,
};
use serde_json::json;

use crate::common::{Free, NoArgs, Runs, ask, by, denial, once, server, with_callers};
use crate::support::{Request, serve};

fn counted(runs: &Runs) -> Builder {
    let runs = runs.clone();
    server().tool("t", "", async move |ctx: &Context, _: Free| {
        runs.add();
        Ok::<_, ToolError>(
            ctx.principal().map_or("nobody".to_owned(), |who| who.subject.to_string()),
        )
    })
}

/// [AUTH-04] [AUTH-07] [AUTH-20] [PREC-02] without a credential: 401, a challenge, small JSON; nothing runs.
#[test]
fn unauthenticated_requests_are_challenged() {
    let runs = Runs::default();
    let server = serve(with_callers(counted(&runs)));
    let answer = server.send(&Request::call("t", json!({})));
    assert_eq!(denial(&answer), (401, "invalid_token".into()));
    assert_eq!(answer.header("www-authenticate"), Some(r#"Bearer realm="t""#));
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let in_query = Request::call("t", json!({})).http("POST", "/mcp?access_token=ann");
    assert_eq!(server.send(&in_query).status, 401);
    assert_eq!(runs.count(), 0);
    assert_eq!(server.send(&by("ann", Request::call("t", json!({})))).text(), "ann");
}

/// [AUTH-04] [AUTH-14] [SEC-03] each refusal has its status; one that waits says how long.
#[test]
fn refusals_have_their_status() {
    let runs = Runs::default();
    for (denied, status, error, header) in [
        (
            Denied::unauthorized("Bearer"),
            401,
            "invalid_token",
            ("www-authenticate", Some("Bearer")),
        ),
        (Denied::forbidden("No"), 403, "access_denied", ("www-authenticate", None)),
        (
            Denied::too_many_requests(Duration::from_millis(10)),
            429,
            "rate_limited",
            ("retry-after", Some("1")),
        ),
        (Denied::unavailable(), 503, "temporarily_unavailable", ("www-authenticate", None)),
    ] {
        let from_guard = denied.clone();
        let authenticating =
            counted(&runs).authenticate(async move |_: &RequestHead<'_>| Err(denied.clone()));
        let guarding = counted(&runs).guard(move |_| Err(from_guard.clone()));
        for builder in [authenticating, guarding] {
            let answer = once(builder, &Request::call("t", json!({})));
            assert_eq!(denial(&answer), (status, error.to_owned()));
            assert_eq!(answer.header(header.0), header.1);
        }
    }
    assert_eq!(runs.count(), 0);
}

/// [AUTH-13] text of a configuration cannot add header lines.
#[test]
fn challenges_cannot_add_header_lines() {
    let builder = counted(&Runs::default()).authenticate(async |_: &RequestHead<'_>| {
        Err(Denied::unauthorized("Bearer realm=\"a\"\r\nX-Injected: yes"))
    });
    let answer = once(builder, &ask("tools/list"));
    assert_eq!(answer.status, 401);
    assert_eq!(answer.header("x-injected"), None);
}

/// [CALL-14] [AUTH-15] [RPC-15] the authenticator sees the head; the handler sees whom it found, request by request.
#[test]
fn principals_reach_handlers() {
    let builder = server()
        .authenticate(async |head: &RequestHead<'_>| {
            let peer = head.peer().expect("over TCP there is a peer").ip();
            assert!(head.headers("x-who").count() <= 1, "one line");
            let who = head
                .header("X-Who")
                .map_or("none".to_owned(), |who| String::from_utf8_lossy(who).into());
            let mut principal = Principal::new(format!("{who}@{peer}{}", head.target())).scope("s");
            principal.client_id = Some("client".into());
            principal.claims.insert("team".into(), json!("red"));
            Ok(principal)
        })
        .tool("who", "", async |ctx: &Context, _: NoArgs| {
            let who = ctx.principal().ok_or_else(|| ToolError::new("nobody"))?;
            let (client, team) = (who.client_id.as_deref().unwrap_or("-"), &who.claims["team"]);
            Ok::<_, ToolError>(format!("{} {client} {} {team}", who.subject, who.scopes.join("+")))
        });
    let server = serve(builder);
    let mut connection = server.connect();
    for who in ["ann", "bob", "ann"] {
        let request = Request::call("who", json!({})).header("X-Who", who);
        crate::support::support_write(&mut connection, &request.bytes());
        let answer = crate::support::read_answer(&mut connection).expect("an answer");
        assert_eq!(answer.text(), format!("{who}@127.0.0.1/mcp client s \"red\""));
    }
}

/// [CALL-13] [PREC-01] guards see method, name, arguments and caller, in the order they were added, once the request is
/// well formed.
#[test]
fn guards_see_what_is_asked() {
    type Seen = Vec<(String, Option<String>, Option<String>, Option<String>)>;
    let seen: Arc<Mutex<Seen>> = Arc::default();
    let log = seen.clone();
    let runs = Runs::default();
    let builder = with_callers(counted(&runs))
        .prompt("p", "", async |_: &Context, _: Free| Ok::<_, HandlerError>(""))
        .resource(Resource::new("test://r", "r"), async |_: &Context| Ok::<_, HandlerError>(""))
        .guard(move |asked| {
            let argument =
                asked.arguments.and_then(|all| all.get("a")).map(|a| a.to_json().to_string());
            log.lock().expect("no panic").push((
                asked.method.to_owned(),
                asked.name.map(str::to_owned),
                argument,
                asked.principal.map(|who| who.subject.to_string()),
            ));
            Ok(())
        })
        .guard(|asked| match asked.name {
            Some("p") => Err(Denied::forbidden("No prompts")),
            _ => Ok(()),
        });
    let server = serve(builder);
    let named = |params| Request::new("prompts/get", params);
    for (request, status) in [
        (Request::call("t", json!({ "a": [1] })), 200),
        (named(json!({ "name": "p", "arguments": { "a": "x" } })), 403),
        (Request::new("resources/read", json!({ "uri": "test://r" })), 200),
        (ask("tools/list"), 200),
        (ask("server/discover"), 200),
        (Request::call("unknown", json!({})), 200),
        (ask("no/such"), 404),
        (Request::call("t", json!({})).param("arguments", json!([])), 200),
        (ask("tools/list").without_header("Mcp-Method"), 400),
    ] {
        assert_eq!(server.send(&by("ann", request.clone())).status, status, "{}", request.message);
    }
    let row = |method: &str, name: Option<&str>, argument: Option<&str>| {
        (
            method.to_owned(),
            name.map(str::to_owned),
            argument.map(str::to_owned),
            Some("ann".to_owned()),
        )
    };
    let expected = [
        row("tools/call", Some("t"), Some("[1]")),
        row("prompts/get", Some("p"), Some("\"x\"")),
        row("resources/read", Some("test://r"), None),
        row("tools/list", None, None),
        row("server/discover", None, None),
        row("tools/call", Some("unknown"), None),
    ];
    assert_eq!(*seen.lock().expect("no panic"), expected, "malformed requests reach no guard");
    assert_eq!(runs.count(), 1);
}

/// [CALL-13] a subscription, too, passes the guards.
#[test]
fn subscriptions_pass_the_guards() {
    let builder = counted(&Runs::default()).guard(|asked| match asked.method {
        "subscriptions/listen" => Err(Denied::forbidden("No")),
        _ => Ok(()),
    });
    let answer = once(builder, &Request::listen(json!({ "toolsListChanged": true })));
    assert_eq!(answer.status, 403);
}

/// [ERR-11] a guard, authenticator or observer that panics costs its request at most.
#[test]
fn panicking_hooks_cost_one_request() {
    let builder = with_callers(counted(&Runs::default()))
        .guard(|asked| {
            assert!(asked.name != Some("panic"), "secret detail");
            Ok(())
        })
        .observe(|answered| assert!(answered.method != "tools/list", "secret detail"));
    let server = serve(builder);
    for request in [Request::call("panic", json!({})), ask("tools/list")] {
        let mut connection = server.connect();
        crate::support::support_write(&mut connection, &by("ann", request).bytes());
        if let Some(answer) = crate::support::read_answer(&mut connection) {
            assert!(!String::from_utf8_lossy(&answer.body).contains("secret"), "{answer:?}");
        }
    }
    assert_eq!(server.send(&by("ann", Request::call("t", json!({})))).text(), "ann");
}

/// One answer as an observer sees it.
type Note = (String, Option<String>, u16, Option<i32>, Option<u8>);

fn note(answered: &Answered<'_>) -> Note {
    let name = answered.name.map(str::to_owned);
    (answered.method.to_owned(), name, answered.status, answered.code, answered.rung)
}

/// [PREC-01] [ERR-08] [CALL-13] observers see every answer: what was asked, what came of it, and which rung refused it.
#[test]
fn observers_see_every_answer() {
    let notes: Arc<Mutex<Vec<Note>>> = Arc::default();
    let log = notes.clone();
    let builder = with_callers(counted(&Runs::default()))
        .tool("fails", "", async |_: &Context, _: NoArgs| {
            Err::<(), _>(ToolError::protocol(RpcError::new(77, "No")))
        })
        .tool("scoped", "", async |_: &Context, _: NoArgs| Ok::<_, ToolError>(()))
        .require_scopes("scoped", ["s"])
        .observe(move |answered| log.lock().expect("no panic").push(note(answered)));
    let server = serve(builder);
    let cases: Vec<(Request, Note)> = vec![
        (Request::call("t", json!({})), ("tools/call".into(), Some("t".into()), 200, None, None)),
        (
            Request::call("fails", json!({})),
            ("tools/call".into(), Some("fails".into()), 200, Some(77), None),
        ),
        (
            Request::call("none", json!({})),
            ("tools/call".into(), Some("none".into()), 200, Some(-32602), Some(22)),
        ),
        (
            Request::call("scoped", json!({})),
            ("tools/call".into(), Some("scoped".into()), 403, None, Some(20)),
        ),
        (ask("tools/list"), ("tools/list".into(), None, 200, None, None)),
        (ask("no/such"), ("no/such".into(), None, 404, Some(-32601), Some(16))),
        (
            ask("tools/list").param("cursor", json!(1)),
            ("tools/list".into(), None, 200, Some(-32602), Some(18)),
        ),
        (
            Request::call("t", json!({})).param("requestState", json!("x")),
            ("tools/call".into(), Some("t".into()), 200, Some(-32602), Some(21)),
        ),
        (ask("tools/list").body("{"), (String::new(), None, 400, Some(-32700), Some(6))),
    ];
    for (request, expected) in cases {
        server.send(&by("ann", request));
        assert_eq!(notes.lock().expect("no panic").pop(), Some(expected));
        assert!(notes.lock().expect("no panic").is_empty(), "once each");
    }
    server.send(&ask("tools/list"));
    let unauthorized = notes.lock().expect("no panic").pop();
    assert_eq!(unauthorized, Some((String::new(), None, 401, None, Some(3))));
}

/// [SEC-03] refusals are counted by their rung, the late ones too.
#[test]
fn refusals_are_counted_by_rung() {
    let server = serve(counted(&Runs::default()));
    server.send(&Request::call("none", json!({})));
    server.send(&ask("no/such"));
    let rejected = server.handle().counters().rejected;
    assert_eq!(rejected.get(15), Some(&1), "rung 16");
    assert_eq!(rejected.get(21), Some(&1), "rung 22");
}

/// [AUTH-14] an authenticator may wait for somebody else.
#[test]
fn authenticators_may_wait() {
    let builder = counted(&Runs::default()).authenticate(async |head: &RequestHead<'_>| {
        let mut waits = 3;
        std::future::poll_fn(|cx| {
            if waits == 0 {
                return std::task::Poll::Ready(());
            }
            waits -= 1;
            cx.waker().wake_by_ref();
            std::task::Poll::Pending
        })
        .await;
        let who = head.header("X-Who").ok_or_else(|| Denied::forbidden("Who?"))?;
        Ok(Principal::new(String::from_utf8_lossy(who).into_owned()))
    });
    let server = serve(builder);
    assert_eq!(server.send(&Request::call("t", json!({})).header("X-Who", "ann")).text(), "ann");
    assert_eq!(server.send(&Request::call("t", json!({}))).status, 403);
}
