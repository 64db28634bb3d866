//! The writer against `serde_json` as the naive oracle, and the frames byte for byte.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::error::{RpcError, code};
use crate::testing::any_text;

fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).expect("the writer writes UTF-8")
}

proptest! {
    /// Escapes are those of the oracle, at every length and alignment.
    #[test]
    fn strings_are_the_oracles(parts in vec(any_text(), 0..4)) {
        let text = parts.concat();
        let oracle = serde_json::to_string(&text).unwrap();
        prop_assert_eq!(written(|out| string(out, &text)), oracle);
    }

    /// Integers and doubles are those of the oracle.
    #[test]
    fn numbers_are_the_oracles(
        signed in any::<i64>(),
        unsigned in any::<u64>(),
        real in any::<f64>(),
    ) {
        prop_assert_eq!(written(|out| int(out, signed)), signed.to_string());
        prop_assert_eq!(written(|out| uint(out, unsigned)), unsigned.to_string());
        prop_assert_eq!(written(|out| double(out, real)), serde_json::to_string(&real).unwrap());
        if real.is_finite() {
            let text = written(|out| float(out, real));
            prop_assert_eq!(text.parse::<f64>().unwrap(), real);
        }
    }
}

/// Every byte at every place of a word: the eight-byte scan misses none and invents none.
#[test]
fn every_byte_at_every_place() {
    for byte in 0..=0x7f_u8 {
        for place in 0..17 {
            let mut bytes = [b'x'; 17];
            bytes[place] = byte;
            let text = std::str::from_utf8(&bytes).unwrap();
            assert_eq!(written(|out| string(out, text)), serde_json::to_string(text).unwrap());
        }
    }
}

/// Whole numbers lose their fraction, the others keep it, and what is no number is null.
#[test]
fn whole_numbers_stay_whole() {
    let text = |number| written(|out| float(out, number));
    assert_eq!(text(50.0), "50");
    assert_eq!(text(-3.0), "-3");
    assert_eq!(text(0.5), "0.5");
    assert_eq!(text(9_007_199_254_740_992.0), "9007199254740992");
    assert_eq!(text(1e300), serde_json::to_string(&1e300).unwrap());
    assert_eq!(text(f64::NAN), "null");
    assert_eq!(text(f64::INFINITY), "null");
    assert_eq!(written(|out| double(out, 50.0)), "50.0");
}

/// [RPC-07] [RPC-09] [RPC-10] the frames, byte for byte; an unknown id is left out
#[test]
fn frames_are_exact() {
    let id = Id::from("a\"b");
    assert_eq!(
        written(|out| response(out, &id, b"{}")),
        r#"{"jsonrpc":"2.0","id":"a\"b","result":{}}"#
    );
    assert_eq!(
        written(|out| notification(out, "notifications/x", b"{\"a\":1}")),
        r#"{"jsonrpc":"2.0","method":"notifications/x","params":{"a":1}}"#
    );
    let error = RpcError::new(code::INVALID_PARAMS, "no \"x\"").with_data(&[1, 2]);
    assert_eq!(
        written(|out| error_response(out, Some(&Id::from(7u64)), &error)),
        r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"no \"x\"","data":[1,2]}}"#
    );
    assert_eq!(
        written(|out| error_response(out, None, &RpcError::internal())),
        r#"{"jsonrpc":"2.0","error":{"code":-32603,"message":"Internal error"}}"#
    );
}

/// What cannot be JSON leaves `null` behind, not half a value.
#[test]
fn unserialisable_values_leave_null() {
    let bad = std::collections::BTreeMap::from([((1, 2), 3)]);
    assert_eq!(written(|out| assert!(!serialize(out, &bad))), "null");
    assert_eq!(written(|out| assert!(serialize(out, &[1, 2]))), "[1,2]");
}
