//! Asking for input and reading the answers.

use serde_json::json;

use crate::meta::{Capability, required_json};
use crate::types::*;

fn form() -> ElicitForm {
    ElicitForm::new("m").string("name", |s| s)
}

fn url() -> ElicitUrl {
    ElicitUrl::new("m", "https://a.example/").expect("good url")
}

/// [MR-02] [MR-03] [MR-04] something must be asked; keys are unique; the shape is bare.
#[test]
fn something_must_be_asked() {
    assert_eq!(InputRequired::new().validate(), Err(InputError::Nothing));
    let mut empty = InputRequired::new();
    empty.input_requests = Some(InputRequests::new());
    assert_eq!(empty.validate(), Err(InputError::Nothing));
    assert_eq!(empty.state("s").validate(), Ok(()));

    let asked = InputRequired::new()
        .ask("who", form())
        .and_then(|asked| asked.ask("roots", ListRootsParams::default()))
        .expect("two keys");
    assert_eq!(
        asked.clone().ask("who", url()),
        Err(InputError::KeyTwice { key: "who".to_owned() })
    );
    assert_eq!(asked.clone().ask("", url()), Err(InputError::KeyEmpty));
    assert_eq!(
        serde_json::to_value(asked.state("s")).expect("serializes"),
        json!({
            "resultType": "input_required",
            "inputRequests": {
                "who": {"method": "elicitation/create", "params": {
                    "mode": "form",
                    "message": "m",
                    "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
                }},
                "roots": {"method": "roots/list", "params": {}},
            },
            "requestState": "s",
        })
    );
}

/// [EL-02] [EL-03] [EL-06] what each kind forbids is refused when it is asked, naming the key.
#[test]
fn requests_are_checked_when_asked() {
    let secret = form().string("password", |s| s);
    let error = InputRequired::new().ask("k", secret).expect_err("secret");
    assert_eq!(
        error.to_string(),
        "inputRequests `k`: form field `password`: asks for a secret, use URL mode"
    );
    let error = InputRequired::new().ask("k", SamplingRequest::new(1)).expect_err("no messages");
    assert_eq!(error.to_string(), "inputRequests `k`: sampling messages: none");
    let mut changed = url();
    changed.url = "http://a.example/".to_owned();
    let error = InputRequired::new().ask("k", changed).expect_err("plain http");
    assert!(matches!(error, InputError::Url { error: UrlError::Scheme, .. }));
}

/// [MR-10] [MR-11] the capability each kind needs.
#[test]
fn capabilities_by_kind() {
    let sampling = || SamplingRequest::new(1).user("q");
    let context = |context| {
        let mut request = sampling();
        request.include_context = Some(context);
        request
    };
    let rows: Vec<(InputRequest, Vec<Capability<'static>>)> = vec![
        (form().into(), vec![Capability::ElicitationForm]),
        (url().into(), vec![Capability::ElicitationUrl]),
        (ListRootsParams::default().into(), vec![Capability::Roots]),
        (sampling().into(), vec![Capability::Sampling]),
        (
            sampling().tool(Tool::new("t")).into(),
            vec![Capability::Sampling, Capability::SamplingTools],
        ),
        (
            sampling().tool_choice(ToolChoiceMode::Auto).into(),
            vec![Capability::Sampling, Capability::SamplingTools],
        ),
        (context(IncludeContext::None).into(), vec![Capability::Sampling]),
        (
            context(IncludeContext::AllServers).into(),
            vec![Capability::Sampling, Capability::SamplingContext],
        ),
        (
            context(IncludeContext::ThisServer).into(),
            vec![Capability::Sampling, Capability::SamplingContext],
        ),
    ];
    for (request, expected) in rows {
        assert_eq!(request.required_capabilities(), expected, "{request:?}");
    }
    let both = InputRequired::new()
        .ask("a", sampling())
        .and_then(|asked| asked.ask("b", sampling().tool(Tool::new("t"))))
        .expect("two keys");
    let needed = both.required_capabilities();
    assert_eq!(needed, [Capability::Sampling, Capability::SamplingTools]);
    assert_eq!(required_json(&needed), json!({"sampling": {"tools": {}}}));
}

/// [MR-20] [MR-21] [MR-22] [MR-23] [EL-08] answers are read as the kind that was asked for; anything else
/// is missing.
#[test]
fn answers_by_kind() {
    let responses: InputResponses = serde_json::from_value(json!({
        "form": {"action": "accept", "content": {"name": "Ada"}},
        "model": {"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"},
        "roots": {"roots": [{"uri": "file:///a"}, {"uri": "https://a.example/"}]},
        "null": null,
        "text": "x",
        "list": [],
        "wrapped": {"result": {"action": "accept"}},
        "request": {"method": "elicitation/create", "params": {}},
        "unknown": {"action": "perhaps"},
    }))
    .expect("an object");
    assert_eq!(responses.elicit("form").expect("an answer").text("name"), Some("Ada"));
    assert_eq!(responses.sampling("model").expect("an answer").text(), Some("hi"));
    let roots = responses.roots("roots").expect("an answer");
    assert_eq!(roots.files().map(|root| root.uri.as_str()).collect::<Vec<_>>(), ["file:///a"]);
    for key in
        ["null", "text", "list", "wrapped", "request", "unknown", "model", "roots", "missing"]
    {
        assert_eq!(responses.elicit(key), None, "{key}");
    }
    assert_eq!(responses.sampling("form"), None);
    assert_eq!(responses.roots("form"), None);
    assert!(serde_json::from_value::<InputResponses>(json!([])).is_err());
}
