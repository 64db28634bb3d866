//! `--handlers demo`: a few tools, a prompt, and resources that change by themselves, so that there is something to
//! call, to fill in and to watch.

mod clock;
mod tools;

use ringmcp::types::{Resource, ResourceTemplate};
use ringmcp::{Builder, Completion, Completions, Context, HandlerError};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) use clock::{CLOCK, animate};

/// Whom the prompt can explain something to.
const AUDIENCES: [&str; 4] = ["a child", "a colleague", "a manager", "an expert"];

pub(super) fn add(builder: Builder) -> Builder {
    let builder = builder
        .title("ringmcp demonstration")
        .instructions("A demonstration server: nothing here is serious, and nothing is kept.");
    let builder = tools::add(builder);
    clock::add(builder)
        .prompt("explain", "Asks for an explanation", explain)
        .complete_prompt("explain", "audience", audiences)
        .resource(
            Resource::new("demo://about", "about")
                .description("What this server is")
                .mime_type("text/plain"),
            about,
        )
        .resource_template(
            ResourceTemplate::new("demo://square/{n}", "square")
                .description("The square of a whole number")
                .mime_type("text/plain"),
            square,
        )
}

#[derive(Deserialize, JsonSchema)]
struct Explain {
    /// What is to be explained.
    topic: String,
    /// Whom to.
    audience: Option<String>,
}

async fn explain(_: &Context<'_>, args: Explain) -> Result<String, HandlerError> {
    let audience = args.audience.as_deref().unwrap_or(AUDIENCES[0]);
    Ok(format!("Explain {} to {audience}, in three sentences.", args.topic))
}

async fn audiences(
    _: &Context<'_>,
    completion: Completion<'_>,
) -> Result<Completions, HandlerError> {
    Ok(AUDIENCES.into_iter().filter(|audience| audience.starts_with(completion.value)).collect())
}

async fn about(_: &Context<'_>) -> Result<&'static str, HandlerError> {
    Ok("A demonstration of ringmcp, a server core for the Model Context Protocol.")
}

#[derive(Deserialize)]
struct Square {
    n: String,
}

async fn square(_: &Context<'_>, Square { n }: Square) -> Result<String, HandlerError> {
    let n: i64 = n.parse().map_err(|_| HandlerError::not_found())?;
    Ok((i128::from(n) * i128::from(n)).to_string())
}
