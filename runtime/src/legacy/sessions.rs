//! The sessions of one core: bounded in number, forgotten when they are idle (LEG-68).

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use transport::mcp::legacy::{SECRET_BYTES, SessionId};

use super::client::Client;
use super::session::Session;
use super::streams::{Kept, Streams};
use crate::app::App;
use crate::engine::core::Core;
use crate::engine::deadline::Kind;
use crate::hooks::Principal;

/// Why no session was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoSession {
    /// The core has as many as it may.
    Full,
    /// The system gives no random bytes.
    NoSecret,
}

/// The sessions of one core.
#[derive(Default)]
pub(crate) struct Sessions {
    table: RefCell<HashMap<[u8; SECRET_BYTES], Rc<Session>>>,
    /// A task looks after those that are idle.
    watched: Cell<bool>,
}

impl Sessions {
    /// Begins a session of this core.
    pub(crate) fn begin(
        &self,
        core: &Rc<Core<App>>,
        client: Client,
        principal: Option<&Rc<Principal>>,
    ) -> Result<SessionId, NoSession> {
        let limits = &core.serve.limits;
        if self.len() >= limits.sessions_per_core {
            return Err(NoSession::Full);
        }
        let mut secret = [0; SECRET_BYTES];
        getrandom::fill(&mut secret).map_err(|_| NoSession::NoSecret)?;
        let core_number = u16::try_from(core.id).map_err(|_| NoSession::Full)?;
        let kept = Kept { events: limits.session_events, bytes: limits.session_event_bytes };
        let streams = Streams::new(kept, client.version.has_priming());
        let session = Session::new(client, principal, streams, core.clock.now_ms());
        self.table.borrow_mut().insert(secret, session);
        core.counters.sessions_open.add(1);
        self.watch(core);
        Ok(SessionId { core: core_number, secret })
    }

    /// The session of this name, which is in use from now on.
    pub(crate) fn get(&self, id: &SessionId, now_ms: u64) -> Option<Rc<Session>> {
        let session = self.table.borrow().get(&id.secret).cloned()?;
        session.seen(now_ms);
        Some(session)
    }

    /// Ends a session.
    pub(crate) fn end(&self, core: &Core<App>, id: &SessionId) {
        let session = self.table.borrow_mut().remove(&id.secret);
        if let Some(session) = session {
            core.counters.sessions_open.sub(1);
            session.end();
        }
    }

    /// Sessions now.
    pub(crate) fn len(&self) -> usize {
        self.table.borrow().len()
    }

    /// Lets go of everybody who waits on a standing stream: the core drains.
    pub(crate) fn part_all(&self) {
        for session in self.table.borrow().values() {
            session.streams.borrow_mut().part(super::streams::STANDING);
        }
    }

    /// Ends those that have been idle too long. When the next one may be.
    pub(crate) fn expire(&self, core: &Core<App>) -> Option<u64> {
        let (now, idle) = (core.clock.now_ms(), millis(core.serve.limits.session_idle_timeout));
        let mut ended = Vec::new();
        let next = {
            let table = &mut *self.table.borrow_mut();
            table.retain(|_, session| {
                let stays = session.expires_ms(idle) > now;
                if !stays {
                    ended.push(Rc::clone(session));
                }
                stays
            });
            // Memory follows the number of sessions down as well as up.
            if table.capacity() > 4 * table.len() {
                table.shrink_to_fit();
            }
            table.values().map(|session| session.expires_ms(idle)).min()
        };
        core.counters.sessions_open.sub(ended.len() as u64);
        core.counters.sessions_expired.add(ended.len() as u64);
        ended.iter().for_each(|session| session.end());
        // Those in use say nothing about when they will be idle: look again later.
        next.map(|at| at.min(now.saturating_add(idle)))
    }

    /// Has a task look after idle sessions, for as long as there are any.
    fn watch(&self, core: &Rc<Core<App>>) {
        if self.watched.replace(true) {
            return;
        }
        let owner = Rc::clone(core);
        core.spawn("sessions", move || async move {
            let deadline = owner.deadline(None);
            while let Some(at_ms) = owner.app.sessions.expire(&owner) {
                // Not more often than it can matter: many sessions end together.
                let soonest = owner.clock.now_ms().saturating_add(EXPIRE_EVERY_MS);
                deadline.arm(Kind::Sleep, at_ms.max(soonest));
                deadline.passed().await;
            }
            owner.app.sessions.watched.set(false);
        });
    }
}

/// Idle sessions are looked for no more often than this, in milliseconds.
const EXPIRE_EVERY_MS: u64 = 1000;

fn millis(span: std::time::Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
