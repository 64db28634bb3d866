//! Page cursors through the public door: known answers, tampering, scope, rotation, stability.

use std::sync::Arc;

use proptest::prelude::*;
use ringmcp_codec::cursor::{
    CURSOR_BYTES_MAX, CursorFault, Cursors, KEY_BYTES_MAX, Position, Scope,
};
use ringmcp_codec::state::Keys;

const ALICE: Scope<'_> = Scope { method: "tools/list", principal: Some("alice") };
const VECTOR: &str = "AQAAAAAAAAAqd2VhdGhlciMTOMhfYR6A6qmpg7XXCH4";
const ANONYMOUS_VECTOR: &str = "AQAAAAAAAAAqd2VhdGhlcme2-LEDK3jMQm1z4g003co";

fn secret(first: u8) -> Vec<u8> {
    (first..first + 32).collect()
}

fn cursors(id: &str, first: u8) -> Cursors {
    Cursors::new(Arc::new(Keys::new(id, &secret(first)).expect("a good key")))
}

fn weather() -> Position {
    Position { sequence: 42, key: "weather".to_owned() }
}

/// [PAG-02] [PAG-05] the same key gives the same cursor on any replica: known answers, from an
/// independent implementation
#[test]
fn known_answers() {
    let anonymous = Scope { principal: None, ..ALICE };
    for (scope, vector) in [(ALICE, VECTOR), (anonymous, ANONYMOUS_VECTOR)] {
        assert_eq!(cursors("k1", 0).seal(&scope, 42, "weather"), vector);
        assert_eq!(cursors("k2", 0).open(&scope, vector), Ok(weather()));
    }
}

/// [PAG-03] [PAG-05] every changed character, truncation and suffix is refused
#[test]
fn tampering() {
    let cursors = cursors("k1", 0);
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=. ";
    for at in 0..VECTOR.len() {
        for &other in alphabet {
            let mut bytes = VECTOR.as_bytes().to_vec();
            if bytes[at] != other {
                bytes[at] = other;
                let changed = String::from_utf8(bytes).expect("ASCII");
                assert!(cursors.open(&ALICE, &changed).is_err(), "{changed}");
            }
        }
        assert!(cursors.open(&ALICE, &VECTOR[..at]).is_err());
    }
    for suffix in ["A", "AA", "AAAA", "=", "-TAMPERED", "\n"] {
        assert!(cursors.open(&ALICE, &format!("{VECTOR}{suffix}")).is_err(), "{suffix}");
    }
}

/// [PAG-02] [PAG-03] empty, foreign and over-long texts are refused with one message
#[test]
fn foreign_texts() {
    let cursors = cursors("k1", 0);
    let long = "A".repeat(CURSOR_BYTES_MAX + 1);
    let longest = "A".repeat(CURSOR_BYTES_MAX);
    for (text, fault) in [
        ("", CursorFault::Malformed),
        ("zzz", CursorFault::Malformed),
        ("zzzz", CursorFault::Malformed),
        ("日本語", CursorFault::Malformed),
        ("AAAAAAAAAAAAAAAAAAAAAA", CursorFault::Forged),
        (&longest, CursorFault::Forged),
        (&long, CursorFault::TooLong),
    ] {
        let found = cursors.open(&ALICE, text);
        assert_eq!(found, Err(fault), "{text}");
        assert_eq!(fault.to_string(), "Invalid cursor");
    }
}

/// [PAG-03] [PAG-05] [SEC-14] a cursor opens for its own method and principal only
#[test]
fn scope_is_bound() {
    let cursors = cursors("k1", 0);
    for other in [
        Scope { method: "prompts/list", ..ALICE },
        Scope { method: "", ..ALICE },
        Scope { principal: Some("bob"), ..ALICE },
        Scope { principal: Some(""), ..ALICE },
        Scope { principal: None, ..ALICE },
    ] {
        assert_eq!(cursors.open(&other, VECTOR), Err(CursorFault::Forged), "{other:?}");
    }
    let anonymous = Scope { principal: None, ..ALICE };
    let empty = Scope { principal: Some(""), ..ALICE };
    let cursor = cursors.seal(&anonymous, 1, "a");
    assert_eq!(cursors.open(&empty, &cursor), Err(CursorFault::Forged));
}

