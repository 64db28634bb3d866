//! Pages and cursors.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use ringmcp::types::{Prompt, Resource, ResourceTemplate, Tool};
use ringmcp::{Builder, Context, HandlerError, ToolError};
use serde_json::{Value, json};

use crate::common::{Free, KEY, NoArgs, OTHER_KEY, ask, by, names, server, with_callers};
use crate::support::{Answer, Request, Running, serve, serve_on};

fn tools(builder: Builder, count: usize) -> Builder {
    (0..count).fold(builder, |builder, at| {
        builder.tool(format!("t{at:03}"), "", async |_: &Context, _: NoArgs| Ok::<_, ToolError>(()))
    })
}

fn page(server: &Running, cursor: Option<&Value>) -> Value {
    server.send(&at_cursor("tools/list", cursor)).result("tools/list")
}

fn at_cursor(method: &str, cursor: Option<&Value>) -> Request {
    match cursor {
        Some(cursor) => ask(method).param("cursor", cursor.clone()),
        None => ask(method),
    }
}

/// Every name, page by page; `between` runs after each page but the last.
fn walk(server: &Running, mut between: impl FnMut(usize)) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    let mut cursor = None;
    loop {
        let result = page(server, cursor.as_ref());
        pages.push(names(&result["tools"], "name"));
        cursor = result.get("nextCursor").cloned();
        let Some(cursor) = &cursor else { return pages };
        assert!(cursor.as_str().is_some_and(|text| !text.is_empty()), "{cursor}");
        between(pages.len());
        assert!(pages.len() < 1_000, "no end");
    }
}

/// [PAG-01] [PAG-02] three pages, whose union is exact; no cursor after the last.
#[test]
fn pages_join_to_the_whole() {
    let server = serve(tools(server(), 250).page_size(100));
    let pages = walk(&server, |_| ());
    assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [100, 100, 50]);
    let expected: Vec<String> = (0..250).map(|at| format!("t{at:03}")).collect();
    assert_eq!(pages.concat(), expected);
}

/// [PAG-01] [PAG-02] exact multiples end without an empty page; one page needs no cursor.
#[test]
fn the_last_page_is_not_empty() {
    for (count, size, expected) in
        [(4, 2, vec![2, 2]), (3, 5, vec![3]), (3, 3, vec![3]), (3, 1, vec![1, 1, 1])]
    {
        let server = serve(tools(server(), count).page_size(size));
        let pages = walk(&server, |_| ());
        assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), expected);
    }
    assert_eq!(walk(&serve(tools(server(), 250)), |_| ()).len(), 1);
}

