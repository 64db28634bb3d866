//! One flag for each field of [`Limits`], named as the field is.

use ringmcp::Limits;

use super::units::{Count, Size, Span};

/// Writes the flags and the way back to [`Limits`]. A field without a flag, or a flag without a field, does not compile.
macro_rules! flags {
    ($($heading:literal { $($(#[doc = $help:literal])+ $field:ident: $kind:ident $shown:literal,)+ })+) => {
        /// The bounds of the server, as flags.
        #[derive(Clone, Debug, clap::Args)]
        pub(crate) struct LimitFlags {
            $($(
                $(#[doc = $help])+
                #[arg(long, value_name = $shown, help_heading = $heading)]
                #[arg(default_value_t = $kind::from(Limits::default().$field))]
                $field: $kind,
            )+)+
        }

        impl From<&LimitFlags> for Limits {
            fn from(flags: &LimitFlags) -> Self {
                Self { $($($field: flags.$field.0,)+)+ }
            }
        }
    };
}

flags! {
    "Limits on size" {
        /// One request head; beyond it 431
        head_bytes: Size "SIZE",
        /// One request target; beyond it 414
        target_bytes: Size "SIZE",
        /// One request body; beyond it 413
        body_bytes: Size "SIZE",
        /// One requestState, from client or handler
        state_bytes: Size "SIZE",
        /// What a client may send ahead while its request runs; the rest stays in the kernel
        ahead_bytes: Size "SIZE",
        /// Progress and log messages that wait for one slow reader; beyond it they are thinned out
        emit_bytes: Size "SIZE",
        /// Events that one session keeps for a client that comes back, together
        session_event_bytes: Size "SIZE",
        /// One line of --stdio; a longer one is skipped
        line_bytes: Size "SIZE",
        /// What the client of --stdio may leave unread; beyond it nothing more is read from it
        unread_bytes: Size "SIZE",
    }
    "Limits on number" {
        /// Header lines of one request; beyond it 431
        headers: Count "N",
        /// Nesting of one JSON document; beyond it -32700
        json_depth: Count "N",
        /// Values of one completion, at most 100; beyond it hasMore is set
        completion_values: Count "N",
        /// Open subscriptions of the process; beyond it -32603
        subscriptions: Count "N",
        /// Open subscriptions of one authenticated caller; beyond it -32603
        subscriptions_per_principal: Count "N",
        /// Resources that one subscription may name; beyond it -32602
        uris_per_listen: Count "N",
        /// Open connections per worker; a further one is closed at once
        connections_per_core: Count "N",
        /// Running handlers per worker; a further request gets 503
        requests_per_core: Count "N",
        /// Jobs that wait for the pool for blocking work; a further one is refused
        offload_queue: Count "N",
        /// Threads of the pool for blocking work
        offload_threads: Count "N",
        /// Tools, prompts, resources and templates, each
        entries: Count "N",
        /// Messages in one batch of a 2025 client; beyond it -32600
        batch_messages: Count "N",
        /// Sessions of 2025 clients per worker; beyond it initialize gets 503
        sessions_per_core: Count "N",
        /// Events that one session keeps for a client that comes back; the oldest go first
        session_events: Count "N",
        /// Requests to one 2025 client that wait for its answers; beyond it the call fails
        asked_per_session: Count "N",
        /// Rounds of input that one call of a 2025 client may take; beyond it the call fails
        rounds: Count "N",
        /// Requests of --stdio under way, subscriptions among them; beyond it -32603
        requests_per_stream: Count "N",
    }
    "Limits on time" {
        /// From the first byte of a head to its last; beyond it 408
        head_timeout: Span "TIME",
        /// From the head to the last byte of the body; beyond it 408
        body_timeout: Span "TIME",
        /// Between requests of a kept connection; beyond it the connection closes
        idle_timeout: Span "TIME",
        /// Until the peer takes more bytes of an answer; beyond it the connection closes
        write_timeout: Span "TIME",
        /// Until a handler answers; beyond it -32603
        handler_timeout: Span "TIME",
        /// Between comments on a quiet event stream; 0 sends none
        keep_alive: Span "TIME",
        /// Until a 2025 client answers what a handler asks of it; beyond it the call fails
        leg_timeout: Span "TIME",
        /// Without any sign of its client, after which a session ends
        session_idle_timeout: Span "TIME",
        /// How long requests of --stdio go on after the end of its input
        stream_grace: Span "TIME",
        /// How long a shutdown waits for running requests
        drain_deadline: Span "TIME",
        /// A handler that holds its core for longer is named in the log; 0 names none
        stall_warning: Span "TIME",
    }
}
