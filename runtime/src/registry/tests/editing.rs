//! Changes at run time: what a client sees of them, and who is told.

use std::sync::Mutex;

use super::*;
use crate::registry::{Changed, RegistrationFault as Fault, Serves};

const NOTHING: Changed = Changed { tools: false, prompts: false, resources: false };
const TOOLS: Changed = Changed { tools: true, ..NOTHING };
const RESOURCES: Changed = Changed { resources: true, ..NOTHING };

fn heard(registry: &Registry) -> Arc<Mutex<Vec<Changed>>> {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ear = heard.clone();
    assert!(
        registry.on_change(Box::new(move |changed| ear.lock().expect("no panics").push(changed)))
    );
    assert!(!registry.on_change(Box::new(|_| ())), "set once");
    heard
}

/// [TOOL-09] a taken name is refused and nothing of that edit stays.
#[test]
fn duplicates() {
    let registry = registry(["a".to_owned()]);
    let outcome = registry.edit(|draft| {
        draft.tools.add(tool("b"))?;
        draft.tools.add(tool("a"))
    });
    let error = outcome.expect_err("a is taken");
    assert_eq!(error.to_string(), r#"tool "a": is registered already"#);
    assert_eq!(names_in(registry.snapshot().tools.array()), ["a"]);
    let twice = registry.edit(|draft| {
        draft.resources.add(resource("test://a")?)?;
        draft.resources.add(resource("test://a")?)
    });
    assert_eq!(twice.expect_err("taken").reason(), &Fault::Duplicate);
    assert!(registry.snapshot().resources.array() == "[]");
}

/// [TOOL-03] registration order, byte-equal as long as nothing changes.
#[test]
fn order_is_stable() {
    let names: Vec<String> = (0..100).rev().map(|at| format!("tool-{at}")).collect();
    let (one, two) = (registry(names.clone()), registry(names.clone()));
    assert_eq!(names_in(one.snapshot().tools.array()), names);
    for _ in 0..100 {
        assert_eq!(one.snapshot().tools.array(), two.snapshot().tools.array());
    }
}

/// [TOOL-14] [CALL-02] [SUB-20] each kind of change shows and is told once; a disabled tool is as good as none.
#[test]
fn every_change_is_told() {
    let registry = registry(["a".to_owned(), "b".to_owned(), "c".to_owned()]);
    let heard = heard(&registry);
    let generation = registry.snapshot().generation;
    registry.edit(|draft| draft.tools.set_enabled("b", false)).expect("b exists");
    assert!(registry.snapshot().tools.get("b").is_none());
    assert_eq!(names_in(registry.snapshot().tools.array()), ["a", "c"]);
    registry.edit(|draft| draft.tools.set_enabled("b", true)).expect("b exists");
    assert_eq!(names_in(registry.snapshot().tools.array()), ["a", "b", "c"]);
    let renamed = tool_of(Tool::new("b").title("B")).expect("a legal tool");
    registry.edit(|draft| draft.tools.update(renamed)).expect("b exists");
    assert!(registry.snapshot().tools.array().contains(r#""title":"B""#));
    registry.edit(|draft| draft.tools.remove("b")).expect("b exists");
    registry.edit(|draft| draft.tools.add(tool("b"))).expect("b is free");
    assert_eq!(names_in(registry.snapshot().tools.array()), ["a", "c", "b"]);
    assert_eq!(*heard.lock().expect("no panics"), [TOOLS; 5]);
    assert_eq!(registry.snapshot().generation, generation + 5);
}

/// [SUB-20] [TOOL-14] what no list shows is not told: the same state again, a hidden entry, another handler.
#[test]
fn nothing_changed_nothing_told() {
    let registry = registry(["a".to_owned()]);
    let heard = heard(&registry);
    registry.edit(|draft| draft.tools.set_enabled("a", true)).expect("a exists");
    registry.edit(|draft| draft.tools.update(tool("a"))).expect("a exists");
    registry
        .edit(|draft| {
            draft.tools.add(tool("b"))?;
            draft.tools.set_enabled("b", false)
        })
        .expect("b is free");
    registry.edit(|draft| draft.tools.remove("b")).expect("b exists");
    for outcome in [
        registry.edit(|draft| draft.tools.set_enabled("x", true)),
        registry.edit(|draft| draft.tools.update(tool("x"))),
        registry.edit(|draft| draft.tools.remove("x").map(drop)),
    ] {
        assert_eq!(outcome.expect_err("x is unknown").reason(), &Fault::Unknown);
    }
    assert_eq!(*heard.lock().expect("no panics"), []);
}

/// [SUB-20] [RES-14] resources and templates share a topic; one edit is told once.
#[test]
fn resources_and_templates_share_a_topic() {
    let registry = registry([]);
    let heard = heard(&registry);
    registry
        .edit(|draft| {
            draft.resources.add(resource("test://a")?)?;
            draft.templates.add(template("test://{id}", &[])?)
        })
        .expect("free names");
    registry.edit(|draft| draft.templates.remove("test://{id}")).expect("known");
    assert_eq!(*heard.lock().expect("no panics"), [RESOURCES; 2]);
}

/// [SUB-20] whoever is told may look, and may edit.
#[test]
fn a_listener_may_edit() {
    let registry = Arc::new(registry([]));
    let inner = Arc::downgrade(&registry);
    registry.on_change(Box::new(move |changed| {
        let registry = inner.upgrade().expect("still there");
        assert!(changed.tools && registry.snapshot().tools.get("a").is_some());
        if registry.snapshot().tools.get("b").is_none() {
            registry.edit(|draft| draft.tools.add(tool("b"))).expect("b is free");
        }
    }));
    registry.edit(|draft| draft.tools.add(tool("a"))).expect("a is free");
    assert_eq!(names_in(registry.snapshot().tools.array()), ["a", "b"]);
}

/// [DSC-05] [TOOL-01] [CMP-01] capabilities follow what was registered, may be promised, and are not taken back.
#[test]
fn capabilities() {
    let registry = Registry::new(10);
    assert_eq!(registry.snapshot().serves, Default::default());
    let promise = |serves: Serves| {
        registry
            .edit(|draft| {
                draft.serves = serves;
                Ok(())
            })
            .expect("no entries");
    };
    promise(Serves { tools: true, ..Serves::default() });
    assert!(registry.snapshot().serves.tools);
    assert_eq!(registry.snapshot().tools.array(), "[]");
    registry.edit(|draft| draft.templates.add(template("test://{id}", &["id"])?)).expect("free");
    assert!(registry.snapshot().serves.resources && registry.snapshot().serves.completions);
    assert!(!registry.snapshot().serves.prompts);
    registry.edit(|draft| draft.templates.remove("test://{id}")).expect("known");
    assert!(registry.snapshot().serves.resources && registry.snapshot().serves.completions);
    promise(Serves::default());
    assert!(registry.snapshot().serves.tools && registry.snapshot().serves.resources);
}

/// [SEC-02] the number of entries of each kind is bounded, by name.
#[test]
fn the_limit() {
    let registry = Registry::new(2);
    let outcome = registry
        .edit(|draft| ["a", "b", "c"].iter().try_for_each(|name| draft.tools.add(tool(name))));
    assert_eq!(
        outcome.expect_err("three").to_string(),
        r#"tool "c": there are 2 already, as many as the limit allows"#
    );
    registry
        .edit(|draft| ["a", "b"].iter().try_for_each(|name| draft.tools.add(tool(name))))
        .expect("two");
}

/// A panic inside an edit leaves everything as it was and the next edit free to go.
#[test]
fn a_panicking_edit() {
    let registry = registry(["a".to_owned()]);
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        registry.edit(|draft| -> Result<(), RegistrationError> {
            draft.tools.remove("a")?;
            panic!("in the middle")
        })
    }));
    assert!(outcome.is_err());
    registry.edit(|draft| draft.tools.add(tool("b"))).expect("b is free");
    assert_eq!(names_in(registry.snapshot().tools.array()), ["a", "b"]);
}
