//! How options are read from text. A wrong one is told what is allowed.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::check::Schema;
use crate::scenario::{Mix, Script};

/// Operations a second at most: one a nanosecond is more than any clock tells apart.
const RATE_MAX: f64 = 1e9;

/// A time as options and files write it.
///
/// # Errors
/// What is allowed.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let unit_at = text.find(|c: char| c != '.' && !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let seconds = match unit {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        _ => return Err("use a number with us, ms, s or m, such as 500ms, 10s or 2m".into()),
    };
    let number: f64 = number.parse().map_err(|_| format!("{number:?} is not a number"))?;
    Duration::try_from_secs_f64(number * seconds).map_err(|e| e.to_string())
}

/// A time that is more than nothing.
///
/// # Errors
/// What is allowed.
pub(crate) fn positive_time(text: &str) -> Result<Duration, String> {
    match time(text)? {
        Duration::ZERO => Err("must be more than nothing".into()),
        positive => Ok(positive),
    }
}

/// Operations a second.
pub(super) fn positive_rate(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(rate) if rate > 0.0 && rate <= RATE_MAX => Ok(rate),
        _ => Err("a rate is a number of operations a second, more than 0".into()),
    }
}

/// The names the protocol asks of tools (TOOL-09); one that a header line can carry as it is.
///
/// # Errors
/// What is allowed.
pub(crate) fn tool_name(text: &str) -> Result<String, String> {
    let legal = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    if (1..=128).contains(&text.len()) && text.chars().all(legal) {
        return Ok(text.to_owned());
    }
    Err("a tool's name is 1 to 128 of A-Z a-z 0-9 _ - .".into())
}

/// A resource's URI, as far as this tool needs to know: the server judges the rest.
pub(super) fn uri(text: &str) -> Result<String, String> {
    if text.contains(':') && !text.chars().any(char::is_whitespace) {
        return Ok(text.to_owned());
    }
    Err("a URI has a scheme and no spaces, such as test://static-text".into())
}

/// A JSON object, or `@FILE` with one.
pub(super) fn json_object(text: &str) -> Result<Value, String> {
    let text = match text.strip_prefix('@') {
        Some(path) => read(path)?,
        None => text.to_owned(),
    };
    match serde_json::from_str(&text) {
        Ok(object @ Value::Object(_)) => Ok(object),
        Ok(_) => Err("arguments are a JSON object, such as {\"text\":\"hello\"}".into()),
        Err(error) => Err(format!("not JSON: {error}")),
    }
}

/// A file with a JSON Schema.
pub(super) fn schema(path: &str) -> Result<Schema, String> {
    let schema = parse(path)?;
    let validator = jsonschema::validator_for(&schema)
        .map_err(|error| format!("{path} is no JSON Schema: {error}"))?;
    Ok(Schema { source: path.to_owned(), validator: Arc::new(validator) })
}

/// A file with the parts of a mix.
pub(super) fn mix(path: &str) -> Result<Mix, String> {
    Mix::parse(&read(path)?)
}

/// A file with answers by their keys.
pub(super) fn answers(path: &str) -> Result<Script, String> {
    match parse(path)? {
        Value::Object(answers) if answers.values().all(Value::is_object) => {
            Ok(Script(answers.into_iter().collect()))
        }
        _ => {
            Err(r#"answers are objects by their keys, such as {"user_name":{"action":"decline"}}"#
                .into())
        }
    }
}

fn parse(path: &str) -> Result<Value, String> {
    serde_json::from_str(&read(path)?).map_err(|error| format!("{path} is not JSON: {error}"))
}

fn read(path: &str) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("cannot read {path}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Durations read as written, and nothing else is taken for one.
    #[test]
    fn times() {
        assert_eq!(time("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(time("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(time("20us"), Ok(Duration::from_micros(20)));
        assert_eq!(time("2m"), Ok(Duration::from_secs(120)));
        for wrong in ["", "10", "s", "1h", "-1s", "1..2s", "99999999999999999999999m"] {
            assert!(time(wrong).is_err(), "{wrong:?}");
        }
        assert!(positive_time("0s").is_err());
        for wrong in ["0", "-1", "x", "inf", "NaN", "1e10"] {
            assert!(positive_rate(wrong).is_err(), "{wrong:?}");
        }
    }

    /// [TOOL-09] A name that needs encoding in a header is refused at the door.
    #[test]
    fn names() {
        assert!(tool_name("get_weather-2.0").is_ok());
        for wrong in ["", "a b", "a\r\nX: y", "ü", &"a".repeat(129)] {
            assert!(tool_name(wrong).is_err(), "{wrong:?}");
        }
        assert!(uri("test://static-text").is_ok());
        assert!(uri("static-text").is_err() && uri("a: b").is_err());
    }
}
