//! Every message that a subscription may get, and those it must not get.

use serde_json::{Value, json};

use super::*;

const TOOLS: &str = "notifications/tools/list_changed";
const UPDATED: &str = "notifications/resources/updated";

fn filter(filter: &Value) -> Arc<Filter> {
    Arc::new(Filter::new(filter, 100).unwrap())
}

fn tools() -> Arc<Filter> {
    filter(&json!({ "toolsListChanged": true }))
}

fn rules(filter: &Arc<Filter>) -> Rules {
    Rules { filter: filter.clone(), honoured: OnceCell::new() }
}

fn note(method: &str, id: &Value, mut params: Value) -> String {
    params["_meta"] = json!({ "io.modelcontextprotocol/subscriptionId": id });
    json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()
}

fn ack(id: u64, rules: &Rules) -> String {
    note(ACKNOWLEDGED, &id.into(), json!({ "notifications": rules.filter.asked() }))
}

/// A judge for id 7 that has seen its acknowledgement.
fn opened(rules: &Rules) -> Judge {
    let mut judge = Judge::new(7, &rules.filter);
    let verdict = judge.take(ack(7, rules).as_bytes(), 0, rules);
    assert!(matches!(verdict, Verdict::Acknowledged), "{verdict:?}");
    judge
}

fn kind(verdict: Verdict) -> Option<Kind> {
    match verdict {
        Verdict::Wrong(fault) => Some(fault.kind),
        _ => None,
    }
}

/// [SUB-02] [SUB-05] The acknowledgement is first, once, tagged, and within what was asked for.
#[test]
fn acknowledgements() {
    let filter = tools();
    let event = note(TOOLS, &7.into(), json!({}));
    for (message, expected) in [
        (event.clone(), Kind::Ack),
        (note(ACKNOWLEDGED, &7.into(), json!({})), Kind::Ack),
        (note(ACKNOWLEDGED, &7.into(), json!({ "notifications": {} })), Kind::Ack),
        (
            note(
                ACKNOWLEDGED,
                &7.into(),
                json!({ "notifications": { "promptsListChanged": true } }),
            ),
            Kind::Ack,
        ),
        (note(ACKNOWLEDGED, &8.into(), json!({ "notifications": filter.asked() })), Kind::Tag),
        (note(ACKNOWLEDGED, &"7".into(), json!({ "notifications": filter.asked() })), Kind::Tag),
    ] {
        let rules = rules(&filter);
        let mut judge = Judge::new(7, &filter);
        assert_eq!(kind(judge.take(message.as_bytes(), 0, &rules)), Some(expected), "{message}");
        assert!(!judge.is_acknowledged());
    }
    let rules = rules(&filter);
    let mut judge = opened(&rules);
    assert_eq!(kind(judge.take(ack(7, &rules).as_bytes(), 0, &rules)), Some(Kind::Ack));
}

/// [SUB-05] All streams are promised the same.
#[test]
fn promises_agree() {
    let filter = filter(&json!({ "toolsListChanged": true, "promptsListChanged": true }));
    let rules = rules(&filter);
    opened(&rules);
    let less =
        note(ACKNOWLEDGED, &8.into(), json!({ "notifications": { "toolsListChanged": true } }));
    assert_eq!(kind(Judge::new(8, &filter).take(less.as_bytes(), 0, &rules)), Some(Kind::Ack));
    let other_order = r#"{"promptsListChanged":true,"toolsListChanged":true}"#;
    let same = ack(9, &rules).replace(&json!(filter.asked()).to_string(), other_order);
    assert!(same.contains(other_order));
    let verdict = Judge::new(9, &filter).take(same.as_bytes(), 0, &rules);
    assert!(matches!(verdict, Verdict::Acknowledged), "{verdict:?}");
}

