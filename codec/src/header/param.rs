//! `Mcp-Param-*` against the argument it mirrors (ledger PAR-06..11). The caller looks the argument up
//! in whatever holds the body; only scalars come here.

use std::fmt;

use super::value::{HeaderFault, decode};

/// Longest accepted `Mcp-Param-*` field value, in bytes as sent (SEC-02).
pub const PARAM_BYTES_MAX: usize = 8 * 1024;

/// The schema types that may carry an annotation (XH-03).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamKind {
    /// `"type": "string"`.
    String,
    /// `"type": "integer"`.
    Integer,
    /// `"type": "boolean"`.
    Boolean,
}

/// A JSON number as the body parser holds it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// An integer that fits `i64`.
    I64(i64),
    /// An integer above `i64::MAX`.
    U64(u64),
    /// Anything with a fraction or exponent, or beyond `u64`.
    F64(f64),
}

/// The value at a declaration's exact `properties` path in `arguments`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Argument<'a> {
    /// Absent at any step of the path, or `null` (PAR-07).
    Absent,
    /// A string, unescaped.
    String(&'a str),
    /// A number.
    Number(Number),
    /// A boolean.
    Boolean(bool),
    /// An object or an array: never what an annotated property holds.
    Other,
}

/// Why a parameter header contradicts the body; every one answers 400 `-32020`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamFault {
    /// The field value itself is unreadable (PAR-03, PAR-11).
    Unreadable(HeaderFault),
    /// The body has a value and no header came (PAR-06).
    Missing,
    /// A header came for a value that the body does not hold (PAR-07, D-12).
    Unexpected,
    /// Header and body differ (PAR-06, PAR-08, PAR-09).
    Different,
    /// The body integer is outside +-(2^53-1) (PAR-10).
    OutOfRange,
}

impl fmt::Display for ParamFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParamFault::Unreadable(fault) => fault.fmt(f),
            ParamFault::Missing => f.write_str("header missing for a value in the body"),
            ParamFault::Unexpected => f.write_str("header sent for a value absent from the body"),
            ParamFault::Different => f.write_str("header differs from the body"),
            ParamFault::OutOfRange => f.write_str("integer outside the interoperable range"),
        }
    }
}

impl std::error::Error for ParamFault {}

/// Compares one declared parameter with its argument. `field` is the raw field value, `None` if no
/// such header came. An argument of another JSON type than declared passes: argument validation
/// answers for it (PAR-10).
///
/// # Errors
/// [`ParamFault`], the clause that failed.
pub fn check_param(
    kind: ParamKind,
    field: Option<&[u8]>,
    argument: Argument<'_>,
) -> Result<(), ParamFault> {
    // Readability comes first: it holds whatever the body says (PAR-11).
    let header = match field {
        Some(raw) if raw.len() > PARAM_BYTES_MAX => {
            return Err(ParamFault::Unreadable(HeaderFault::TooLong));
        }
        Some(raw) => Some(decode(raw).map_err(ParamFault::Unreadable)?),
        None => None,
    };
    let matches = match (kind, argument) {
        (_, Argument::Absent) => {
            return if header.is_some() { Err(ParamFault::Unexpected) } else { Ok(()) };
        }
        (ParamKind::Integer, Argument::Number(number)) => match whole(number) {
            Whole::Safe(integer) => header.map(|text| integer_matches(&text, integer)),
            Whole::OutOfRange => return Err(ParamFault::OutOfRange),
            Whole::Fraction => return Ok(()),
        },
        (ParamKind::Boolean, Argument::Boolean(body)) => {
            header.map(|text| bool_matches(&text, body))
        }
        (ParamKind::String, Argument::String(body)) => header.map(|text| text == body),
        _ => return Ok(()),
    };
    match matches {
        Some(true) => Ok(()),
        Some(false) => Err(ParamFault::Different),
        None => Err(ParamFault::Missing),
    }
}

/// Whether a decoded header equals an integer of the body: strict decimal `-?digits(.digits)?`,
/// compared as a number, so `42.0` equals 42 (PAR-08). False for a body number that is fractional or
/// outside +-(2^53-1) (PAR-10). Exact: nothing passes through floating point.
#[must_use]
pub fn number_matches(header: &str, body: Number) -> bool {
    matches!(whole(body), Whole::Safe(integer) if integer_matches(header, integer))
}

/// Whether a decoded header is exactly `true` or `false` as the body says (PAR-09).
#[must_use]
pub fn bool_matches(header: &str, body: bool) -> bool {
    header == if body { "true" } else { "false" }
}

fn integer_matches(header: &str, body: i64) -> bool {
    let (negative, rest) = match header.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, header),
    };
    let (integer, fraction) = rest.split_once('.').unwrap_or((rest, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(integer) || !digits(fraction) || fraction.bytes().any(|b| b != b'0') {
        return false;
    }
    let magnitude = match integer.trim_start_matches('0') {
        "" => Some(0),
        // An overflow means beyond 2^64, while the body is within 2^53.
        significant => significant.parse::<u64>().ok(),
    };
    let Some(magnitude) = magnitude else { return false };
    magnitude == body.unsigned_abs() && (magnitude == 0 || negative == (body < 0))
}

/// A body number as the integer it denotes.
enum Whole {
    Safe(i64),
    OutOfRange,
    Fraction,
}

fn whole(number: Number) -> Whole {
    match number {
        Number::I64(integer) if integer.unsigned_abs() <= SAFE_INTEGER_MAX => Whole::Safe(integer),
        Number::U64(integer) if integer <= SAFE_INTEGER_MAX => Whole::Safe(integer as i64),
        Number::I64(_) | Number::U64(_) => Whole::OutOfRange,
        Number::F64(float) if !float.is_finite() => Whole::OutOfRange,
        Number::F64(float) if float.fract() != 0.0 => Whole::Fraction,
        Number::F64(float) if float.abs() <= SAFE_INTEGER_MAX as f64 => Whole::Safe(float as i64),
        Number::F64(_) => Whole::OutOfRange,
    }
}

/// 2^53-1: the largest integer that every JSON peer holds exactly.
const SAFE_INTEGER_MAX: u64 = (1 << 53) - 1;
