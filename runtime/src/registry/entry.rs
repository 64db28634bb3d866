//! One registered thing each: its definition, what answers for it, and all that is computed from the definition
//! once, at registration. The constructors are the only way to an entry, and they check everything a definition can
//! get wrong but for its name being taken, which only the registry knows.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use codec::header::{self, Declaration};
use codec::types::{Annotations, Icon, Prompt, Resource, ResourceTemplate, Tool, is_tool_name};
use codec::uri::{self, Template};
use serde::Serialize;
use serde_json::Value;

use super::error::{RegistrationError, RegistrationFault as Fault, Thing};
use super::listing::Entry;
use crate::handler::{CacheHint, Handler};
use crate::schema::{InputSchema, OutputSchema};

/// What completes arguments or variables, by their names (CMP-02).
pub(crate) type Completers = HashMap<String, Arc<dyn Handler>>;

/// Longest tool name that every known client and test suite takes (TOOL-10).
const TOOL_NAME_CHARS_ADVISED: usize = 64;

/// Members of a tool that only older revisions know; never on modern replies (TOOL-05).
const LEGACY_TOOL_MEMBERS: &[&str] = &["execution", "taskSupport"];

/// How names are judged that break TOOL-09 without being taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Names {
    /// A warning in the log.
    #[default]
    Lenient,
    /// Refused.
    Strict,
}

/// A tool.
#[derive(Clone)]
pub(crate) struct ToolEntry {
    pub(crate) def: Tool,
    pub(crate) handler: Arc<dyn Handler>,
    pub(crate) input: InputSchema,
    pub(crate) output: Option<OutputSchema>,
    /// The arguments that are mirrored in `Mcp-Param-*` headers.
    pub(crate) header_params: Vec<Declaration>,
    /// Scopes a caller needs to see and call it.
    pub(crate) scopes: Vec<String>,
    /// Given by the registry; 0 before.
    pub(crate) sequence: u64,
    pub(crate) enabled: bool,
    /// The definition as modern replies carry it.
    pub(crate) json: Box<str>,
}

/// A prompt.
#[derive(Clone)]
pub(crate) struct PromptEntry {
    pub(crate) def: Prompt,
    pub(crate) handler: Arc<dyn Handler>,
    /// By argument name.
    pub(crate) completers: Completers,
    pub(crate) sequence: u64,
    pub(crate) enabled: bool,
    pub(crate) json: Box<str>,
}

/// A resource under one URI.
#[derive(Clone)]
pub(crate) struct ResourceEntry {
    pub(crate) def: Resource,
    pub(crate) handler: Arc<dyn Handler>,
    /// For what is read; the handler's own hint goes first (CCH-03).
    pub(crate) cache: CacheHint,
    pub(crate) sequence: u64,
    pub(crate) enabled: bool,
    pub(crate) json: Box<str>,
}

/// A family of resources.
#[derive(Clone)]
pub(crate) struct TemplateEntry {
    pub(crate) def: ResourceTemplate,
    pub(crate) template: Template,
    pub(crate) handler: Arc<dyn Handler>,
    /// As for [`ResourceEntry`].
    pub(crate) cache: CacheHint,
    /// By variable name.
    pub(crate) completers: Completers,
    pub(crate) sequence: u64,
    pub(crate) enabled: bool,
    pub(crate) json: Box<str>,
}

impl ToolEntry {
    /// Checks and compiles `def` (TOOL-06, 09, 10, 12; XH-01..06; JSC-01..05).
    pub(crate) fn new(
        def: Tool,
        handler: Arc<dyn Handler>,
        scopes: Vec<String>,
        names: Names,
    ) -> Result<Self, RegistrationError> {
        let refuse = |reason| RegistrationError::new(Thing::Tool, &def.name, reason);
        judge_name(Thing::Tool, &def.name, names)?;
        check_icons(def.icons.as_deref()).map_err(refuse)?;
        let input_schema = Value::Object(def.input_schema.clone());
        let input = InputSchema::compile(&input_schema)
            .map_err(|error| refuse(Fault::InputSchema(error)))?;
        let output = def
            .output_schema
            .as_ref()
            .map(|schema| OutputSchema::compile(&Value::Object(schema.clone())))
            .transpose()
            .map_err(|error| refuse(Fault::OutputSchema(error)))?;
        let header_params =
            header::scan(&input_schema).map_err(|violation| refuse(Fault::Header(violation)))?;
        for declaration in header::lint(&header_params) {
            tracing::warn!(
                tool = %def.name,
                header = %declaration.name,
                "an argument that looks like a secret or personal datum is mirrored in a header, which every \
                 intermediary sees (x-mcp-header)"
            );
        }
        let json = modern_json(&def).map_err(refuse)?;
        Ok(ToolEntry {
            def,
            handler,
            input,
            output,
            header_params,
            scopes,
            sequence: 0,
            enabled: true,
            json,
        })
    }
}

