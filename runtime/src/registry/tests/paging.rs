//! Pages: whole without a size, exact with one, and stable while the list changes.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use crate::registry::Listing;
use crate::registry::listing::Page;

/// All pages from the start, as names.
fn pages(listing: &Listing<ToolEntry>, size: usize) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    let mut after = None;
    loop {
        let page = listing.page(after, Some(size));
        assert_eq!(names_of(&page), names_in(&format!("[{}]", page.json)));
        pages.push(names_of(&page));
        match page.next {
            Some(next) => after = Some(next),
            None => return pages,
        }
    }
}

fn names_of(page: &Page<'_, ToolEntry>) -> Vec<String> {
    page.entries.iter().map(|entry| entry.def.name.clone()).collect()
}

/// [PAG-01] [PAG-02] 250 tools in pages of 100: three pages, the union exact, no cursor after the last.
#[test]
fn three_pages() {
    let names: Vec<String> = (0..250).map(|at| format!("t{at}")).collect();
    let registry = registry(names.clone());
    let pages = pages(&registry.snapshot().tools, 100);
    assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [100, 100, 50]);
    assert_eq!(pages.concat(), names);
}

/// [PAG-01] without a size all is one page, byte-equal to the whole array.
#[test]
fn one_page() {
    let registry = registry((0..250).map(|at| format!("t{at}")));
    let snapshot = registry.snapshot();
    let page = snapshot.tools.page(None, None);
    assert_eq!(format!("[{}]", page.json), snapshot.tools.array());
    assert_eq!(page.next, None);
    let empty = Registry::new(1);
    let empty = empty.snapshot();
    let page = empty.tools.page(None, Some(10));
    assert_eq!((page.json, page.next, page.entries.len()), ("", None, 0));
}

/// [PAG-04] a cursor of an entry that is gone, or from beyond the end, goes on after its place.
#[test]
fn cursors_of_removed_entries() {
    let registry = registry(["a", "b", "c", "d"].map(str::to_owned));
    let next = registry.snapshot().tools.page(None, Some(2)).next;
    registry.edit(|draft| draft.tools.remove("b")).expect("known");
    assert_eq!(names_of(&registry.snapshot().tools.page(next, Some(2))), ["c", "d"]);
    registry.edit(|draft| draft.tools.add(tool("b"))).expect("free");
    assert_eq!(names_of(&registry.snapshot().tools.page(next, None)), ["c", "d", "b"]);
    assert_eq!(names_of(&registry.snapshot().tools.page(Some(u64::MAX), Some(2))), [""; 0]);
}

/// [TOOL-02] [PAG-01] a caller's own view: pages count what it may see.
#[test]
fn filtered_pages() {
    let registry = registry((0..20).map(|at| format!("t{at}")));
    let snapshot = registry.snapshot();
    let even = |entry: &ToolEntry| entry.def.name[1..].parse::<u32>().expect("a number") % 2 == 0;
    let mut seen = Vec::new();
    let mut after = None;
    loop {
        let page = snapshot.tools.page_for(after, Some(4), even);
        assert!(page.entries.len() <= 4);
        seen.extend(page.entries.iter().map(|entry| entry.def.name.clone()));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(seen, (0..20).step_by(2).map(|at| format!("t{at}")).collect::<Vec<_>>());
    let all = snapshot.tools.page_for(None, None, |_| true);
    assert_eq!((all.entries.len(), all.next), (20, None));
    // The last one visible fills the page exactly: no cursor to an empty page.
    assert_eq!(snapshot.tools.page_for(None, Some(10), even).next, None);
}

#[derive(Debug, Clone)]
enum Edit {
    Add,
    Remove(usize),
    Toggle(usize),
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let edit = prop_oneof![
        Just(Edit::Add),
        (0..30usize).prop_map(Edit::Remove),
        (0..30usize).prop_map(Edit::Toggle),
    ];
    prop::collection::vec(edit, 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// [PAG-04] while a reader pages, entries come, go and hide: nothing is shown twice, nothing that stayed is missed,
    /// and the order is kept.
    #[test]
    fn mutation_between_pages(size in 1..7usize, rounds in prop::collection::vec(edits(), 30)) {
        let registry = registry((0..20).map(|at| format!("t{at}")));
        let mut added = 20;
        let mut touched: HashSet<String> = HashSet::new();
        let mut shown: Vec<String> = Vec::new();
        let mut after = None;
        // In the end the editors rest: they could add faster than pages of one go by.
        for edits in rounds.into_iter().chain(std::iter::repeat(Vec::new())) {
            let snapshot = registry.snapshot();
            let page = snapshot.tools.page(after, Some(size));
            prop_assert!(page.entries.len() <= size);
            shown.extend(names_of(&page));
            after = page.next;
            if after.is_none() {
                break;
            }
            for edit in edits {
                match edit {
                    Edit::Add => {
                        registry.edit(|draft| draft.tools.add(tool(&format!("t{added}")))).expect("free");
                        touched.insert(format!("t{added}"));
                        added += 1;
                    }
                    Edit::Remove(at) => {
                        // Whether it is still there or not.
                        let _ = registry.edit(|draft| draft.tools.remove(&format!("t{at}")));
                        touched.insert(format!("t{at}"));
                    }
                    Edit::Toggle(at) => {
                        let shown = registry.snapshot().tools.get(&format!("t{at}")).is_some();
                        let _ = registry.edit(|draft| draft.tools.set_enabled(&format!("t{at}"), !shown));
                        touched.insert(format!("t{at}"));
                    }
                }
            }
        }
        let numbers: Vec<u32> = shown.iter().map(|name| name[1..].parse().expect("a number")).collect();
        prop_assert!(numbers.is_sorted_by(|one, two| one < two), "{:?}", shown);
        let stayed = (0..20).map(|at| format!("t{at}")).filter(|name| !touched.contains(name));
        for name in stayed {
            prop_assert!(shown.contains(&name), "{} missed", name);
        }
    }
}
