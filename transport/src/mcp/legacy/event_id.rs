//! The name of one event of a session: the stream it belongs to and its place there (LEG-65).

use std::fmt;

/// `Last-Event-ID` as this server writes it: `stream-sequence`, both in decimal.
///
/// Unique in a session. Stream 0 is the standing one, which a GET opens; sequence 0 is the priming event, before all
/// messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventId {
    /// Which stream of the session.
    pub stream: u64,
    /// The event's place on it.
    pub sequence: u64,
}

impl EventId {
    /// Reads an id; `None` for anything that [`fmt::Display`] does not write, leading zeros and signs included.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<EventId> {
        let text = std::str::from_utf8(text).ok()?;
        let (stream, sequence) = text.split_once('-')?;
        let id = EventId { stream: stream.parse().ok()?, sequence: sequence.parse().ok()? };
        (id.to_string() == text).then_some(id)
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.stream, self.sequence)
    }
}
