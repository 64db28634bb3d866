//! The revisions of the 2025 era, oldest first, and what changed between them.

use codec::error::{RpcError, code};

/// A revision that is served through `initialize`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// `2024-11-05`: its payloads; its own transport, HTTP with SSE, is not served (REM-05).
    V2024_11_05,
    /// `2025-03-26`: Streamable HTTP, batches, audio.
    V2025_03_26,
    /// `2025-06-18`: the version header, elicitation, structured results, resource links; no batches any more.
    V2025_06_18,
    /// `2025-11-25`: elicitation by URL, priming events.
    V2025_11_25,
}

impl Version {
    /// All of them, newest first.
    pub const ALL: [Version; 4] =
        [Version::V2025_11_25, Version::V2025_06_18, Version::V2025_03_26, Version::V2024_11_05];

    /// What a client is offered that asks for something else (LEG-13).
    pub const LATEST: Version = Version::V2025_11_25;

    /// What a request without a header is taken for (LEG-05, HDR-04).
    pub const ASSUMED: Version = Version::V2025_03_26;

    /// The version of this name.
    #[must_use]
    pub fn parse(name: &[u8]) -> Option<Version> {
        Version::ALL.into_iter().find(|version| version.name().as_bytes() == name)
    }

    /// The version that a request outside a session is served by, from its `MCP-Protocol-Version` (LEG-05, LEG-12).
    ///
    /// # Errors
    /// `-32600` naming the versions, for a header that names none of them.
    pub fn of_header(header: Option<&[u8]>) -> Result<Version, RpcError> {
        let Some(name) = header else { return Ok(Version::ASSUMED) };
        Version::parse(name).ok_or_else(|| {
            let names = Version::ALL.map(Version::name).join(", ");
            let text = format!("MCP-Protocol-Version names none of the versions {names}");
            RpcError::new(code::INVALID_REQUEST, text)
        })
    }

    /// The version that answers a handshake for `asked` (LEG-13): never a modern one.
    #[must_use]
    pub fn negotiate(asked: &str) -> Version {
        Version::parse(asked.as_bytes()).unwrap_or(Version::LATEST)
    }

    /// Its name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Version::V2024_11_05 => "2024-11-05",
            Version::V2025_03_26 => "2025-03-26",
            Version::V2025_06_18 => "2025-06-18",
            Version::V2025_11_25 => "2025-11-25",
        }
    }

    /// Whether several messages may come in one array (LEG-22).
    #[must_use]
    pub fn has_batches(self) -> bool {
        self <= Version::V2025_03_26
    }

    /// Whether content may be audio.
    #[must_use]
    pub fn has_audio(self) -> bool {
        self >= Version::V2025_03_26
    }

    /// Whether content may be a link to a resource.
    #[must_use]
    pub fn has_resource_links(self) -> bool {
        self >= Version::V2025_06_18
    }

    /// Whether an elicitation may name its mode, and ask for a URL to be opened (LEG-82).
    #[must_use]
    pub fn has_url_elicitation(self) -> bool {
        self >= Version::V2025_11_25
    }

    /// Whether a client reads an event without data, which only says where the stream begins (LEG-65). Older ones take
    /// every event for a message.
    #[must_use]
    pub fn has_priming(self) -> bool {
        self >= Version::V2025_11_25
    }
}
