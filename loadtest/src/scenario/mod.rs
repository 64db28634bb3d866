//! What an operation is: the requests it sends and the answers it takes.
//!
//! A connection takes a turn, lets the scenario begin an operation, and shows it every answer until it is done. Most
//! operations are one exchange; some have rounds, whose requests the scenario writes as the answers come in.

mod ask;
mod cancel;
mod legacy;
mod mixed;
mod mrtr;
mod plain;
mod progress;
mod script;

use std::rc::Rc;
use std::time::Duration;

use clap::ValueEnum;

use crate::answer::Answer;
use crate::fault::Fault;
use crate::pace::Pace;
use crate::tally::Sent;

pub(crate) use ask::{Ask, build};
pub(crate) use legacy::{Handshake, Sessions};
pub(crate) use mixed::Mix;
pub(crate) use script::Script;

/// What a run does again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Name {
    /// `tools/call` of --tool with --args
    ToolsCall,
    /// `tools/list`, first page
    ToolsList,
    /// `server/discover`
    Discover,
    /// `resources/read` of --uri
    ResourcesRead,
    /// The parts of --mix, by their weights
    Mixed,
    /// `tools/call` with a body of --body-bytes, whose text must come back
    Large,
    /// `tools/call` with a progress token: an event stream, its notifications checked
    Progress,
    /// `tools/call` that asks for input: answered, and called again until it is complete
    Mrtr,
    /// Listen streams: publish, and see every stream get it
    Subscribe,
    /// Connect, call, close
    Churn,
    /// Start a slow call, close its connection, and see that the server still answers
    Cancel,
    /// 2025-11-25: initialize, initialized, calls
    Legacy,
}

impl Name {
    /// The name on the command line.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::ToolsCall => "tools-call",
            Self::ToolsList => "tools-list",
            Self::Discover => "discover",
            Self::ResourcesRead => "resources-read",
            Self::Mixed => "mixed",
            Self::Large => "large",
            Self::Progress => "progress",
            Self::Mrtr => "mrtr",
            Self::Subscribe => "subscribe",
            Self::Churn => "churn",
            Self::Cancel => "cancel",
            Self::Legacy => "legacy",
        }
    }

    /// The tool that is called where --tool names none: what the conformance fixture calls it.
    pub(crate) fn default_tool(self) -> Option<&'static str> {
        match self {
            Self::ToolsCall | Self::Large | Self::Churn | Self::Legacy => Some("echo"),
            Self::Progress => Some("test_tool_with_progress"),
            Self::Mrtr => Some("test_input_required_result_elicitation"),
            Self::Cancel => Some("sleep"),
            Self::ToolsList | Self::Discover | Self::ResourcesRead => None,
            Self::Mixed | Self::Subscribe => None,
        }
    }
}

/// How a scenario uses connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Keeps them.
    Keep,
    /// A new one for every operation, closed after it.
    Fresh,
    /// As `Fresh`; the first request of every operation is left without an answer after this time, on a connection
    /// that is closed, and the operation goes on over another one.
    Abandon(Duration),
}

/// An operation under way.
#[derive(Clone, Debug)]
pub(crate) struct Op {
    pub(crate) sent: Sent,
    /// Of the request that is waiting for its answer.
    pub(crate) id: u64,
    /// Exchanges behind it; what that means is the scenario's.
    pub(crate) step: u32,
    /// A connection's first words, which count as no operation.
    pub(crate) greeting: bool,
    /// Legacy: the session it belongs to.
    pub(crate) session: Option<Rc<str>>,
}

/// Where an operation's next request goes.
pub(crate) struct Desk<'a> {
    pub(crate) out: &'a mut Vec<u8>,
    pace: &'a Pace,
}

impl<'a> Desk<'a> {
    pub(crate) fn new(out: &'a mut Vec<u8>, pace: &'a Pace) -> Self {
        Self { out, pace }
    }

    /// The operation goes on with another request: gives it its id.
    pub(crate) fn next(&mut self, op: &mut Op) -> u64 {
        op.step += 1;
        op.id = self.pace.next_id();
        op.sent.exchanges += 1;
        op.id
    }
}

/// What an answer means for its operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// It is complete.
    Done,
    /// Its next request has been written.
    Again,
}

/// One kind of operation.
pub(crate) trait Scenario {
    /// Writes the first request of an operation, with the id `op.id`; its bytes.
    fn begin(&mut self, op: &mut Op, out: &mut Vec<u8>) -> usize;

    /// Takes the answer to the request `op.id`.
    ///
    /// # Errors
    /// The answer is wrong, and the operation ends.
    fn settle(&mut self, op: &mut Op, answer: &Answer<'_>, desk: Desk<'_>) -> Result<Next, Fault>;

    /// How connections are used.
    fn manner(&self) -> Manner {
        Manner::Keep
    }

    /// Whether a new connection has something to say before its first operation.
    fn greets(&self) -> bool {
        false
    }

    /// Writes the first words of a new connection, to be settled like an operation.
    fn greet(&mut self, _: &mut Op, _: &mut Vec<u8>) {}

    /// Writes the last words of a connection that ends in good order; none by default.
    fn part(&mut self, _: &str, _: &mut Vec<u8>) {}

    /// [`Manner::Abandon`]: writes the request of an abandoned operation that does get an answer.
    fn resume(&mut self, _: &mut Op, _: Desk<'_>) {}
}
