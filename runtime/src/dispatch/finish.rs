//! From a handler's outcome to the answer: the capability gate, the output schema, the sealed state, the caching
//! hints. Whatever a handler does wrong here is the server's fault: `-32603`, the detail in the log (ERR-10).

use codec::error::{self, RpcError, code};
use codec::id::Id;
use codec::meta::Capability;
use codec::types::InputRequired;
use codec::write;
use transport::mcp::method::Method;

use super::{Run, Runner};
use crate::context::Call;
use crate::handler::{CacheHint, Finish, Outcome};
use crate::render;
use crate::state::Origin;

/// The answer in the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// HTTP status, where the response is not yet under way.
    pub(crate) status: u16,
    /// The JSON-RPC error code.
    pub(crate) code: Option<i32>,
}

impl Answer {
    pub(crate) const OK: Self = Self { status: 200, code: None };
}

/// Writes the whole response for an outcome; the members of a complete result stand in `body` already.
pub(crate) fn finish(
    outcome: Outcome,
    call: &Call<'_>,
    run: &Run<'_>,
    id: &Id<'_>,
    body: &mut Vec<u8>,
) -> Answer {
    let written = match outcome {
        Outcome::Complete(done) => complete(done, call, run, body),
        Outcome::Input(input) => input_required(*input, call, id, body),
        Outcome::Error(error) => Err(error),
    };
    match written {
        Ok(()) => Answer::OK,
        Err(error) => error_answer(vetted(error, call.request.method), id, body),
    }
}

/// Writes an error in band; a missing client capability has its own status (ERR-08).
pub(crate) fn error_answer(error: RpcError, id: &Id<'_>, body: &mut Vec<u8>) -> Answer {
    body.clear();
    write::error_response(body, Some(id), &error);
    let status = if error.code == code::MISSING_CLIENT_CAPABILITY { 400 } else { 200 };
    Answer { status, code: Some(error.code) }
}

/// ERR-01, ERR-04: of the reserved codes a handler may use only those that have a meaning.
pub(crate) fn vetted(error: RpcError, method: &str) -> RpcError {
    let known = matches!(
        error.code,
        code::INVALID_REQUEST
            | code::METHOD_NOT_FOUND
            | code::INVALID_PARAMS
            | code::INTERNAL_ERROR
            | code::HEADER_MISMATCH
            | code::MISSING_CLIENT_CAPABILITY
            | code::UNSUPPORTED_VERSION
    );
    if (known && has_its_data(&error)) || !error::is_reserved(error.code) {
        return error;
    }
    tracing::error!(
        method,
        code = error.code,
        "a handler used a reserved error code, or without its data"
    );
    RpcError::internal()
}

/// ERR-05, ERR-06: two codes mean nothing without the data that clients act on.
fn has_its_data(error: &RpcError) -> bool {
    let data = || -> serde_json::Value {
        let text = error.data.as_ref().map_or("null", |data| data.get());
        serde_json::from_str(text).unwrap_or_default()
    };
    match error.code {
        code::MISSING_CLIENT_CAPABILITY => data()["requiredCapabilities"].is_object(),
        code::UNSUPPORTED_VERSION => {
            let data = data();
            data["supported"].is_array() && data["requested"].is_string()
        }
        _ => true,
    }
}

fn complete(
    done: Finish,
    call: &Call<'_>,
    run: &Run<'_>,
    body: &mut Vec<u8>,
) -> Result<(), RpcError> {
    check_result(&done, run)?;
    let cacheable =
        Method::from_name(call.request.method).is_some_and(|method| method.row().cacheable);
    let cache = cacheable.then(|| match &run.runner {
        // CCH-07
        _ if run.retry.is_retry() => CacheHint::private(0),
        Runner::Resource(entry) => done.cache.or(entry.cache).or(call.app.cache.reads),
        Runner::Template(entry) => done.cache.or(entry.cache).or(call.app.cache.reads),
        _ => done.cache.or(call.app.cache.reads),
    });
    render::end(body, call.app, cache, done.meta.as_deref());
    Ok(())
}

/// CALL-06, for tools that promise a structured result.
pub(crate) fn check_result(done: &Finish, run: &Run<'_>) -> Result<(), RpcError> {
    match &run.runner {
        Runner::Tool(tool) if !done.is_error => match &tool.output {
            Some(schema) => check_output(schema, done.structured.as_deref(), run.target),
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

fn check_output(
    schema: &crate::schema::OutputSchema,
    structured: Option<&serde_json::Value>,
    tool: &str,
) -> Result<(), RpcError> {
    let fault = match structured {
        None => "no structuredContent".to_owned(),
        Some(value) => match schema.check(value) {
            Ok(()) => return Ok(()),
            Err(fault) => fault,
        },
    };
    tracing::error!(tool, fault, "a tool's result does not fit its outputSchema");
    Err(RpcError::internal())
}

/// Ends a round: ledger sections 16a and 16b.
fn input_required(
    input: InputRequired,
    call: &Call<'_>,
    id: &Id<'_>,
    body: &mut Vec<u8>,
) -> Result<(), RpcError> {
    let rounds = Method::from_name(call.request.method).is_some_and(|method| method.row().rounds);
    if !rounds || input.validate().is_err() {
        tracing::error!(
            method = call.request.method,
            target = call.run.target,
            "a handler asked for input where it cannot, or asked for nothing"
        );
        return Err(RpcError::internal());
    }
    let missing = missing_capabilities(&input, call);
    if !missing.is_empty() {
        return Err(RpcError::missing_capability(&missing));
    }
    let origin = Origin {
        principal: call.principal.map(|principal| &*principal.subject),
        method: call.request.method,
        target: call.run.target,
        arguments: call.run.arguments,
    };
    let sealed = input
        .request_state
        .as_ref()
        .map(|state| call.app.states.seal(state.as_bytes(), &origin, call.core.clock.unix_secs()))
        .transpose()?;
    render::begin(body, id, "input_required");
    if let Some(requests) = &input.input_requests {
        write::key(body, "inputRequests");
        write::serialize(body, requests);
        body.push(b',');
    }
    if let Some(sealed) = sealed {
        write::key(body, "requestState");
        write::string(body, &sealed);
    }
    let meta = input.meta.as_ref().map(|meta| &meta.0);
    render::end(body, call.app, None, meta);
    Ok(())
}

/// MR-10, MR-11: nothing is asked of a client that did not declare it, and nothing partial is sent.
fn missing_capabilities(input: &InputRequired, call: &Call<'_>) -> Vec<Capability<'static>> {
    let mut needed = input.required_capabilities();
    needed.retain(|capability| !call.declares(capability));
    needed
}