/// [PAG-05] another server key is refused, a rotated one is not
#[test]
fn rotation() {
    let rotated = Keys::new("k2", &secret(50)).and_then(|keys| keys.with_old("k1", &secret(0)));
    let rotated = Cursors::new(Arc::new(rotated.expect("two keys")));
    assert_eq!(rotated.open(&ALICE, VECTOR), Ok(weather()));
    let fresh = rotated.seal(&ALICE, 42, "weather");
    assert_eq!(cursors("k2", 50).open(&ALICE, &fresh), Ok(weather()));
    assert_eq!(cursors("k1", 0).open(&ALICE, &fresh), Err(CursorFault::Forged));
}

/// [SEC-02] the longest key fits the cap; a longer one leaves its sequence
#[test]
fn long_keys() {
    let cursors = cursors("k1", 0);
    for (len, kept) in [(KEY_BYTES_MAX, KEY_BYTES_MAX), (KEY_BYTES_MAX + 1, 0)] {
        let cursor = cursors.seal(&ALICE, 7, &"k".repeat(len));
        assert!(cursor.len() <= CURSOR_BYTES_MAX);
        let position = cursors.open(&ALICE, &cursor).expect("its own cursor");
        assert_eq!((position.sequence, position.key.len()), (7, kept));
    }
}

/// [PAG-01] [PAG-04] with items inserted and removed between pages, no item that stayed is repeated or
/// skipped, even if the page's last item went
#[test]
fn stable_under_change() {
    let cursors = cursors("k1", 0);
    let mut items: Vec<(u64, String)> = (0..10).map(|n| (n, format!("tool-{n}"))).collect();
    let (mut seen, mut cursor) = (Vec::new(), None::<String>);
    for round in 0.. {
        let start = match &cursor {
            None => 0,
            Some(text) => {
                let last = cursors.open(&ALICE, text).expect("its own cursor");
                match items.iter().position(|(_, key)| *key == last.key) {
                    Some(at) => at + 1,
                    None => items.partition_point(|(sequence, _)| *sequence <= last.sequence),
                }
            }
        };
        let page: Vec<_> = items[start..].iter().take(3).cloned().collect();
        let Some((sequence, key)) = page.last().cloned() else { break };
        seen.extend(page.into_iter().map(|(_, key)| key));
        cursor = Some(cursors.seal(&ALICE, sequence, &key));
        // The page's last item leaves, an early one leaves, a new one comes.
        items.retain(|(_, other)| *other != key && *other != format!("tool-{round}"));
        items.push((100 + round, format!("new-{round}")));
        if round == 3 {
            break;
        }
    }
    let originals: Vec<_> = seen.iter().filter(|key| key.starts_with("tool")).collect();
    assert_eq!(originals.len(), 10);
    let mut distinct = seen.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), seen.len());
}

proptest! {
    /// [PAG-02] [PAG-05] [SEC-08] every position round-trips as a non-empty base64url text, and no random
    /// text opens
    #[test]
    fn round_trip(sequence in any::<u64>(), key in any::<String>(), text in "[A-Za-z0-9_-]{0,80}") {
        let cursors = cursors("k1", 0);
        let cursor = cursors.seal(&ALICE, sequence, &key);
        prop_assert!(!cursor.is_empty());
        prop_assert!(cursor.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b)));
        prop_assert_eq!(cursors.open(&ALICE, &cursor), Ok(Position { sequence, key }));
        prop_assert!(cursors.open(&ALICE, &text).is_err());
    }
}
