//! Prompts: typed string arguments in, messages out.

use std::borrow::Cow;

use codec::types::{GetPromptResult, PromptArgument, PromptMessage, ResultType};
use codec::value::Object;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::text::from_texts;
use super::{Finish, Handler, HandlerFuture, Outcome, drop_repeated, write_members};
use crate::context::Context;
use crate::error::HandlerError;

/// What a prompt may return: text (one user message), messages, or a whole [`GetPromptResult`].
pub trait PromptOutput {
    /// The result on the wire.
    fn into_result(self) -> GetPromptResult;
}

impl PromptOutput for String {
    fn into_result(self) -> GetPromptResult {
        GetPromptResult::from(vec![PromptMessage::user(self)])
    }
}

impl PromptOutput for &str {
    fn into_result(self) -> GetPromptResult {
        self.to_owned().into_result()
    }
}

impl PromptOutput for PromptMessage {
    fn into_result(self) -> GetPromptResult {
        GetPromptResult::from(vec![self])
    }
}

impl PromptOutput for Vec<PromptMessage> {
    fn into_result(self) -> GetPromptResult {
        GetPromptResult::from(self)
    }
}

impl PromptOutput for GetPromptResult {
    fn into_result(self) -> GetPromptResult {
        self
    }
}

/// Erases a prompt.
pub(crate) fn prompt<F, A, R, E>(function: F) -> impl Handler
where
    F: AsyncFn(&Context<'_>, A) -> Result<R, E> + Send + Sync + 'static,
    A: DeserializeOwned + 'static,
    R: PromptOutput + 'static,
    E: Into<HandlerError> + 'static,
{
    Prompt { function, types: std::marker::PhantomData::<fn(A) -> Result<R, E>> }
}

struct Prompt<F, T> {
    function: F,
    types: std::marker::PhantomData<T>,
}

impl<F, A, R, E> Handler for Prompt<F, fn(A) -> Result<R, E>>
where
    F: AsyncFn(&Context<'_>, A) -> Result<R, E> + Send + Sync + 'static,
    A: DeserializeOwned + 'static,
    R: PromptOutput + 'static,
    E: Into<HandlerError> + 'static,
{
    fn call<'a>(&'a self, ctx: &'a Context<'a>) -> HandlerFuture<'a> {
        HandlerFuture::new(async move {
            let members = ctx.arguments().as_object().unwrap_or(Object::empty());
            let texts = members
                .members()
                .filter_map(|(name, value)| value.as_str().map(|text| (name, Cow::Borrowed(text))));
            let arguments = match from_texts::<A>(texts) {
                Ok(arguments) => arguments,
                // PRM-05
                Err(fault) => {
                    let text = format!("Invalid prompt arguments: {fault}");
                    return Outcome::Error(codec::error::RpcError::invalid_params(text));
                }
            };
            match (self.function)(ctx, arguments).await {
                Ok(output) => {
                    let mut result = output.into_result();
                    let meta = result.meta.take();
                    drop_repeated(&mut result.extra, &["description", "messages"]);
                    result.result_type = ResultType::Absent;
                    write_members(ctx, &result);
                    let meta = meta.map(|meta| Box::new(meta.0));
                    Outcome::Complete(Finish { meta, ..Finish::default() })
                }
                Err(error) => error.into().into_outcome(),
            }
        })
    }
}

/// The prompt arguments that a typed argument struct derives: its properties, descriptions and required names.
pub(crate) fn prompt_arguments<T: JsonSchema>() -> Vec<PromptArgument> {
    let schema = super::tool::input_schema_of::<T>();
    let required: Vec<&str> = schema["required"]
        .as_array()
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let Some(properties) = schema["properties"].as_object() else { return Vec::new() };
    properties
        .iter()
        .map(|(name, property)| {
            let mut argument = PromptArgument::new(name.clone());
            argument.title = property["title"].as_str().map(str::to_owned);
            argument.description = property["description"].as_str().map(str::to_owned);
            argument.required = required.contains(&name.as_str()).then_some(true);
            argument
        })
        .collect()
}
