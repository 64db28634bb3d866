//! The first and the last words of a connection, which are no part of what is measured.

use std::time::Instant;

use super::{Connection, operation};
use crate::fault::Fault;
use crate::pace::{Take, Turn};

impl Connection {
    /// Opens a connection and exchanges its first words.
    ///
    /// # Errors
    /// There is no connection, or no right answer on it.
    pub(crate) async fn meet(&mut self) -> Result<(), Fault> {
        let shared = self.shared.clone();
        self.wire.put(shared.open().await?);
        if !shared.greets {
            return Ok(());
        }
        let turn = Turn { id: shared.pace.next_id(), measured: false, intended: None };
        let mut op = operation(turn, Instant::now(), None);
        op.greeting = true;
        shared.scenario.borrow_mut().greet(&mut op, &mut self.wire.out);
        self.waiting.push_back(op);
        self.unwritten = 1;
        while !self.waiting.is_empty() {
            self.exchange().await?;
        }
        Ok(())
    }

    /// Meets the server again after a connection was lost. A failure costs a turn, so that a run ends. Whether
    /// there is anything left to do.
    pub(super) async fn meet_again(&mut self) -> bool {
        let shared = self.shared.clone();
        loop {
            let Err(fault) = self.meet().await else {
                shared.tally.borrow_mut().reconnects += 1;
                return true;
            };
            self.waiting.clear();
            self.lose(&fault).await;
            let now = Instant::now();
            match shared.pace.take(now, true) {
                Take::Over => return false,
                Take::Later => {}
                Take::Turn(turn) => {
                    let op = operation(turn, now, None);
                    shared.tally.borrow_mut().wrong(&op.sent, &fault, now);
                }
            }
        }
    }

    /// Says the connection's last words, for what they are worth.
    pub(super) async fn part(&mut self) {
        let Some(session) = self.session.take().filter(|_| self.wire.is_open()) else { return };
        self.shared.scenario.borrow_mut().part(&session, &mut self.wire.out);
        self.seat.waits_since(Some(Instant::now()));
        if self.wire.write(self.shared.timeout).await.is_ok() {
            // Read, so that the server is not reset in the middle of its answer.
            let _ = self.wire.read(self.shared.timeout).await;
        }
    }
}
