//! Every bound of a server: its name, its default, its unit, and what hitting it answers.

use std::time::Duration;

/// The bounds of one server. Start from [`Limits::default`] and change what you must.
///
/// Each field is also a flag of the reference server, spelled with dashes (`head_bytes` is `--head-bytes`).
/// Ledger SEC-02, SEC-06, SEC-07.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one request head; beyond it `431`.
    pub head_bytes: usize,
    /// Header lines of one request; beyond it `431`.
    pub headers: usize,
    /// Bytes of one request target; beyond it `414`.
    pub target_bytes: usize,
    /// Bytes of one request body; beyond it `413`.
    pub body_bytes: usize,
    /// Nesting of one JSON document; beyond it `-32700`.
    pub json_depth: usize,
    /// Bytes of one `requestState`; a larger one from a client is refused, a larger one from a handler is `-32603`.
    pub state_bytes: usize,
    /// Values of one completion; further ones are dropped and `hasMore` is set (CMP-03).
    pub completion_values: usize,
    /// Open subscriptions of the whole process; beyond it `-32603` before the acknowledgement (SUB-17).
    pub subscriptions: usize,
    /// Open subscriptions of one authenticated caller; beyond it `-32603`.
    pub subscriptions_per_principal: usize,
    /// `resourceSubscriptions` of one listen; beyond it `-32602`.
    pub uris_per_listen: usize,
    /// Open connections per core; a further one is closed at once and counted.
    pub connections_per_core: usize,
    /// Running handlers per core; a further request is answered `503` with `Retry-After`.
    pub requests_per_core: usize,
    /// Bytes that a client may send ahead while its request runs; beyond it they stay in the kernel, and hide from the
    /// server that the client has left until the request is answered.
    pub ahead_bytes: usize,
    /// Bytes of progress and log messages that wait for one slow reader; beyond it progress keeps its newest
    /// report and log messages are dropped and counted.
    pub emit_bytes: usize,
    /// Jobs that wait for the offload pool; beyond it the caller gets [`OffloadError::Full`](crate::OffloadError).
    pub offload_queue: usize,
    /// Threads of the offload pool.
    pub offload_threads: usize,
    /// Tools, prompts, resources and templates, each; a further registration is refused.
    pub entries: usize,
    /// Messages in one batch of a client of revision 2025-03-26 or older; beyond it `-32600` (LEG-22).
    pub batch_messages: usize,
    /// Sessions of the 2025 era per core; beyond it `initialize` is answered `503` with `Retry-After` (LEG-68).
    pub sessions_per_core: usize,
    /// Events that one session keeps for a client that comes back; the oldest go first (LEG-65).
    pub session_events: usize,
    /// Bytes of the messages in these events, together.
    pub session_event_bytes: usize,
    /// Requests of the server that wait for one client's answers; a handler that asks for more fails (LEG-81).
    pub asked_per_session: usize,
    /// Rounds of input that one call of a client of the 2025 era may take; a handler that asks once more fails (LEG-81).
    pub rounds: usize,
    /// Bytes of one line on a stream of lines; a longer one is skipped (STD-09).
    pub line_bytes: usize,
    /// Requests of one client on a stream of lines that are under way, subscriptions among them; a further one is refused
    /// with `-32603`.
    pub requests_per_stream: usize,
    /// Bytes that a client on a stream of lines may leave unread; beyond it nothing more is read from it until it has
    /// caught up, progress is thinned out and changes are gathered.
    pub unread_bytes: usize,
    /// From the first byte of a head to its last; beyond it `408` and the connection closes.
    pub head_timeout: Duration,
    /// From the head to the last byte of the body; beyond it `408` and the connection closes.
    pub body_timeout: Duration,
    /// Between requests of a kept connection; beyond it the connection closes.
    pub idle_timeout: Duration,
    /// Until the peer accepts more bytes of an answer or an event; beyond it the connection closes.
    pub write_timeout: Duration,
    /// Until a handler answers; beyond it its future is dropped and the request gets `-32603` (CAN-01).
    pub handler_timeout: Duration,
    /// Between comments on a quiet event stream; zero turns them off (SSE-10).
    pub keep_alive: Duration,
    /// Until a client of the 2025 era answers what a handler asks of it; beyond it the call fails (LEG-81).
    pub leg_timeout: Duration,
    /// Without a message of its client and without a stream, after which a session of the 2025 era ends (LEG-68).
    pub session_idle_timeout: Duration,
    /// How long the requests of a client on a stream of lines may go on after that stream's end (STD-06).
    pub stream_grace: Duration,
    /// How long a drain waits for running requests before it drops them.
    pub drain_deadline: Duration,
    /// One poll of a handler that takes longer is named in a warning; zero turns the warning off.
    pub stall_warning: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head_bytes: 32 * 1024,
            headers: 64,
            target_bytes: 8 * 1024,
            body_bytes: 4 * 1024 * 1024,
            json_depth: 128,
            state_bytes: 16 * 1024,
            completion_values: 100,
            subscriptions: 100_000,
            subscriptions_per_principal: 64,
            uris_per_listen: 1_000,
            connections_per_core: 65_536,
            requests_per_core: 16_384,
            ahead_bytes: 64 * 1024,
            emit_bytes: 64 * 1024,
            offload_queue: 1_024,
            offload_threads: 4,
            entries: 100_000,
            batch_messages: 100,
            sessions_per_core: 16_384,
            session_events: 256,
            session_event_bytes: 256 * 1024,
            asked_per_session: 64,
            rounds: 8,
            line_bytes: transport::limits::LINE_BYTES_MAX,
            requests_per_stream: 1_024,
            unread_bytes: 1024 * 1024,
            head_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(75),
            write_timeout: Duration::from_secs(30),
            handler_timeout: Duration::from_secs(120),
            keep_alive: Duration::from_secs(15),
            leg_timeout: Duration::from_secs(600),
            session_idle_timeout: Duration::from_secs(1800),
            stream_grace: Duration::from_secs(2),
            drain_deadline: Duration::from_secs(30),
            stall_warning: Duration::from_millis(200),
        }
    }
}

/// The most values one completion may carry on the wire, whatever the configuration (CMP-03).
pub(crate) const COMPLETION_VALUES_WIRE: usize = 100;