/// [PAG-01] all four lists page.
#[test]
fn all_four_lists_page() {
    let mut builder = server().page_size(2);
    for at in 0..5 {
        builder = builder
            .tool(format!("i{at}"), "", async |_: &Context, _: NoArgs| Ok::<_, ToolError>(()))
            .prompt(format!("i{at}"), "", async |_: &Context, _: NoArgs| Ok::<_, HandlerError>(""))
            .resource(
                Resource::new(format!("test://{at}"), format!("i{at}")),
                async |_: &Context| Ok::<_, HandlerError>(""),
            )
            .resource_template(
                ResourceTemplate::new(format!("test://{at}/{{x}}"), format!("i{at}")),
                async |_: &Context, _: Free| Ok::<_, HandlerError>(""),
            );
    }
    let server = serve(builder);
    for (method, member) in [
        ("tools/list", "tools"),
        ("prompts/list", "prompts"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
    ] {
        let mut all = Vec::new();
        let mut cursor = None;
        for _ in 0..3 {
            let result = server.send(&at_cursor(method, cursor.as_ref())).result(method);
            all.extend(names(&result[member], "name"));
            cursor = result.get("nextCursor").cloned();
        }
        assert_eq!(all, ["i0", "i1", "i2", "i3", "i4"], "{method}");
        assert_eq!(cursor, None, "{method}");
    }
}

/// [PAG-04] removals before, at and behind the cursor, inserts and hidden items: what stays is shown once.
#[test]
fn mutation_between_pages_repeats_and_skips_nothing() {
    let server = serve(tools(server(), 250).page_size(100));
    let change = server.handle().registrations();
    let add = |name: &str| {
        change
            .add_tool(Tool::new(name), async |_: &Context, _: NoArgs| Ok::<_, ToolError>(()))
            .expect("a free name");
    };
    let pages = walk(&server, |at| match at {
        1 => {
            change.remove_tool("t050").expect("it is there");
            change.remove_tool("t099").expect("the very item the cursor names");
            change.remove_tool("t150").expect("it is there");
            change.set_tool_enabled("t160", false).expect("it is there");
            add("new1");
            add("t099");
        }
        2 => add("new2"),
        _ => {}
    });
    let mut seen = BTreeMap::new();
    for name in pages.concat() {
        *seen.entry(name).or_insert(0) += 1;
    }
    for at in 0..250 {
        let name = format!("t{at:03}");
        match at {
            150 | 160 => assert_eq!(seen.get(&name), None, "{name} was gone before its page"),
            99 => assert_eq!(seen.get(&name), Some(&2), "removed and added anew: a new place"),
            _ => assert_eq!(seen.get(&name), Some(&1), "{name}"),
        }
    }
    assert_eq!((seen["new1"], seen["new2"]), (1, 1));
}

/// [PAG-04] [TOOL-02] other threads add and remove while pages are read: what stays all along is shown once each walk,
/// on two cores.
#[test]
fn concurrent_mutation_repeats_and_skips_nothing() {
    let server = serve_on(tools(server(), 40).page_size(7), ringmcp::Driver::Auto, 2);
    let change = server.handle().registrations();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let (change, stop) = (change.clone(), &stop);
            scope.spawn(move || {
                let mut at = 0_u64;
                while !stop.load(Ordering::Relaxed) {
                    let name = format!("w{writer}-{}", at % 11);
                    let tool = Tool::new(name.as_str());
                    change
                        .add_tool(tool, async |_: &Context, _: NoArgs| Ok::<_, ToolError>(()))
                        .expect("free");
                    change.set_tool_enabled(&name, at.is_multiple_of(2)).expect("it is there");
                    change.remove_tool(&name).expect("it is there");
                    at += 1;
                }
            });
        }
        for _ in 0..20 {
            let mut all = walk(&server, |_| ()).concat();
            all.retain(|name| name.starts_with('t'));
            assert_eq!(all, (0..40).map(|at| format!("t{at:03}")).collect::<Vec<_>>());
        }
        stop.store(true, Ordering::Relaxed);
    });
}

fn refused(answer: &Answer) -> Value {
    assert_eq!(answer.error(), (200, -32602));
    answer.error_object()
}

/// [PAG-02] [PAG-03] [RS-07] what is no cursor of this list; every cause reads the same.
#[test]
fn forged_cursors_are_refused_alike() {
    let builder =
        tools(server().page_size(2), 5)
            .prompt("p", "", async |_: &Context, _: NoArgs| Ok::<_, HandlerError>(""));
    let server = serve(builder);
    let cursor = page(&server, None)["nextCursor"].as_str().expect("a cursor").to_owned();
    let ask_at = |cursor: &str| server.send(&ask("tools/list").param("cursor", json!(cursor)));
    let expected = refused(&ask_at("zzz"));
    for forged in [
        "",
        "zzz",
        "AAAA",
        "=",
        " ",
        "null",
        &"A".repeat(5_000),
        &format!("{cursor}-TAMPERED"),
        &format!("{cursor}="),
    ] {
        assert_eq!(refused(&ask_at(forged)), expected, "{forged}");
    }
    for at in 0..cursor.len() {
        let mut flipped = cursor.clone().into_bytes();
        flipped[at] = if flipped[at] == b'A' { b'B' } else { b'A' };
        let flipped = String::from_utf8(flipped).expect("ASCII");
        assert_eq!(refused(&ask_at(&flipped)), expected, "character {at}");
        assert_eq!(refused(&ask_at(&cursor[..at])), expected, "cut at {at}");
    }
    let elsewhere = server.send(&ask("prompts/list").param("cursor", json!(cursor)));
    assert_eq!(refused(&elsewhere), expected, "another list's");
    page(&server, Some(&json!(cursor)));
    page(&server, Some(&json!(cursor)));
}

