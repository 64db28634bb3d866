//! In which turn of the core a stream is woken for its news. Telling nine thousand streams takes a core tens of
//! milliseconds: it is done in rounds of short turns, between which the core's other work goes on. What changes while a
//! round lasts reaches those whose turn is still to come in this round, and everybody else in the next one, once.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::stream::Stream;

/// Streams woken in one turn: about a millisecond of writes.
pub(crate) const WOKEN_PER_TURN_MAX: usize = 128;

/// The streams of one core that have news and were not woken for it yet, each in one of the lists.
#[derive(Default)]
pub(super) struct Rounds {
    /// Of this round; the last is woken first.
    now: RefCell<Vec<Rc<Stream>>>,
    /// Marked since it began.
    next: RefCell<Vec<Rc<Stream>>>,
    /// A round lasts longer than its first turn: somebody else goes on with it.
    lasting: Cell<bool>,
}

impl Rounds {
    /// Has the stream woken in its turn. No news between now and then costs it a second turn.
    pub(super) fn enter(&self, stream: &Rc<Stream>) {
        if !stream.awaits_turn.replace(true) {
            self.next.borrow_mut().push(Rc::clone(stream));
        }
    }

    /// Takes the first turn of a round, unless one lasts. True when it lasts longer: the caller sees to the rest.
    pub(super) fn begin(&self) -> bool {
        if self.lasting.get() {
            return false;
        }
        self.swap();
        self.lasting.set(self.turn());
        self.lasting.get()
    }

    /// Wakes the next streams. True while there are more in this round.
    pub(super) fn turn(&self) -> bool {
        for _ in 0..WOKEN_PER_TURN_MAX {
            let stream = self.now.borrow_mut().pop();
            let Some(stream) = stream else { break };
            stream.awaits_turn.set(false);
            stream.wake();
        }
        !self.now.borrow().is_empty()
    }

    /// Begins a round after one that has lasted. False when nobody has news, and the next one is to [`begin`](Self::begin).
    pub(super) fn next_round(&self) -> bool {
        self.swap();
        self.lasting.set(!self.now.borrow().is_empty());
        self.lasting.get()
    }

    fn swap(&self) {
        let mut emptied = self.now.take();
        debug_assert!(emptied.is_empty(), "one round after the other");
        emptied.shrink_to(WOKEN_PER_TURN_MAX);
        self.now.replace(self.next.replace(emptied));
    }
}
