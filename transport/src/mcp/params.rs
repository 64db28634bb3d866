//! Rung 19: `Mcp-Param-*` headers repeat the arguments that a tool's schema annotates with `x-mcp-header`.

use codec::error::RpcError;
use codec::header::{self, HeaderParam, ParamKind};
use codec::value::{Object, Value};

use crate::http::HeadView;

/// The longest `Mcp-Param-*` value that is looked at (SEC-02).
pub const PARAM_HEADER_BYTES_MAX: usize = 8 * 1024;

/// Compares every declared header with the argument it repeats (PAR-06 to PAR-12).
///
/// # Errors
/// `-32020` naming the header.
pub fn check(
    head: &HeadView<'_>,
    declared: &[HeaderParam],
    arguments: Option<Object<'_>>,
) -> Result<(), RpcError> {
    declared.iter().try_for_each(|param| check_one(head, param, arguments))
}

fn check_one(
    head: &HeadView<'_>,
    param: &HeaderParam,
    arguments: Option<Object<'_>>,
) -> Result<(), RpcError> {
    let mismatch = |what| Err(RpcError::header_mismatch(param.header_name(), what));
    let mut lines = head.all(param.header_name());
    let header = lines.next();
    if lines.next().is_some() {
        return mismatch("is sent twice");
    }
    let argument = arguments.and_then(|object| lookup(object, &param.path));
    match (header, argument) {
        (None, None) => Ok(()),
        (None, Some(_)) => mismatch("is missing"),
        // An intermediary may have routed on a value that the body does not hold (D-12).
        (Some(_), None) => mismatch("is sent but the argument is absent or null"),
        (Some(value), Some(_)) if value.len() > PARAM_HEADER_BYTES_MAX => mismatch("is too long"),
        (Some(value), Some(argument)) => match header::decode(value) {
            Err(fault) => mismatch(fault.text()),
            Ok(text) if agrees(&text, param.kind, argument) => Ok(()),
            Ok(_) => mismatch("differs from the argument it repeats"),
        },
    }
}

/// The non-null value at the property path.
fn lookup<'a>(mut object: Object<'a>, path: &[String]) -> Option<Value<'a>> {
    let (last, parents) = path.split_last()?;
    for name in parents {
        object = object.get(name)?.as_object()?;
    }
    object.get(last).filter(|value| !value.is_null())
}

/// A value of another type than declared is left to argument validation (PAR-10).
fn agrees(text: &str, kind: ParamKind, argument: Value<'_>) -> bool {
    match kind {
        ParamKind::String => argument.as_str().is_none_or(|value| value == text),
        ParamKind::Boolean => argument.as_bool().is_none_or(|value| header::bool_matches(text, value)),
        ParamKind::Integer => argument.as_number().is_none_or(|value| header::number_matches(text, value)),
    }
}