/// [PAG-03] a cursor that is no string.
#[test]
fn cursors_are_strings() {
    let server = serve(tools(server().page_size(2), 5));
    for cursor in [json!(1), json!(null), json!({}), json!([]), json!(true)] {
        assert_eq!(
            server.send(&ask("tools/list").param("cursor", cursor.clone())).error(),
            (200, -32602),
            "{cursor}"
        );
    }
}

/// [PAG-05] [RPC-16] [RPC-17] page two on another replica, on a server with a rotated key, and after a restart.
#[test]
fn cursors_work_on_any_replica() {
    let make = || tools(server().page_size(2), 5);
    let cursor = {
        let first = serve(make().state_key("1", KEY));
        page(&first, None)["nextCursor"].clone()
    };
    let replica = serve(make().state_key("1", KEY));
    assert_eq!(names(&page(&replica, Some(&cursor))["tools"], "name"), ["t002", "t003"]);
    let rotated = serve(make().state_key("2", OTHER_KEY).state_key("1", KEY));
    assert_eq!(names(&page(&rotated, Some(&cursor))["tools"], "name"), ["t002", "t003"]);
    for stranger in [serve(make().state_key("1", OTHER_KEY)), serve(make())] {
        refused(&stranger.send(&at_cursor("tools/list", Some(&cursor))));
    }
}

/// [PAG-05] [SEC-14] a cursor is its caller's.
#[test]
fn cursors_belong_to_their_caller() {
    let server = serve(tools(with_callers(server()).page_size(2), 5));
    let first = server.send(&by("ann", ask("tools/list"))).result("tools/list");
    let next = at_cursor("tools/list", first.get("nextCursor"));
    refused(&server.send(&by("bob", next.clone())));
    let second = server.send(&by("ann:more", next)).result("tools/list");
    assert_eq!(
        names(&second["tools"], "name"),
        ["t002", "t003"],
        "scopes are no part of who it is"
    );
}

/// [PAG-06] a server that does not page refuses any cursor, also one that its keys would verify.
#[test]
fn servers_that_do_not_page_refuse_cursors() {
    let paging = serve(tools(server().state_key("1", KEY).page_size(2), 5));
    let cursor = page(&paging, None)["nextCursor"].clone();
    let whole = serve(tools(server().state_key("1", KEY), 5));
    for cursor in [json!(""), json!("zzz"), cursor] {
        refused(&whole.send(&at_cursor("tools/list", Some(&cursor))));
    }
}

/// [PAG-04] [TOOL-14] an update keeps its place in the pages.
#[test]
fn updates_keep_their_place() {
    let server = serve(
        server()
            .page_size(1)
            .prompt_with(Prompt::new("p"), async |_: &Context, _: NoArgs| Ok::<_, HandlerError>(""))
            .tool("a", "", async |_: &Context, _: NoArgs| Ok::<_, ToolError>(()))
            .tool("b", "", async |_: &Context, _: NoArgs| Ok::<_, ToolError>(())),
    );
    let change = server.handle().registrations();
    let pages = walk(&server, |_| {
        change
            .update_tool(Tool::new("a").title("A"), async |_: &Context, _: NoArgs| {
                Ok::<_, ToolError>(())
            })
            .expect("it is there");
    });
    assert_eq!(pages, [["a"], ["b"]]);
}
