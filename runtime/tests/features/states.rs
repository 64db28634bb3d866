//! `requestState`: sealed, bound, expiring, and refused in one and the same way.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ringmcp::types::{InputRequired, Resource};
use ringmcp::{Builder, Context, HandlerError, Limits, ReplayStore, ToolError};
use serde_json::{Value, json};

use crate::common::{Free, KEY, NoArgs, OTHER_KEY, Runs, ask, by, server, with_callers};
use crate::support::{Answer, Request, Running, serve};

const SECRET: &str = "the-payload-of-the-state";

/// Answers with a state first, with what was in it then. Counts its runs.
fn stateful(builder: Builder, runs: &Runs) -> Builder {
    let tool = |builder: Builder, name: &str| {
        let runs = runs.clone();
        builder.tool(name, "", async move |ctx: &Context, _: Free| {
            runs.add();
            if let Some(state) = ctx.state::<String>() {
                return Ok(format!("state-ok {state}"));
            }
            let mut round = ctx.ask();
            round.state(&SECRET);
            Err::<String, _>(ToolError::from(round.interrupt()))
        })
    };
    let (prompted, read) = (runs.clone(), runs.clone());
    ["one", "two"]
        .into_iter()
        .fold(builder, tool)
        .prompt("one", "", async move |ctx: &Context, _: Free| {
            prompted.add();
            ctx.state::<String>()
                .ok_or_else(|| HandlerError::input_required(InputRequired::new().state("\"p\"")))
        })
        .resource(Resource::new("test://one", "one"), async move |ctx: &Context| {
            read.add();
            ctx.state::<String>()
                .ok_or_else(|| HandlerError::input_required(InputRequired::new().state("\"r\"")))
        })
}

fn call() -> Request {
    Request::call("one", json!({ "a": 1, "b": [true, null] }))
}

fn state_of(server: &Running, request: &Request) -> String {
    let result = server.send(request).result(request.method());
    assert_eq!(result["resultType"], "input_required");
    result["requestState"].as_str().expect("a state").to_owned()
}

fn with(request: &Request, state: &str) -> Request {
    request.clone().param("requestState", json!(state))
}

/// The one refusal there is.
fn assert_refused(answer: &Answer, why: &str) {
    assert_eq!(answer.status, 200, "{why}");
    let expected = json!({ "jsonrpc": "2.0", "id": 1, "error": {
        "code": -32602,
        "message": "Invalid or expired requestState",
        "data": { "reason": "invalid_request_state" },
    } });
    assert_eq!(answer.message(), expected, "{why}");
}

/// [RS-01] [MR-07] [MR-08] a state alone ends a round, comes back unchanged and is what the next round starts from.
#[test]
fn states_come_back() {
    let runs = Runs::default();
    let server = serve(stateful(server(), &runs));
    let first = server.send(&call()).result("tools/call");
    assert_eq!(first.get("inputRequests"), None);
    let state = first["requestState"].as_str().expect("a state");
    assert_eq!(server.send(&with(&call(), state)).text(), format!("state-ok {SECRET}"));
    for request in [
        Request::new("prompts/get", json!({ "name": "one", "arguments": { "a": "b" } })),
        Request::new("resources/read", json!({ "uri": "test://one" })),
    ] {
        let state = state_of(&server, &request);
        assert_eq!(
            server.send(&with(&request, &state)).result(request.method())["resultType"],
            "complete"
        );
    }
    assert_eq!(runs.count(), 6);
}

/// [RS-01] absent unless issued; anything but a string is malformed.
#[test]
fn states_are_strings() {
    let runs = Runs::default();
    let server = serve(stateful(server(), &runs));
    for state in [json!(7), json!(null), json!({}), json!([]), json!(true)] {
        assert_eq!(
            server.send(&call().param("requestState", state.clone())).error(),
            (200, -32602),
            "{state}"
        );
    }
    assert_eq!(runs.count(), 0);
    let plain = crate::common::once(
        crate::common::server()
            .tool("t", "", async |_: &Context, _: NoArgs| Ok::<_, ToolError>("x")),
        &Request::call("t", json!({})),
    );
    assert_eq!(plain.result("tools/call").get("requestState"), None);
}

