//! `elicitation/create` in URL mode, and the user's answer to either mode (EL-02, MR-24).

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::JsonObject;
use super::secrets::asks_for_secret;
use super::text::{closed_text, literal_text};

literal_text! {
    /// The text `"url"`.
    pub struct UrlMode = "url";
}

closed_text! {
    /// What the user did.
    pub enum ElicitAction {
        /// Filled in the form, or agreed to open the URL. For a URL that is consent, not completion
        /// (MR-24).
        Accept = "accept",
        /// Said no.
        Decline = "decline",
        /// Went away without choosing.
        Cancel = "cancel",
    }
}

/// Asks the user to open a URL: for what must not pass through the client, such as signing in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ElicitUrl {
    /// Always `"url"`.
    pub mode: UrlMode,
    /// Why, for people.
    pub message: String,
    /// Where to.
    pub url: String,
}

/// The user's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ElicitResult {
    /// What the user did.
    pub action: ElicitAction,
    /// The form as filled in: text, numbers, booleans and lists of texts. From the client and
    /// untrusted: see [`ElicitForm::check`](super::ElicitForm::check).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<JsonObject>,
}

/// Why a URL was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UrlError {
    /// Not an absolute URL with a host.
    Syntax,
    /// Neither `https:`, nor `http:` to this very machine during development.
    Scheme,
    /// A user name or password before the host.
    Credentials,
    /// A query parameter whose name says that it carries a secret.
    Secret,
}

impl ElicitUrl {
    /// Asks the user to open `url`; `message` says why. Refuses what EL-02 forbids: other schemes than
    /// `https` (`http` to localhost passes), credentials, secrets in the query.
    pub fn new(message: impl Into<String>, url: impl Into<String>) -> Result<Self, UrlError> {
        let elicit = ElicitUrl { mode: UrlMode, message: message.into(), url: url.into() };
        elicit.validate()?;
        Ok(elicit)
    }

    /// Checks the URL.
    pub fn validate(&self) -> Result<(), UrlError> {
        if !crate::uri::is_valid(&self.url) {
            return Err(UrlError::Syntax);
        }
        let (scheme, rest) = self.url.split_once("://").ok_or(UrlError::Syntax)?;
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.contains('@') {
            return Err(UrlError::Credentials);
        }
        let host = host(authority);
        if host.is_empty() {
            return Err(UrlError::Syntax);
        }
        let is_local = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
        let is_scheme = |name| scheme.eq_ignore_ascii_case(name);
        let is_allowed = is_scheme("https") || (is_local && is_scheme("http"));
        if !is_allowed {
            return Err(UrlError::Scheme);
        }
        let query = self.url.split('#').next().and_then(|url| url.split_once('?'));
        let mut names = query.map_or("", |(_, query)| query).split('&').map(parameter_name);
        match names.any(asks_for_secret) {
            true => Err(UrlError::Secret),
            false => Ok(()),
        }
    }
}

/// The host of an authority without user information: what is before the port.
fn host(authority: &str) -> &str {
    match authority.strip_prefix('[').and_then(|rest| rest.find(']')) {
        // One past the bracket that was found after the stripped one.
        Some(end) => &authority[..end + 2],
        None => authority.split(':').next().unwrap_or_default(),
    }
}

fn parameter_name(pair: &str) -> &str {
    pair.split('=').next().unwrap_or_default()
}

impl ElicitResult {
    /// The form was filled in.
    pub fn accept(content: JsonObject) -> Self {
        ElicitResult { action: ElicitAction::Accept, content: Some(content) }
    }

    /// The user said no.
    pub fn decline() -> Self {
        ElicitResult { action: ElicitAction::Decline, content: None }
    }

    /// The user went away.
    pub fn cancel() -> Self {
        ElicitResult { action: ElicitAction::Cancel, content: None }
    }

    /// Whether the user accepted.
    pub fn is_accepted(&self) -> bool {
        self.action == ElicitAction::Accept
    }

    /// The whole form as a struct of yours; an absent form is an empty one.
    pub fn content_as<T: serde::de::DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_value(Value::Object(self.content.clone().unwrap_or_default()))
    }

    /// The text of a field.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.value(field)?.as_str()
    }

    /// The number of a field.
    pub fn number(&self, field: &str) -> Option<f64> {
        self.value(field)?.as_f64()
    }

    /// The whole number of a field.
    pub fn integer(&self, field: &str) -> Option<i64> {
        self.value(field)?.as_i64()
    }

    /// The yes or no of a field.
    pub fn boolean(&self, field: &str) -> Option<bool> {
        self.value(field)?.as_bool()
    }

    /// The texts of a multiple choice; none if any entry is not a text.
    pub fn texts(&self, field: &str) -> Option<Vec<&str>> {
        self.value(field)?.as_array()?.iter().map(Value::as_str).collect()
    }

    fn value(&self, field: &str) -> Option<&Value> {
        self.content.as_ref()?.get(field)
    }
}

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            UrlError::Syntax => "elicitation url: not an absolute URL with a host",
            UrlError::Scheme => "elicitation url: must be https (http only to localhost)",
            UrlError::Credentials => "elicitation url: credentials before the host",
            UrlError::Secret => "elicitation url: a query parameter carries a secret",
        })
    }
}

impl std::error::Error for UrlError {}
