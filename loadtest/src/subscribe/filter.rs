//! What is subscribed to, what a server honours of it, and which event belongs to which publish.

use serde_json::{Map, Value};

/// Stands for a publish's number, in a URI of the filter and in the publishing request.
pub(crate) const NUMBER: &str = "{n}";

const RESOURCES: &str = "resourceSubscriptions";

/// Notifications that a boolean field of the filter asks for.
const CHANGES: [(&str, &str); 3] = [
    ("notifications/tools/list_changed", "toolsListChanged"),
    ("notifications/prompts/list_changed", "promptsListChanged"),
    ("notifications/resources/list_changed", "resourcesListChanged"),
];

const UPDATED: &str = "notifications/resources/updated";

/// What every stream asks for.
#[derive(Debug)]
pub(crate) struct Filter {
    /// As it is sent.
    asked: Map<String, Value>,
    numbering: Option<Numbering>,
}

/// The URI with [`NUMBER`] in it, around that.
#[derive(Debug)]
struct Numbering {
    prefix: String,
    suffix: String,
    /// How many publishes there are.
    events: u64,
}

impl Filter {
    /// `filter` with its numbered URI, if it has one, written out for publishes 1 to `events`.
    ///
    /// # Errors
    /// More than one numbered URI: then one publish would make several events.
    pub(crate) fn new(filter: &Value, events: u64) -> Result<Self, String> {
        let mut asked = filter.as_object().cloned().unwrap_or_default();
        let Some(Value::Array(uris)) = asked.get_mut(RESOURCES) else {
            return Ok(Self { asked, numbering: None });
        };
        let split = |uri: &Value| {
            let (prefix, suffix) = uri.as_str()?.split_once(NUMBER)?;
            Some(Numbering { prefix: prefix.to_owned(), suffix: suffix.to_owned(), events })
        };
        let mut found = uris.iter().filter_map(split);
        let numbering = found.next();
        if found.next().is_some() {
            return Err(format!("--filter: only one URI may hold {NUMBER}"));
        }
        drop(found);
        if let Some(numbering) = &numbering {
            uris.retain(|uri| split(uri).is_none());
            uris.extend((1..=events).map(|number| Value::from(numbering.uri(number))));
        }
        Ok(Self { asked, numbering })
    }

    /// The `notifications` of the listen request.
    pub(crate) fn asked(&self) -> &Map<String, Value> {
        &self.asked
    }

    /// Whether an event says which publish it belongs to.
    pub(crate) fn is_numbered(&self) -> bool {
        self.numbering.is_some()
    }

    /// The publish that an update of `uri` belongs to; `None` for one that does not say.
    pub(crate) fn number_of(&self, uri: &str) -> Option<u64> {
        let numbering = self.numbering.as_ref()?;
        let digits = uri.strip_prefix(&*numbering.prefix)?.strip_suffix(&*numbering.suffix)?;
        let number = digits.parse().ok()?;
        (numbering.uri(number) == uri && (1..=numbering.events).contains(&number)).then_some(number)
    }
}

impl Numbering {
    fn uri(&self, number: u64) -> String {
        format!("{}{number}{}", self.prefix, self.suffix)
    }
}

/// What an acknowledgement promises.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Honoured(Map<String, Value>);

