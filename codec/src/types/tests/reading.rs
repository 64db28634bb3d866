//! Reading: what is kept, what is told apart, what is refused.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::types::task::{CreateTaskResult, DetailedTask, Task, TaskStatus};
use crate::types::*;

fn read<T: DeserializeOwned>(value: Value) -> Result<T, serde_json::Error> {
    serde_json::from_str(&value.to_string())
}

/// [CALL-08] `structuredContent: null` is a value, absence is not; both survive.
#[test]
fn null_is_not_absence() {
    for (value, expected) in [
        (
            json!({"resultType": "complete", "content": [], "structuredContent": null}),
            Some(Value::Null),
        ),
        (
            json!({"resultType": "complete", "content": [], "structuredContent": false}),
            Some(json!(false)),
        ),
        (json!({"resultType": "complete", "content": []}), None),
    ] {
        let result: CallToolResult = read(value.clone()).expect("a result");
        assert_eq!(result.structured_content, expected);
        assert_eq!(serde_json::to_value(&result).expect("serializes"), value);
    }
}

/// [RPC-03] [RPC-04] [ENV-06] ids and tokens keep their JSON type up to 64 bits; fractions, exponents
/// and other types are refused.
#[test]
fn ids_are_type_exact() {
    for text in [
        "0",
        "\"0\"",
        "\"\"",
        "-7",
        "9007199254740993",
        "18446744073709551615",
        "-9223372036854775808",
    ] {
        let id: RequestId = serde_json::from_str(text).expect(text);
        assert_eq!(serde_json::to_string(&id).expect("serializes"), text);
    }
    for text in ["null", "1.0", "1.5", "1e3", "18446744073709551616", "true", "{}", "[1]"] {
        assert!(serde_json::from_str::<RequestId>(text).is_err(), "{text}");
    }
    assert!(serde_json::to_string(&RequestId::Integer(i128::MAX)).is_err());
}

/// [PRG-03] integers stay integers on the wire, numbers that were read are written as they came.
#[test]
fn numbers_keep_their_kind() {
    let progress =
        |value: Num| serde_json::to_string(&ProgressParams::new("t", value)).expect("serializes");
    assert!(progress(Num::from(50)).contains("\"progress\":50}"));
    assert!(progress(Num::from(50.0)).contains("\"progress\":50}"));
    assert!(progress(Num::from(0.5)).contains("\"progress\":0.5}"));
    assert!(progress(Num::from(f64::NAN)).contains("\"progress\":0}"));
    assert!(
        progress(Num::from(1e300)).contains("1e+300")
            || progress(Num::from(1e300)).contains("1e300")
    );
    for text in ["1", "1.0", "-0.5", "18446744073709551615"] {
        let num: Num = serde_json::from_str(text).expect(text);
        assert_eq!(serde_json::to_string(&num).expect("serializes"), text);
    }
    assert!(Num::from(u64::MAX) > Num::from(u64::MAX - 1));
    assert!(Num::from(-1) < Num::from(0.5) && Num::from(2) > Num::from(1.5));
}

/// [LOG-03] [ENV-05] levels are ordered and closed.
#[test]
fn closed_sets() {
    assert!(
        LoggingLevel::Debug < LoggingLevel::Warning
            && LoggingLevel::Alert < LoggingLevel::Emergency
    );
    assert!(read::<LoggingLevel>(json!("verbose")).is_err());
    assert!(read::<Role>(json!("system")).is_err());
    assert!(read::<CacheScope>(json!("Public")).is_err());
    assert!(read::<JsonRpc>(json!("1.0")).is_err());
    assert_eq!(Role::parse("user"), Some(Role::User));
}