/// Tampers with one state in every way, on tools, prompts and resources.
fn tamper(builder: Builder) {
    let runs = Runs::default();
    let server = serve(stateful(builder, &runs));
    for request in [
        call(),
        Request::new("prompts/get", json!({ "name": "one" })),
        Request::new("resources/read", json!({ "uri": "test://one" })),
    ] {
        let state = state_of(&server, &request);
        let ran = runs.count();
        for at in 0..state.len() {
            for replacement in [b'A', b'B', b'_', b'.'] {
                let mut flipped = state.clone().into_bytes();
                if flipped[at] == replacement {
                    continue;
                }
                flipped[at] = replacement;
                let flipped = String::from_utf8(flipped).expect("ASCII");
                assert_refused(&server.send(&with(&request, &flipped)), &format!("character {at}"));
            }
            assert_refused(&server.send(&with(&request, &state[..at])), &format!("cut at {at}"));
        }
        for forged in [
            format!("{state}-TAMPERED"),
            format!("{state}A"),
            format!("{state}="),
            format!(" {state}"),
            format!("{state}\n"),
            format!("{state}{state}"),
            "x".repeat(20_000),
            "v1.e30.AAAA".to_owned(),
            "ü\u{0}".to_owned(),
        ] {
            assert_refused(&server.send(&with(&request, &forged)), &forged);
        }
        assert_eq!(runs.count(), ran, "the handler never ran");
        server.send(&with(&request, &state)).result(request.method());
    }
}

/// [RS-02] [RS-03] [RS-06] [RS-07] every character, every cut, every addition: refused alike, before the handler.
#[test]
fn tampered_signed_states_are_refused() {
    tamper(server());
}

/// [RS-02] [RS-03] [RS-06] [RS-07] the same when states are encrypted.
#[test]
fn tampered_encrypted_states_are_refused() {
    tamper(server().encrypt_state());
}

/// [RS-06] a last character whose unused bits are set decodes to the same bytes and is refused all the same.
#[test]
fn non_canonical_endings_are_refused() {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let runs = Runs::default();
    let server = serve(stateful(server(), &runs));
    let state = state_of(&server, &call());
    for last in ALPHABET.iter().filter(|last| !state.as_bytes().ends_with(&[**last])) {
        let mut other = state.clone();
        other.pop();
        other.push(char::from(*last));
        assert_refused(&server.send(&with(&call(), &other)), &other);
    }
}

/// [RS-04] [RS-03] another tool, other arguments, another method, another URI: refused; the order of members is no
/// difference.
#[test]
fn states_are_bound_to_what_was_asked() {
    let runs = Runs::default();
    let server = serve(stateful(server(), &runs));
    let state = state_of(&server, &call());
    let prompt_state = state_of(&server, &Request::new("prompts/get", json!({ "name": "one" })));
    let ran = runs.count();
    let arguments = |arguments: Value| Request::call("one", arguments);
    for (why, request) in [
        ("another tool", Request::call("two", json!({ "a": 1, "b": [true, null] }))),
        ("an argument less", arguments(json!({ "a": 1 }))),
        ("an argument more", arguments(json!({ "a": 1, "b": [true, null], "c": null }))),
        ("another value", arguments(json!({ "a": 2, "b": [true, null] }))),
        ("another type", arguments(json!({ "a": "1", "b": [true, null] }))),
        ("another order in a list", arguments(json!({ "a": 1, "b": [null, true] }))),
        ("no arguments", arguments(json!({}))),
        ("another method", Request::new("prompts/get", json!({ "name": "one" }))),
        ("a resource", Request::new("resources/read", json!({ "uri": "test://one" }))),
    ] {
        assert_refused(&server.send(&with(&request, &state)), why);
    }
    assert_refused(&server.send(&with(&call(), &prompt_state)), "a prompt's state on a tool");
    assert_eq!(runs.count(), ran);
    let reordered = arguments(json!({ "b": [true, null], "a": 1 }));
    assert!(server.send(&with(&reordered, &state)).text().starts_with("state-ok"));
}

/// [RS-04] [SEC-14] [RS-03] another caller, and nobody.
#[test]
fn states_are_bound_to_their_caller() {
    let runs = Runs::default();
    let callers = serve(stateful(with_callers(server().state_key("1", KEY)), &runs));
    let anyone = serve(stateful(server().state_key("1", KEY), &runs));
    let anns = state_of(&callers, &by("ann", call()));
    let nobodys = state_of(&anyone, &call());
    let ran = runs.count();
    assert_refused(&callers.send(&by("bob", with(&call(), &anns))), "bob");
    assert_refused(&callers.send(&by("Ann", with(&call(), &anns))), "Ann");
    assert_refused(&callers.send(&by("ann", with(&call(), &nobodys))), "what nobody was given");
    assert_refused(&anyone.send(&with(&call(), &anns)), "nobody");
    assert_eq!(runs.count(), ran);
    assert!(callers.send(&by("ann:scope", with(&call(), &anns))).text().starts_with("state-ok"));
}