impl Honoured {
    /// [SUB-05] Reads an acknowledgement's `notifications`: a part of what was asked for, and not an empty one.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn read(text: &str, filter: &Filter) -> Result<Self, String> {
        let fields: Map<String, Value> =
            serde_json::from_str(text).map_err(|_| "its notifications are no object".to_owned())?;
        let mut promises = false;
        for (name, value) in &fields {
            match (value, filter.asked.get(name)) {
                (Value::Bool(false), _) => {}
                (Value::Array(some), Some(Value::Array(all))) => {
                    if let Some(extra) = some.iter().find(|one| !all.contains(one)) {
                        return Err(format!("{name} has {extra}, which was not asked for"));
                    }
                    promises |= !some.is_empty();
                }
                (value, Some(asked)) if value == asked => promises = true,
                _ => return Err(format!("{name} is {value}, which was not asked for")),
            }
        }
        if promises {
            Ok(Self(fields))
        } else {
            Err("nothing of the filter is honoured".to_owned())
        }
    }

    /// [SUB-06] [SUB-08] [SUB-09] Whether it covers this notification. A sub-resource's update counts as its parent's.
    pub(crate) fn covers(&self, method: &str, uri: Option<&str>) -> bool {
        if method != UPDATED {
            let field =
                CHANGES.iter().find(|(change, _)| *change == method).map(|(_, field)| field);
            return field.is_some_and(|field| self.0.get(*field) == Some(&Value::Bool(true)));
        }
        let under = |uri: &str, parent: &str| {
            uri.strip_prefix(parent).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let uris = self.0.get(RESOURCES).and_then(Value::as_array);
        uri.is_some_and(|uri| {
            uris.into_iter().flatten().filter_map(Value::as_str).any(|parent| under(uri, parent))
        })
    }

    /// As it was sent.
    pub(crate) fn fields(&self) -> &Map<String, Value> {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A numbered URI is written out, and only what it was written out to has a number.
    #[test]
    fn numbers() {
        let asked =
            json!({ "toolsListChanged": true, "resourceSubscriptions": ["a://x", "a://{n}/z"] });
        let filter = Filter::new(&asked, 3).unwrap();
        let uris = json!(["a://x", "a://1/z", "a://2/z", "a://3/z"]);
        assert_eq!(filter.asked()[RESOURCES], uris);
        for (uri, number) in [("a://1/z", Some(1)), ("a://3/z", Some(3)), ("a://4/z", None)] {
            assert_eq!(filter.number_of(uri), number);
        }
        for other in ["a://x", "a://01/z", "a://0/z", "a://+1/z", "a:///z", "a://1"] {
            assert_eq!(filter.number_of(other), None, "{other}");
        }
        assert!(Filter::new(&json!({ "resourceSubscriptions": ["{n}", "a{n}"] }), 1).is_err());
        assert!(!Filter::new(&json!({ "resourceSubscriptions": ["a"] }), 1).unwrap().is_numbered());
    }

    /// [SUB-05] An acknowledgement may promise less than was asked for, but something, and never more.
    #[test]
    fn acknowledgements() {
        let asked = json!({ "toolsListChanged": true, "resourceSubscriptions": ["a", "b"] });
        let filter = Filter::new(&asked, 1).unwrap();
        let read = |ack: Value| Honoured::read(&ack.to_string(), &filter);
        assert!(read(asked.clone()).is_ok());
        assert!(read(json!({ "toolsListChanged": true, "promptsListChanged": false })).is_ok());
        assert!(read(json!({ "resourceSubscriptions": ["b"] })).is_ok());
        for wrong in [
            json!({}),
            json!([]),
            json!(null),
            json!({ "resourceSubscriptions": [] }),
            json!({ "resourceSubscriptions": ["c"] }),
            json!({ "toolsListChanged": true, "promptsListChanged": true }),
            json!({ "toolsListChanged": "true" }),
        ] {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
    }

    /// [SUB-06] [SUB-08] [SUB-09] Only what was acknowledged is covered.
    #[test]
    fn covered() {
        let asked = json!({ "toolsListChanged": true, "resourceSubscriptions": ["a://x"] });
        let honoured =
            Honoured::read(&asked.to_string(), &Filter::new(&asked, 1).unwrap()).unwrap();
        assert!(honoured.covers("notifications/tools/list_changed", None));
        assert!(honoured.covers(UPDATED, Some("a://x")));
        assert!(honoured.covers(UPDATED, Some("a://x/part")));
        for (method, uri) in [
            ("notifications/prompts/list_changed", None),
            ("notifications/progress", None),
            (UPDATED, None),
            (UPDATED, Some("a://xy")),
        ] {
            assert!(!honoured.covers(method, uri), "{method} {uri:?}");
        }
    }
}
