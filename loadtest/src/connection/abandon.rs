//! Calls that are given up before they are answered.

use std::time::{Duration, Instant};

use super::Connection;
use crate::fault::{Fault, Kind};
use crate::scenario::Desk;
use crate::wire::Came;

impl Connection {
    /// Gives the oldest operation's call up: unless it is answered first, its connection is closed, and the
    /// operation goes on over another one. That time is no part of its latency.
    pub(super) async fn abandon(&mut self, after: Duration) -> Result<(), Fault> {
        let shared = self.shared.clone();
        let begun = Instant::now();
        self.wire.write(shared.timeout).await?;
        shared.timers.set(shared.timers.get() + 1);
        let early = self.answered_within(begun, after).await;
        shared.timers.set(shared.timers.get() - 1);
        self.close();
        early?;
        let (Some(op), now) = (self.waiting.front_mut(), Instant::now()) else { return Ok(()) };
        op.sent.intended += now - op.sent.at;
        op.sent.at = now;
        shared.scenario.borrow_mut().resume(op, Desk::new(&mut self.wire.out, &shared.pace));
        self.unwritten = 1;
        Ok(())
    }

    /// Reads for that long.
    ///
    /// # Errors
    /// The answer came, or the connection ended.
    async fn answered_within(&mut self, begun: Instant, after: Duration) -> Result<(), Fault> {
        loop {
            let left = after.saturating_sub(begun.elapsed());
            let read = self.wire.read(self.shared.timeout);
            let Ok(came) = monoio::time::timeout(left, read).await else { return Ok(()) };
            let ended = came? == Came::End;
            if let Some(answer) = self.reader.read(self.wire.unread(), ended)? {
                let why = format!("answered {} after {:?}", answer.head.status, begun.elapsed());
                return Err(Fault::showing(Kind::Early, why, answer.body));
            }
        }
    }
}
