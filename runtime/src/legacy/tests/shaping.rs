//! Results and errors in the shape of older revisions.

use codec::error::{RpcError, code};
use serde_json::{Value, json};
use transport::mcp::legacy::Version;

use crate::legacy::shapes;

fn shaped(members: &str, version: Version, structured: Option<&Value>) -> Value {
    let mut body = b"{".to_vec();
    body.extend_from_slice(members.as_bytes());
    shapes::result(&mut body, 1, version, None, structured);
    body.push(b'}');
    serde_json::from_slice(&body).expect("JSON")
}

/// [LEG-29] content of kinds that a revision does not know is shown as text; text that only looks like it is left alone.
#[test]
fn unknown_content_becomes_text() {
    let audio = json!({ "type": "audio", "data": "AA==", "mimeType": "audio/wav" });
    let link = json!({ "type": "resource_link", "name": "n", "uri": "test://a" });
    let text = json!({ "type": "text", "text": "\"type\":\"audio\"" });
    let members = format!(r#""content":[{text},{audio},{link}],"isError":false"#);
    let message = format!(r#""messages":[{{"role":"user","content":{link}}}]"#);
    let types = |version| {
        let result = shaped(&members, version, None);
        let content = result["content"].as_array().expect("content").clone();
        content
            .iter()
            .map(|block| block["type"].as_str().expect("a type").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(types(Version::V2025_11_25), ["text", "audio", "resource_link"]);
    assert_eq!(types(Version::V2025_06_18), ["text", "audio", "resource_link"]);
    assert_eq!(types(Version::V2025_03_26), ["text", "audio", "text"]);
    assert_eq!(types(Version::V2024_11_05), ["text", "text", "text"]);
    let old = shaped(&members, Version::V2024_11_05, None);
    assert_eq!((&old["content"][0], &old["content"][2]["text"]), (&text, &json!("n: test://a")));
    let prompt = shaped(&message, Version::V2025_03_26, None);
    assert_eq!(prompt["messages"][0]["content"], json!({ "type": "text", "text": "n: test://a" }));
}

/// [LEG-28] a structured value that is no object is shown inside one.
#[test]
fn values_are_wrapped() {
    for (value, shown) in [
        (json!([1, 2]), json!({ "result": [1, 2] })),
        (json!(null), json!({ "result": null })),
        (json!("text"), json!({ "result": "text" })),
        (json!({ "a": 1 }), json!({ "a": 1 })),
    ] {
        let members = format!(r#""content":[],"structuredContent":{value}"#);
        let result = shaped(&members, Version::LATEST, Some(&value));
        assert_eq!(result["structuredContent"], shown);
    }
}

/// [LEG-24] [ERR-02] [LEG-81] that era's codes, and none that only the modern one has.
#[test]
fn codes() {
    let of = |error: RpcError, method: &str| shapes::error(error, method).code;
    assert_eq!(of(RpcError::resource_not_found("test://a"), "resources/read"), -32002);
    assert_eq!(of(RpcError::invalid_params("no"), "resources/read"), code::INVALID_PARAMS);
    assert_eq!(of(RpcError::unknown_tool("t"), "tools/call"), code::INVALID_PARAMS);
    assert_eq!(of(RpcError::header_mismatch("no"), "tools/call"), code::INTERNAL_ERROR);
    assert_eq!(of(RpcError::unsupported_version("v"), "tools/call"), code::INTERNAL_ERROR);
    assert_eq!(of(RpcError::missing_capability(&[]), "prompts/get"), code::INTERNAL_ERROR);
    assert_eq!(of(RpcError::new(1234, "mine"), "prompts/get"), 1234);
}
