//! Answers as bytes in the connection's output: JSON, one event, an error, or nothing at all.

use codec::error::RpcError;
use codec::id::Id;
use codec::write;
use transport::http::Reject;
use transport::http::respond::{self, Length, ResponseHead};
use transport::mcp::ladder::Rung;
use transport::mcp::refusal::Refusal;
use transport::sse;

use super::connection::Connection;
use crate::app::App;
use crate::engine::core::{Core, CoreParts};
use crate::engine::guard;
use crate::hooks::Answered;

/// Whether an answer is the connection's last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closing {
    KeepAlive,
    Close,
}

/// Whether answers wait in one body, or an event stream was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Json,
    Events,
}

/// What every response head needs.
#[derive(Clone, Copy)]
pub(super) struct Reply<'a> {
    pub(super) core: &'a CoreParts,
    pub(super) minor: u8,
    pub(super) closing: Closing,
}

/// Protocol caching lives in `ttlMs`; no HTTP cache may keep an answer (HTTP-20).
const JSON: &str = "Content-Type: application/json\r\nCache-Control: no-store\r\n";

/// No proxy may hold events back (SSE-03).
const EVENTS: &str = concat!(
    "Content-Type: text/event-stream\r\n",
    "Cache-Control: no-cache, no-transform\r\n",
    "X-Accel-Buffering: no\r\n",
);

impl Reply<'_> {
    /// A JSON body.
    pub(super) fn json(&self, out: &mut Vec<u8>, status: u16, body: &[u8]) {
        self.with_headers(out, status, JSON, body, &[]);
    }

    /// A JSON body that misses `missing` bytes behind its first `at`. They are due where the returned offset is in `out`.
    pub(super) fn json_around(
        &self,
        out: &mut Vec<u8>,
        body: &[u8],
        at: usize,
        missing: usize,
    ) -> usize {
        self.head(out, 200, JSON, body.len() + missing, &[]);
        out.extend_from_slice(body);
        out.len() - body.len() + at
    }

    /// A notification is accepted: no body (HTTP-07).
    pub(super) fn accepted(&self, out: &mut Vec<u8>) {
        self.with_headers(out, 202, "", b"", &[]);
    }

    /// The head of an event stream.
    pub(super) fn stream_head(&self, out: &mut Vec<u8>) {
        self.count(200);
        let head = ResponseHead {
            fixed: EVENTS,
            length: Length::of_stream(self.minor),
            keep_alive: self.closing == Closing::KeepAlive,
            minor: self.minor,
            date: &self.core.clock.date(),
            extra: &[],
        };
        respond::head(out, 200, &head);
    }

    /// One event of a stream.
    pub(super) fn event(&self, out: &mut Vec<u8>, json: &[u8]) {
        self.frame(out, |out| sse::message(out, json));
    }

    /// Events of a stream as they are.
    pub(super) fn events(&self, out: &mut Vec<u8>, events: &[u8]) {
        self.frame(out, |out| out.extend_from_slice(events));
    }

    /// A JSON body that begins a session of the 2025 era.
    pub(super) fn json_of_session(&self, out: &mut Vec<u8>, body: &[u8], id: &str) {
        self.with_headers(out, 200, JSON, body, &[("Mcp-Session-Id", id)]);
    }

    /// A session has ended: no body.
    pub(super) fn no_content(&self, out: &mut Vec<u8>) {
        self.with_headers(out, 204, "", b"", &[]);
    }

    /// A comment that keeps a quiet stream alive (SSE-10).
    pub(super) fn comment(&self, out: &mut Vec<u8>) {
        self.frame(out, |out| sse::comment(out, "keepalive"));
    }

    fn frame(&self, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        match Length::of_stream(self.minor) {
            Length::Chunked => respond::chunk(out, write),
            _ => write(out),
        }
    }

    /// The end of a stream (SSE-07).
    pub(super) fn stream_end(&self, out: &mut Vec<u8>) {
        if Length::of_stream(self.minor) == Length::Chunked {
            respond::last_chunk(out);
        }
    }

    /// Whether the connection can live on after a stream.
    pub(super) fn stream_closing(&self) -> Closing {
        match Length::of_stream(self.minor) {
            Length::Chunked => self.closing,
            _ => Closing::Close,
        }
    }

    fn with_headers(
        &self,
        out: &mut Vec<u8>,
        status: u16,
        fixed: &'static str,
        body: &[u8],
        extra: &[(&str, &str)],
    ) {
        self.head(out, status, fixed, body.len(), extra);
        out.extend_from_slice(body);
    }

    fn head(
        &self,
        out: &mut Vec<u8>,
        status: u16,
        fixed: &'static str,
        length: usize,
        extra: &[(&str, &str)],
    ) {
        self.count(status);
        let head = ResponseHead {
            fixed,
            length: Length::Known(length),
            keep_alive: self.closing == Closing::KeepAlive,
            minor: self.minor,
            date: &self.core.clock.date(),
            extra,
        };
        respond::head(out, status, &head);
    }

    fn count(&self, status: u16) {
        if let Some(class) = self.core.counters.responses.get(usize::from(status / 100) - 1) {
            class.add(1);
        }
    }
}

