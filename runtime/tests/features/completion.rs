//! `completion/complete`.

use ringmcp::types::{InputRequired, Prompt, PromptArgument, Resource, ResourceTemplate};
use ringmcp::{Builder, Completion, Completions, Context, HandlerError, Limits};
use serde_json::{Value, json};

use crate::common::{Free, once, server};
use crate::support::{Answer, Request, serve};

fn numbered(count: usize) -> Vec<String> {
    (0..count).map(|at| format!("v{at}")).collect()
}

fn completing() -> Builder {
    let prompt = ["few", "many", "exact", "known", "dependent", "wrong", "asks", "panics", "none"]
        .into_iter()
        .fold(Prompt::new("p"), |prompt, name| prompt.argument(PromptArgument::new(name)));
    server()
        .prompt_with(prompt, async |_: &Context, _: Free| Ok::<_, HandlerError>(""))
        .resource_template(
            ResourceTemplate::new("test://t/{id}", "t"),
            async |_: &Context, _: Free| Ok::<_, HandlerError>(""),
        )
        .resource(Resource::new("test://r", "r"), async |_: &Context| Ok::<_, HandlerError>(""))
        .complete_prompt("p", "few", async |_: &Context, asked: Completion<'_>| {
            let all = ["anna", "annika", "bert"].into_iter();
            Ok::<_, HandlerError>(
                all.filter(|name| name.starts_with(asked.value)).collect::<Completions>(),
            )
        })
        .complete_prompt("p", "many", async |_: &Context, _: Completion<'_>| {
            Ok::<_, HandlerError>(numbered(250))
        })
        .complete_prompt("p", "exact", async |_: &Context, _: Completion<'_>| {
            Ok::<_, HandlerError>(numbered(100))
        })
        .complete_prompt("p", "known", async |_: &Context, _: Completion<'_>| {
            Ok::<_, HandlerError>(Completions::of_total(numbered(3), 5_000))
        })
        .complete_prompt("p", "dependent", async |ctx: &Context, asked: Completion<'_>| {
            let country = asked.filled_in("country").unwrap_or("nowhere");
            Ok::<_, HandlerError>(vec![format!("{} {} {country}", ctx.target(), asked.argument)])
        })
        .complete_prompt("p", "wrong", async |_: &Context, _: Completion<'_>| {
            Err::<Vec<String>, _>(HandlerError::invalid("Too vague"))
        })
        .complete_prompt("p", "asks", async |_: &Context, _: Completion<'_>| {
            Err::<Vec<String>, _>(HandlerError::input_required(InputRequired::new().state("s")))
        })
        .complete_prompt("p", "panics", async |_: &Context, asked: Completion<'_>| {
            assert!(asked.argument.is_empty(), "secret detail");
            Ok::<_, HandlerError>(numbered(1))
        })
        .complete_template("test://t/{id}", "id", async |_: &Context, asked: Completion<'_>| {
            Ok::<_, HandlerError>(vec![format!("{}1", asked.value)])
        })
}

fn complete(reference: Value, argument: &str, value: &str) -> Request {
    let argument = json!({ "name": argument, "value": value });
    Request::new("completion/complete", json!({ "ref": reference, "argument": argument }))
}

fn of_prompt(argument: &str, value: &str) -> Request {
    complete(json!({ "type": "ref/prompt", "name": "p" }), argument, value)
}

fn found(answer: &Answer) -> Value {
    let result = answer.result("completion/complete");
    assert_eq!(result.get("ttlMs"), None, "CCH-02");
    assert_eq!(result.get("cacheScope"), None, "CCH-02");
    result["completion"].clone()
}

/// [CMP-02] [CMP-03] [CMP-05] the order is the completer's; nothing is said of a total that was not exceeded.
#[test]
fn suggests() {
    let server = serve(completing());
    assert_eq!(
        found(&server.send(&of_prompt("few", "ann"))),
        json!({ "values": ["anna", "annika"] })
    );
    assert_eq!(found(&server.send(&of_prompt("few", "zzz"))), json!({ "values": [] }));
    let template = json!({ "type": "ref/resource", "uri": "test://t/{id}" });
    assert_eq!(found(&server.send(&complete(template, "id", "4"))), json!({ "values": ["41"] }));
    let instance = json!({ "type": "ref/resource", "uri": "test://t/7" });
    assert_eq!(found(&server.send(&complete(instance, "id", "4"))), json!({ "values": ["41"] }));
    let titled = json!({ "type": "ref/prompt", "name": "p", "title": "P" });
    assert_eq!(found(&server.send(&complete(titled, "few", "b"))), json!({ "values": ["bert"] }));
}

/// [CMP-03] at most a hundred values leave, with how many there are.
#[test]
fn at_most_a_hundred() {
    let server = serve(completing());
    let many = found(&server.send(&of_prompt("many", "")));
    assert_eq!(many["values"].as_array().map(Vec::len), Some(100));
    assert_eq!(many["values"][99], "v99");
    assert_eq!(many["total"], 250);
    assert_eq!(many["hasMore"], true);
    let exact = found(&server.send(&of_prompt("exact", "")));
    assert_eq!(exact["values"].as_array().map(Vec::len), Some(100));
    assert_ne!(exact["hasMore"], true);
    let known = found(&server.send(&of_prompt("known", "")));
    assert_eq!(known, json!({ "values": ["v0", "v1", "v2"], "total": 5000, "hasMore": true }));
}

