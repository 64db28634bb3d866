//! The server over real sockets, byte by byte: every test names the ledger rules it checks in square brackets.
//!
//! One binary, one room a file: [`support`] starts servers and sends bytes.

mod bounds;
mod course;
mod eras;
mod errors;
mod framing;
mod headers;
mod http;
mod ladder;
mod messages;
#[allow(dead_code, unreachable_pub, reason = "shared with the other test binaries")]
mod support;

use ringmcp::{Context, Server, ToolError};
use support::{Request, on_both_drivers};

/// [HTTP-01] [HTTP-10] [RPC-07] the baseline request is answered, on both drivers.
#[test]
fn baseline() {
    let make = || {
        Server::builder("t", "1").tool(
            "hi",
            "Says hi",
            async |_: &Context, _: serde_json::Map<String, serde_json::Value>| {
                Ok::<_, ToolError>("hi")
            },
        )
    };
    on_both_drivers(make, |server| {
        let answer = server.send(&Request::call("hi", serde_json::json!({})));
        assert_eq!(answer.text(), "hi");
        server.send(&Request::new("tools/list", serde_json::json!({}))).result("tools/list");
        let mut events =
            server.stream(&Request::listen(serde_json::json!({"toolsListChanged": true})));
        assert_eq!(events.message()["method"], "notifications/subscriptions/acknowledged");
        server.handle().notifier().tools_changed();
        assert_eq!(events.message()["method"], "notifications/tools/list_changed");
    });
}
