//! Messages that a running request sends before its answer: progress and log (ledger sections 12 and 13).
//!
//! One emitter is reused by many requests, one at a time; a handle of an earlier request is silent.
//! Nothing here blocks: what a slow reader has not taken yet is bounded, progress keeps its newest report.

use std::cell::RefCell;
use std::rc::Rc;
use std::task::Waker;

use codec::id::Id;
use codec::types::LoggingLevel;
use codec::write;
use serde::Serialize;

/// Room for messages that an emitter without a request keeps, in bytes, of either sort.
const ROOM_KEPT_BYTES_MAX: usize = 4 * 1024;

/// The messages of one running request.
pub(crate) struct Emitter {
    state: RefCell<State>,
    bytes_max: usize,
}

#[derive(Default)]
struct State {
    /// Which request may write; 0 while none runs.
    call: u64,
    calls: u64,
    /// The progress token as JSON; empty when the client wants no progress.
    token: Vec<u8>,
    /// The client wants log messages at or above this level.
    level: Option<LoggingLevel>,
    last_progress: Option<f64>,
    /// Whole JSON messages, each ended by a line feed (JSON text holds none).
    lines: Vec<u8>,
    /// The newest progress that found no room; kept back until there is some.
    newest: Vec<u8>,
    dropped: u64,
    waker: Option<Waker>,
}

impl Emitter {
    pub(crate) fn new(bytes_max: usize) -> Rc<Self> {
        Rc::new(Self { state: RefCell::default(), bytes_max })
    }

    /// Opens the emitter for one request; the returned number names it.
    pub(crate) fn begin(&self, token: Option<Id<'_>>, level: Option<LoggingLevel>) -> u64 {
        let state = &mut *self.state.borrow_mut();
        state.calls += 1;
        state.call = state.calls;
        state.token.clear();
        if let Some(token) = token {
            token.write(&mut state.token);
        }
        state.level = level;
        state.last_progress = None;
        state.lines.clear();
        state.newest.clear();
        state.call
    }

    /// Closes the emitter: nothing is sent after the answer (PRG-04). Gives the number of dropped messages.
    pub(crate) fn end(&self) -> u64 {
        let state = &mut *self.state.borrow_mut();
        state.call = 0;
        state.waker = None;
        std::mem::take(&mut state.dropped)
    }

    /// Gives back the room of earlier messages, if it is large.
    pub(crate) fn shed(&self) {
        let state = &mut *self.state.borrow_mut();
        for messages in [&mut state.lines, &mut state.newest] {
            if messages.capacity() > ROOM_KEPT_BYTES_MAX {
                *messages = Vec::new();
            }
        }
    }

    /// Whether something waits to be sent.
    pub(crate) fn is_waiting(&self) -> bool {
        let state = self.state.borrow();
        !state.lines.is_empty() || !state.newest.is_empty()
    }

