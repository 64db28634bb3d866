//! The envelope's getters, the capability table, and trace context.

use serde_json::json;

use super::*;
use crate::document::Document;
use crate::limits::{BAGGAGE_BYTES_MAX, TRACESTATE_BYTES_MAX};
use crate::testing::document;

fn meta(doc: &Document) -> RequestMeta<'_> {
    RequestMeta::from_message(Some(doc.root()))
}

/// [ENV-01] [ENV-04] the claim is absent, of the wrong type, or a version
#[test]
fn claims_are_told_apart() {
    let claim = |text: &str| format!("{:?}", meta(&document(text)).claim());
    assert_eq!(claim("{}"), "Absent");
    assert_eq!(claim("7"), "Absent");
    for wrong in ["20260728", "null", "{}", "[]", "true"] {
        assert_eq!(claim(&format!(r#"{{"{PROTOCOL_VERSION_KEY}":{wrong}}}"#)), "NotString");
    }
    assert_eq!(claim(&format!(r#"{{"{PROTOCOL_VERSION_KEY}":"x"}}"#)), "Version(\"x\")");
    assert_eq!(RequestMeta::from_message(None).claim(), Claim::Absent);
    assert!(RequestMeta::from_message(None).members().is_none());
}

/// [ENV-01] [ENV-02] [ENV-03] [ENV-04] [ENV-05] [ENV-06] each key: absent, well-typed, ill-typed;
/// the fault names the key
#[test]
fn every_key_is_checked() {
    let outcome = |text: &str| {
        let doc = document(text);
        let meta = meta(&doc);
        let faults = [
            meta.capabilities().err(),
            meta.client_info().err(),
            meta.log_level().err(),
            meta.progress_token().err(),
        ];
        faults.into_iter().flatten().map(|fault| fault.to_string()).collect::<Vec<_>>().join("; ")
    };
    let with = |key: &str, value: &str| {
        outcome(&format!(r#"{{"{CLIENT_CAPABILITIES_KEY}":{{}},"{key}":{value}}}"#))
    };
    assert_eq!(outcome("{}"), r#"_meta["io.modelcontextprotocol/clientCapabilities"] is missing"#);
    for wrong in ["[]", "null", "7", "\"\""] {
        let fault = outcome(&format!(r#"{{"{CLIENT_CAPABILITIES_KEY}":{wrong}}}"#));
        assert_eq!(
            fault,
            r#"_meta["io.modelcontextprotocol/clientCapabilities"] is not an object"#
        );
    }
    let sound = [
        (CLIENT_INFO_KEY, r#"{"name":"t","version":"1"}"#),
        (CLIENT_INFO_KEY, r#"{"name":"","version":"","title":7,"x":[]}"#),
        (LOG_LEVEL_KEY, "\"debug\""),
        (PROGRESS_TOKEN_KEY, "\"\""),
        (PROGRESS_TOKEN_KEY, "-3"),
        ("com.example/unknown", "null"),
    ];
    for (key, value) in sound {
        assert_eq!(with(key, value), "", "{key} {value}");
    }
    let faulty = [
        (CLIENT_INFO_KEY, "null"),
        (CLIENT_INFO_KEY, "[]"),
        (CLIENT_INFO_KEY, r#"{"name":1}"#),
        (CLIENT_INFO_KEY, r#"{"name":"t"}"#),
        (CLIENT_INFO_KEY, r#"{"version":"1"}"#),
        (CLIENT_INFO_KEY, r#"{"name":"t","version":1}"#),
        (LOG_LEVEL_KEY, "\"verbose\""),
        (LOG_LEVEL_KEY, "\"Debug\""),
        (LOG_LEVEL_KEY, "null"),
        (LOG_LEVEL_KEY, "7"),
        (PROGRESS_TOKEN_KEY, "1.5"),
        (PROGRESS_TOKEN_KEY, "{}"),
        (PROGRESS_TOKEN_KEY, "null"),
        (PROGRESS_TOKEN_KEY, "true"),
    ];
    for (key, value) in faulty {
        let fault = with(key, value);
        assert!(
            fault.starts_with(&format!("_meta[\"{key}\"] ")) && !fault.contains(';'),
            "{fault}"
        );
    }
}

/// [ENV-03] [ENV-05] [ENV-06] what well-typed keys hold
#[test]
fn getters_hand_out_values() {
    let info = json!({"name": "n", "version": "v", "title": "t"});
    let sent = json!({CLIENT_INFO_KEY: info, LOG_LEVEL_KEY: "alert", "progressToken": "p"});
    let doc = document(sent.to_string());
    let meta = meta(&doc);
    let info = meta.client_info().unwrap().unwrap();
    assert_eq!((info.name, info.version, info.title), ("n", "v", Some("t")));
    assert_eq!(meta.log_level(), Ok(Some(LoggingLevel::Alert)));
    assert_eq!(meta.progress_token(), Ok(Some(Id::from("p"))));
    assert_eq!(meta.members().map(Object::len), Some(3));
}

/// [MR-10] [ENV-07] the truth table of declarations
#[test]
fn declarations_follow_the_table() {
    use Capability::*;
    let all = [
        ElicitationForm,
        ElicitationUrl,
        Sampling,
        SamplingTools,
        SamplingContext,
        Roots,
        Extension("a.b/c"),
    ];
    let table: &[(&str, &[Capability<'_>])] = &[
        ("{}", &[]),
        (r#"{"elicitation":{}}"#, &[ElicitationForm]),
        (r#"{"elicitation":{"form":{}}}"#, &[ElicitationForm]),
        (r#"{"elicitation":{"url":{}}}"#, &[ElicitationUrl]),
        (r#"{"elicitation":{"form":{},"url":{}}}"#, &[ElicitationForm, ElicitationUrl]),
        (r#"{"elicitation":{"form":null}}"#, &[]),
        (r#"{"elicitation":null}"#, &[]),
        (r#"{"elicitation":true}"#, &[]),
        (r#"{"sampling":{}}"#, &[Sampling]),
        (r#"{"sampling":{"tools":{}}}"#, &[Sampling, SamplingTools]),
        (r#"{"sampling":{"context":{},"tools":{}}}"#, &[Sampling, SamplingTools, SamplingContext]),
        (r#"{"sampling":[]}"#, &[]),
        (r#"{"roots":{"listChanged":true}}"#, &[Roots]),
        (r#"{"extensions":{}}"#, &[]),
        (r#"{"extensions":{"a.b/c":{}}}"#, &[Extension("a.b/c")]),
        (r#"{"extensions":{"a.b/c":null}}"#, &[]),
        (r#"{"extensions":{"form":{}}}"#, &[]),
    ];
    for (text, expected) in table {
        let doc = document(text);
        let declared = doc.root().as_object().unwrap();
        let found: Vec<_> =
            all.into_iter().filter(|capability| declares(declared, capability)).collect();
        assert_eq!(found, *expected, "{text}");
    }
    assert!(!declares(
        document(r#"{"extensions":{}}"#).root().as_object().unwrap(),
        &Extension("form")
    ));
}

/// [ERR-05] [MR-11] what is missing is nested objects, to the leaf, and nothing else
#[test]
fn missing_capabilities_are_nested_objects() {
    use Capability::*;
    assert_eq!(required_json(&[]), json!({}));
    assert_eq!(required_json(&[Sampling]), json!({"sampling": {}}));
    assert_eq!(required_json(&[ElicitationUrl]), json!({"elicitation": {"url": {}}}));
    assert_eq!(
        required_json(&[
            Sampling,
            SamplingTools,
            Roots,
            ElicitationForm,
            ElicitationUrl,
            Extension("a.b/c")
        ]),
        json!({
            "sampling": {"tools": {}}, "roots": {}, "elicitation": {"form": {}, "url": {}},
            "extensions": {"a.b/c": {}}
        })
    );
}

/// [TRC-01] only the W3C form is a parent
#[test]
fn trace_parents_are_well_formed() {
    let sound = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let parent = TraceParent::parse(sound).unwrap();
    assert_eq!(parent.trace_id, "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(parent.parent_id, "b7ad6b7169203331");
    assert!(parent.is_sampled());
    for wrong in [
        "",
        "00",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-",
        "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-+1",
        "00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01",
    ] {
        assert_eq!(TraceParent::parse(wrong), None, "{wrong}");
    }
}

/// [TRC-01] [TRC-03] [ENV-13] what is malformed or too large is left out, not an error
#[test]
fn trace_context_is_bounded() {
    let sound = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let read = |parent: &str, state: &str, baggage: &str| {
        let doc = document(
            json!({"traceparent": parent, "tracestate": state, "baggage": baggage}).to_string(),
        );
        let meta = meta(&doc);
        (meta.traceparent().is_some(), meta.tracestate().is_some(), meta.baggage().is_some())
    };
    assert_eq!(read(sound, "a=1", "k=v"), (true, true, true));
    assert_eq!(read("x", "a=1", "k=v"), (false, false, true));
    let (state, baggage) = ("s".repeat(TRACESTATE_BYTES_MAX), "b".repeat(BAGGAGE_BYTES_MAX));
    assert_eq!(read(sound, &state, &baggage), (true, true, true));
    assert_eq!(read(sound, &(state + "s"), &(baggage + "b")), (true, false, false));
    assert_eq!(read(sound, "a\n", "b\r\n"), (true, false, false));
    let doc = document(r#"{"traceparent":7,"tracestate":[],"baggage":null}"#);
    assert!(meta(&doc).traceparent().is_none() && meta(&doc).baggage().is_none());
}
