//! Revision 2025-11-25: initialize, initialized, calls; with a session where the server gives one.

use std::rc::Rc;

use clap::ValueEnum;

use crate::answer::Answer;
use crate::check::Checker;
use crate::fault::{Fault, Kind};
use crate::request::{Extra, Template};

use super::{Desk, Next, Op, Scenario};

/// What is asked of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sessions {
    /// Used where the server gives one
    Any,
    /// A server without them is wrong
    Required,
    /// A server with them is wrong
    None,
}

/// How often hands are shaken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Handshake {
    /// Once a connection, before its first call; in no latency
    Connection,
    /// Before every call: one operation is initialize, initialized, the call, and the end of its session
    Each,
}

/// The steps of an operation, in [`Op::step`]; each waits for its answer.
mod step {
    pub(super) const INITIALIZE: u32 = 0;
    pub(super) const INITIALIZED: u32 = 1;
    pub(super) const CALL: u32 = 2;
    pub(super) const END: u32 = 3;
}

/// Calls of the older revision.
pub(super) struct Legacy {
    pub(super) initialize: Template,
    pub(super) initialized: Template,
    pub(super) call: Template,
    /// The head of the DELETE that ends a session, up to the session's line.
    pub(super) end: String,
    pub(super) hello: Checker,
    pub(super) checker: Checker,
    pub(super) sessions: Sessions,
    pub(super) handshake: Handshake,
}

impl Scenario for Legacy {
    fn begin(&mut self, op: &mut Op, out: &mut Vec<u8>) -> usize {
        if self.handshake == Handshake::Each {
            op.session = None;
            return self.initialize.write(out, op.id, Extra::default());
        }
        op.step = step::CALL;
        self.write_call(op, out)
    }

    fn greets(&self) -> bool {
        self.handshake == Handshake::Connection
    }

    fn greet(&mut self, op: &mut Op, out: &mut Vec<u8>) {
        self.initialize.write(out, op.id, Extra::default());
    }

    fn settle(
        &mut self,
        op: &mut Op,
        answer: &Answer<'_>,
        mut desk: Desk<'_>,
    ) -> Result<Next, Fault> {
        match op.step {
            step::INITIALIZE => {
                self.hello.check(answer, op.id)?;
                op.session = self.session(answer)?;
                let id = desk.next(op);
                let lines = session_line(op.session.as_deref());
                let extra = Extra { lines: &lines, ..Extra::default() };
                op.sent.sent_bytes += self.initialized.write(desk.out, id, extra);
                Ok(Next::Again)
            }
            step::INITIALIZED => {
                if answer.head.status != 202 || !answer.body.is_empty() {
                    let why = format!("{} to a notification, not an empty 202", answer.head.status);
                    return Err(Fault::showing(Kind::Status, why, answer.body));
                }
                if op.greeting {
                    return Ok(Next::Done);
                }
                desk.next(op);
                op.sent.sent_bytes += self.write_call(op, desk.out);
                Ok(Next::Again)
            }
            step::CALL => {
                op.sent.notifications += self.checker.check(answer, op.id)?;
                match op.session.clone() {
                    Some(session) if self.handshake == Handshake::Each => {
                        desk.next(op);
                        let before = desk.out.len();
                        self.part(&session, desk.out);
                        op.sent.sent_bytes += desk.out.len() - before;
                        Ok(Next::Again)
                    }
                    _ => Ok(Next::Done),
                }
            }
            // [LEG-62] A server may refuse to end a session.
            step::END if [200, 202, 204, 405].contains(&answer.head.status) => Ok(Next::Done),
            _ => Err(Fault::showing(Kind::Status, answer.head.status, answer.body)),
        }
    }

    fn part(&mut self, session: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(self.end.as_bytes());
        out.extend_from_slice(session_line(Some(session)).as_bytes());
        out.extend_from_slice(b"\r\n");
    }
}

impl Legacy {
    fn write_call(&self, op: &Op, out: &mut Vec<u8>) -> usize {
        match &op.session {
            None => self.call.write(out, op.id, Extra::default()),
            Some(session) => {
                let lines = session_line(Some(session));
                self.call.write(out, op.id, Extra { lines: &lines, ..Extra::default() })
            }
        }
    }

    /// The session of an answer to initialize [LEG-60].
    fn session(&self, answer: &Answer<'_>) -> Result<Option<Rc<str>>, Fault> {
        let wrong = |why: &str| Err(Fault::new(Kind::Session, why));
        match (answer.session, self.sessions) {
            (None, Sessions::Required) => wrong("initialize gave no Mcp-Session-Id"),
            (Some(_), Sessions::None) => wrong("initialize gave an Mcp-Session-Id"),
            (Some(id), _) if id.is_empty() || !id.bytes().all(|b| b.is_ascii_graphic()) => {
                wrong("an Mcp-Session-Id with more than visible ASCII")
            }
            (session, _) => Ok(session.map(Rc::from)),
        }
    }
}

fn session_line(session: Option<&str>) -> String {
    session.map(|session| format!("Mcp-Session-Id: {session}\r\n")).unwrap_or_default()
}