impl PromptEntry {
    /// Checks `def`: argument names are unique, completers stand for arguments (PRM-02, CMP-02).
    pub(crate) fn new(
        def: Prompt,
        handler: Arc<dyn Handler>,
        completers: Completers,
        names: Names,
    ) -> Result<Self, RegistrationError> {
        let refuse = |reason| RegistrationError::new(Thing::Prompt, &def.name, reason);
        judge_name(Thing::Prompt, &def.name, names)?;
        check_icons(def.icons.as_deref()).map_err(refuse)?;
        let mut arguments = HashSet::new();
        for argument in def.arguments.iter().flatten() {
            if !arguments.insert(argument.name.as_str()) {
                return Err(refuse(Fault::DuplicateArgument(argument.name.clone())));
            }
        }
        check_completers(&completers, |name| arguments.contains(name)).map_err(refuse)?;
        let json = json_of(&def).map_err(refuse)?;
        Ok(PromptEntry { def, handler, completers, sequence: 0, enabled: true, json })
    }
}

impl ResourceEntry {
    /// Checks `def`: a URI by RFC 3986, annotations in range (RES-08, RES-11, CALL-10).
    pub(crate) fn new(
        def: Resource,
        handler: Arc<dyn Handler>,
        cache: CacheHint,
    ) -> Result<Self, RegistrationError> {
        let refuse = |reason| RegistrationError::new(Thing::Resource, &def.uri, reason);
        if !uri::is_valid(&def.uri) || def.uri.len() > uri::URI_BYTES_MAX {
            return Err(refuse(Fault::Uri));
        }
        if def.name.is_empty() {
            return Err(refuse(Fault::Name));
        }
        check_icons(def.icons.as_deref()).map_err(refuse)?;
        check_annotations(def.annotations.as_ref()).map_err(refuse)?;
        let json = json_of(&def).map_err(refuse)?;
        Ok(ResourceEntry { def, handler, cache, sequence: 0, enabled: true, json })
    }
}

impl TemplateEntry {
    /// Checks and parses `def`; completers stand for variables (RES-03, RES-10, CMP-02).
    pub(crate) fn new(
        def: ResourceTemplate,
        handler: Arc<dyn Handler>,
        cache: CacheHint,
        completers: Completers,
    ) -> Result<Self, RegistrationError> {
        let refuse = |reason| RegistrationError::new(Thing::Template, &def.uri_template, reason);
        let template =
            Template::parse(&def.uri_template).map_err(|error| refuse(Fault::Template(error)))?;
        if def.name.is_empty() {
            return Err(refuse(Fault::Name));
        }
        check_icons(def.icons.as_deref()).map_err(refuse)?;
        check_annotations(def.annotations.as_ref()).map_err(refuse)?;
        check_completers(&completers, |name| template.variables().any(|known| known == name))
            .map_err(refuse)?;
        let json = json_of(&def).map_err(refuse)?;
        Ok(TemplateEntry {
            def,
            template,
            handler,
            cache,
            completers,
            sequence: 0,
            enabled: true,
            json,
        })
    }
}

fn judge_name(thing: Thing, name: &str, names: Names) -> Result<(), RegistrationError> {
    let refuse = || Err(RegistrationError::new(thing, name, Fault::Name));
    if name.is_empty() {
        return refuse();
    }
    if !is_tool_name(name) {
        if names == Names::Strict {
            return refuse();
        }
        tracing::warn!(%thing, name, "a name should be 1 to 128 of A-Z a-z 0-9 _ - .; some clients refuse others");
    } else if name.len() > TOOL_NAME_CHARS_ADVISED {
        tracing::warn!(%thing, name, "names of more than {TOOL_NAME_CHARS_ADVISED} characters are refused by some clients");
    }
    Ok(())
}

fn check_icons(icons: Option<&[Icon]>) -> Result<(), Fault> {
    icons.into_iter().flatten().try_for_each(|icon| icon.validate().map_err(Fault::Icon))
}

fn check_annotations(annotations: Option<&Annotations>) -> Result<(), Fault> {
    annotations.map_or(Ok(()), |annotations| annotations.validate().map_err(Fault::Annotations))
}

fn check_completers(completers: &Completers, exists: impl Fn(&str) -> bool) -> Result<(), Fault> {
    let stray = completers.keys().find(|name| !exists(name));
    stray.map_or(Ok(()), |name| Err(Fault::UnknownArgument(name.clone())))
}

fn modern_json(def: &Tool) -> Result<Box<str>, Fault> {
    if !LEGACY_TOOL_MEMBERS.iter().any(|member| def.extra.contains_key(*member)) {
        return json_of(def);
    }
    let mut def = def.clone();
    def.extra.retain(|member, _| !LEGACY_TOOL_MEMBERS.contains(&member.as_str()));
    json_of(&def)
}

fn json_of(def: &impl Serialize) -> Result<Box<str>, Fault> {
    serde_json::to_string(def)
        .map(String::into_boxed_str)
        .map_err(|error| Fault::Json(error.to_string()))
}

/// Registry and listing need the same facts of every kind.
macro_rules! entry {
    ($kind:ty, $thing:expr, $($key:ident).+) => {
        impl Entry for $kind {
            const THING: Thing = $thing;

            fn key(&self) -> &str {
                &self.$($key).+
            }

            fn sequence(&self) -> u64 {
                self.sequence
            }

            fn is_enabled(&self) -> bool {
                self.enabled
            }

            fn json(&self) -> &str {
                &self.json
            }

            fn place(&mut self, sequence: u64, enabled: bool) {
                self.sequence = sequence;
                self.enabled = enabled;
            }
        }
    };
}

entry!(ToolEntry, Thing::Tool, def.name);
entry!(PromptEntry, Thing::Prompt, def.name);
entry!(ResourceEntry, Thing::Resource, def.uri);
entry!(TemplateEntry, Thing::Template, def.uri_template);
