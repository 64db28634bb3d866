//! Codes, data, and what is repeated of a peer's text.

use serde_json::{Value as Json, json};

use super::*;

fn data(error: &RpcError) -> Json {
    error.data.as_ref().map_or(Json::Null, |data| serde_json::from_str(data.get()).unwrap())
}

/// [ERR-01] [ERR-03] [ERR-04] the reserved range is closed at both ends
#[test]
fn the_reserved_range_is_closed() {
    assert!([-32768, -32700, -32050, -32022, -32000].into_iter().all(is_reserved));
    assert!(![-32769, -31999, -1, 0, 1234, i32::MIN, i32::MAX].into_iter().any(is_reserved));
}

/// [ERR-05] [ERR-06] [RPC-09] the data the protocol prescribes
#[test]
fn data_is_as_prescribed() {
    let error = RpcError::unsupported_version("v999.0.0");
    assert_eq!(error.code, -32022);
    assert_eq!(data(&error), json!({"supported": ["2026-07-28"], "requested": "v999.0.0"}));

    let error = RpcError::missing_capability(&[Capability::Sampling]);
    assert_eq!(error.code, -32021);
    assert_eq!(data(&error), json!({"requiredCapabilities": {"sampling": {}}}));

    let error = RpcError::resource_not_found("file:///\"x\"");
    assert_eq!(error.code, -32602);
    assert_eq!(data(&error), json!({"uri": "file:///\"x\""}));

    assert_eq!(data(&RpcError::internal()), Json::Null);
    assert_eq!(data(&RpcError::new(1, "x").with_data(&7)), json!(7));
}

/// [SEC-13] a peer's text is clipped and its control characters are escaped
#[test]
fn echoes_are_clipped() {
    let long = "ü\u{1b}\r\n".repeat(1000);
    for error in [
        RpcError::method_not_found(&long),
        RpcError::unknown_tool(&long),
        RpcError::unknown_prompt(&long),
        RpcError::unknown_task(&long),
        RpcError::resource_not_found(&long),
    ] {
        let shown = error.message.chars().filter(|character| *character == 'ü').count();
        assert_eq!(shown, ECHO_CHARS_MAX / 4);
        assert!(!error.message.chars().any(char::is_control), "{error}");
        assert!(error.message.ends_with("..."));
    }
    assert_eq!(RpcError::method_not_found("a/b").message, "Method not found: a/b");
}

/// The hot structs stay small.
#[test]
fn sizes_are_pinned() {
    assert!(size_of::<RpcError>() <= 48, "{}", size_of::<RpcError>());
    assert_eq!(size_of::<crate::DeError>(), 8);
    assert_eq!(size_of::<crate::Value<'_>>(), 16);
    assert_eq!(size_of::<crate::Object<'_>>(), 24);
}
