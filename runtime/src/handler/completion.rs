//! Completions of prompt arguments and template variables.

use codec::types::Completion as CompletionValues;
use codec::write;

use super::{Finish, Handler, HandlerFuture, Outcome};
use crate::context::Context;
use crate::error::HandlerError;
use crate::limits::COMPLETION_VALUES_WIRE;

/// What is to be completed.
#[derive(Clone, Copy, Debug)]
pub struct Completion<'r> {
    /// The argument's or variable's name.
    pub argument: &'r str,
    /// What the user typed so far.
    pub value: &'r str,
    context: Option<codec::value::Object<'r>>,
}

impl<'r> Completion<'r> {
    pub(crate) fn new(
        argument: &'r str,
        value: &'r str,
        context: Option<codec::value::Object<'r>>,
    ) -> Self {
        Self { argument, value, context }
    }

    /// Another argument that the user has already filled in (CMP-07).
    #[must_use]
    pub fn filled_in(&self, argument: &str) -> Option<&'r str> {
        self.context?.get(argument)?.as_str()
    }
}

/// Suggestions, best first. At most a hundred reach the client; `total` and `hasMore` tell of the rest (CMP-03).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completions {
    values: Vec<String>,
    total: Option<u64>,
}

impl Completions {
    /// These suggestions, of `total` that exist.
    #[must_use]
    pub fn of_total(values: Vec<String>, total: u64) -> Self {
        Self { values, total: Some(total) }
    }
}

impl<T: Into<String>> FromIterator<T> for Completions {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self { values: values.into_iter().map(Into::into).collect(), total: None }
    }
}

impl<T: Into<String>> From<Vec<T>> for Completions {
    fn from(values: Vec<T>) -> Self {
        values.into_iter().collect()
    }
}

/// Erases a completer.
pub(crate) fn completer<F, R, E>(function: F) -> impl Handler
where
    F: AsyncFn(&Context<'_>, Completion<'_>) -> Result<R, E> + Send + Sync + 'static,
    R: Into<Completions> + 'static,
    E: Into<HandlerError> + 'static,
{
    Completer { function, types: std::marker::PhantomData::<fn() -> Result<R, E>> }
}

struct Completer<F, T> {
    function: F,
    types: std::marker::PhantomData<T>,
}

impl<F, R, E> Handler for Completer<F, fn() -> Result<R, E>>
where
    F: AsyncFn(&Context<'_>, Completion<'_>) -> Result<R, E> + Send + Sync + 'static,
    R: Into<Completions> + 'static,
    E: Into<HandlerError> + 'static,
{
    fn call<'a>(&'a self, ctx: &'a Context<'a>) -> HandlerFuture<'a> {
        HandlerFuture::new(async move {
            match (self.function)(ctx, ctx.completion()).await {
                Ok(found) => {
                    write_completions(ctx, found.into());
                    Outcome::Complete(Finish::default())
                }
                Err(error) => error.into().into_outcome(),
            }
        })
    }
}

/// Writes a completion result, cut to what the wire allows.
pub(crate) fn write_completions(ctx: &Context<'_>, mut found: Completions) {
    let most = ctx.limits().completion_values.min(COMPLETION_VALUES_WIRE);
    let have = found.values.len();
    let total = found.total.or_else(|| (have > most).then_some(have as u64));
    found.values.truncate(most);
    let has_more = total.is_some_and(|total| total > found.values.len() as u64).then_some(true);
    let completion = CompletionValues { values: found.values, total, has_more };
    ctx.body(|body| {
        body.extend_from_slice(br#""completion":"#);
        write::serialize(body, &completion);
    });
}
