//! The command line: every flag, its default and its help.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use ringmcp::{Driver, LegacyMode, ResponseMode};

use super::key::StateKey;
use super::limits::LimitFlags;
use crate::handlers::Set;

/// Serves MCP over HTTP, or with --stdio to one client: without arguments a small demonstration at
/// http://127.0.0.1:8080/mcp.
#[derive(Clone, Debug, Parser)]
#[command(name = "ringmcp-server", version, max_term_width = 110, after_help = EXIT_CODES)]
pub(crate) struct Args {
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8080", value_parser = address)]
    #[arg(help_heading = "Where")]
    pub(crate) listen: String,
    /// Serves the one client that has started this process, on standard input and output, instead of listening
    #[arg(long, help_heading = "Where", conflicts_with_all = ["listen", "bearer"])]
    pub(crate) stdio: bool,
    /// The endpoint's path
    #[arg(long, default_value = "/mcp", help_heading = "Where")]
    pub(crate) path: String,
    /// Worker threads; one per CPU if left out
    #[arg(long, value_name = "N", help_heading = "Where", value_parser = positive)]
    pub(crate) workers: Option<usize>,
    /// How the kernel is asked for I/O; auto takes io_uring where it is allowed
    #[arg(long, value_enum, default_value_t, hide_possible_values = true, help_heading = "Where")]
    #[arg(value_name = "auto|uring|epoll")]
    pub(crate) driver: DriverFlag,

    /// What to serve: a demonstration, or the fixture of conformance suites
    #[arg(long, value_enum, default_value = "demo", hide_possible_values = true)]
    #[arg(value_name = "demo|everything", help_heading = "What")]
    pub(crate) handlers: Set,
    /// Adds N tools with realistic schemas
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "What")]
    pub(crate) catalogue: usize,
    /// Answers as JSON, as event streams, or as each answer needs it
    #[arg(long, value_enum, default_value_t, hide_possible_values = true, help_heading = "What")]
    #[arg(value_name = "auto|json|sse")]
    pub(crate) response_mode: ModeFlag,
    /// How clients of the 2025 revisions are served: each request by itself, with sessions, or not at all
    #[arg(long, value_enum, default_value_t, hide_possible_values = true, help_heading = "What")]
    #[arg(value_name = "stateless|sessions|reject")]
    pub(crate) legacy: LegacyFlag,
    /// Items on one page of a list; all on one page if left out
    #[arg(long, value_name = "N", help_heading = "What", value_parser = positive)]
    pub(crate) page_size: Option<usize>,

    /// A Host that is answered, * for all; repeatable. By default loopback names on a loopback address, else all
    #[arg(long, value_name = "HOST", help_heading = "Who may call")]
    pub(crate) allow_host: Vec<String>,
    /// An Origin that may call, * for all; repeatable. By default loopback origins on a loopback address, else none
    #[arg(long, value_name = "ORIGIN", help_heading = "Who may call")]
    pub(crate) allow_origin: Vec<String>,
    /// Demands this file's content as bearer token, or that of RINGMCP_BEARER. For tests and trusted networks
    #[arg(long, value_name = "FILE", help_heading = "Who may call")]
    pub(crate) bearer: Option<PathBuf>,
    /// Seals cursors and request states; the first key seals, further ones verify. At least 32 bytes. Random if left
    /// out. Other users see a command line: prefer the variable, with commas between keys
    #[arg(long, value_name = "ID:HEX", env = "RINGMCP_STATE_KEY", hide_env_values = true)]
    #[arg(value_delimiter = ',', help_heading = "Who may call")]
    pub(crate) state_key: Vec<StateKey>,

    /// What is logged, on standard error: a level, or target=level with commas between
    #[arg(long, value_name = "FILTER", default_value = "info", help_heading = "Log")]
    pub(crate) log: String,
    /// One line of text or one JSON object per event
    #[arg(long, value_enum, default_value_t, hide_possible_values = true, help_heading = "Log")]
    #[arg(value_name = "text|json")]
    pub(crate) log_format: LogFormat,

    #[command(flatten)]
    pub(crate) limits: LimitFlags,
}

const EXIT_CODES: &str = "SIGTERM and SIGINT let running requests finish, within --drain-deadline; a second one ends \
the server at once.\n\nExit codes: 0 after a shutdown or the end of --stdio's input, 1 when the system is in the way (a port in use, io_uring \
forbidden),\n2 for a wrong flag or setting, 128 + signal when a second signal ended it.";

/// `--driver`
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum DriverFlag {
    #[default]
    Auto,
    Uring,
    Epoll,
}

impl From<DriverFlag> for Driver {
    fn from(flag: DriverFlag) -> Self {
        match flag {
            DriverFlag::Auto => Self::Auto,
            DriverFlag::Uring => Self::Uring,
            DriverFlag::Epoll => Self::Epoll,
        }
    }
}

/// `--response-mode`
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum ModeFlag {
    #[default]
    Auto,
    Json,
    Sse,
}

impl From<ModeFlag> for ResponseMode {
    fn from(flag: ModeFlag) -> Self {
        match flag {
            ModeFlag::Auto => Self::Auto,
            ModeFlag::Json => Self::Json,
            ModeFlag::Sse => Self::Sse,
        }
    }
}

/// `--legacy`
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum LegacyFlag {
    #[default]
    Stateless,
    Sessions,
    Reject,
}

impl From<LegacyFlag> for LegacyMode {
    fn from(flag: LegacyFlag) -> Self {
        match flag {
            LegacyFlag::Stateless => Self::Stateless,
            LegacyFlag::Sessions => Self::Sessions,
            LegacyFlag::Reject => Self::Reject,
        }
    }
}

/// `--log-format`
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum LogFormat {
    #[default]
    Text,
    Json,
}

/// Only the shape: whether the host exists is found out at the start.
fn address(text: &str) -> Result<String, String> {
    let (host, port) = text.rsplit_once(':').ok_or("expected HOST:PORT, such as 127.0.0.1:8080")?;
    let bare = host.contains(':') && !(host.starts_with('[') && host.ends_with(']'));
    if host.is_empty() || bare {
        return Err(
            "expected HOST:PORT; an IPv6 address needs brackets, such as [::1]:8080".to_owned()
        );
    }
    port.parse::<u16>().map_err(|_| format!("port {port:?} is no number from 0 to 65535"))?;
    Ok(text.to_owned())
}

fn positive(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|count| *count > 0).ok_or("expected a number from 1 on".to_owned())
}
