//! Tools whose results are images, sound and embedded resources.

use ringmcp::types::{Content, ResourceContents};
use ringmcp::{Builder, Context, ToolError};

use crate::handlers::NoArgs;

/// A grey image of one pixel.
pub(super) const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00:~\x9bU\
\x00\x00\x00\nIDATx\xdach\x00\x00\x00\x82\x00\x81\xdaE\x08;\x00\x00\x00\x00IEND\xaeB`\x82";

/// A thousandth of a second of silence: 8 samples of 8 bits at 8 kHz.
const WAV: &[u8] = b"RIFF,\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00@\x1f\x00\x00@\x1f\x00\x00\x01\x00\x08\x00\
data\x08\x00\x00\x00\x80\x80\x80\x80\x80\x80\x80\x80";

pub(super) fn add(builder: Builder) -> Builder {
    builder
        .tool("test_image_content", "Returns an image of one pixel", image)
        .tool("test_audio_content", "Returns a very short silence", audio)
        .tool("test_embedded_resource", "Returns a resource inside the result", embedded)
        .tool("test_multiple_content_types", "Returns text, an image and a resource", mixed)
}

async fn image(_: &Context<'_>, _: NoArgs) -> Result<Content, ToolError> {
    Ok(Content::image(PNG, "image/png"))
}

async fn audio(_: &Context<'_>, _: NoArgs) -> Result<Content, ToolError> {
    Ok(Content::audio(WAV, "audio/wav"))
}

async fn embedded(_: &Context<'_>, _: NoArgs) -> Result<Content, ToolError> {
    let text = "This is an embedded resource content.";
    let contents = ResourceContents::text("test://embedded-resource", text).mime_type("text/plain");
    Ok(Content::embedded(contents))
}

async fn mixed(_: &Context<'_>, _: NoArgs) -> Result<Vec<Content>, ToolError> {
    let json = r#"{"test":"data","value":123}"#;
    let resource = ResourceContents::text("test://mixed-content-resource", json);
    Ok(vec![
        Content::text("Multiple content types test:"),
        Content::image(PNG, "image/png"),
        Content::embedded(resource.mime_type("application/json")),
    ])
}
