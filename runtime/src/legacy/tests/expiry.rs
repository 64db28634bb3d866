//! Idle sessions on a clock that moves only when told.

use std::time::Duration;

use codec::document::{Document, Parser};
use serde_json::json;

use crate::legacy::LegacyMode;
use crate::legacy::client::Client;
use crate::limits::Limits;
use crate::server::Server;

const IDLE: Duration = Duration::from_secs(60);

fn client() -> Client {
    let text =
        json!({ "protocolVersion": "2025-11-25", "capabilities": { "sampling": {} } }).to_string();
    let (mut document, whole) = (Document::new(), 0..text.len());
    document.parse(&mut Parser::default(), text.into_bytes(), whole).expect("JSON");
    let params = document.root().as_object().expect("an object");
    Client::introduced(params, &mut Parser::default()).expect("well-formed")
}

/// [LEG-68] [LEG-61] ten thousand sessions that nobody uses are gone after the idle limit, one that is used is not; as
/// many as may be at once, and no more.
#[test]
fn abandoned_sessions_are_gone() {
    let limits =
        Limits { sessions_per_core: 10_001, session_idle_timeout: IDLE, ..Limits::default() };
    let (core, _mailbox, _inbox) =
        Server::builder("s", "1").legacy(LegacyMode::Sessions).limits(limits).simulated();
    let sessions = &core.app.sessions;
    let used = sessions.begin(&core, client(), None).expect("room");
    for _ in 0..10_000 {
        sessions.begin(&core, client(), None).expect("room");
    }
    assert!(sessions.begin(&core, client(), None).is_err(), "beyond the limit");
    assert_eq!((sessions.len(), core.counters.sessions_open.get()), (10_001, 10_001));

    core.clock.advance(IDLE.as_millis() as u64 - 1);
    let next = sessions.expire(&core);
    assert_eq!((sessions.len(), next), (10_001, Some(IDLE.as_millis() as u64)));
    assert!(sessions.get(&used, core.clock.now_ms()).is_some());
    core.clock.advance(1);
    let next = sessions.expire(&core);
    assert_eq!((sessions.len(), next), (1, Some(2 * IDLE.as_millis() as u64 - 1)));
    assert_eq!(core.counters.sessions_expired.get(), 10_000);
    assert_eq!(core.counters.sessions_open.get(), 1);
    assert!(sessions.begin(&core, client(), None).is_ok(), "there is room again");
    core.clock.advance(2 * IDLE.as_millis() as u64);
    assert_eq!(sessions.expire(&core), None);
    assert_eq!(sessions.len(), 0);
    assert!(sessions.get(&used, core.clock.now_ms()).is_none());
}
