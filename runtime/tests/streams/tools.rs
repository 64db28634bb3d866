//! Handlers that tell a test what happens to them, and readers that check a stream more strictly than clients do.

use std::collections::HashMap;
use std::io::Read;
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ringmcp::types::LoggingLevel;
use ringmcp::{Builder, Context, Server, ToolError};
use serde_json::{Map, Value, json};

use crate::support::{PATIENCE, Request, Running};

pub(crate) type Arguments = Map<String, Value>;

/// What a handler says of its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    Began,
    /// Its destructor ran before it had answered.
    Dropped,
    Ended,
}

/// The handlers' side of the news.
#[derive(Clone)]
pub(crate) struct Teller(Arc<Mutex<Sender<Life>>>);

/// The test's side.
pub(crate) struct News(Mutex<Receiver<Life>>);

pub(crate) fn news() -> (Teller, News) {
    let (sender, receiver) = channel();
    (Teller(Arc::new(Mutex::new(sender))), News(Mutex::new(receiver)))
}

impl Teller {
    pub(crate) fn tell(&self, life: Life) {
        // The test may be over.
        let _ = self.0.lock().expect("no panic inside").send(life);
    }

    /// Says that a handler began, and how it ended once the guard goes.
    pub(crate) fn begin(&self) -> Alive {
        self.tell(Life::Began);
        Alive { teller: self.clone(), ended: false }
    }
}

impl News {
    /// The next news, which must come.
    pub(crate) fn next(&self) -> Life {
        let receiver = self.0.lock().expect("no panic inside");
        receiver.recv_timeout(PATIENCE).expect("news of a handler")
    }

    /// Nothing more has been told.
    pub(crate) fn is_quiet(&self) -> bool {
        self.0.lock().expect("no panic inside").try_recv().is_err()
    }
}

/// Lives in a handler's future.
pub(crate) struct Alive {
    teller: Teller,
    ended: bool,
}

impl Alive {
    pub(crate) fn end(mut self) {
        self.ended = true;
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.teller.tell(if self.ended { Life::Ended } else { Life::Dropped });
    }
}

/// A server with these tools:
/// `echo` answers its `text`; `hang` never answers; `nap` answers after `ms`; `steps` reports `n` steps of progress,
/// logs each, and waits `ms` between them.
pub(crate) fn server(teller: &Teller) -> Builder {
    let (hanging, napping) = (teller.clone(), teller.clone());
    Server::builder("t", "1")
        .logging(true)
        .tool("echo", "Echoes", async |ctx: &Context, _: Arguments| {
            Ok::<_, ToolError>(text_of(ctx).to_owned())
        })
        .tool("hang", "Never answers", async move |_: &Context, _: Arguments| {
            let alive = hanging.begin();
            std::future::pending::<()>().await;
            alive.end();
            Ok::<_, ToolError>("never")
        })
        .tool("nap", "Answers late", async move |ctx: &Context, arguments: Arguments| {
            let alive = napping.begin();
            ctx.sleep(millis(&arguments)).await;
            alive.end();
            Ok::<_, ToolError>(text_of(ctx).to_owned())
        })
        .tool("steps", "Reports", async |ctx: &Context, arguments: Arguments| {
            let n = arguments.get("n").and_then(Value::as_u64).unwrap_or(0);
            for step in 1..=n {
                ctx.progress(step, n);
                ctx.log(LoggingLevel::Info, json!({ "step": step, "text": "two\nlines" }));
                if arguments.contains_key("ms") {
                    ctx.sleep(millis(&arguments)).await;
                }
            }
            Ok::<_, ToolError>("stepped")
        })
}

fn text_of<'c>(ctx: &Context<'c>) -> &'c str {
    let arguments = ctx.arguments().as_object().expect("arguments are an object");
    arguments.get("text").and_then(|text| text.as_str()).unwrap_or("")
}

fn millis(arguments: &Arguments) -> Duration {
    Duration::from_millis(arguments.get("ms").and_then(Value::as_u64).unwrap_or(0))
}

/// `steps` with a progress token.
pub(crate) fn steps(token: Value, arguments: Value) -> Request {
    Request::call("steps", arguments).meta("progressToken", token)
}

/// The progress numbers among messages.
pub(crate) fn progress_of(messages: &[Value]) -> Vec<u64> {
    messages
        .iter()
        .filter(|message| message["method"] == "notifications/progress")
        .map(|message| message["params"]["progress"].as_u64().expect("a whole number"))
        .collect()
}

/// Everything the server sends until it closes, as it stands on the wire.
pub(crate) fn read_to_end(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    bytes
}

/// Sends a request on a new connection, which is left open.
pub(crate) fn begin(server: &Running, request: &Request) -> TcpStream {
    server.begin(&request.bytes())
}

/// Closes with a reset instead of an orderly end.
pub(crate) fn reset(stream: TcpStream) {
    let socket = socket2::Socket::from(stream);
    socket.set_linger(Some(Duration::ZERO)).expect("a socket option");
}

/// Parses an event stream's body by the letter of the standard: fields, comments, blank lines; anything else fails.
/// Gives the data of each event, and how many comments there were.
pub(crate) fn strict_events(body: &str) -> (Vec<Value>, usize) {
    assert!(!body.contains('\r'), "lines end with a line feed alone");
    assert!(body.is_empty() || body.ends_with("\n\n"), "the last event is whole: {body:?}");
    let (mut events, mut comments) = (Vec::new(), 0);
    for block in body.split_terminator("\n\n") {
        let mut fields: HashMap<&str, &str> = HashMap::new();
        for line in block.split('\n') {
            if line.starts_with(':') {
                comments += 1;
                continue;
            }
            let (name, value) = line.split_once(": ").expect("a field");
            assert!(["event", "data"].contains(&name), "an unknown field {name:?}");
            assert_eq!(fields.insert(name, value), None, "one line per field");
        }
        if let Some(data) = fields.get("data") {
            assert_eq!(fields.get("event"), Some(&"message"));
            events.push(serde_json::from_str(data).expect("one line of JSON"));
        }
    }
    (events, comments)
}

/// What a client sees that only looks for lines which begin with `data:`.
pub(crate) fn naive_events(body: &str) -> Vec<Value> {
    let data = body.lines().filter_map(|line| line.strip_prefix("data:"));
    data.map(|data| serde_json::from_str(data).expect("one line of JSON")).collect()
}