    /// Hands every waiting message to `send`, oldest first.
    pub(crate) fn drain(&self, mut send: impl FnMut(&[u8])) {
        let state = &mut *self.state.borrow_mut();
        for line in state.lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            send(line);
        }
        if !state.newest.is_empty() {
            send(&state.newest);
        }
        state.lines.clear();
        state.newest.clear();
    }

    /// Drops whatever waits: the client accepts no event stream.
    pub(crate) fn discard(&self) -> u64 {
        let mut discarded = 0;
        self.drain(|_| discarded += 1);
        discarded
    }

    /// Who is woken by a message that another task sends.
    pub(crate) fn set_waker(&self, waker: &Waker) {
        let state = &mut *self.state.borrow_mut();
        if !state.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
            state.waker = Some(waker.clone());
        }
    }

    fn progress(&self, call: u64, done: Amount, total: Option<Amount>, message: Option<&str>) {
        let state = &mut *self.state.borrow_mut();
        // What is no number neither grows nor may it become the mark that later reports are held against.
        let grows = done.is_finite() && state.last_progress.is_none_or(|last| done.as_f64() > last);
        if state.call != call || state.token.is_empty() || !grows {
            return;
        }
        state.last_progress = Some(done.as_f64());
        let full = state.lines.len() >= self.bytes_max;
        if full && !state.newest.is_empty() {
            state.dropped += 1;
        }
        let out = if full { &mut state.newest } else { &mut state.lines };
        if full {
            out.clear();
        }
        out.extend_from_slice(
            br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"#,
        );
        out.extend_from_slice(&state.token);
        out.extend_from_slice(br#","progress":"#);
        done.write(out);
        if let Some(total) = total.filter(|total| total.is_finite()) {
            out.extend_from_slice(br#","total":"#);
            total.write(out);
        }
        if let Some(message) = message {
            out.extend_from_slice(br#","message":"#);
            write::string(out, message);
        }
        out.extend_from_slice(b"}}");
        if !full {
            out.push(b'\n');
        }
        state.wake();
    }

    fn log(&self, call: u64, level: LoggingLevel, logger: Option<&str>, data: &impl Serialize) {
        let state = &mut *self.state.borrow_mut();
        if state.call != call || state.level.is_none_or(|least| level < least) {
            return;
        }
        if state.lines.len() >= self.bytes_max {
            state.dropped += 1;
            return;
        }
        let start = state.lines.len();
        let out = &mut state.lines;
        out.extend_from_slice(
            br#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":""#,
        );
        out.extend_from_slice(level.as_str().as_bytes());
        out.push(b'"');
        if let Some(logger) = logger {
            out.extend_from_slice(br#","logger":"#);
            write::string(out, logger);
        }
        out.extend_from_slice(br#","data":"#);
        if serde_json::to_writer(&mut *out, data).is_err() {
            state.lines.truncate(start);
            state.dropped += 1;
            return;
        }
        out.extend_from_slice(b"}}\n");
        state.wake();
    }
}

impl State {
    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

/// Sends progress and log messages of one request; stays silent once the request has been answered.
///
/// Clone it into tasks of the same core. From other threads, bring the news back first.
#[derive(Clone)]
pub struct Progress {
    emitter: Rc<Emitter>,
    call: u64,
}

impl Progress {
    pub(crate) fn new(emitter: Rc<Emitter>, call: u64) -> Self {
        Self { emitter, call }
    }

    /// Reports that `done` of `total` is done. Reports that do not grow are dropped (PRG-02); without a progress
    /// token in the request this does nothing (PRG-01).
    pub fn report(&self, done: impl Into<Amount>, total: impl Into<Amount>) {
        self.emitter.progress(self.call, done.into(), Some(total.into()), None);
    }

    /// The same with an optional total and a text for people.
    pub fn report_with(&self, done: impl Into<Amount>, total: Option<Amount>, message: &str) {
        self.emitter.progress(self.call, done.into(), total, Some(message));
    }

    /// Sends a log message, if the request asked for this level (LOG-01, LOG-03).
    pub fn log(&self, level: LoggingLevel, logger: Option<&str>, data: &impl Serialize) {
        self.emitter.log(self.call, level, logger, data);
    }
}

/// A number of a progress report: integers stay integers on the wire (PRG-03).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// A whole number.
    Whole(i64),
    /// Any other number. A report that is not finite is dropped, a total that is not finite is left out.
    Real(f64),
}

impl Amount {
    #[allow(clippy::cast_precision_loss, reason = "progress only has to grow")]
    fn as_f64(self) -> f64 {
        match self {
            Self::Whole(value) => value as f64,
            Self::Real(value) => value,
        }
    }

    fn is_finite(self) -> bool {
        match self {
            Self::Whole(_) => true,
            Self::Real(value) => value.is_finite(),
        }
    }

    /// Only finite amounts are written.
    fn write(self, out: &mut Vec<u8>) {
        match self {
            Self::Whole(value) => write::int(out, value),
            Self::Real(value) => write::float(out, value),
        }
    }
}

impl From<f64> for Amount {
    fn from(value: f64) -> Self {
        Self::Real(value)
    }
}

macro_rules! whole {
    ($($type:ty),+) => {$(
        impl From<$type> for Amount {
            fn from(value: $type) -> Self {
                i64::try_from(value).map_or(Self::Whole(i64::MAX), Self::Whole)
            }
        }
    )+};
}

whole!(i32, i64, u8, u16, u32, u64, usize);
