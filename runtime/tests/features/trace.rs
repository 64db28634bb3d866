//! W3C trace context in `_meta`.

use ringmcp::types::CallToolResult;
use ringmcp::{Builder, Context, ToolError};
use serde_json::{Value, json};

use crate::common::{NoArgs, server};
use crate::support::{Request, serve};

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// Tells what the handler sees of the trace.
fn tracing() -> Builder {
    server().tool("trace", "", async |ctx: &Context, _: NoArgs| {
        let meta = ctx.meta();
        let parent = meta.traceparent().map(|parent| {
            json!([
                parent.text,
                parent.trace_id,
                parent.parent_id,
                parent.flags,
                parent.is_sampled()
            ])
        });
        let seen =
            json!({ "parent": parent, "state": meta.tracestate(), "baggage": meta.baggage() });
        Ok::<_, ToolError>(CallToolResult::structured(seen))
    })
}

fn seen(keys: &[(&str, Value)]) -> Value {
    let call = Request::call("trace", json!({}));
    let request = keys.iter().fold(call, |request, (key, value)| request.meta(key, value.clone()));
    serve(tracing()).send(&request).result("tools/call")["structuredContent"].clone()
}

/// [TRC-01] [ENV-13] a well-formed parent is read with its state and baggage.
#[test]
fn a_parent_is_read() {
    let all = seen(&[
        ("traceparent", json!(PARENT)),
        ("tracestate", json!("a=1,b=2")),
        ("baggage", json!("k=v")),
    ]);
    let parent = json!([PARENT, "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", 1, true]);
    assert_eq!(all, json!({ "parent": parent, "state": "a=1,b=2", "baggage": "k=v" }));
}

/// [TRC-01] what is not well-formed is ignored, and the request is served.
#[test]
fn malformed_parents_are_ignored() {
    let server = serve(tracing());
    for parent in [
        json!(""),
        json!(7),
        json!(null),
        json!({ "a": 1 }),
        json!("00-00000000000000000000000000000000-b7ad6b7169203331-01"),
        json!("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01"),
        json!("00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01"),
        json!("ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
        json!("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331"),
        json!("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x"),
        json!(format!("{PARENT} ")),
        json!("x".repeat(100_000)),
    ] {
        let request = Request::call("trace", json!({}))
            .meta("traceparent", parent.clone())
            .meta("tracestate", json!("a=1"));
        let seen = server.send(&request).result("tools/call")["structuredContent"].clone();
        assert_eq!(seen, json!({ "parent": null, "state": null, "baggage": null }), "{parent}");
    }
}

/// [TRC-03] [SEC-05] oversized or binary state and baggage are left out; the parent stands.
#[test]
fn state_and_baggage_are_bounded() {
    for odd in [json!("k".repeat(100_000)), json!("a\r\nb"), json!("ü"), json!(["k"]), json!(0)] {
        let seen = seen(&[
            ("traceparent", json!(PARENT)),
            ("tracestate", odd.clone()),
            ("baggage", odd.clone()),
        ]);
        assert_eq!(seen["state"], Value::Null);
        assert_eq!(seen["baggage"], Value::Null);
        assert_eq!(seen["parent"][0], PARENT);
    }
}

/// [TRC-02] the body is what the handler's trace comes from; the header is the transport's.
#[test]
fn the_body_wins_over_the_header() {
    let other = "00-11111111111111111111111111111111-2222222222222222-00";
    let server = serve(tracing());
    let request = Request::call("trace", json!({})).header("traceparent", other);
    let seen =
        |request: &Request| server.send(request).result("tools/call")["structuredContent"].clone();
    assert_eq!(seen(&request)["parent"], Value::Null, "a header alone is no MCP parent");
    assert_eq!(seen(&request.meta("traceparent", json!(PARENT)))["parent"][0], PARENT);
}
