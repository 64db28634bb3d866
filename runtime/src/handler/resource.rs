//! Resources and resource templates: a URI, or the variables of one, in; contents out.

use codec::types::{ReadResourceResult, ResourceContents, ResultType};
use serde::de::DeserializeOwned;

use super::text::from_texts;
use super::{CacheHint, Finish, Handler, HandlerFuture, Outcome, drop_repeated, write_members};
use crate::context::Context;
use crate::error::HandlerError;

/// What a resource may return: text, bytes, contents, or a whole [`ReadResourceResult`].
///
/// Text and bytes take the URI that was read and the MIME type of the registration.
pub trait ResourceOutput {
    /// The result on the wire, for the URI that was read.
    fn into_result(self, uri: &str, mime_type: Option<&str>) -> ReadResourceResult;
}

impl ResourceOutput for String {
    fn into_result(self, uri: &str, mime_type: Option<&str>) -> ReadResourceResult {
        let mut contents = ResourceContents::text(uri, self);
        if let Some(mime_type) = mime_type {
            contents = contents.mime_type(mime_type);
        }
        ReadResourceResult::from(vec![contents])
    }
}

impl ResourceOutput for &str {
    fn into_result(self, uri: &str, mime_type: Option<&str>) -> ReadResourceResult {
        self.to_owned().into_result(uri, mime_type)
    }
}

impl ResourceOutput for Vec<u8> {
    fn into_result(self, uri: &str, mime_type: Option<&str>) -> ReadResourceResult {
        let mut contents = ResourceContents::blob(uri, &self);
        if let Some(mime_type) = mime_type {
            contents = contents.mime_type(mime_type);
        }
        ReadResourceResult::from(vec![contents])
    }
}

impl ResourceOutput for ResourceContents {
    fn into_result(self, _uri: &str, _mime_type: Option<&str>) -> ReadResourceResult {
        ReadResourceResult::from(vec![self])
    }
}

impl ResourceOutput for Vec<ResourceContents> {
    fn into_result(self, _uri: &str, _mime_type: Option<&str>) -> ReadResourceResult {
        ReadResourceResult::from(self)
    }
}

impl ResourceOutput for ReadResourceResult {
    fn into_result(self, _uri: &str, _mime_type: Option<&str>) -> ReadResourceResult {
        self
    }
}

/// Erases a resource.
pub(crate) fn resource<F, R, E>(mime_type: Option<String>, function: F) -> impl Handler
where
    F: AsyncFn(&Context<'_>) -> Result<R, E> + Send + Sync + 'static,
    R: ResourceOutput + 'static,
    E: Into<HandlerError> + 'static,
{
    Resource { function, mime_type, types: std::marker::PhantomData::<fn() -> Result<R, E>> }
}

struct Resource<F, T> {
    function: F,
    mime_type: Option<String>,
    types: std::marker::PhantomData<T>,
}

impl<F, R, E> Handler for Resource<F, fn() -> Result<R, E>>
where
    F: AsyncFn(&Context<'_>) -> Result<R, E> + Send + Sync + 'static,
    R: ResourceOutput + 'static,
    E: Into<HandlerError> + 'static,
{
    fn call<'a>(&'a self, ctx: &'a Context<'a>) -> HandlerFuture<'a> {
        HandlerFuture::new(async move {
            let answer = (self.function)(ctx).await.map_err(Into::into);
            finish(ctx, self.mime_type.as_deref(), answer)
        })
    }
}

/// Erases a resource template; `V` is filled from the template's variables, each decoded once (RES-10).
pub(crate) fn template<F, V, R, E>(mime_type: Option<String>, function: F) -> impl Handler
where
    F: AsyncFn(&Context<'_>, V) -> Result<R, E> + Send + Sync + 'static,
    V: DeserializeOwned + 'static,
    R: ResourceOutput + 'static,
    E: Into<HandlerError> + 'static,
{
    Resource { function, mime_type, types: std::marker::PhantomData::<fn(V) -> Result<R, E>> }
}

impl<F, V, R, E> Handler for Resource<F, fn(V) -> Result<R, E>>
where
    F: AsyncFn(&Context<'_>, V) -> Result<R, E> + Send + Sync + 'static,
    V: DeserializeOwned + 'static,
    R: ResourceOutput + 'static,
    E: Into<HandlerError> + 'static,
{
    fn call<'a>(&'a self, ctx: &'a Context<'a>) -> HandlerFuture<'a> {
        HandlerFuture::new(async move {
            let texts = ctx.variables().iter().map(|(name, value)| (*name, value.clone()));
            let answer = match from_texts::<V>(texts) {
                Ok(variables) => (self.function)(ctx, variables).await.map_err(Into::into),
                // The URI matched the pattern but names nothing that could exist.
                Err(_) => Err(HandlerError::not_found()),
            };
            finish(ctx, self.mime_type.as_deref(), answer)
        })
    }
}

fn finish(
    ctx: &Context<'_>,
    mime_type: Option<&str>,
    answer: Result<impl ResourceOutput, HandlerError>,
) -> Outcome {
    match answer {
        Ok(output) => {
            let mut result = output.into_result(ctx.uri(), mime_type);
            let meta = result.meta.take();
            drop_repeated(&mut result.extra, &["contents"]);
            let cache =
                CacheHint { ttl_ms: result.ttl_ms.take(), scope: result.cache_scope.take() };
            result.result_type = ResultType::Absent;
            write_members(ctx, &result);
            let meta = meta.map(|meta| Box::new(meta.0));
            Outcome::Complete(Finish { meta, cache, ..Finish::default() })
        }
        Err(error) => error.for_resource(ctx.uri()).into_outcome(),
    }
}
