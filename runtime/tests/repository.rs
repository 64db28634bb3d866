//! The repository holds itself to its own rules: who may depend on whom, where unsafe code may stand, how files open,
//! and which ledger rules have a test.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The crates in the order of their dependencies: none may name one that comes later.
const ORDER: [(&str, &str); 4] = [
    ("codec", "ringmcp-codec"),
    ("transport", "ringmcp-transport"),
    ("runtime", "ringmcp"),
    ("server", "ringmcp-server"),
];

/// Where unsafe code may stand, each block argued; the last is the one call by which the binary's allocator gives back.
const UNSAFE_ROOMS: [&str; 3] =
    ["codec/src/document/", "runtime/src/io/", "server/src/allocator.rs"];

/// Lines of a source file without tests; beyond it, find the second room.
const FILE_LINES_MAX: usize = 600;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn read(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every Rust file below the folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.map(|entry| entry.expect("a readable folder").path()) {
        if entry.is_dir() && !entry.ends_with("target") && !entry.ends_with("corpus") {
            sources(&entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            found.push(entry);
        }
    }
}

/// All Rust files of the project, by their path from its root.
fn files() -> BTreeMap<String, String> {
    let mut found = Vec::new();
    for member in ["codec", "transport", "runtime", "server", "loadtest", "benches", "fuzz"] {
        sources(&root().join(member), &mut found);
    }
    let name = |path: &PathBuf| {
        path.strip_prefix(root()).expect("below the root").to_string_lossy().into_owned()
    };
    found.iter().map(|path| (name(path), read(path))).collect()
}

fn is_test(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs") || path.starts_with("fuzz/")
}

/// A back edge does not get in: codec <- transport <- runtime <- server, and loadtest knows none of the engine.
#[test]
fn dependencies_run_one_way() {
    for (at, (folder, _)) in ORDER.iter().enumerate() {
        let manifest = read(root().join(folder).join("Cargo.toml"));
        for (later, package) in &ORDER[at + 1..] {
            let names = |line: &str| {
                let key = line.split(['.', '=', ' ']).next().unwrap_or_default();
                key == *package || key == *later
            };
            let edge = manifest.lines().find(|line| names(line.trim()));
            assert_eq!(edge, None, "{folder} depends on {package}");
        }
    }
    let loadtest = read(root().join("loadtest/Cargo.toml"));
    for engine in ["ringmcp.", "ringmcp =", "transport.", "transport ="] {
        let edge = loadtest.lines().find(|line| line.trim().starts_with(engine));
        assert_eq!(edge, None, "loadtest measures the engine and may not share it");
    }
}

/// HTTP, server-sent events and line framing know neither the codec nor MCP.
#[test]
fn framing_rooms_do_not_know_the_codec() {
    for (path, text) in files() {
        let framing = ["transport/src/http/", "transport/src/sse", "transport/src/line"]
            .iter()
            .any(|room| path.starts_with(room));
        if !framing {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            let names = code.contains("codec::") || code.contains("crate::mcp");
            assert!(!names, "{path}:{}: {line}", number + 1);
        }
    }
}

/// [SEC-09] unsafe code stands in the named rooms only, and each block is argued right above it.
#[test]
fn unsafe_code_has_its_rooms() {
    for (path, text) in files() {
        if path == "runtime/tests/repository.rs" {
            continue;
        }
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            if !(code.contains("unsafe {")
                || code.contains("unsafe impl")
                || code.contains("unsafe fn"))
            {
                continue;
            }
            let allowed = is_test(&path) || UNSAFE_ROOMS.iter().any(|room| path.starts_with(room));
            assert!(allowed, "{path}:{}: unsafe code outside its rooms", at + 1);
            let above = &lines[at.saturating_sub(8)..=at];
            let argued =
                above.iter().any(|line| line.contains("SAFETY") || line.contains("# Safety"));
            assert!(argued, "{path}:{}: no SAFETY argument", at + 1);
        }
    }
}

