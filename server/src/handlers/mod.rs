//! What the server offers: the small demonstration, the fixture for conformance suites, and a long catalogue.

mod catalogue;
mod demo;
mod everything;
mod seat;

use ringmcp::types::Tool;
use ringmcp::{Builder, Handle};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

pub(crate) use seat::Seat;

/// A set of handlers, chosen by `--handlers`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Set {
    /// A few tools, a prompt and resources that change by themselves
    Demo,
    /// The fixture that conformance suites and probes expect
    Everything,
}

impl Set {
    /// Adds the set to a server. What it needs of the running server, it finds at the seat.
    pub(crate) fn add(self, builder: Builder, seat: &Seat) -> Builder {
        match self {
            Self::Demo => demo::add(builder),
            Self::Everything => everything::add(builder, seat),
        }
    }

    /// Starts what changes by itself while the server runs.
    pub(crate) fn animate(self, server: &Handle) -> std::io::Result<()> {
        match self {
            Self::Demo => demo::animate(server),
            Self::Everything => Ok(()),
        }
    }

    /// A tool to try and its arguments as JSON, for the banner. No apostrophe: it is shown inside shell quotes.
    pub(crate) fn example(self) -> (&'static str, &'static str) {
        match self {
            Self::Demo => ("greet", r#"{"name":"Ada"}"#),
            Self::Everything => ("echo", r#"{"text":"hello"}"#),
        }
    }

    /// A resource whose updates can be watched, for the banner.
    pub(crate) fn watchable(self) -> Option<&'static str> {
        match self {
            Self::Demo => Some(demo::CLOCK),
            Self::Everything => None,
        }
    }
}

pub(crate) use catalogue::add as add_catalogue;

/// The arguments of whatever takes none.
#[derive(Deserialize, JsonSchema)]
struct NoArgs {}

/// The tool with a schema that is written here and so known to be one of an object.
fn tool_with_schema(tool: Tool, schema: Value) -> Tool {
    tool.input_schema(schema).expect("the schemas of this crate have the type object")
}
