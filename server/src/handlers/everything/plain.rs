//! Tools that answer at once or with a little progress, and those that a client's capabilities or headers decide on.

use std::time::Duration;

use ringmcp::types::{Capability, ElicitForm, LoggingLevel, Tool};
use ringmcp::{Builder, Context, Interrupt, ToolError};
use serde::Deserialize;
use serde_json::json;

use crate::handlers::{NoArgs, tool_with_schema};

/// Between two steps of the tools that show progress or log.
const STEP: Duration = Duration::from_millis(50);

pub(super) fn add(builder: Builder) -> Builder {
    let builder = builder
        .tool("test_simple_text", "Returns one line of text", simple_text)
        .tool("test_error_handling", "Always fails, the way a tool fails", error_handling)
        .tool("test_tool_with_progress", "Reports progress in three steps", with_progress)
        .tool("test_tool_with_logging", "Sends three log messages", with_logging)
        .tool("test_logging_tool", "Logs if the request asks for log messages", with_logging)
        .tool("test_missing_capability", "Needs the client capability sampling", needs_sampling)
        .tool("test_streaming_elicitation", "Asks the user to go on", streaming_elicitation)
        .tool("test_trigger_tool_change", "Announces that the tools changed", trigger_tools)
        .tool("test_trigger_prompt_change", "Announces that the prompts changed", trigger_prompts);
    let header = Tool::new("test_custom_header")
        .description("Has a parameter that is repeated in the header Mcp-Param-Value");
    let schema = json!({
        "type": "object",
        "properties": {
            "value": { "type": "string", "description": "Any text", "x-mcp-header": "Value" }
        },
        "required": ["value"]
    });
    let builder = builder.tool_raw(tool_with_schema(header, schema), custom_header);
    let described = Tool::new("json_schema_2020_12_tool")
        .description("Shows that every keyword of JSON Schema 2020-12 reaches the client");
    builder.tool_raw(tool_with_schema(described, rich_schema()), described_by_schema)
}

async fn simple_text(_: &Context<'_>, _: NoArgs) -> Result<&'static str, ToolError> {
    Ok("This is a simple text response for testing.")
}

async fn error_handling(_: &Context<'_>, _: NoArgs) -> Result<(), ToolError> {
    Err(ToolError::new("This tool intentionally returns an error for testing"))
}

async fn with_progress(ctx: &Context<'_>, _: NoArgs) -> Result<&'static str, ToolError> {
    ctx.progress(0, 100);
    ctx.sleep(STEP).await;
    ctx.progress(50, 100);
    ctx.sleep(STEP).await;
    ctx.progress(100, 100);
    Ok("Tool with progress executed successfully")
}

async fn with_logging(ctx: &Context<'_>, _: NoArgs) -> Result<&'static str, ToolError> {
    ctx.log(LoggingLevel::Info, "Tool execution started");
    ctx.sleep(STEP).await;
    ctx.log(LoggingLevel::Info, "Tool processing data");
    ctx.sleep(STEP).await;
    ctx.log(LoggingLevel::Info, "Tool execution completed");
    Ok("Tool with logging executed successfully")
}

async fn needs_sampling(ctx: &Context<'_>, _: NoArgs) -> Result<&'static str, Interrupt> {
    ctx.require(&Capability::Sampling)?;
    Ok("The client can sample")
}

async fn streaming_elicitation(ctx: &Context<'_>, _: NoArgs) -> Result<String, Interrupt> {
    let form = ElicitForm::new("Shall the tool go on?").boolean("go_on", |field| field.required());
    let answer = ctx.elicit("go_on", form)?;
    Ok(format!("Going on: {}", answer.boolean("go_on").unwrap_or(false)))
}

async fn trigger_tools(ctx: &Context<'_>, _: NoArgs) -> Result<&'static str, ToolError> {
    ctx.notifier().tools_changed();
    Ok("Announced")
}

async fn trigger_prompts(ctx: &Context<'_>, _: NoArgs) -> Result<&'static str, ToolError> {
    ctx.notifier().prompts_changed();
    Ok("Announced")
}

#[derive(Deserialize)]
struct CustomHeader {
    value: String,
}

async fn custom_header(_: &Context<'_>, args: CustomHeader) -> Result<String, ToolError> {
    Ok(args.value)
}

#[derive(Deserialize)]
struct Contact {
    name: Option<String>,
}

async fn described_by_schema(_: &Context<'_>, args: Contact) -> Result<String, ToolError> {
    Ok(format!("Contact: {}", args.name.as_deref().unwrap_or("nobody")))
}

fn rich_schema() -> serde_json::Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } }
            }
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" }
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": {
            "properties": { "contactMethod": { "const": "phone" } },
            "required": ["contactMethod"]
        },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false
    })
}
