//! Who answers a URI.

use super::*;
use crate::registry::ResourceMatch;

fn with(resources: &[&str], templates: &[&str]) -> Registry {
    let registry = Registry::new(100);
    registry
        .edit(|draft| {
            resources.iter().try_for_each(|uri| draft.resources.add(resource(uri)?))?;
            templates.iter().try_for_each(|text| draft.templates.add(template(text, &[])?))
        })
        .expect("distinct URIs");
    registry
}

/// The URI or template that answers, and the variables.
fn answer(registry: &Registry, uri: &str) -> Option<(String, Vec<(String, String)>)> {
    let snapshot = registry.snapshot();
    Some(match snapshot.resource(uri)? {
        ResourceMatch::Exact(entry) => (entry.def.uri.clone(), Vec::new()),
        ResourceMatch::Template(entry, variables) => (
            entry.def.uri_template.clone(),
            variables
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value.into_owned()))
                .collect(),
        ),
    })
}

fn variable(name: &str, value: &str) -> Vec<(String, String)> {
    vec![(name.to_owned(), value.to_owned())]
}

/// [RES-10] an exact resource goes before a template, an earlier template before a later one.
#[test]
fn precedence() {
    let registry =
        with(&["test://a/1"], &["test://a/{id}", "test://{kind}/{id}", "test://a/{+rest}"]);
    assert_eq!(answer(&registry, "test://a/1"), Some(("test://a/1".to_owned(), vec![])));
    assert_eq!(
        answer(&registry, "test://a/2"),
        Some(("test://a/{id}".to_owned(), variable("id", "2")))
    );
    let both = vec![("kind".to_owned(), "b".to_owned()), ("id".to_owned(), "2".to_owned())];
    assert_eq!(answer(&registry, "test://b/2"), Some(("test://{kind}/{id}".to_owned(), both)));
    assert_eq!(
        answer(&registry, "test://a/2/3"),
        Some(("test://a/{+rest}".to_owned(), variable("rest", "2/3")))
    );
    assert_eq!(answer(&registry, "other://a/2"), None);
    registry.edit(|draft| draft.resources.set_enabled("test://a/1", false)).expect("known");
    assert_eq!(
        answer(&registry, "test://a/1"),
        Some(("test://a/{id}".to_owned(), variable("id", "1")))
    );
    registry.edit(|draft| draft.templates.remove("test://a/{id}")).expect("known");
    let both = vec![("kind".to_owned(), "a".to_owned()), ("id".to_owned(), "1".to_owned())];
    assert_eq!(answer(&registry, "test://a/1"), Some(("test://{kind}/{id}".to_owned(), both)));
}

/// [RES-10] simple variables stop at `/`, values are decoded once, over-long URIs name nothing.
#[test]
fn variables() {
    let registry = with(&[], &["test://template/{id}/data"]);
    let id = |uri: &str| answer(&registry, uri).map(|(_, variables)| variables[0].1.clone());
    assert_eq!(id("test://template/123/data").as_deref(), Some("123"));
    assert_eq!(id("test://template/a/b/data"), None);
    assert_eq!(id("test://template/a%2Fb/data").as_deref(), Some("a/b"));
    assert_eq!(id("test://template/%252F/data").as_deref(), Some("%2F"));
    assert_eq!(id(&format!("test://template/{}/data", "a".repeat(1 << 20))), None);
}

/// [RES-02] [RES-03] templates are not mixed into resources.
#[test]
fn lists_are_apart() {
    let registry = with(&["test://a"], &["test://{id}"]);
    let snapshot = registry.snapshot();
    assert_eq!(snapshot.resources.array(), r#"[{"uri":"test://a","name":"r"}]"#);
    assert_eq!(snapshot.templates.array(), r#"[{"uriTemplate":"test://{id}","name":"t"}]"#);
}
