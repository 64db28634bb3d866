//! Known answers (computed by an independent implementation), tampering of every kind, bindings,
//! rotation, limits.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const NOW: u64 = 1_000_000;
const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.= ";
const BOTH: [Protection; 2] = [Protection::SignedReadable, Protection::Encrypted];

const SIGNED_VECTOR: &str = "v1.s.k1.AAAAAAAPRJigoaKjpKWmp6ipqqusra6vUsqPXjeS5FuOc_UXLqlMUUni1RhKr4L92NggNLU1bmMDydkXUOh5RtSC4T478eHBc3RlcDI.rEFd_ysXqXlE2IF3no-pQlKJF_ejXWcECMNHFvz7zws";
const ENCRYPTED_VECTOR: &str = "v1.e.k1.sLGys7S1tre4ubq7vL2-v8DBwsPExcbHjIwfSi5FjSw4OOWTU-dgXTym8pfZSxzMdSK7BlVQlxg5S4nuCPxsLwNjFpyuYhMqQHlcQpZGIo0oGsW3V2Zrac42KEc9Xd3gDgEtKnuQRJs5SlaO8j69e5iu2bUY";

fn secret(first: u8) -> Vec<u8> {
    (first..first + 32).collect()
}

fn codec(protection: Protection) -> Codec {
    Codec::new(Arc::new(Keys::new("k1", &secret(0)).expect("a good key")), protection)
}

fn add_digest() -> [u8; 32] {
    digest("tools/call", "add", Some(&json!({"b": [true, null, 1.5], "a": 1})))
}

fn binding() -> Binding<'static> {
    Binding { principal: Some("alice"), method: "tools/call", target: add_digest() }
}

fn cause(codec: &Codec, sealed: &str, binding: &Binding<'_>, now: u64) -> Option<Cause> {
    let fault = codec.open(sealed, binding, now).err()?;
    // The same text whatever the cause.
    assert_eq!(fault.to_string(), "Invalid or expired requestState");
    assert_eq!(format!("{fault:?}"), "StateFault");
    Some(fault.cause())
}

/// [RS-06] both modes give the published vectors, and open them again
#[test]
fn known_answers() {
    let random: [u8; 40] = std::array::from_fn(|at| 0xA0 + at as u8);
    for (protection, vector) in BOTH.into_iter().zip([SIGNED_VECTOR, ENCRYPTED_VECTOR]) {
        let codec = codec(protection);
        let sealed = codec.seal_with(b"step2", &binding(), NOW + TTL_SECS, &random);
        assert_eq!(sealed.as_deref(), Ok(vector));
        let opened = codec.open(vector, &binding(), NOW).expect("the vector opens");
        assert_eq!(opened.state, b"step2");
        assert_eq!(opened.expires, NOW + TTL_SECS);
        assert_eq!(opened.id, random[..16]);
    }
}

/// [RS-04] the request digest has a known answer too
#[test]
fn digest_known_answer() {
    let hex: String = add_digest().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, "4132fc6425b924d529a8b1ce3cdc34b3caaeb2deaab7df3eb4d9087b046f8fad");
}

/// [RS-02] [RS-06] no change of any character opens: every position, every alphabet character
#[test]
fn every_flip_is_refused() {
    for vector in [SIGNED_VECTOR, ENCRYPTED_VECTOR] {
        let codec = codec(Protection::default());
        for at in 0..vector.len() {
            for &other in ALPHABET {
                let mut bytes = vector.as_bytes().to_vec();
                if bytes[at] == other {
                    continue;
                }
                bytes[at] = other;
                let changed = String::from_utf8(bytes).expect("ASCII");
                assert!(cause(&codec, &changed, &binding(), NOW).is_some(), "{changed}");
            }
        }
    }
}

/// [RS-02] [RS-06] every truncation, every insertion of one character, and suffixes are refused
#[test]
fn other_lengths_are_refused() {
    let codec = codec(Protection::default());
    for vector in [SIGNED_VECTOR, ENCRYPTED_VECTOR] {
        for at in 0..vector.len() {
            assert!(cause(&codec, &vector[..at], &binding(), NOW).is_some());
            let longer = format!("{}A{}", &vector[..at], &vector[at..]);
            assert!(cause(&codec, &longer, &binding(), NOW).is_some(), "{longer}");
        }
        for suffix in ["-TAMPERED", "A", "AA", "AAAA", "=", ".", "\n", " "] {
            let longer = format!("{vector}{suffix}");
            assert!(cause(&codec, &longer, &binding(), NOW).is_some(), "{longer}");
        }
    }
}

