//! One client of the 2025 era, as its handshake and its later messages describe it: what every request of it is served
//! by. A session of HTTP has one, a process on stdio has one, and a request outside a session makes do with an empty one.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use codec::document::{Document, Parser};
use codec::error::{RpcError, clip};
use codec::id::{Id, OwnedId};
use codec::meta::{
    CLIENT_CAPABILITIES_KEY, CLIENT_INFO_KEY, ClientInfo, LoggingLevel, RequestMeta,
};
use codec::value::{Object, Value};
use serde_json::{Map, json};
use transport::mcp::legacy::{Response, Version};

use super::news::News;

/// Bytes of what a handshake says of its client, as kept for later requests; beyond it `-32602`.
pub(crate) const HELLO_BYTES_MAX: usize = 16 * 1024;

/// The level of log messages before `logging/setLevel` (LEG-25).
const LEVEL_AT_FIRST: LoggingLevel = LoggingLevel::Info;

/// What is known of a client.
pub(crate) struct Client {
    pub(crate) version: Version,
    /// Its capabilities and its name, under the keys of the envelope that later revisions put into every request.
    /// `None` of an unknown one.
    hello: Option<Document>,
    /// Where its log messages begin; `None` sends none.
    pub(crate) level: Cell<Option<LoggingLevel>>,
    /// `notifications/initialized` has come: before it nothing is asked of the client (LEG-67).
    pub(crate) initialized: Cell<bool>,
    /// What it follows; `None` where nothing can be told it unasked.
    pub(crate) news: Option<News>,
    /// The requests that wait for its answer; `None` where it cannot be asked.
    asked: Option<RefCell<Asked>>,
    running: RefCell<Vec<(OwnedId, Rc<Abort>)>>,
}

/// The server's own requests.
#[derive(Default)]
struct Asked {
    last: u64,
    waiting: HashMap<u64, Rc<Leg>>,
}

impl Client {
    /// Nobody in particular: the client of a request that stands alone.
    pub(crate) fn unknown(version: Version) -> Self {
        Self {
            version,
            hello: None,
            level: Cell::new(None),
            initialized: Cell::new(true),
            news: None,
            asked: None,
            running: RefCell::default(),
        }
    }

    /// The client that introduces itself with these parameters of `initialize`, and stays.
    ///
    /// # Errors
    /// `-32602`: a parameter of another type, or too much of them.
    pub(crate) fn introduced(params: Object<'_>, parser: &mut Parser) -> Result<Self, RpcError> {
        let mut capabilities = match params.get("capabilities").map(Value::to_json) {
            None => Map::new(),
            Some(serde_json::Value::Object(capabilities)) => capabilities,
            Some(_) => {
                return Err(RpcError::invalid_params("params.capabilities must be an object"));
            }
        };
        plain_elicitation(&mut capabilities);
        let info = params.get("clientInfo").map_or(serde_json::Value::Null, Value::to_json);
        let hello = Some(envelope(&capabilities, &info, parser)?);
        Ok(Self {
            version: asked_version(params)?,
            hello,
            level: Cell::new(Some(LEVEL_AT_FIRST)),
            initialized: Cell::new(false),
            news: Some(News::default()),
            asked: Some(RefCell::default()),
            running: RefCell::default(),
        })
    }

    /// What it declared in its handshake.
    pub(crate) fn capabilities(&self) -> Object<'_> {
        self.meta().capabilities().unwrap_or(Object::empty())
    }

    /// What it says of itself.
    pub(crate) fn info(&self) -> Option<ClientInfo<'_>> {
        self.meta().client_info().ok().flatten()
    }

    /// Where it describes itself.
    pub(crate) fn hello(&self) -> Option<Value<'_>> {
        self.hello.as_ref().map(Document::root)
    }

    fn meta(&self) -> RequestMeta<'_> {
        RequestMeta::from_message(self.hello())
    }

    /// Whether it can be sent requests at all.
    pub(crate) fn can_be_asked(&self) -> bool {
        self.asked.is_some()
    }

    /// Makes room for one request of the server, unless `most` are waiting.
    pub(crate) fn ask(&self, most: usize) -> Option<Pending<'_>> {
        let asked = &mut *self.asked.as_ref()?.borrow_mut();
        if asked.waiting.len() >= most {
            return None;
        }
        asked.last += 1;
        let leg = Rc::new(Leg::default());
        asked.waiting.insert(asked.last, Rc::clone(&leg));
        Some(Pending { client: self, id: asked.last, leg })
    }

    /// An answer has come; one that nobody waits for is ignored (LEG-66).
    pub(crate) fn answered(&self, response: &Response<'_>) {
        let id = response.id.and_then(|id| u64::try_from(id.as_int()?).ok());
        let leg = id.and_then(|id| self.asked.as_ref()?.borrow_mut().waiting.remove(&id));
        let Some(leg) = leg else {
            return tracing::debug!("a response to nothing that was asked");
        };
        leg.settle(match response.outcome {
            Ok(result) => Ok(result.to_json()),
            Err(error) => {
                let message = error.as_object().and_then(|error| error.get("message")?.as_str());
                Err(clip(message.unwrap_or("no reason given")).to_string())
            }
        });
    }

    /// Lists a request as running, so that the client can cancel it.
    pub(crate) fn enter(&self, id: &Id<'_>) -> Entered<'_> {
        let abort = Rc::new(Abort::default());
        self.running.borrow_mut().push((id.to_owned(), Rc::clone(&abort)));
        Entered { client: self, abort }
    }

    /// `notifications/cancelled` (LEG-21).
    pub(crate) fn cancel(&self, id: &Id<'_>) {
        let id = id.to_owned();
        for (_, abort) in self.running.borrow().iter().filter(|(known, _)| *known == id) {
            abort.now();
        }
    }

    /// Its session has ended: whatever runs for it is dropped.
    pub(crate) fn cancel_all(&self) {
        self.running.borrow().iter().for_each(|(_, abort)| abort.now());
    }
}