/// A refusal by the head of a request alone, before its id is known.
pub(super) fn refusal<L>(connection: &mut Connection<'_, L>, refusal: Refusal, closing: Closing) {
    let head = connection.machine.head();
    let reply = Reply { core: &connection.core, minor: head.minor, closing };
    let code = refusal.error.as_ref().map(|error| error.code);
    observe(&connection.core, &unread(refusal.status, code, Some(refusal.rung)));
    let body_bytes = refused(&reply, &mut connection.out, refusal, None);
    if head.view(&connection.buf).method() == "HEAD" {
        // The client expects no content (RFC 9110, 9.3.2): it would read it as the next answer.
        connection.out.truncate(connection.out.len() - body_bytes);
    }
}

/// Writes a refusal, with the id where it is known (RPC-10). Returns the length of the body, which comes last.
pub(super) fn refused(
    reply: &Reply<'_>,
    out: &mut Vec<u8>,
    refusal: Refusal,
    id: Option<&Id<'_>>,
) -> usize {
    let rung = refusal.rung as usize;
    reply.core.counters.rejected[rung - 1].add(1);
    tracing::debug!(
        rung,
        status = refusal.status,
        reason = refusal.error.as_ref().map(|error| &*error.message),
        "request refused"
    );
    let mut body = refusal.body.unwrap_or_default();
    if let Some(error) = &refusal.error {
        write::error_response(&mut body, id, error);
    }
    let extra: smallvec::SmallVec<[(&str, &str); 4]> =
        refusal.headers.iter().map(|(name, value)| (*name, &**value)).collect();
    reply.with_headers(out, refusal.status, JSON, &body, &extra);
    body.len()
}

/// Tells the observers of an answer.
pub(crate) fn observe(core: &Core<App>, answered: &Answered<'_>) {
    for observer in &core.serve.hooks.observers {
        if let Err(panic) = guard::catch(|| observer(answered)) {
            core.counters.panics.add(1);
            tracing::error!(%panic, "an observer panicked");
        }
    }
}

/// The answer to a request of which no more than the head was read.
fn unread(status: u16, code: Option<i32>, rung: Option<Rung>) -> Answered<'static> {
    let rung = rung.map(|rung| rung as u8);
    Answered { method: "", name: None, status, code, rung, micros: 0 }
}

/// A status without a body.
pub(super) fn plain<L>(connection: &mut Connection<'_, L>, status: u16, closing: Closing) {
    let minor = connection.machine.head().minor;
    let reply = Reply { core: &connection.core, minor, closing };
    observe(&connection.core, &unread(status, None, None));
    reply.with_headers(&mut connection.out, status, "", b"", &[]);
}

/// A request that could not be framed: its sender is told what was wrong, and the connection closes.
pub(super) fn reject<L>(connection: &mut Connection<'_, L>, reject: Reject) {
    tracing::debug!(status = reject.status, reason = reject.reason, "request cannot be framed");
    let error = RpcError::invalid_request(reject.reason);
    let rung = (reject.status == Rung::BodySize.row().status).then_some(Rung::BodySize);
    if let Some(rung) = rung {
        connection.core.counters.rejected[rung as usize - 1].add(1);
    }
    observe(&connection.core, &unread(reject.status, Some(error.code), rung));
    let mut body = Vec::new();
    write::error_response(&mut body, None, &error);
    let reply = Reply { core: &connection.core, minor: 1, closing: Closing::Close };
    reply.with_headers(&mut connection.out, reject.status, JSON, &body, &[]);
}
