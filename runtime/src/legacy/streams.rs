//! The event streams of one session, and the events kept for clients that come back (LEG-63 to LEG-65): bounded in
//! number and bytes, oldest first out.
//!
//! Each message goes to one stream and has a place on it. A client that comes back names the last event it has seen:
//! it gets exactly the later ones of that stream, or is told that some are gone.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use transport::mcp::legacy::EventId;
use transport::sse;

use super::feed::Feed;

/// The stream that a GET opens; those of POSTs are numbered from 1.
pub(crate) const STANDING: u64 = 0;

/// What a client is told to wait before it comes back, in milliseconds.
const RETRY_MS: u64 = 1000;

/// How many events a session keeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    /// Events.
    pub(crate) events: usize,
    /// Bytes of their messages, together.
    pub(crate) bytes: usize,
}

/// The last event that a client names is unknown, or some after it are gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lost;

/// The streams of one session.
pub(crate) struct Streams {
    kept: Kept,
    /// Whether clients are told where a stream begins before there is anything to say.
    priming: bool,
    last: u64,
    open: HashMap<u64, Stream>,
    events: VecDeque<Event>,
    bytes: usize,
}

#[derive(Default)]
struct Stream {
    /// The sequence of the newest event.
    newest: u64,
    /// The newest event that is kept no more; 0 if all are.
    lost: u64,
    /// Events kept.
    kept: usize,
    feed: Option<Arc<Feed>>,
    /// Nothing will be added.
    ended: bool,
}

struct Event {
    id: EventId,
    json: Box<[u8]>,
}

impl Streams {
    pub(crate) fn new(kept: Kept, priming: bool) -> Self {
        Self {
            kept,
            priming,
            last: STANDING,
            open: HashMap::new(),
            events: VecDeque::new(),
            bytes: 0,
        }
    }

    /// A stream for one request.
    pub(crate) fn begin(&mut self, feed: Arc<Feed>) -> u64 {
        self.last += 1;
        self.attach(self.last, feed);
        self.last
    }

    /// The standing stream; false while another connection reads it.
    pub(crate) fn stand(&mut self, feed: Arc<Feed>) -> bool {
        if self.is_read(STANDING) {
            return false;
        }
        self.attach(STANDING, feed);
        true
    }

    fn attach(&mut self, number: u64, feed: Arc<Feed>) {
        let stream = self.open.entry(number).or_default();
        // Where the stream begins for this reader: with what it was told before, if it comes without a last event.
        let id = EventId { stream: number, sequence: stream.newest };
        feed.events(|out| {
            if self.priming {
                sse::priming(out, &id.to_string(), RETRY_MS);
            }
        });
        stream.feed = Some(feed);
    }

    /// A client comes back: the events after `last`, and what follows on its stream. A reader that was there before is
    /// let go of: it is the one that the client has lost.
    ///
    /// # Errors
    /// Not all of them can be given.
    pub(crate) fn resume(&mut self, last: EventId, feed: &Arc<Feed>) -> Result<(), Lost> {
        let stream = self.open.get_mut(&last.stream).ok_or(Lost)?;
        if last.sequence < stream.lost || last.sequence > stream.newest {
            return Err(Lost);
        }
        if let Some(before) = stream.feed.take() {
            before.end();
        }
        let later = |event: &&Event| event.id.stream == last.stream && event.id > last;
        feed.events(|out| {
            for event in self.events.iter().filter(later) {
                sse::message_with_id(out, &event.id.to_string(), &event.json);
            }
        });
        if stream.ended {
            feed.end();
        } else {
            stream.feed = Some(Arc::clone(feed));
        }
        Ok(())
    }

    /// Adds a message to a stream: keeps it, and sends it to whoever reads.
    pub(crate) fn push(&mut self, number: u64, json: &[u8]) {
        let Some(stream) = self.open.get_mut(&number) else { return };
        stream.newest += 1;
        stream.kept += 1;
        let id = EventId { stream: number, sequence: stream.newest };
        if let Some(feed) = &stream.feed {
            feed.events(|out| sse::message_with_id(out, &id.to_string(), json));
            if feed.is_left() {
                stream.feed = None;
            }
        }
        self.bytes += json.len();
        self.events.push_back(Event { id, json: json.into() });
        while self.events.len() > self.kept.events || self.bytes > self.kept.bytes {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        let Some(event) = self.events.pop_front() else { return };
        self.bytes -= event.json.len();
        if let Some(stream) = self.open.get_mut(&event.id.stream) {
            stream.lost = event.id.sequence;
            stream.kept -= 1;
            if stream.ended && stream.kept == 0 {
                self.open.remove(&event.id.stream);
            }
        }
    }

    /// Nothing more comes on this stream. What is kept of it can still be asked for.
    pub(crate) fn end(&mut self, number: u64) {
        let Some(stream) = self.open.get_mut(&number) else { return };
        if let Some(feed) = stream.feed.take() {
            feed.end();
        }
        stream.ended = true;
        if stream.kept == 0 {
            self.open.remove(&number);
        }
    }

    /// Lets go of the reader of a stream that goes on.
    pub(crate) fn part(&mut self, number: u64) {
        if let Some(feed) = self.open.get_mut(&number).and_then(|stream| stream.feed.take()) {
            feed.end();
        }
    }

    /// Lets go of all readers, and of all that is kept.
    pub(crate) fn clear(&mut self) {
        for stream in self.open.values_mut() {
            stream.feed.take().into_iter().for_each(|feed| feed.end());
        }
        *self = Self::new(self.kept, self.priming);
    }

    /// Who reads a stream now.
    pub(crate) fn reader(&self, number: u64) -> Option<&Arc<Feed>> {
        self.open.get(&number)?.feed.as_ref().filter(|feed| !feed.is_left())
    }

    pub(crate) fn is_read(&self, number: u64) -> bool {
        self.reader(number).is_some()
    }

    /// Events and bytes kept now.
    #[cfg(test)]
    pub(crate) fn held(&self) -> (usize, usize, usize) {
        (self.events.len(), self.bytes, self.open.len())
    }
}