/// The version that answers the handshake (LEG-13).
///
/// # Errors
/// `-32602`: none is asked for.
pub(crate) fn asked_version(params: Object<'_>) -> Result<Version, RpcError> {
    let asked = params.get("protocolVersion").and_then(Value::as_str);
    asked
        .map(Version::negotiate)
        .ok_or_else(|| RpcError::invalid_params("params.protocolVersion must be a string"))
}

/// Before there were modes, `elicitation` meant forms whatever its members.
fn plain_elicitation(capabilities: &mut Map<String, serde_json::Value>) {
    if let Some(serde_json::Value::Object(modes)) = capabilities.get_mut("elicitation")
        && !modes.contains_key("form")
        && !modes.contains_key("url")
    {
        modes.clear();
    }
}

fn envelope(
    capabilities: &Map<String, serde_json::Value>,
    info: &serde_json::Value,
    parser: &mut Parser,
) -> Result<Document, RpcError> {
    let text = json!({ CLIENT_CAPABILITIES_KEY: capabilities, CLIENT_INFO_KEY: info }).to_string();
    let too_much = || RpcError::invalid_params("the client says too much about itself");
    if text.len() > HELLO_BYTES_MAX {
        return Err(too_much());
    }
    let (mut document, whole) = (Document::new(), 0..text.len());
    // Only its nesting can be in the way: it is one deeper than what was parsed before.
    document.parse(parser, text.into_bytes(), whole).map_err(|_| too_much()).map(|()| document)
}

/// A request of the server that waits for its answer, for as long as this lives.
pub(crate) struct Pending<'c> {
    client: &'c Client,
    pub(crate) id: u64,
    leg: Rc<Leg>,
}

impl Pending<'_> {
    /// Ready with the result, or with what the client says went wrong.
    pub(crate) fn poll(&self, cx: &Context<'_>) -> Poll<Result<serde_json::Value, String>> {
        if let Some(outcome) = self.leg.outcome.take() {
            return Poll::Ready(outcome);
        }
        self.leg.waker.set(Some(cx.waker().clone()));
        Poll::Pending
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if let Some(asked) = &self.client.asked {
            asked.borrow_mut().waiting.remove(&self.id);
        }
    }
}

#[derive(Default)]
struct Leg {
    outcome: Cell<Option<Result<serde_json::Value, String>>>,
    waker: Cell<Option<Waker>>,
}

impl Leg {
    fn settle(&self, outcome: Result<serde_json::Value, String>) {
        self.outcome.set(Some(outcome));
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

/// A request listed as running, for as long as this lives.
pub(crate) struct Entered<'c> {
    client: &'c Client,
    pub(crate) abort: Rc<Abort>,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.client.running.borrow_mut().retain(|(_, abort)| !Rc::ptr_eq(abort, &self.abort));
    }
}

/// Ends a running request from outside.
#[derive(Default)]
pub(crate) struct Abort {
    done: Cell<bool>,
    waker: Cell<Option<Waker>>,
}

impl Abort {
    pub(crate) fn now(&self) {
        self.done.set(true);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.done.get()
    }

    pub(crate) fn poll(&self, cx: &Context<'_>) -> Poll<()> {
        if self.done.get() {
            return Poll::Ready(());
        }
        self.waker.set(Some(cx.waker().clone()));
        Poll::Pending
    }
}
