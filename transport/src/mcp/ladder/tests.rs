//! The ladder on a transport without headers.

use codec::document::{Document, Parser};
use codec::message::{self, Message};
use serde_json::{Value, json};

use super::{Case, Rung, Surface};

const PV: &str = "io.modelcontextprotocol/protocolVersion";
const CC: &str = "io.modelcontextprotocol/clientCapabilities";

/// A change that one rung refuses.
type Fault<'f> = &'f dyn Fn(&mut Value);

struct Served;

impl Surface for Served {
    fn versions(&self) -> &[&str] {
        &["2026-07-28"]
    }

    fn serves(&self, method: &str) -> bool {
        method == "tools/call"
    }
}

/// The rung that refuses a request without headers.
fn refused_at(change: impl FnOnce(&mut Value)) -> Option<Rung> {
    let meta = json!({ PV: "2026-07-28", CC: {} });
    let params = json!({ "name": "no header repeats it", "_meta": meta });
    let mut message =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    change(&mut message);
    let (mut document, text) = (Document::new(), message.to_string().into_bytes());
    let whole = 0..text.len();
    document.parse(&mut Parser::default(), text, whole).expect("JSON");
    let Ok(Message::Request(request)) = message::read(&document) else { panic!("no request") };
    Case::new(request, None, &Served).climb().err().map(|refusal| refusal.rung)
}

/// [PREC-03] without headers their rungs do not exist, and the others keep their order: of two faults the lower
/// one answers.
#[test]
fn order_without_headers() {
    assert_eq!(refused_at(|_| {}), None, "no header is missed");
    let era = |message: &mut Value| {
        drop(message["params"]["_meta"].as_object_mut().map(|meta| meta.shift_remove(PV)))
    };
    let kind = |message: &mut Value| message["params"]["_meta"][PV] = json!(5);
    let version = |message: &mut Value| message["params"]["_meta"][PV] = json!("v999.0.0");
    let envelope = |message: &mut Value| message["params"]["_meta"][CC] = json!([]);
    let method = |message: &mut Value| message["method"] = json!("unknown/method");
    let faults: [(Rung, Fault<'_>); 5] = [
        (Rung::Era, &era),
        (Rung::VersionType, &kind),
        (Rung::VersionSupported, &version),
        (Rung::Envelope, &envelope),
        (Rung::Method, &method),
    ];
    for (at, (rung, fault)) in faults.iter().enumerate() {
        assert_eq!(refused_at(|message| fault(message)), Some(*rung));
        for (higher, above) in &faults[at + 1..] {
            // Three faults are of one member, which can have but one of them.
            if *higher > Rung::VersionHeader {
                let both = |message: &mut Value| {
                    above(message);
                    fault(message);
                };
                assert_eq!(refused_at(both), Some(*rung), "{rung:?} before {higher:?}");
            }
        }
    }
}
