//! The embedding example of the README.

use ringmcp::{Context, Server, ToolError};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    a: f64,
    b: f64,
}

fn main() -> Result<(), ringmcp::Error> {
    Server::builder("calculator", "1.0.0")
        .tool("add", "Add two numbers", async |_: &Context, Add { a, b }: Add| {
            Ok::<_, ToolError>(a + b)
        })
        .bind("127.0.0.1:8080")
        .run()
}
