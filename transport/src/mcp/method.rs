//! The methods of revision 2026-07-28 as one table: name, header source, rounds, caching, capability.
//!
//! Methods that the revision removed (`initialize`, `ping`, `logging/setLevel`, …) are absent: they are unknown
//! methods (ledger REM-01).

/// A method of revision 2026-07-28 that a server may serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// `server/discover`
    Discover,
    /// `tools/list`
    ToolsList,
    /// `tools/call`
    ToolsCall,
    /// `prompts/list`
    PromptsList,
    /// `prompts/get`
    PromptsGet,
    /// `resources/list`
    ResourcesList,
    /// `resources/templates/list`
    TemplatesList,
    /// `resources/read`
    ResourcesRead,
    /// `completion/complete`
    Complete,
    /// `subscriptions/listen`
    Listen,
}

/// The server capability that a method belongs to (ledger DSC-10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Served by every server.
    Nothing,
    /// `capabilities.tools`
    Tools,
    /// `capabilities.prompts`
    Prompts,
    /// `capabilities.resources`
    Resources,
    /// `capabilities.completions`
    Completions,
}

/// One row of [`METHODS`].
#[derive(Clone, Copy, Debug)]
pub struct MethodRow {
    /// The method.
    pub method: Method,
    /// Its name on the wire.
    pub name: &'static str,
    /// The member of `params` that `Mcp-Name` repeats (HDR-11), if any.
    pub named_by: Option<&'static str>,
    /// Whether it may answer `input_required` (MR-01).
    pub rounds: bool,
    /// Whether a complete result carries `ttlMs` and `cacheScope` (CCH-01).
    pub cacheable: bool,
    /// The server capability it belongs to.
    pub needs: Needs,
}

const fn row(
    method: Method,
    name: &'static str,
    named_by: Option<&'static str>,
    rounds: bool,
    cacheable: bool,
    needs: Needs,
) -> MethodRow {
    MethodRow { method, name, named_by, rounds, cacheable, needs }
}

/// Every method of the revision, in the order of the enum.
pub const METHODS: [MethodRow; 10] = [
    row(Method::Discover, "server/discover", None, false, true, Needs::Nothing),
    row(Method::ToolsList, "tools/list", None, false, true, Needs::Tools),
    row(Method::ToolsCall, "tools/call", Some("name"), true, false, Needs::Tools),
    row(Method::PromptsList, "prompts/list", None, false, true, Needs::Prompts),
    row(Method::PromptsGet, "prompts/get", Some("name"), true, false, Needs::Prompts),
    row(Method::ResourcesList, "resources/list", None, false, true, Needs::Resources),
    row(Method::TemplatesList, "resources/templates/list", None, false, true, Needs::Resources),
    row(Method::ResourcesRead, "resources/read", Some("uri"), true, true, Needs::Resources),
    row(Method::Complete, "completion/complete", None, false, false, Needs::Completions),
    row(Method::Listen, "subscriptions/listen", None, false, false, Needs::Nothing),
];

impl Method {
    /// The method with this wire name; `None` for an unknown or a removed one.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        // The hot method first; the rest is ten short comparisons that mostly fail on the length.
        METHODS.iter().find(|row| row.name == name).map(|row| row.method)
    }

    /// This method's row.
    #[must_use]
    pub const fn row(self) -> &'static MethodRow {
        &METHODS[self as usize]
    }

    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().name
    }
}

#[cfg(test)]
mod tests {
    use super::{METHODS, Method};

    /// [REM-01] [HDR-11] [MR-01] [CCH-01] the table is indexed by the enum and says what the ledger says.
    #[test]
    fn table_is_indexed_by_the_enum() {
        for (at, row) in METHODS.iter().enumerate() {
            assert_eq!(row.method as usize, at);
            assert_eq!(Method::from_name(row.name), Some(row.method));
        }
        let rounds: Vec<_> = METHODS.iter().filter(|r| r.rounds).map(|r| r.name).collect();
        assert_eq!(rounds, ["tools/call", "prompts/get", "resources/read"]);
        assert_eq!(METHODS.iter().filter(|r| r.cacheable).count(), 6);
        for gone in ["initialize", "ping", "logging/setLevel", "resources/subscribe", "tasks/list"]
        {
            assert_eq!(Method::from_name(gone), None);
        }
    }
}