/// [RS-06] a last character with non-zero spare bits is another text for the same bytes, and is refused
#[test]
fn trailing_bits_are_refused() {
    let codec = codec(Protection::default());
    // 43 characters carry 32 bytes and 2 spare bits: `s` is 0b101100, `t` differs in a spare bit only.
    assert!(SIGNED_VECTOR.ends_with('s'));
    let changed = format!("{}t", &SIGNED_VECTOR[..SIGNED_VECTOR.len() - 1]);
    assert_eq!(cause(&codec, &changed, &binding(), NOW), Some(Cause::Malformed));
}

/// [RS-02] what was never sealed at all
#[test]
fn foreign_texts_are_refused() {
    let codec = codec(Protection::default());
    for text in [
        "",
        ".",
        "...",
        "v1",
        "v1.",
        "v1.s.",
        "v1.s.k1",
        "v1.s.k1.",
        "v1.s.k1..",
        "v1.e.k1.",
        "v1.e.k1.AAAA",
        "v2.s.k1.AAAA.AAAA",
        "v1.x.k1.AAAA",
        "V1.s.k1.AAAA.AAAA",
        "日本語",
        "\0",
        "v1.s..AAAA.AAAA",
        "v1.s.k1.AAAA.AAAA.AAAA",
        "{\"step\":2}",
    ] {
        let cause = cause(&codec, text, &binding(), NOW);
        assert!(matches!(cause, Some(Cause::Malformed | Cause::UnknownKey | Cause::Tampered)));
    }
    // A signed body is not taken for a ciphertext, nor the other way round.
    let swapped = SIGNED_VECTOR.replacen("v1.s.", "v1.e.", 1);
    assert_eq!(cause(&codec, &swapped, &binding(), NOW), Some(Cause::Malformed));
    let swapped = ENCRYPTED_VECTOR.replacen("v1.e.", "v1.s.", 1);
    assert_eq!(cause(&codec, &swapped, &binding(), NOW), Some(Cause::Malformed));
}

/// [RS-03] [RS-04] [RS-07] [SEC-14] each binding is checked, the cause is for the log alone
#[test]
fn bindings_are_checked() {
    let other_arguments = digest("tools/call", "add", Some(&json!({"a": 2})));
    for protection in BOTH {
        let codec = codec(protection);
        let sealed = codec.seal(b"x", &binding(), NOW).expect("sealed");
        let good = binding();
        for (other, expected) in [
            (good, None),
            (Binding { principal: Some("bob"), ..good }, Some(Cause::Principal)),
            (Binding { principal: Some(""), ..good }, Some(Cause::Principal)),
            (Binding { principal: None, ..good }, Some(Cause::Principal)),
            (Binding { method: "prompts/get", ..good }, Some(Cause::Method)),
            (Binding { target: other_arguments, ..good }, Some(Cause::Target)),
        ] {
            assert_eq!(cause(&codec, &sealed, &other, NOW), expected);
        }
        let anonymous = Binding { principal: None, ..good };
        let sealed = codec.seal(b"x", &anonymous, NOW).expect("sealed");
        assert_eq!(cause(&codec, &sealed, &anonymous, NOW), None);
        let empty = Binding { principal: Some(""), ..good };
        assert_eq!(cause(&codec, &sealed, &empty, NOW), Some(Cause::Principal));
    }
}