/// [RPC-07] [RPC-08] `resultType` is open; without it a result is one of the 2025 era and stays so.
#[test]
fn result_types() {
    for (text, expected) in [
        (r#"{"resultType":"complete"}"#, ResultType::Complete),
        (r#"{"resultType":"input_required"}"#, ResultType::InputRequired),
        (r#"{"resultType":"com.example/x"}"#, ResultType::Other("com.example/x".into())),
        ("{}", ResultType::Absent),
    ] {
        let result: EmptyResult = serde_json::from_str(text).expect(text);
        assert_eq!(result.result_type, expected);
        assert_eq!(serde_json::to_string(&result).expect("serializes"), text);
    }
}

/// [RPC-18] [TOOL-07] unknown members and all schema keywords survive, in order.
#[test]
fn relayed_members_survive() {
    let text = r#"{"name":"t","inputSchema":{"type":"object","$defs":{"z":1.0,"a":{"x-y":[null]}},"$id":"i"},"zzz":{"b":1,"a":2}}"#;
    let tool: Tool = serde_json::from_str(text).expect("a tool");
    assert_eq!(serde_json::to_string(&tool).expect("serializes"), text);
    let capabilities = json!({"roots": {"listChanged": true}, "sampling": {"q": 1}, "zzz": {}});
    let read: ClientCapabilities = read(capabilities.clone()).expect("capabilities");
    assert_eq!(serde_json::to_value(read).expect("serializes"), capabilities);
}

/// [RES-04] contents are exactly one of text and blob.
#[test]
fn contents_are_text_xor_blob() {
    assert!(read::<ResourceContents>(json!({"uri": "a:b", "text": ""})).is_ok());
    assert!(read::<ResourceContents>(json!({"uri": "a:b"})).is_err());
    assert!(read::<ResourceContents>(json!({"uri": "a:b", "text": "", "blob": ""})).is_err());
}

/// [PRM-03] [CMP-02] prompt arguments are strings; other reference types are refused.
#[test]
fn prompt_and_completion_parameters() {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let get = |value: Value| json!({"_meta": meta, "name": "p", "arguments": {"a": value}});
    assert!(read::<GetPromptParams>(get(json!("1"))).is_ok());
    assert!(read::<GetPromptParams>(get(json!(1))).is_err());
    let complete = |kind: &str| {
        json!({
            "_meta": meta,
            "ref": {"type": kind, "name": "p", "uri": "u"},
            "argument": {"name": "a", "value": ""},
        })
    };
    assert!(read::<CompleteParams>(complete("ref/prompt")).is_ok());
    assert!(read::<CompleteParams>(complete("ref/resource")).is_ok());
    assert!(read::<CompleteParams>(complete("ref/tool")).is_err());
}

/// [RPC-19] of two equal keys the first is kept, and a flood of keys costs linear time.
#[test]
fn ordered_map_keeps_the_first() {
    let map: OrderedMap<String> =
        serde_json::from_str(r#"{"b":"1","a":"2","b":"3"}"#).expect("an object");
    assert_eq!(map.iter().collect::<Vec<_>>(), [("b", &"1".to_owned()), ("a", &"2".to_owned())]);
    let mut built: OrderedMap<u8> = [("a", 1), ("b", 2), ("a", 3)].into_iter().collect();
    assert_eq!((built.len(), built.get("a")), (2, Some(&3)));
    assert_eq!(built.insert("b", 9), Some(2));
}

/// [TSK-04] [TSK-07] [TSK-08] a created task is flat, null means no limit and may not be left out.
#[test]
fn tasks_are_flat() {
    let value = json!({
        "resultType": "task",
        "taskId": "t",
        "status": "working",
        "createdAt": "2026-07-28T00:00:00Z",
        "lastUpdatedAt": "2026-07-28T00:00:00Z",
        "ttlMs": null,
    });
    let created: CreateTaskResult = read(value.clone()).expect("a task");
    assert_eq!(created.task.ttl_ms, None);
    assert!(!created.task.status.is_final() && TaskStatus::Failed.is_final());
    assert_eq!(serde_json::to_value(&created).expect("serializes"), value);
    let mut without = value.clone();
    without.as_object_mut().expect("an object").remove("ttlMs");
    assert!(read::<Task>(without).is_err());
    let mut failed = value;
    failed["status"] = json!("failed");
    failed["error"] = json!({"code": -32603, "message": "Internal error"});
    let failed: DetailedTask = read(failed).expect("a task");
    assert_eq!(failed.error.map(|error| error.code), Some(-32603));
}
