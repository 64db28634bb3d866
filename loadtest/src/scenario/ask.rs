//! From what the command line (or a part of a mix) asks for to a scenario.

use std::time::Duration;

use serde_json::{Value, json};

use crate::check::{Checker, Expected, Shape, Wanted};
use crate::request::{Era, LEGACY_VERSION, MODERN, Template, client_info};
use crate::url::Url;

use super::legacy::{Handshake, Legacy, Sessions};
use super::mixed::{Mix, Mixed};
use super::plain::Plain;
use super::progress::Progress;
use super::{Manner, Name, Scenario, Script};
use super::{cancel::Cancel, mrtr::Mrtr};

/// The default of `--body-bytes`.
const BODY_BYTES: usize = 64 * 1024;

/// The default of `--cancel-after`.
const CANCEL_AFTER: Duration = Duration::from_millis(10);

/// Milliseconds that the default slow tool is asked to sleep.
const SLOW_MS: u64 = 60_000;

/// Everything that says what an operation is.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) name: Name,
    /// Where a tool is called.
    pub(crate) tool: Option<String>,
    /// Where a tool is called: an object.
    pub(crate) args: Option<Value>,
    /// Of resources-read.
    pub(crate) uri: Option<String>,
    pub(crate) expected: Expected,
    /// Of large: the whole body's, to a digit of the id.
    pub(crate) body_bytes: usize,
    /// Of progress: how many a call must send.
    pub(crate) notifications: Option<u32>,
    /// Of mrtr.
    pub(crate) script: Script,
    /// Of cancel.
    pub(crate) cancel_after: Duration,
    /// Of legacy.
    pub(crate) sessions: Sessions,
    pub(crate) handshake: Handshake,
    /// Of mixed.
    pub(crate) mix: Option<Mix>,
}

impl Ask {
    /// The scenario's defaults.
    pub(crate) fn new(name: Name) -> Self {
        let args = match name {
            Name::Progress | Name::Mrtr => json!({}),
            Name::Cancel => json!({ "ms": SLOW_MS }),
            _ => json!({ "text": "hello" }),
        };
        let tool = name.default_tool();
        Self {
            name,
            tool: tool.map(str::to_owned),
            args: tool.map(|_| args),
            uri: None,
            expected: Expected::default(),
            body_bytes: BODY_BYTES,
            notifications: None,
            script: Script::default(),
            cancel_after: CANCEL_AFTER,
            sessions: Sessions::Any,
            handshake: Handshake::Connection,
            mix: None,
        }
    }

    /// Whether the scenario has what it needs.
    ///
    /// # Errors
    /// The option that is missing.
    pub(crate) fn check(&self) -> Result<(), String> {
        let name = self.name.as_str();
        match self.name {
            Name::ResourcesRead if self.uri.is_none() => Err(format!(
                "scenario {name} needs a URI (--uri, or uri in a mix), such as --uri test://static-text"
            )),
            Name::Mixed if self.mix.is_none() => {
                Err(format!("scenario {name} needs --mix FILE, a TOML file of [[part]] tables"))
            }
            _ => Ok(()),
        }
    }

    /// The names of a mix's parts.
    pub(crate) fn parts(&self) -> Vec<String> {
        let parts = self.mix.iter().flat_map(|mix| &mix.parts);
        parts.map(|part| part.name.clone()).collect()
    }

    fn call(&self) -> Value {
        json!({ "name": self.tool, "arguments": self.args })
    }
}

/// The scenario that does what is asked. `verify`: whether answers are checked.
pub(crate) fn build(ask: &Ask, url: &Url, verify: bool) -> Box<dyn Scenario> {
    let template = |method: &str, params: &Value| Template::request(url, MODERN, method, params);
    let wanted = |shape| Wanted::modern(shape, ask.expected.clone());
    let plain = |template, shape, manner| {
        let checker = verify.then(|| Checker::new(wanted(shape)));
        Box::new(Plain { template, checker, manner })
    };
    let keep = Manner::Keep;
    match ask.name {
        Name::ToolsCall => plain(template("tools/call", &ask.call()), Shape::Call, keep),
        Name::Churn => plain(template("tools/call", &ask.call()), Shape::Call, Manner::Fresh),
        Name::ToolsList => plain(template("tools/list", &json!({})), Shape::Tools, keep),
        Name::Discover => plain(template("server/discover", &json!({})), Shape::Server, keep),
        Name::ResourcesRead => {
            let uri = ask.uri.clone().unwrap_or_default();
            plain(template("resources/read", &json!({ "uri": uri })), Shape::Resource(uri), keep)
        }
        Name::Large => large(ask, url, verify),
        Name::Progress => {
            let era = Era::Modern { answers: false, progress: true };
            let template = Template::request(url, era, "tools/call", &ask.call());
            let checker = Checker::new(wanted(Shape::Call));
            Box::new(Progress { template, checker, wanted: ask.notifications })
        }
        Name::Mrtr => {
            let era = Era::Modern { answers: true, progress: false };
            let template = Template::request(url, era, "tools/call", &ask.call());
            Box::new(Mrtr { template, wanted: wanted(Shape::Call), script: ask.script.clone() })
        }
        Name::Cancel => Box::new(Cancel {
            slow: template("tools/call", &ask.call()),
            after: ask.cancel_after,
            probe: template("server/discover", &json!({})),
            checker: Checker::new(Wanted::modern(Shape::Server, Expected::default())),
        }),
        Name::Legacy => legacy(ask, url),
        Name::Mixed => {
            let parts = ask.mix.iter().flat_map(|mix| &mix.parts);
            let parts = parts.map(|part| (part.weight, build(&part.ask, url, verify)));
            Box::new(Mixed::new(parts.collect()))
        }
        Name::Subscribe => unreachable!("subscribe is led by its own room"),
    }
}

/// A call whose body is as long as asked for and whose text has to come back whole.
fn large(ask: &Ask, url: &Url, verify: bool) -> Box<dyn Scenario> {
    let request = |text: &str| {
        let mut call = ask.call();
        call["arguments"]["text"] = text.into();
        Template::request(url, MODERN, "tools/call", &call)
    };
    // The id has a digit at least.
    let fill = ask.body_bytes.saturating_sub(request("").body_bytes() + 1);
    let text: String = ('a'..='z').cycle().take(fill).collect();
    let template = request(&text);
    let expected = Expected { text: Some(text), ..ask.expected.clone() };
    let checker = verify.then(|| Checker::new(Wanted::modern(Shape::Call, expected)));
    Box::new(Plain { template, checker, manner: Manner::Keep })
}

fn legacy(ask: &Ask, url: &Url) -> Box<dyn Scenario> {
    let (before, after) = (Era::Legacy { agreed: false }, Era::Legacy { agreed: true });
    let hello = json!({
        "protocolVersion": LEGACY_VERSION,
        "capabilities": {},
        "clientInfo": client_info(),
    });
    let end = format!(
        "DELETE {} HTTP/1.1\r\nHost: {}\r\nMCP-Protocol-Version: {LEGACY_VERSION}\r\n",
        url.target(),
        url.authority()
    );
    Box::new(Legacy {
        initialize: Template::request(url, before, "initialize", &hello),
        initialized: Template::notification(url, after, "notifications/initialized"),
        call: Template::request(url, after, "tools/call", &ask.call()),
        end,
        hello: Checker::new(Wanted::legacy(Shape::Initialize, Expected::default())),
        checker: Checker::new(Wanted::legacy(Shape::Call, ask.expected.clone())),
        sessions: ask.sessions,
        handshake: ask.handshake,
    })
}