/// [RS-04] [RS-03] [RS-07] an expired state reads like any other that is refused.
#[test]
fn states_expire() {
    let runs = Runs::default();
    let short = serve(stateful(server().state_key("1", KEY).state_ttl(Duration::ZERO), &runs));
    let long = serve(stateful(server().state_key("1", KEY), &runs));
    let expired = state_of(&short, &call());
    let ran = runs.count();
    assert_refused(&short.send(&with(&call(), &expired)), "expired");
    assert_refused(&long.send(&with(&call(), &expired)), "expired elsewhere");
    assert_eq!(runs.count(), ran);
    // The expiry is in the state, not in the reader.
    let valid = state_of(&long, &call());
    assert!(short.send(&with(&call(), &valid)).text().starts_with("state-ok"));
}

/// [RS-06] [RS-09] [MR-05] [PAG-05] keys rotate: the new server takes old states and seals with the new key; the old
/// one does not know that key.
#[test]
fn keys_rotate() {
    for encrypt in [false, true] {
        let mode = |builder: Builder| if encrypt { builder.encrypt_state() } else { builder };
        let runs = Runs::default();
        let old = serve(stateful(mode(server().state_key("1", KEY)), &runs));
        let new =
            serve(stateful(mode(server().state_key("2", OTHER_KEY).state_key("1", KEY)), &runs));
        let before = state_of(&old, &call());
        assert!(new.send(&with(&call(), &before)).text().starts_with("state-ok"));
        let after = state_of(&new, &call());
        assert!(new.send(&with(&call(), &after)).text().starts_with("state-ok"));
        assert_refused(&old.send(&with(&call(), &after)), "sealed with a key of the future");
        let retired = serve(stateful(mode(server().state_key("2", OTHER_KEY)), &runs));
        assert_refused(&retired.send(&with(&call(), &before)), "sealed with a retired key");
        assert!(retired.send(&with(&call(), &after)).text().starts_with("state-ok"));
    }
}

/// [RS-02] [RS-09] a restart with a random or another key refuses cleanly; with the same key it goes on.
#[test]
fn restarts() {
    let runs = Runs::default();
    let state = {
        let first = serve(stateful(server(), &runs));
        state_of(&first, &call())
    };
    let random = serve(stateful(server(), &runs));
    assert_refused(&random.send(&with(&call(), &state)), "a random key is gone with its process");
    let state = {
        let first = serve(stateful(server().state_key("1", KEY), &runs));
        state_of(&first, &call())
    };
    let same_name = serve(stateful(server().state_key("1", OTHER_KEY), &runs));
    assert_refused(&same_name.send(&with(&call(), &state)), "the same key id over another secret");
    let same = serve(stateful(server().state_key("1", KEY), &runs));
    assert!(same.send(&with(&call(), &state)).text().starts_with("state-ok"));
    assert_eq!(runs.count(), 3);
}

#[derive(Default)]
struct Store(Mutex<HashSet<[u8; 16]>>);

impl ReplayStore for Store {
    fn first_use(&self, id: &[u8; 16], expires: u64) -> bool {
        assert!(expires > 1_700_000_000, "unix seconds: {expires}");
        self.0.lock().expect("no panic").insert(*id)
    }
}

/// [RS-05] [RS-03] [D-39] with a store a state counts once, also on a replica; without one it may come again.
#[test]
fn one_shot_states_count_once() {
    let runs = Runs::default();
    let store = Arc::new(Store::default());
    let make = || stateful(server().state_key("1", KEY).one_shot_state(store.clone()), &runs);
    let (one, two) = (serve(make()), serve(make()));
    let (first, second) = (state_of(&one, &call()), state_of(&one, &call()));
    assert_ne!(first, second, "each state is its own");
    assert_refused(&one.send(&with(&call(), &format!("{first}A"))), "forged");
    assert_eq!(store.0.lock().expect("no panic").len(), 0, "a forged state uses nothing up");
    assert!(one.send(&with(&call(), &first)).text().starts_with("state-ok"));
    let ran = runs.count();
    assert_refused(&one.send(&with(&call(), &first)), "used");
    assert_refused(&two.send(&with(&call(), &first)), "used elsewhere");
    assert_eq!(runs.count(), ran);
    assert!(two.send(&with(&call(), &second)).text().starts_with("state-ok"));

    let lax = serve(stateful(server(), &runs));
    let state = state_of(&lax, &call());
    for _ in 0..3 {
        assert!(lax.send(&with(&call(), &state)).text().starts_with("state-ok"));
    }
}

