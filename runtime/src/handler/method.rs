//! Custom methods of extensions: `params` in, a JSON object out.

use codec::error::RpcError;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Finish, Handler, HandlerFuture, Outcome};
use crate::context::Context;
use crate::error::HandlerError;
use crate::render;

/// Erases a custom method.
pub(crate) fn method<F, P, R, E>(function: F) -> impl Handler
where
    F: AsyncFn(&Context<'_>, P) -> Result<R, E> + Send + Sync + 'static,
    P: DeserializeOwned + 'static,
    R: Serialize + 'static,
    E: Into<HandlerError> + 'static,
{
    CustomMethod { function, types: std::marker::PhantomData::<fn(P) -> Result<R, E>> }
}

struct CustomMethod<F, T> {
    function: F,
    types: std::marker::PhantomData<T>,
}

impl<F, P, R, E> Handler for CustomMethod<F, fn(P) -> Result<R, E>>
where
    F: AsyncFn(&Context<'_>, P) -> Result<R, E> + Send + Sync + 'static,
    P: DeserializeOwned + 'static,
    R: Serialize + 'static,
    E: Into<HandlerError> + 'static,
{
    fn call<'a>(&'a self, ctx: &'a Context<'a>) -> HandlerFuture<'a> {
        HandlerFuture::new(async move {
            let params = match ctx.arguments().deserialize::<P>() {
                Ok(params) => params,
                Err(fault) => {
                    return Outcome::Error(RpcError::invalid_params(format!(
                        "Invalid params: {fault}"
                    )));
                }
            };
            match (self.function)(ctx, params).await {
                Ok(result) => write_object(ctx, &result),
                Err(error) => error.into().into_outcome(),
            }
        })
    }
}

/// A result is an object (RPC-07); anything else is a fault of the handler.
fn write_object(ctx: &Context<'_>, result: &impl Serialize) -> Outcome {
    match serde_json::to_value(result) {
        Ok(serde_json::Value::Object(mut members)) => {
            members.shift_remove("resultType");
            let meta = match members.shift_remove("_meta") {
                Some(serde_json::Value::Object(meta)) => Some(Box::new(meta)),
                _ => None,
            };
            ctx.body(|body| {
                render::members(body, &members);
            });
            Outcome::Complete(Finish { meta, ..Finish::default() })
        }
        Ok(_) | Err(_) => {
            tracing::error!(method = ctx.method(), "a custom method returned no JSON object");
            Outcome::Error(RpcError::internal())
        }
    }
}