/// Events that look alike: one for each publish, a second is a duplicate, or a late one where one was missed.
#[test]
fn alike() {
    let filter = tools();
    let rules = rules(&filter);
    let mut judge = opened(&rules);
    let event = note(TOOLS, &7.into(), json!({}));
    let mut take = |current| judge.take(event.as_bytes(), current, &rules);
    assert_eq!(kind(take(0)), Some(Kind::Stray));
    assert!(matches!(take(1), Verdict::Arrived { publish: 1, in_order: true }));
    assert!(matches!(take(1), Verdict::Duplicate));
    assert!(matches!(take(3), Verdict::Arrived { publish: 3, .. }));
    assert!(matches!(take(3), Verdict::Late));
    assert!(matches!(take(3), Verdict::Duplicate));
    assert!(judge.has(3) && !judge.has(4));
}

/// Events that say whose they are: duplicates and disorder are exact.
#[test]
fn numbered() {
    let filter = filter(&json!({ "resourceSubscriptions": ["a://{n}"] }));
    let rules = rules(&filter);
    let mut judge = opened(&rules);
    let mut take = |uri: &str, current| {
        judge.take(note(UPDATED, &7.into(), json!({ "uri": uri })).as_bytes(), current, &rules)
    };
    assert!(matches!(take("a://1", 1), Verdict::Arrived { publish: 1, in_order: true }));
    assert!(matches!(take("a://70", 70), Verdict::Arrived { publish: 70, in_order: true }));
    assert!(matches!(take("a://2", 70), Verdict::Arrived { publish: 2, in_order: false }));
    assert!(matches!(take("a://70", 71), Verdict::Duplicate));
    assert_eq!(kind(take("a://72", 71)), Some(Kind::Stray));
    assert_eq!(kind(take("a://1/sub", 71)), Some(Kind::Stray));
    assert!(judge.has(1) && judge.has(70) && !judge.has(3) && !judge.has(100));
}

/// [SUB-04] [SUB-06] [SSE-06] [SSE-13] Nothing that was not asked for, and nothing of somebody else.
#[test]
fn strays() {
    let filter = tools();
    let rules = rules(&filter);
    let request = json!({ "jsonrpc": "2.0", "id": 7, "method": "ping" }).to_string();
    for (message, expected) in [
        (note("notifications/prompts/list_changed", &7.into(), json!({})), Kind::Stray),
        (note("notifications/progress", &7.into(), json!({})), Kind::Stray),
        (note(TOOLS, &8.into(), json!({})), Kind::Tag),
        (json!({ "jsonrpc": "2.0", "method": TOOLS }).to_string(), Kind::Tag),
        (request, Kind::Stray),
        ("{}".to_owned(), Kind::Message),
        ("hello".to_owned(), Kind::Message),
    ] {
        let verdict = opened(&rules).take(message.as_bytes(), 1, &rules);
        assert_eq!(kind(verdict), Some(expected), "{message}");
    }
}

/// [SUB-14] The closing result has the id twice, and nothing follows it.
#[test]
fn closing() {
    let filter = tools();
    let rules = rules(&filter);
    let result = |id: u64, tag: u64| {
        let meta = json!({ "io.modelcontextprotocol/subscriptionId": tag });
        json!({ "jsonrpc": "2.0", "id": id, "result": { "resultType": "complete", "_meta": meta } })
            .to_string()
    };
    let error = json!({ "jsonrpc": "2.0", "id": 7, "error": { "code": -32603, "message": "no" } });
    for (message, expected) in
        [(result(8, 7), Kind::Id), (result(7, 8), Kind::Tag), (error.to_string(), Kind::Error)]
    {
        let verdict = opened(&rules).take(message.as_bytes(), 1, &rules);
        assert_eq!(kind(verdict), Some(expected), "{message}");
    }
    let mut judge = opened(&rules);
    assert!(matches!(judge.take(result(7, 7).as_bytes(), 1, &rules), Verdict::Closed));
    assert!(judge.is_closed());
    let event = note(TOOLS, &7.into(), json!({}));
    assert_eq!(kind(judge.take(event.as_bytes(), 1, &rules)), Some(Kind::Stray));
}
