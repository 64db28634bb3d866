//! Tools: typed arguments in, anything that is a [`ToolOutput`] out.

use codec::types::{CallToolResult, Content, ResultType};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Finish, Handler, HandlerFuture, Outcome, drop_repeated, write_members};
use crate::context::Context;
use crate::error::{ToolError, ToolFault};
use crate::render;

/// The arguments of a tool or prompt that takes none; others are refused (TOOL-06).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoArgs {}

// By hand: a model reads the schema, and what is written here for programmers is none of its business.
impl JsonSchema for NoArgs {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "NoArgs".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "object", "additionalProperties": false })
    }
}

/// What a tool may return: text, numbers, content blocks, [`Structured`] values, or a whole [`CallToolResult`].
pub trait ToolOutput {
    /// The result on the wire.
    fn into_result(self) -> CallToolResult;

    /// The text, for outputs that are one text block: written without building a [`CallToolResult`].
    #[doc(hidden)]
    fn plain_text(&self, _write: &mut dyn FnMut(&str)) -> bool {
        false
    }

    /// The JSON Schema of `structuredContent`, where the type knows it.
    #[must_use]
    fn output_schema() -> Option<Value>
    where
        Self: Sized,
    {
        None
    }
}

/// A serialisable value as `structuredContent`, with its derived output schema, and its JSON as text beside it
/// (CALL-07).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Structured<T>(pub T);

impl<T: Serialize + JsonSchema> ToolOutput for Structured<T> {
    fn into_result(self) -> CallToolResult {
        match serde_json::to_value(&self.0) {
            Ok(value) => CallToolResult::structured(value),
            Err(error) => {
                CallToolResult::error(format!("The result cannot be written as JSON: {error}"))
            }
        }
    }

    fn output_schema() -> Option<Value> {
        Some(schema_of::<T>())
    }
}

macro_rules! text_output {
    ($($type:ty),+) => {$(
        impl ToolOutput for $type {
            fn into_result(self) -> CallToolResult {
                CallToolResult::text(self.to_string())
            }
        }
    )+};
}

text_output!(bool, char, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, f32, f64);

impl ToolOutput for String {
    fn into_result(self) -> CallToolResult {
        CallToolResult::text(self)
    }

    fn plain_text(&self, write: &mut dyn FnMut(&str)) -> bool {
        write(self);
        true
    }
}

impl ToolOutput for &str {
    fn into_result(self) -> CallToolResult {
        CallToolResult::text(self)
    }

    fn plain_text(&self, write: &mut dyn FnMut(&str)) -> bool {
        write(self);
        true
    }
}

impl ToolOutput for () {
    fn into_result(self) -> CallToolResult {
        CallToolResult::default()
    }
}

impl ToolOutput for Content {
    fn into_result(self) -> CallToolResult {
        CallToolResult { content: vec![self], ..CallToolResult::default() }
    }
}

impl ToolOutput for Vec<Content> {
    fn into_result(self) -> CallToolResult {
        CallToolResult { content: self, ..CallToolResult::default() }
    }
}

impl ToolOutput for CallToolResult {
    fn into_result(self) -> CallToolResult {
        self
    }
}

/// Erases a tool.
pub(crate) fn tool<F, A, R, E>(function: F) -> impl Handler
where
    F: AsyncFn(&Context<'_>, A) -> Result<R, E> + Send + Sync + 'static,
    A: DeserializeOwned + 'static,
    R: ToolOutput + 'static,
    E: Into<ToolError> + 'static,
{
    Tool { function, types: std::marker::PhantomData::<fn(A) -> Result<R, E>> }
}

struct Tool<F, T> {
    function: F,
    types: std::marker::PhantomData<T>,
}

impl<F, A, R, E> Handler for Tool<F, fn(A) -> Result<R, E>>
where
    F: AsyncFn(&Context<'_>, A) -> Result<R, E> + Send + Sync + 'static,
    A: DeserializeOwned + 'static,
    R: ToolOutput + 'static,
    E: Into<ToolError> + 'static,
{
    fn call<'a>(&'a self, ctx: &'a Context<'a>) -> HandlerFuture<'a> {
        HandlerFuture::new(async move {
            let arguments = match ctx.arguments().deserialize::<A>() {
                Ok(arguments) => arguments,
                Err(fault) => return error_text(ctx, &format!("Invalid arguments: {fault}")),
            };
            match (self.function)(ctx, arguments).await {
                Ok(output) => finish(ctx, output),
                Err(error) => fail(ctx, error.into()),
            }
        })
    }
}

fn finish(ctx: &Context<'_>, output: impl ToolOutput) -> Outcome {
    let plain =
        output.plain_text(&mut |text| ctx.body(|body| render::text_result(body, text, false)));
    if plain {
        Outcome::Complete(Finish::default())
    } else {
        write_result(ctx, output.into_result())
    }
}

fn fail(ctx: &Context<'_>, error: ToolError) -> Outcome {
    match error.into_fault() {
        ToolFault::Text(text) => error_text(ctx, &text),
        ToolFault::Result(result) => write_result(ctx, *result),
        ToolFault::Rpc(error) => Outcome::Error(error),
        ToolFault::Input(input) => Outcome::Input(input),
    }
}

/// A failure of the tool itself: a result, not a protocol error (CALL-05).
pub(crate) fn error_text(ctx: &Context<'_>, text: &str) -> Outcome {
    ctx.body(|body| render::text_result(body, text, true));
    Outcome::Complete(Finish { is_error: true, ..Finish::default() })
}

fn write_result(ctx: &Context<'_>, mut result: CallToolResult) -> Outcome {
    result.ensure_text();
    drop_repeated(&mut result.extra, &["content", "structuredContent", "isError"]);
    result.result_type = ResultType::Absent;
    let meta = result.meta.take().map(|meta| Box::new(meta.0));
    let is_error = result.is_error.unwrap_or(false);
    write_members(ctx, &result);
    Outcome::Complete(Finish {
        meta,
        is_error,
        structured: result.structured_content.map(Box::new),
        ..Finish::default()
    })
}

/// The JSON Schema that `T` derives, as a tool's `inputSchema`.
pub(crate) fn input_schema_of<T: JsonSchema>() -> Value {
    schema_of::<T>()
}

fn schema_of<T: JsonSchema + ?Sized>() -> Value {
    schemars::generate::SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value()
}
