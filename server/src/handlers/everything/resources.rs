//! Resources and templates.

use ringmcp::types::{Resource, ResourceTemplate};
use ringmcp::{Builder, Context, HandlerError};
use serde::Deserialize;
use serde_json::json;

use super::content::PNG;

pub(super) fn add(builder: Builder) -> Builder {
    builder
        .resource(text("test://static-text", "static-text", "A text that stays"), static_text)
        .resource(
            Resource::new("test://static-binary", "static-binary")
                .description("An image of one pixel")
                .mime_type("image/png"),
            binary,
        )
        .resource(text("test://watched-resource", "watched", "Made to be watched"), watched)
        .resource(text("test://static/hello", "hello", "A greeting"), hello)
        .resource(
            Resource::new("test://static/blob", "blob")
                .description("The 256 different bytes, in order")
                .mime_type("application/octet-stream"),
            blob,
        )
        .resource_template(
            ResourceTemplate::new("test://template/{id}/data", "template-data")
                .description("Data of an id, as JSON")
                .mime_type("application/json"),
            template_data,
        )
        .resource_template(
            ResourceTemplate::new("test://item/{id}", "item")
                .description("One item, by its id")
                .mime_type("text/plain"),
            item,
        )
}

fn text(uri: &str, name: &str, description: &str) -> Resource {
    Resource::new(uri, name).description(description).mime_type("text/plain")
}

async fn static_text(_: &Context<'_>) -> Result<&'static str, HandlerError> {
    Ok("This is the content of the static text resource.")
}

async fn binary(_: &Context<'_>) -> Result<Vec<u8>, HandlerError> {
    Ok(PNG.to_vec())
}

async fn watched(_: &Context<'_>) -> Result<&'static str, HandlerError> {
    Ok("Watched resource content")
}

async fn hello(_: &Context<'_>) -> Result<&'static str, HandlerError> {
    Ok("Hello, world")
}

async fn blob(_: &Context<'_>) -> Result<Vec<u8>, HandlerError> {
    Ok((0..=u8::MAX).collect())
}

#[derive(Deserialize)]
struct ById {
    id: String,
}

async fn template_data(_: &Context<'_>, ById { id }: ById) -> Result<String, HandlerError> {
    let data = format!("Data for ID: {id}");
    Ok(json!({ "id": id, "templateTest": true, "data": data }).to_string())
}

async fn item(_: &Context<'_>, ById { id }: ById) -> Result<String, HandlerError> {
    Ok(format!("item {id}"))
}
