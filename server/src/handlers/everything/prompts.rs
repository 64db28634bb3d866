//! Prompts of every shape, and a completion.

use ringmcp::types::{Capability, Content, ElicitForm, PromptMessage, ResourceContents};
use ringmcp::{Builder, Completion, Completions, Context, HandlerError, Interrupt};
use schemars::JsonSchema;
use serde::Deserialize;

use super::content::PNG;
use crate::handlers::NoArgs;

/// What the completion of `arg1` knows.
const SUGGESTIONS: [&str; 4] = ["test", "testValue1", "testing", "tomorrow"];

pub(super) fn add(builder: Builder) -> Builder {
    builder
        .prompt("test_simple_prompt", "A prompt without arguments", simple)
        .prompt("test_prompt_with_arguments", "A prompt with two arguments", with_arguments)
        .complete_prompt("test_prompt_with_arguments", "arg1", complete)
        .prompt("test_prompt_with_embedded_resource", "A prompt with a resource", with_resource)
        .prompt("test_prompt_with_image", "A prompt with an image", with_image)
        .prompt("test_input_required_result_prompt", "A prompt that asks first", asking)
        .prompt("greet", "Asks for a greeting", greet)
}

async fn simple(_: &Context<'_>, _: NoArgs) -> Result<&'static str, HandlerError> {
    Ok("This is a simple prompt for testing.")
}

#[derive(Deserialize, JsonSchema)]
struct Two {
    /// The first argument.
    arg1: String,
    /// The second argument.
    arg2: String,
}

async fn with_arguments(_: &Context<'_>, args: Two) -> Result<String, HandlerError> {
    Ok(format!("Prompt with arguments: arg1='{}', arg2='{}'", args.arg1, args.arg2))
}

async fn complete(
    _: &Context<'_>,
    completion: Completion<'_>,
) -> Result<Completions, HandlerError> {
    Ok(SUGGESTIONS.into_iter().filter(|text| text.starts_with(completion.value)).collect())
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Embedded {
    /// The URI that the embedded resource gets.
    resource_uri: String,
}

async fn with_resource(
    _: &Context<'_>,
    args: Embedded,
) -> Result<Vec<PromptMessage>, HandlerError> {
    let text = "Embedded resource content for testing.";
    let contents = ResourceContents::text(args.resource_uri, text).mime_type("text/plain");
    Ok(vec![
        PromptMessage::user(Content::embedded(contents)),
        PromptMessage::user("Please process the embedded resource above."),
    ])
}

async fn with_image(_: &Context<'_>, _: NoArgs) -> Result<Vec<PromptMessage>, HandlerError> {
    Ok(vec![
        PromptMessage::user(Content::image(PNG, "image/png")),
        PromptMessage::user("Please analyze the image above."),
    ])
}

async fn asking(ctx: &Context<'_>, _: NoArgs) -> Result<String, Interrupt> {
    ctx.require(&Capability::ElicitationForm)?;
    let form = ElicitForm::new("What is the context?").string("context", |field| field.required());
    let answer = ctx.elicit("user_context", form)?;
    Ok(format!("Answer in this context: {}", answer.text("context").unwrap_or("none")))
}

#[derive(Deserialize, JsonSchema)]
struct Greet {
    /// Who is greeted.
    name: String,
}

async fn greet(_: &Context<'_>, args: Greet) -> Result<String, HandlerError> {
    Ok(format!("Write a warm greeting for {}.", args.name))
}