/// [CMP-03] [SEC-02] the bound can be lowered, not raised.
#[test]
fn the_bound_is_configured() {
    for (limit, sent) in [(10, 10), (1_000, 100)] {
        let limits = Limits { completion_values: limit, ..Limits::default() };
        let many = found(&once(completing().limits(limits), &of_prompt("many", "")));
        assert_eq!(many["values"].as_array().map(Vec::len), Some(sent));
        assert_eq!(many["total"], 250);
    }
}

/// [CMP-04] unknown references are refused; a known one without a completer suggests nothing.
#[test]
fn unknown_references() {
    let server = serve(completing());
    for reference in [
        json!({ "type": "ref/prompt", "name": "q" }),
        json!({ "type": "ref/resource", "uri": "test://x/{id}" }),
        json!({ "type": "ref/resource", "uri": "not a uri" }),
    ] {
        assert_eq!(
            server.send(&complete(reference.clone(), "id", "")).error(),
            (200, -32602),
            "{reference}"
        );
    }
    for (reference, argument) in [
        (json!({ "type": "ref/prompt", "name": "p" }), "none"),
        (json!({ "type": "ref/prompt", "name": "p" }), "unheard of"),
        (json!({ "type": "ref/resource", "uri": "test://t/{id}" }), "other"),
        (json!({ "type": "ref/resource", "uri": "test://r" }), "id"),
    ] {
        assert_eq!(
            found(&server.send(&complete(reference, argument, ""))),
            json!({ "values": [] })
        );
    }
}

/// [CMP-02] [PREC-02] malformed params.
#[test]
fn malformed_params() {
    let server = serve(completing());
    let reference = || json!({ "type": "ref/prompt", "name": "p" });
    let argument = || json!({ "name": "few", "value": "" });
    for params in [
        json!({}),
        json!({ "ref": reference() }),
        json!({ "argument": argument() }),
        json!({ "ref": "p", "argument": argument() }),
        json!({ "ref": { "type": "ref/tool", "name": "p" }, "argument": argument() }),
        json!({ "ref": { "name": "p" }, "argument": argument() }),
        json!({ "ref": { "type": "ref/prompt" }, "argument": argument() }),
        json!({ "ref": { "type": "ref/prompt", "name": 1 }, "argument": argument() }),
        json!({ "ref": { "type": "ref/resource", "name": "p" }, "argument": argument() }),
        json!({ "ref": reference(), "argument": { "name": "few" } }),
        json!({ "ref": reference(), "argument": { "value": "" } }),
        json!({ "ref": reference(), "argument": { "name": "few", "value": 1 } }),
        json!({ "ref": reference(), "argument": argument(), "context": [] }),
        json!({ "ref": reference(), "argument": argument(), "context": { "arguments": [] } }),
        json!({ "ref": reference(), "argument": argument(), "context": { "arguments": { "a": 1 } } }),
    ] {
        let answer = server.send(&Request::new("completion/complete", params.clone()));
        assert_eq!(answer.error(), (200, -32602), "{params}");
    }
}

/// [CMP-07] what is already filled in reaches the completer.
#[test]
fn other_arguments_reach_the_completer() {
    let server = serve(completing());
    let with = |context: Value| server.send(&of_prompt("dependent", "x").param("context", context));
    let filled = with(json!({ "arguments": { "country": "France", "other": "" } }));
    assert_eq!(found(&filled)["values"][0], "p dependent France");
    assert_eq!(found(&with(json!({})))["values"][0], "p dependent nowhere");
    assert_eq!(found(&with(json!({ "arguments": {} })))["values"][0], "p dependent nowhere");
}

/// [CMP-06] [MR-01] [ERR-11] completions never ask for input; their failures are errors.
#[test]
fn failing_completers() {
    let server = serve(completing());
    let error = |argument: &str| server.send(&of_prompt(argument, "")).error_object();
    let internal = json!({ "code": -32603, "message": "Internal error" });
    assert_eq!(error("wrong"), json!({ "code": -32602, "message": "Too vague" }));
    assert_eq!(error("asks"), internal);
    assert_eq!(error("panics"), internal);
}

/// [CMP-05] [SEC-03] guards see completions with what they complete, and can slow them down.
#[test]
fn completions_are_guarded() {
    let builder = completing().guard(|seen| match (seen.method, seen.name) {
        ("completion/complete", Some("p")) => {
            Err(ringmcp::Denied::too_many_requests(std::time::Duration::from_secs(7)))
        }
        _ => Ok(()),
    });
    let answer = once(builder, &of_prompt("few", ""));
    assert_eq!(crate::common::denial(&answer), (429, "rate_limited".into()));
    assert_eq!(answer.header("retry-after"), Some("7"));
}
