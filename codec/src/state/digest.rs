//! The digest that ties a state to the request it belongs to (RS-04).

use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// SHA-256 over a request's method, its target (tool or prompt name, resource URI) and its arguments in
/// canonical form: object members in key order whatever the wire order was, `1.0` as 1, and absent
/// arguments as `{}` (CALL-01). Two requests that mean the same give the same digest, any others differ.
#[must_use]
pub fn digest(method: &str, target: &str, arguments: Option<&Value>) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(b"ringmcp.v1.request");
    string(&mut hash, method);
    string(&mut hash, target);
    match arguments {
        Some(arguments) => value(&mut hash, arguments),
        None => container(&mut hash, b'{', 0),
    }
    hash.finalize().into()
}

/// Every value starts with a type byte and is self-delimiting, so no two values share an encoding.
/// Recursion is bounded by the parser's depth limit.
fn value(hash: &mut Sha256, json: &Value) {
    match json {
        Value::Null => hash.update(b"n"),
        Value::Bool(false) => hash.update(b"f"),
        Value::Bool(true) => hash.update(b"t"),
        Value::Number(json) => number(hash, json),
        Value::String(text) => string(hash, text),
        Value::Array(items) => {
            container(hash, b'[', items.len());
            items.iter().for_each(|item| value(hash, item));
        }
        Value::Object(members) => {
            container(hash, b'{', members.len());
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(key, _)| *key);
            for (key, member) in members {
                string(hash, key);
                value(hash, member);
            }
        }
    }
}

fn number(hash: &mut Sha256, json: &serde_json::Number) {
    if let Some(integer) = json.as_i64() {
        hash.update(b"i");
        hash.update(integer.to_be_bytes());
    } else if let Some(integer) = json.as_u64() {
        hash.update(b"u");
        hash.update(integer.to_be_bytes());
    } else {
        let float = json.as_f64().unwrap_or(f64::NAN);
        // A client may print the same number either way on the retry.
        if float.fract() == 0.0 && float.abs() <= INTEGRAL_MAX {
            hash.update(b"i");
            hash.update((float as i64).to_be_bytes());
        } else {
            hash.update(b"d");
            hash.update(float.to_bits().to_be_bytes());
        }
    }
}

fn string(hash: &mut Sha256, text: &str) {
    container(hash, b'"', text.len());
    hash.update(text.as_bytes());
}

fn container(hash: &mut Sha256, kind: u8, len: usize) {
    hash.update([kind]);
    hash.update((len as u64).to_be_bytes());
}

/// 2^53: integers up to here are exact in a float.
const INTEGRAL_MAX: f64 = 9_007_199_254_740_992.0;
