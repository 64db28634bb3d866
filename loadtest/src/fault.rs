//! What can be wrong with an answer.

use std::fmt;

/// Bytes of an answer shown in a sample.
const SAMPLE_BYTES_MAX: usize = 240;

macro_rules! kinds {
    ($($kind:ident $name:literal $what:literal;)+) => {
        /// Kinds of errors; the report counts each.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Kind { $(#[doc = $what] $kind),+ }

        impl Kind {
            /// The name in reports.
            pub(crate) fn name(self) -> &'static str {
                match self { $(Self::$kind => $name),+ }
            }
        }
    };
}

kinds! {
    Connect "connect" "No connection could be made.";
    Closed "closed" "The connection ended before the answer began.";
    Truncated "truncated" "The connection ended inside the answer.";
    Timeout "timeout" "No whole answer in time.";
    Io "io" "The socket failed.";
    Http "http" "The answer is not HTTP this tool can frame; the connection is given up.";
    Status "status" "A status other than 200.";
    Form "form" "Neither JSON nor an event stream, or one that does not end with the answer.";
    Message "message" "The body is not a JSON-RPC 2.0 response.";
    Id "id" "The id is not the request's.";
    Error "error" "A JSON-RPC error.";
    Result "result" "The result is not what the method returns, or not complete.";
    Tool "tool" "The tool reports a failure.";
    Expect "expect" "What --expect or --expect-schema asks for is missing.";
    Progress "progress" "A notification is missing, foreign, or out of order.";
    Rounds "rounds" "Input is asked for that this client cannot give, or without end.";
    Session "session" "A session is missing, or was not wanted.";
    Early "early" "A call that was to be cancelled was answered first.";
    Ack "ack" "A subscription's first message is not the acknowledgement it should be.";
    Tag "tag" "A message of another subscription, or of none.";
    Stray "stray" "A message that a subscription did not ask for, or that nothing was published for.";
    Ended "ended" "The server ended a subscription.";
}

/// One wrong answer.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) kind: Kind,
    /// What is wrong, with an excerpt of what came.
    pub(crate) detail: String,
}

impl Fault {
    /// A fault without an excerpt.
    pub(crate) fn new(kind: Kind, detail: impl fmt::Display) -> Self {
        Self { kind, detail: detail.to_string() }
    }

    /// A fault that shows the start of what came.
    pub(crate) fn showing(kind: Kind, detail: impl fmt::Display, came: &[u8]) -> Self {
        let shown = &came[..came.len().min(SAMPLE_BYTES_MAX)];
        let more = if shown.len() < came.len() { " …" } else { "" };
        Self { kind, detail: format!("{detail}: {}{more}", printable(shown)) }
    }
}

/// The bytes as text that cannot move a terminal's cursor or add a line to a report.
fn printable(bytes: &[u8]) -> String {
    let mut text = String::new();
    for c in String::from_utf8_lossy(bytes).chars() {
        match c {
            '"' | '\'' | '\\' => text.push(c),
            c => text.extend(c.escape_debug()),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// JSON stays readable; what a hostile server sends stays on its line.
    #[test]
    fn samples() {
        let shown = |bytes: &[u8]| Fault::showing(Kind::Http, "wrong", bytes).detail;
        assert_eq!(shown(br#"{"a":"\"}"#), r#"wrong: {"a":"\"}"#);
        assert_eq!(shown(b"a\r\n\x1b[2J\xff"), "wrong: a\\r\\n\\u{1b}[2J\u{fffd}");
        assert!(shown(&[b'x'; 300]).ends_with("x …"));
    }
}