/// Every file says first what lives there, and none has sprawled.
#[test]
fn files_open_with_what_lives_there() {
    for (path, text) in files() {
        let opens = text.starts_with("//!") || text.starts_with("#![doc");
        assert!(opens, "{path} does not open with //!");
        let lines = text.lines().count();
        assert!(is_test(&path) || lines <= FILE_LINES_MAX, "{path} has {lines} lines");
    }
}

/// Every MUST and MUST† rule of the sections that this server has to keep is named by a test, or the reason why not is
/// written down in `docs/ledger.md`.
#[test]
fn every_must_rule_has_a_test_or_a_reason() {
    let ledger = root().join("../shared/spec/LEDGER.md");
    let Ok(ledger) = fs::read_to_string(ledger) else {
        eprintln!(
            "SKIPPED: no ledger beside the checkout: the coverage of its rules is not checked"
        );
        return;
    };
    let rules = must_rules(&ledger);
    assert!(rules.len() > 200, "the ledger reads differently than expected: {} rules", rules.len());
    let named = rules_named_by_tests();
    let reasons = rules_with_a_reason();
    let missing: Vec<_> = rules
        .iter()
        .filter(|rule| !named.contains(*rule) && !reasons.contains_key(*rule))
        .collect();
    println!(
        "{} MUST rules, {} named by tests, {} with a reason",
        rules.len(),
        rules.intersection(&named).count(),
        reasons.len()
    );
    assert!(missing.is_empty(), "{} rules without a test or a reason: {missing:?}", missing.len());
    let stale: Vec<_> = reasons.keys().filter(|rule| named.contains(*rule)).collect();
    assert!(stale.is_empty(), "rules with a test and a reason why there is none: {stale:?}");
}

/// The ids of the MUST rules of sections 1 to 16, 18 and 20 to 22.
fn must_rules(ledger: &str) -> BTreeSet<String> {
    let mut rules = BTreeSet::new();
    let mut wanted = false;
    for line in ledger.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            let number = title.split('.').next().and_then(|number| number.parse::<u32>().ok());
            wanted = number.is_some_and(|number| matches!(number, 1..=16 | 18 | 20..=22));
        }
        let mut parts = line.splitn(3, " · ");
        if let (true, Some(id), Some(level)) = (wanted, parts.next(), parts.next())
            && let Some(id) = id.strip_prefix("- **").and_then(|id| id.strip_suffix("**"))
            && level.starts_with("MUST")
        {
            rules.insert(id.to_owned());
        }
    }
    rules
}

/// Every `[ABC-12]` in a comment of a test.
fn rules_named_by_tests() -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    for (path, text) in files() {
        let tests =
            is_test(&path) || text.contains("#[cfg(test)]") || path.starts_with("runtime/tests");
        if !tests && !path.starts_with("server/tests") {
            continue;
        }
        for line in text.lines().filter(|line| line.trim_start().starts_with("//")) {
            let ids =
                line.split('[').skip(1).filter_map(|rest| rest.split_once(']')).map(|(id, _)| id);
            named.extend(ids.filter(|id| is_rule(id)).map(str::to_owned));
        }
    }
    named
}

fn is_rule(id: &str) -> bool {
    let Some((room, number)) = id.split_once('-') else { return false };
    (2..=4).contains(&room.len())
        && room.bytes().all(|byte| byte.is_ascii_uppercase())
        && number.starts_with(|c: char| c.is_ascii_digit())
}

/// The table rows `| ID | reason |` of the coverage page.
fn rules_with_a_reason() -> BTreeMap<String, String> {
    let page = fs::read_to_string(root().join("docs/ledger.md")).unwrap_or_default();
    page.lines()
        .filter_map(|line| {
            let mut cells = line.strip_prefix("| ")?.split(" | ");
            let (id, reason) = (cells.next()?, cells.next()?.trim_end_matches(" |"));
            (is_rule(id) && !reason.is_empty()).then(|| (id.to_owned(), reason.to_owned()))
        })
        .collect()
}