/// [RS-04] a state lives exactly its time: 600 seconds unless configured
#[test]
fn expiry() {
    for protection in BOTH {
        let codec = codec(protection);
        let sealed = codec.seal(b"x", &binding(), NOW).expect("sealed");
        assert_eq!(cause(&codec, &sealed, &binding(), NOW + 599), None);
        assert_eq!(cause(&codec, &sealed, &binding(), NOW + 600), Some(Cause::Expired));
        assert_eq!(cause(&codec, &sealed, &binding(), u64::MAX), Some(Cause::Expired));
        let short = codec.clone().with_ttl_secs(1);
        let sealed = short.seal(b"x", &binding(), NOW).expect("sealed");
        assert_eq!(cause(&codec, &sealed, &binding(), NOW + 1), Some(Cause::Expired));
        let late = codec.with_ttl_secs(u64::MAX).seal(b"x", &binding(), NOW).expect("sealed");
        assert_eq!(cause(&short, &late, &binding(), NOW), None);
    }
}

/// [RS-06] [RS-09] rotation verifies old and seals new; another ring rejects cleanly
#[test]
fn rotation() {
    let ring = |id: &str, first: u8| Keys::new(id, &secret(first)).expect("a good key");
    let both = ring("k2", 50).with_old("k1", &secret(0)).expect("two keys");
    let [old, both, new, impostor, restarted] =
        [ring("k1", 0), both, ring("k2", 50), ring("k1", 50), Keys::random().expect("randomness")]
            .map(Arc::new);
    for protection in BOTH {
        let by = |keys: &Arc<Keys>| Codec::new(keys.clone(), protection);
        let seal = |keys| by(keys).seal(b"x", &binding(), NOW).expect("sealed");
        let open = |keys, sealed: &str| cause(&by(keys), sealed, &binding(), NOW);
        assert_eq!(open(&both, &seal(&old)), None);
        assert_eq!(open(&new, &seal(&old)), Some(Cause::UnknownKey));
        assert_eq!(open(&new, &seal(&both)), None);
        assert_eq!(open(&old, &seal(&both)), Some(Cause::UnknownKey));
        assert_eq!(open(&impostor, &seal(&old)), Some(Cause::Tampered));
        assert_eq!(open(&restarted, &seal(&old)), Some(Cause::UnknownKey));
        assert_eq!(open(&restarted, &seal(&restarted)), None);
    }
}

