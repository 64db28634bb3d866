//! The tools that earlier revisions tested by requests from server to client, as tools of several rounds.

use std::time::Duration;

use ringmcp::types::{CreateMessageParams, ElicitForm, ElicitResult};
use ringmcp::{Builder, Context, Interrupt, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::handlers::NoArgs;

pub(super) fn add(builder: Builder) -> Builder {
    builder
        .tool("test_sampling", "Passes a prompt to the client's model", sampling)
        .tool("test_elicitation", "Asks the user for a name and an address", elicitation)
        .tool("test_elicitation_sep1034_defaults", "A form whose fields have defaults", defaults)
        .tool("test_elicitation_sep1330_enums", "A form with every kind of choice", choices)
        .tool("test_reconnection", "Lets go of the connection, and answers later", reconnection)
}

#[derive(Deserialize, JsonSchema)]
struct Prompt {
    /// What the model is asked.
    prompt: String,
}

async fn sampling(ctx: &Context<'_>, args: Prompt) -> Result<String, Interrupt> {
    let answer = ctx.sample("sampling", CreateMessageParams::new(100).user(args.prompt))?;
    Ok(format!("LLM response: {}", answer.text().unwrap_or_default()))
}

#[derive(Deserialize, JsonSchema)]
struct Message {
    /// What the user is told.
    message: String,
}

async fn elicitation(ctx: &Context<'_>, args: Message) -> Result<String, Interrupt> {
    let form = ElicitForm::new(args.message)
        .string("username", |field| field.description("User's response").required())
        .string("email", |field| field.description("User's email address").required());
    Ok(told(&ctx.elicit("user", form)?))
}

async fn defaults(ctx: &Context<'_>, _: NoArgs) -> Result<String, ToolError> {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "default": "John Doe" },
            "age": { "type": "integer", "default": 30 },
            "score": { "type": "number", "default": 95.5 },
            "status": {
                "type": "string", "enum": ["active", "inactive", "pending"], "default": "active"
            },
            "verified": { "type": "boolean", "default": true }
        }
    });
    let form = ElicitForm::from_schema("Please check these values", schema)?;
    Ok(told(&ctx.elicit("defaults", form)?))
}

async fn choices(ctx: &Context<'_>, _: NoArgs) -> Result<String, ToolError> {
    let values = json!(["option1", "option2", "option3"]);
    let titled = json!([
        { "const": "value1", "title": "First Option" },
        { "const": "value2", "title": "Second Option" },
        { "const": "value3", "title": "Third Option" }
    ]);
    let schema = json!({
        "type": "object",
        "properties": {
            "untitledSingle": { "type": "string", "enum": values },
            "titledSingle": { "type": "string", "oneOf": titled },
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"]
            },
            "untitledMulti": { "type": "array", "items": { "type": "string", "enum": values } },
            "titledMulti": { "type": "array", "items": { "anyOf": titled } }
        }
    });
    let form = ElicitForm::from_schema("Please choose", schema)?;
    Ok(told(&ctx.elicit("choices", form)?))
}

/// Between the end of the connection and the answer.
const AWAY: Duration = Duration::from_millis(100);

async fn reconnection(ctx: &Context<'_>, _: NoArgs) -> Result<&'static str, ToolError> {
    ctx.release_connection();
    ctx.sleep(AWAY).await;
    Ok("Answered after the connection was let go")
}

fn told(answer: &ElicitResult) -> String {
    let content = answer
        .content
        .as_ref()
        .map_or_else(String::new, |content| serde_json::to_string(content).unwrap_or_default());
    format!("User response: action={}, content={content}", action(answer))
}

fn action(answer: &ElicitResult) -> &'static str {
    use ringmcp::types::ElicitAction::{Accept, Cancel, Decline};
    match answer.action {
        Accept => "accept",
        Decline => "decline",
        Cancel => "cancel",
    }
}
