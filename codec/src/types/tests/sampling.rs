//! Conversations: the rules of tool use, and ranges.

use crate::types::*;

fn asks(ids: &[&str]) -> Vec<SamplingContent> {
    ids.iter().map(|id| SamplingContent::tool_use(*id, "t", JsonObject::new())).collect()
}

fn answers(ids: &[&str]) -> Vec<SamplingContent> {
    ids.iter().map(|id| SamplingContent::tool_result(*id, [Content::text("r")])).collect()
}

/// [EL-06] every tool_use is answered by the next user message, which holds nothing else.
#[test]
fn tool_use_is_answered_at_once() {
    let ask = || SamplingRequest::new(10).user("q");
    let good = ask().assistant(asks(&["a", "b"])).user(answers(&["b", "a"])).assistant("done");
    assert_eq!(good.validate(), Ok(()));
    let twice = ask().assistant(asks(&["a"])).user(answers(&["a"])).assistant(asks(&["a"]));
    assert_eq!(twice.clone().user(answers(&["a"])).validate(), Ok(()));

    let mut mixed = answers(&["a"]);
    mixed.push(SamplingContent::text("and"));
    let unanswered = |message, id: &str| SamplingError::Unanswered { message, id: id.to_owned() };
    let dangling = |message, id: &str| SamplingError::Dangling { message, id: id.to_owned() };
    let rows = [
        (ask().assistant(asks(&["a"])).user(mixed), SamplingError::MixedResults { message: 2 }),
        (ask().assistant(asks(&["a"])).user("other"), unanswered(1, "a")),
        (ask().assistant(asks(&["a", "b"])).user(answers(&["a"])), unanswered(1, "b")),
        (ask().assistant(asks(&["a"])), unanswered(1, "a")),
        (twice, unanswered(3, "a")),
        (ask().assistant(asks(&["a"])).user(answers(&["a", "z"])), dangling(2, "z")),
        (ask().assistant(asks(&["a"])).user(answers(&["a", "a"])), dangling(2, "a")),
        (SamplingRequest::new(10).user(answers(&["a"])), dangling(0, "a")),
        (ask().user(asks(&["a"])), SamplingError::WrongRole { message: 1 }),
        (ask().assistant(answers(&["a"])), SamplingError::WrongRole { message: 1 }),
    ];
    for (request, expected) in rows {
        let error = request.validate().expect_err("broken rule");
        assert!(error.to_string().starts_with("sampling messages["), "{error}");
        assert_eq!(error, expected);
    }
}

/// [EL-06] messages and maxTokens are needed; priorities are within 0..1.
#[test]
fn ranges_are_checked() {
    assert_eq!(SamplingRequest::new(10).validate(), Err(SamplingError::Empty));
    assert_eq!(SamplingRequest::new(0).user("q").validate(), Err(SamplingError::MaxTokens));
    let with =
        |preferences| SamplingRequest::new(1).user("q").model_preferences(preferences).validate();
    assert_eq!(with(ModelPreferences::new().hint("m").cost(0).speed(1).intelligence(0.5)), Ok(()));
    assert_eq!(
        with(ModelPreferences::new().speed(1.5)),
        Err(SamplingError::Priority { field: "speedPriority" })
    );
}

/// [MR-21] both forms of content are read and kept; the answer's text is found in either.
#[test]
fn one_block_or_many() {
    for text in [
        r#"{"role":"assistant","content":{"type":"text","text":"hi"},"model":"m"}"#,
        r#"{"role":"assistant","content":[{"type":"text","text":"hi"}],"model":"m","stopReason":"other"}"#,
    ] {
        let result: CreateMessageResult = serde_json::from_str(text).expect("an answer");
        assert_eq!(result.text(), Some("hi"));
        assert_eq!(result.tool_uses().count(), 0);
        assert_eq!(serde_json::to_string(&result).expect("serializes"), text);
    }
}