/// [RS-06] weak or confusing keys are refused at start-up; a ring never prints a secret
#[test]
fn key_faults() {
    let fault = |result: Result<Keys, KeyFault>| result.err();
    assert_eq!(fault(Keys::new("k", &[1; 31])), Some(KeyFault::TooShort));
    assert_eq!(fault(Keys::new("k", &[])), Some(KeyFault::TooShort));
    assert_eq!(fault(Keys::new("k", &[1; 100])), None);
    for id in ["", "a.b", "a b", "é", &"k".repeat(33)] {
        assert_eq!(fault(Keys::new(id, &secret(0))), Some(KeyFault::BadId), "{id}");
    }
    let ring = || Keys::new("k0", &secret(0)).expect("a good key");
    assert_eq!(fault(ring().with_old("k0", &secret(1))), Some(KeyFault::DuplicateId));
    let full =
        (1..KEYS_MAX).try_fold(ring(), |ring, n| ring.with_old(&format!("k{n}"), &secret(0)));
    let full = full.expect("a full ring");
    assert_eq!(format!("{full:?}"), r#"["k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"]"#);
    assert_eq!(full.current_id(), "k0");
    assert_eq!(fault(full.with_old("k8", &secret(0))), Some(KeyFault::TooMany));
}

/// [RS-06] [SEC-02] 16 KiB sealed is the most, both ways
#[test]
fn size_cap() {
    for protection in BOTH {
        let codec = codec(protection);
        let seal = |len| codec.seal(&vec![7; len], &binding(), NOW);
        // Longer states seal to longer texts, so the last length that fits is found by halving.
        let (mut len, mut too_long) = (0, STATE_BYTES_MAX);
        while too_long - len > 1 {
            let middle = usize::midpoint(len, too_long);
            *(if seal(middle).is_ok() { &mut len } else { &mut too_long }) = middle;
        }
        let sealed = seal(len).expect("the largest seals");
        assert!(sealed.len() <= STATE_BYTES_MAX && sealed.len() > STATE_BYTES_MAX - 4);
        let opened = codec.open(&sealed, &binding(), NOW).expect("the largest opens");
        assert_eq!(opened.state, vec![7; len]);
        for len in [len + 1, STATE_BYTES_MAX + 1, 1 << 20] {
            assert_eq!(seal(len), Err(SealFault::TooLarge));
        }
        let long = "A".repeat(STATE_BYTES_MAX + 1);
        assert_eq!(cause(&codec, &long, &binding(), NOW), Some(Cause::TooLong));
    }
}

/// [RS-05] [SEC-10] two issues of one state differ in text and id, so a store can allow each once
#[test]
fn issues_are_distinct() {
    for protection in BOTH {
        let codec = codec(protection);
        let mut ids = std::collections::HashSet::new();
        for _ in 0..64 {
            let sealed = codec.seal(b"x", &binding(), NOW).expect("sealed");
            assert!(ids.insert(codec.open(&sealed, &binding(), NOW).expect("opened").id));
        }
    }
}

/// [RS-10] a signed state is readable, an encrypted one is not
#[test]
fn readability() {
    use base64::Engine as _;
    for (protection, readable) in [(BOTH[0], true), (BOTH[1], false)] {
        let sealed = codec(protection).seal(b"plain words", &binding(), NOW).expect("sealed");
        let body = sealed.split('.').nth(3).expect("a body");
        let body = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(body).expect("base64");
        assert_eq!(body.windows(11).any(|window| window == b"plain words"), readable);
    }
}

/// [RS-04] [CALL-01] the digest sees through member order, number spelling and absent arguments, and
/// through nothing else
#[test]
fn digest_equalities() {
    let of = |text: &str| {
        digest("m", "t", Some(&serde_json::from_str::<Value>(text).expect("test JSON")))
    };
    for (left, right) in [
        (r#"{"a":1,"b":{"d":2,"c":3}}"#, r#"{"b":{"c":3,"d":2},"a":1}"#),
        (r#"{"a":1}"#, r#"{"a":1.0}"#),
        (r#"{"a":100}"#, r#"{"a":1e2}"#),
        (r#"{"a":0}"#, r#"{"a":-0.0}"#),
        (r#"{"a":"é"}"#, r#"{"a":"\u00e9"}"#),
    ] {
        assert_eq!(of(left), of(right), "{left} {right}");
    }
    let distinct = [
        r#"{}"#,
        r#"[]"#,
        r#"null"#,
        r#""""#,
        r#"0"#,
        r#"false"#,
        r#"true"#,
        r#"[[]]"#,
        r#"[{}]"#,
        r#"{"a":1}"#,
        r#"{"a":"1"}"#,
        r#"{"a":null}"#,
        r#"{"a":true}"#,
        r#"{"a":1.5}"#,
        r#"{"a":18446744073709551615}"#,
        r#"{"a":-1}"#,
        r#"{"a":[1]}"#,
        r#"{"a":{"1":1}}"#,
        r#"{"A":1}"#,
        r#"{"ab":"c"}"#,
        r#"{"a":"bc"}"#,
        r#"["a",1]"#,
        r#"[1,2]"#,
        r#"[2,1]"#,
        r#"[12]"#,
        r#"["e\u0301"]"#,
        r#"["é"]"#,
        r#"9007199254740993"#,
        r#"9007199254740992"#,
    ];
    let mut seen: Vec<_> = distinct.iter().map(|text| of(text)).collect();
    seen.extend([
        digest("m", "u", None),
        digest("n", "t", None),
        digest("mt", "", None),
        digest("", "mt", None),
    ]);
    let count = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), count);
    assert_eq!(digest("m", "t", None), of("{}"));
}

proptest! {
    /// [RS-01] [RS-02] what is sealed opens to the same bytes; random texts never open
    #[test]
    fn round_trip(
        state in proptest::collection::vec(any::<u8>(), 0..300),
        text in "(v1\\.[se]\\.(k1)?\\.)?[A-Za-z0-9_.-]{0,60}",
        now in any::<u64>(),
        encrypted in any::<bool>(),
    ) {
        let codec = codec(BOTH[usize::from(encrypted)]);
        let now = now.min(u64::MAX - 1);
        let sealed = codec.seal(&state, &binding(), now).expect("sealed");
        prop_assert!(sealed.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)));
        prop_assert_eq!(codec.open(&sealed, &binding(), now).expect("opened").state, state);
        prop_assert!(cause(&codec, &text, &binding(), now).is_some());
    }
}
