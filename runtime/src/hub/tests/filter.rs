//! What a filter may look like, and what of it is honoured.

use std::rc::Rc;
use std::sync::Arc;

use codec::{Document, Parser};
use serde_json::{Value, json};

use super::super::filter::{Access, Filter, FilterLimits, Subject, Supported};
use super::super::frame;
use super::super::topic::{ExtensionField, Topic};
use super::{id, kinds};

const ALL: Supported = Supported { tools: true, prompts: true, resources: true, subscribe: true };

fn parse(params: &Value) -> Result<Filter, String> {
    parse_within(params, FilterLimits::default())
}

fn parse_within(params: &Value, limits: FilterLimits) -> Result<Filter, String> {
    let bytes = params.to_string().into_bytes();
    let body = 0..bytes.len();
    let mut document = Document::new();
    document.parse(&mut Parser::new(16), bytes, body).expect("well-formed JSON");
    Filter::parse(document.root().as_object(), &kinds(), limits).map_err(|fault| fault.0)
}

/// The `notifications` object that the acknowledgement of this filter carries.
fn acked(filter: &Filter) -> Value {
    let mut out = Vec::new();
    let keys = filter.keys.iter().map(|(kind, key)| (*kind, &**key));
    frame::acknowledged(&mut out, &id(1), &kinds(), filter.topics, keys);
    let frame: Value = serde_json::from_slice(&out).expect("an acknowledgement is JSON");
    frame["params"]["notifications"].clone()
}

/// [SUB-01] a missing or ill-typed member is a fault that names it
#[test]
fn ill_typed_members_are_faults_that_name_the_field() {
    for (params, names) in [
        (json!({}), "notifications"),
        (json!({ "notifications": null }), "notifications"),
        (json!({ "notifications": [] }), "notifications"),
        (json!({ "notifications": { "toolsListChanged": "yes" } }), "toolsListChanged"),
        (json!({ "notifications": { "promptsListChanged": 1 } }), "promptsListChanged"),
        (json!({ "notifications": { "resourcesListChanged": null } }), "resourcesListChanged"),
        (json!({ "notifications": { "resourceSubscriptions": "a:b" } }), "resourceSubscriptions"),
        (json!({ "notifications": { "resourceSubscriptions": [1] } }), "resourceSubscriptions"),
        (json!({ "notifications": { "taskIds": { "a": 1 } } }), "taskIds"),
        (json!({ "notifications": { "taskIds": ["a", null] } }), "taskIds"),
    ] {
        let fault = parse(&params).expect_err("ill-typed");
        assert!(fault.contains(names), "{params}: {fault}");
    }
    let fault = Filter::parse(None, &kinds(), FilterLimits::default()).expect_err("no params");
    assert!(fault.0.contains("notifications"));
}

/// [SUB-01] [SUB-05] [SUB-23] unknown members are ignored and missing from the acknowledgement, as are `false`
/// and empty ones
#[test]
fn unknown_false_and_empty_members_are_left_out() {
    let filter = parse(&json!({ "notifications": {
        "toolsListChanged": true, "promptsListChanged": false, "resourceSubscriptions": [],
        "somethingElse": { "deep": [1] }, "taskIds": ["t1"],
    }}));
    let honoured = filter.expect("well-typed").honoured(ALL, &kinds(), None);
    assert_eq!(acked(&honoured), json!({ "toolsListChanged": true, "taskIds": ["t1"] }));
}

/// [SUB-05] the acknowledgement lists what is requested and supported, nothing else
#[test]
fn only_what_the_server_emits_is_honoured() {
    let everything = json!({ "notifications": {
        "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
        "resourceSubscriptions": ["file:///a", "file:///b", "file:///a"],
    }});
    let honour = |supported| {
        acked(&parse(&everything).expect("well-typed").honoured(supported, &kinds(), None))
    };
    let none = Supported::default();
    assert_eq!(honour(Supported { tools: true, ..none }), json!({ "toolsListChanged": true }));
    assert_eq!(honour(Supported { prompts: true, ..none }), json!({ "promptsListChanged": true }));
    assert_eq!(
        honour(Supported { resources: true, ..none }),
        json!({ "resourcesListChanged": true })
    );
    let uris = json!({ "resourceSubscriptions": ["file:///a", "file:///b"] });
    assert_eq!(honour(Supported { subscribe: true, ..none }), uris);
    assert_eq!(honour(none), json!({}));
    let mut all = everything["notifications"].clone();
    all["resourceSubscriptions"] = uris["resourceSubscriptions"].clone();
    assert_eq!(honour(ALL), all);
}

/// [SUB-10] refused URIs and keys are left out; a predicate that panics refuses
#[test]
fn the_opener_is_asked_about_every_key() {
    let access: Access = Rc::new(|subject| match subject {
        Subject::Resource(uri) => uri != "file:///secret",
        Subject::Extension { field, key } => {
            assert_eq!((field, key), ("taskIds", "mine"), "another task");
            true
        }
    });
    let filter = parse(&json!({ "notifications": {
        "resourceSubscriptions": ["file:///secret", "file:///open"], "taskIds": ["mine", "theirs"],
    }}));
    let honoured = filter.expect("well-typed").honoured(ALL, &kinds(), Some(&access));
    let expected = json!({ "resourceSubscriptions": ["file:///open"], "taskIds": ["mine"] });
    assert_eq!(acked(&honoured), expected);
}

/// [SUB-17] [SEC-02] the number of entries and the length of each are bounded
#[test]
fn caps_are_exact() {
    let limits = FilterLimits { keys_max: 3, key_bytes_max: 4 };
    for field in ["resourceSubscriptions", "taskIds"] {
        let ask =
            |keys: &[&str]| parse_within(&json!({ "notifications": { field: keys } }), limits);
        assert_eq!(ask(&["a", "b", "cccc"]).map(|filter| filter.keys.len()), Ok(3));
        let fault = ask(&["a", "b", "c", "c"]).expect_err("one too many");
        assert!(fault.contains(field) && fault.contains('3'), "{fault}");
        let fault = ask(&["ccccc"]).expect_err("one byte too long");
        assert!(fault.contains(field) && fault.contains('4'), "{fault}");
    }
}

/// [SUB-23] an extension can take neither a field of the protocol nor one that is taken
#[test]
fn extension_fields_are_unique() {
    let mut kinds = kinds();
    let mut register = |field: &str| {
        let method: Arc<str> = "notifications/x".into();
        kinds.register(ExtensionField { field: field.into(), method })
    };
    assert!(register("taskIds").is_err());
    assert!(register("resourceSubscriptions").is_err());
    assert!(Topic::ALL.iter().all(|topic| register(topic.field()).is_err()));
    assert!(register("jobIds").is_ok());
    assert!((0..30).all(|n| register(&format!("field{n}")).is_ok()));
    assert!(register("oneTooMany").is_err());
}
