//! One connection: keeps its window of operations full and settles every answer. Its first and last words are in
//! `greeting`, calls that are given up in `abandon`.

mod abandon;
mod greeting;

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::answer::Reader;
use crate::fault::{Fault, Kind};
use crate::pace::{Take, Turn};
use crate::scenario::{Desk, Manner, Next, Op};
use crate::seat::Seat;
use crate::tally::Sent;
use crate::wire::{Came, Wire};
use crate::worker::Shared;

/// Wait after a connection could not be made: a server that is down is not hammered, and its errors stay countable.
const RETRY: Duration = Duration::from_millis(100);

/// One connection of the run.
pub(crate) struct Connection {
    shared: Rc<Shared>,
    seat: Rc<Seat>,
    wire: Wire,
    reader: Reader,
    /// Operations under way, oldest first.
    waiting: VecDeque<Op>,
    /// How many of the last of them have their request still in `wire.out`.
    unwritten: usize,
    /// Legacy: what the greeting brought.
    session: Option<Rc<str>>,
    /// It was free when the next turn is taken.
    was_idle: bool,
}

/// Why the window is not topped up further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum More {
    Full,
    Later,
    Over,
}

impl Connection {
    /// Opens no socket yet.
    pub(crate) fn new(shared: Rc<Shared>) -> (Self, Rc<Seat>) {
        let seat = Rc::new(Seat::default());
        let connection = Self {
            shared,
            seat: seat.clone(),
            wire: Wire::new(seat.clone()),
            reader: Reader::default(),
            waiting: VecDeque::new(),
            unwritten: 0,
            session: None,
            was_idle: false,
        };
        (connection, seat)
    }

    /// Asks and checks until there is nothing more to ask.
    pub(crate) async fn drive(mut self) {
        loop {
            if self.shared.greets && !self.wire.is_open() && !self.meet_again().await {
                return;
            }
            match (self.fill(), self.waiting.is_empty()) {
                (More::Over, true) => break,
                (More::Later, true) => self.idle().await,
                (more, _) => {
                    if more == More::Later {
                        self.shared.idle.list(&self.seat);
                    }
                    if let Err(fault) = self.exchange().await {
                        self.lose(&fault).await;
                    }
                }
            }
        }
        self.part().await;
    }

    /// Tops the window up. All of a top-up leave in one write and share their time of sending.
    fn fill(&mut self) -> More {
        let shared = &*self.shared;
        if self.waiting.len() >= shared.pipeline {
            return More::Full;
        }
        let now = Instant::now();
        while self.waiting.len() < shared.pipeline {
            let crowded = !self.was_idle && shared.idle.is_empty();
            let turn = match shared.pace.take(now, crowded) {
                Take::Turn(turn) => turn,
                Take::Later => return More::Later,
                Take::Over => return More::Over,
            };
            self.was_idle = false;
            self.seat.busy();
            let mut op = operation(turn, now, self.session.clone());
            op.sent.sent_bytes = shared.scenario.borrow_mut().begin(&mut op, &mut self.wire.out);
            self.waiting.push_back(op);
            self.unwritten += 1;
        }
        shared.activity.set(shared.activity.get() + 1);
        More::Full
    }

    /// Waits for the next turn.
    async fn idle(&mut self) {
        self.was_idle = true;
        self.seat.waits_since(None);
        self.shared.idle.list(&self.seat);
        if !self.seat.is_deep() || !self.wire.is_open() {
            self.seat.busy();
            return self.seat.parked().await;
        }
        match self.wire.read(self.shared.timeout).await {
            Ok(Came::Nudge) => {}
            Ok(Came::End) | Err(_) => self.close(),
            Ok(Came::Bytes) => {
                self.unasked();
                self.close();
            }
        }
    }