fn holds_secret(state: &str) -> bool {
    let in_text = |text: &str| {
        let raw = URL_SAFE_NO_PAD.decode(text).unwrap_or_default();
        raw.windows(SECRET.len()).any(|window| window == SECRET.as_bytes())
    };
    state.contains(SECRET) || state.split('.').any(in_text)
}

/// [RS-06] [RS-10] signed states can be read by the client, encrypted ones cannot; both say their version first.
#[test]
fn signed_states_are_readable_and_encrypted_are_not() {
    let runs = Runs::default();
    let signed = state_of(&serve(stateful(server(), &runs)), &call());
    let encrypted = state_of(&serve(stateful(server().encrypt_state(), &runs)), &call());
    assert!(holds_secret(&signed), "{signed}");
    assert!(!holds_secret(&encrypted), "{encrypted}");
    for state in [signed, encrypted] {
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        assert!(state.bytes().all(legal), "{state}");
    }
}

/// [RS-06] [SEC-02] a state beyond the cap is the server's fault when made, and refused like any other when sent.
#[test]
fn states_are_bounded() {
    let builder = server().tool("big", "", async |ctx: &Context, arguments: Free| {
        let size = arguments["size"].as_u64().and_then(|size| usize::try_from(size).ok());
        let mut round = ctx.ask();
        round.state(&"x".repeat(size.expect("a size")));
        Err::<(), _>(ToolError::from(round.interrupt()))
    });
    let limits = Limits { state_bytes: 1_000, ..Limits::default() };
    let small = serve(builder.limits(limits));
    let big = |size: usize| Request::call("big", json!({ "size": size }));
    assert_eq!(small.send(&big(10)).result("tools/call")["resultType"], "input_required");
    assert_eq!(
        small.send(&big(1_000)).error_object(),
        json!({ "code": -32603, "message": "Internal error" })
    );
    assert_refused(&small.send(&with(&big(1), &"A".repeat(1_001))), "beyond the cap");
}

/// [MR-07] [MR-05] [RPC-17] several rounds, each on another server that shares only the key: earlier answers travel in
/// the state.
#[test]
fn several_rounds_over_replicas() {
    #[derive(serde::Serialize, serde::Deserialize)]
    struct Progress {
        first: String,
    }
    let form =
        |field: &str| ringmcp::types::ElicitForm::new("?").string(field, |field| field.required());
    let make = || {
        server().state_key("1", KEY).tool("steps", "", async move |ctx: &Context, _: NoArgs| {
            let first = match ctx.state::<Progress>() {
                Some(progress) => progress.first,
                None => ctx.elicit("step1", form("a"))?.text("a").unwrap_or("-").to_owned(),
            };
            let mut round = ctx.ask();
            round.state(&Progress { first: first.clone() });
            let second = round.elicit("step2", form("b"));
            let second = round.done(second)?;
            Ok::<_, ToolError>(format!("{first} {}", second.text("b").unwrap_or("-")))
        })
    };
    let request = Request::call("steps", json!({})).capabilities(json!({ "elicitation": {} }));
    let answer = |request: Request| serve(make()).send(&request);
    let accept =
        |key: &str, field: &str| json!({ key: { "action": "accept", "content": { field: key } } });

    let first = answer(request.clone()).result("tools/call");
    assert_eq!(first.get("requestState"), None);
    assert!(first["inputRequests"].get("step1").is_some());
    let second =
        answer(request.clone().param("inputResponses", accept("step1", "a"))).result("tools/call");
    assert!(
        second["inputRequests"].get("step2").is_some()
            && second["inputRequests"].get("step1").is_none()
    );
    let state = second["requestState"].as_str().expect("a state").to_owned();
    let again = answer(with(&request, &state)).result("tools/call");
    assert_eq!(again["resultType"], "input_required", "the state without the answer asks again");
    let fresh = again["requestState"].as_str().expect("a state");
    assert_ne!(fresh, state, "a fresh state each round");
    let last = with(&request, fresh).param("inputResponses", accept("step2", "b"));
    assert_eq!(answer(last).text(), "step1 step2");
}

/// [PREC-01] [PREC-02] the state is looked at before it is known whether the tool exists, and after guards.
#[test]
fn states_are_looked_at_before_the_target() {
    let server = serve(stateful(server(), &Runs::default()));
    assert_refused(
        &server.send(&with(&Request::call("unknown", json!({})), "x")),
        "an unknown tool",
    );
    let guarded = serve(
        stateful(crate::common::server(), &Runs::default())
            .guard(|_| Err(ringmcp::Denied::forbidden("No"))),
    );
    assert_eq!(guarded.send(&with(&call(), "x")).status, 403);
    assert_eq!(server.send(&ask("tools/list")).status, 200);
}
