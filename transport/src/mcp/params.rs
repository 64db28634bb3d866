//! Rung 19: `Mcp-Param-*` headers repeat the arguments that a tool's schema annotates with `x-mcp-header`.

use codec::error::RpcError;
use codec::header::{Argument, Declaration, Number, check_param};
use codec::value::{Kind, Object, Value};

use super::head::StandardHeaders;

/// Compares every declared header with the argument it repeats (PAR-06 to PAR-12).
///
/// # Errors
/// `-32020` naming the header.
pub fn check(
    headers: &StandardHeaders<'_>,
    declared: &[Declaration],
    arguments: Object<'_>,
) -> Result<(), RpcError> {
    declared.iter().try_for_each(|param| check_one(headers, param, arguments))
}

fn check_one(
    headers: &StandardHeaders<'_>,
    param: &Declaration,
    arguments: Object<'_>,
) -> Result<(), RpcError> {
    let mismatch =
        |what: &str| RpcError::header_mismatch(format!("Mcp-Param-{}: {what}", param.name));
    let field = headers.param(&param.name);
    if field.is_some_and(|field| field.repeated) {
        return Err(mismatch("sent twice"));
    }
    let argument = lookup(arguments, &param.path).map_or(Argument::Absent, scalar);
    check_param(param.kind, field.map(|field| field.value), argument)
        .map_err(|fault| mismatch(&fault.to_string()))
}

/// The value at the property path.
fn lookup<'a>(mut object: Object<'a>, path: &[String]) -> Option<Value<'a>> {
    let (last, parents) = path.split_last()?;
    for name in parents {
        object = object.get(name)?.as_object()?;
    }
    object.get(last)
}

fn scalar(value: Value<'_>) -> Argument<'_> {
    if let Some(text) = value.as_str() {
        return Argument::String(text);
    }
    if let Some(flag) = value.as_bool() {
        return Argument::Boolean(flag);
    }
    match value.kind() {
        Kind::Null => Argument::Absent,
        Kind::Array | Kind::Object => Argument::Other,
        _ => number(value).map_or(Argument::Other, Argument::Number),
    }
}

fn number(value: Value<'_>) -> Option<Number> {
    let signed = value.as_i64().map(Number::I64);
    signed.or_else(|| value.as_u64().map(Number::U64)).or_else(|| value.as_f64().map(Number::F64))
}