    /// Writes what is to be written, reads once, settles what is whole.
    async fn exchange(&mut self) -> Result<(), Fault> {
        let shared = self.shared.clone();
        self.seat.waits_since(self.waiting.front().map(|oldest| oldest.sent.at));
        if !self.wire.is_open() {
            self.wire.put(shared.open().await?);
            if shared.manner == Manner::Keep {
                shared.tally.borrow_mut().reconnects += 1;
            }
        }
        if let Manner::Abandon(after) = shared.manner
            && self.waiting.front().is_some_and(|op| op.step == 0)
        {
            return self.abandon(after).await;
        }
        self.wire.write(shared.timeout).await?;
        self.unwritten = 0;
        let ended = match self.wire.read(shared.timeout).await? {
            Came::Nudge => return Ok(()),
            came => came == Came::End,
        };
        shared.activity.set(shared.activity.get() + 1);
        if self.settle(ended)? && !ended {
            return Ok(());
        }
        self.close();
        if self.in_flight() == 0 {
            return Ok(());
        }
        Err(Fault::new(Kind::Closed, "the server closed the connection after an earlier answer"))
    }

    /// Operations whose requests the server has.
    fn in_flight(&self) -> usize {
        self.waiting.len() - self.unwritten
    }

    /// Checks every whole answer. Whether the connection goes on.
    fn settle(&mut self, ended: bool) -> Result<bool, Fault> {
        let now = Instant::now();
        let shared = self.shared.clone();
        let mut scenario = shared.scenario.borrow_mut();
        while self.in_flight() > 0 {
            let wire = &mut self.wire;
            let Some(answer) = self.reader.read(&wire.received[wire.done..], ended)? else { break };
            let Some(mut op) = self.waiting.pop_front() else { break };
            wire.done += answer.len;
            op.sent.received_bytes += answer.len;
            let goes_on = answer.head.keep_alive;
            let next = scenario.settle(&mut op, &answer, Desk::new(&mut wire.out, &shared.pace));
            let again = matches!(next, Ok(Next::Again));
            let keep = goes_on && (again || shared.manner == Manner::Keep);
            match next {
                Ok(Next::Again) => {
                    self.waiting.push_back(op);
                    self.unwritten += 1;
                }
                Ok(Next::Done) if op.greeting => self.session = op.session,
                Err(fault) if op.greeting => return Err(fault),
                Ok(Next::Done) => shared.tally.borrow_mut().right(&op.sent, now),
                Err(fault) => shared.tally.borrow_mut().wrong(&op.sent, &fault, now),
            }
            if !keep {
                return Ok(false);
            }
        }
        if self.in_flight() == 0 && !self.wire.unread().is_empty() {
            // The next request would be read against them.
            self.unasked();
            return Ok(false);
        }
        self.wire.compact();
        Ok(true)
    }

    /// The connection is lost, and with it every operation under way.
    async fn lose(&mut self, fault: &Fault) {
        let now = Instant::now();
        for op in self.waiting.drain(..) {
            self.shared.tally.borrow_mut().wrong(&op.sent, fault, now);
        }
        self.unwritten = 0;
        self.wire.out.clear();
        self.close();
        self.seat.waits_since(None);
        self.seat.forgive();
        if fault.kind == Kind::Connect {
            self.shared.timers.set(self.shared.timers.get() + 1);
            monoio::time::sleep(RETRY).await;
            self.shared.timers.set(self.shared.timers.get() - 1);
        }
    }

    fn close(&mut self) {
        self.wire.close();
        self.reader = Reader::default();
    }

    fn unasked(&self) {
        let extra = Fault::showing(Kind::Http, "bytes nobody asked for", self.wire.unread());
        self.shared.tally.borrow_mut().unasked(&extra);
    }
}

fn operation(turn: Turn, now: Instant, session: Option<Rc<str>>) -> Op {
    let sent = Sent {
        id: turn.id,
        measured: turn.measured,
        intended: turn.intended.unwrap_or(now),
        at: now,
        sent_bytes: 0,
        received_bytes: 0,
        exchanges: 1,
        notifications: 0,
        part: 0,
    };
    Op { sent, id: turn.id, step: 0, greeting: false, session }
}
