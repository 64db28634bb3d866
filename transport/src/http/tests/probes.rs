//! Inputs that broke other servers, as far as framing goes: the machine's verdict against the expected.

use super::{Limits, serve};

/// Statuses that only this room answers with; a probe that allows no other must be refused here.
const FRAMING: [u64; 7] = [400, 413, 414, 417, 431, 501, 505];

/// [HTTP-17] [HTTP-21] [SEC-09] probes of HTTP framing: what must be refused is, what must pass does
#[test]
fn framing_probes() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/probes/probes.jsonl");
    let Ok(text) = std::fs::read_to_string(path) else {
        eprintln!("SKIPPED: framing_probes needs ../shared/probes/probes.jsonl");
        return;
    };
    let mut checked = 0;
    for line in text.lines() {
        let probe: serde_json::Value = serde_json::from_str(line).expect("a JSON line");
        let id = probe["id"].as_str().expect("an id");
        let (Some(raw), Some(expected)) =
            (probe["raw"].as_str(), probe["expect_status"].as_array())
        else {
            continue;
        };
        // Text in the file stands for bytes, one a character, where it is not UTF-8 on purpose.
        let raw = raw.replace("{{HOST}}", "localhost:1").into_bytes();
        let (requests, reject) = serve(Limits::default(), [&raw[..]]);
        let status = reject.map(|reject| u64::from(reject.status));
        let number: u32 = id[1..].parse().expect("P and a number");
        if let (Some(status), true) = (status, requests.is_empty()) {
            let listed = expected.iter().any(|value| value.as_u64() == Some(status));
            assert!(listed, "{id}: refused with {status}, expected {expected:?}");
        }
        let only_framing =
            expected.iter().all(|value| value.as_u64().is_some_and(|code| FRAMING.contains(&code)));
        if (182..=277).contains(&number) && only_framing {
            assert!(requests.is_empty() && status.is_some(), "{id} was let through");
        }
        checked += usize::from((182..=308).contains(&number));
    }
    assert!(checked > 60, "only {checked} probes of the framing range");
}
