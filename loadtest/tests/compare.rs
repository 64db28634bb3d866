//! Comparisons of scripted servers: turns, verdicts, and servers that are started, pinned, looked at and stopped.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails with the line it is on")]

mod support;

use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;
use support::{Act, Scripted, interrupt, loadtest, ok};

/// Where a server in a process of its own listens: see [`serves`].
const LISTEN: &str = "RINGMCP_LOADTEST_TEST_LISTEN";

/// Where it writes the cores it may use.
const CORES: &str = "RINGMCP_LOADTEST_TEST_CORES";

/// A folder that is gone with the test.
struct TempDir(PathBuf);

impl TempDir {
    fn new() -> Self {
        static DIRS: AtomicU64 = AtomicU64::new(0);
        let number = DIRS.fetch_add(1, Ordering::SeqCst);
        let name = format!("ringmcp-compare-{}-{number}", std::process::id());
        let dir = Self(std::env::temp_dir().join(name));
        std::fs::create_dir_all(&dir.0).unwrap();
        dir
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&std::fs::read(self.path(name)).unwrap()).unwrap()
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Exit status, stdout and stderr.
fn said(args: &[&str]) -> (i32, String, String) {
    let output = loadtest(args);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

const CALL: [&str; 4] = ["--scenario", "tools-call", "--expect", "hello"];

fn figure<'a>(comparison: &'a Value, metric: &str) -> &'a Value {
    let figures = comparison["figures"].as_array().unwrap();
    figures
        .iter()
        .find(|figure| figure["metric"] == metric)
        .unwrap_or_else(|| panic!("no {metric}"))
}

/// A server that is slower by two orders is so in every round, and clearly; the table, the page and the saved
/// comparison say the same.
#[test]
fn clear_difference() {
    let fast = Scripted::start(|seen| Act::Send(seen.hello()));
    let slow = Scripted::start(|seen| Act::SendAfter(Duration::from_millis(20), seen.hello()));
    let (dir, pid) = (TempDir::new(), std::process::id());
    let (json, html) = (dir.path("c.json"), dir.path("c.html"));
    let targets = [format!("fast={}", fast.url), format!("slow={}", slow.url)];
    let pid = format!("fast={pid}");
    let own = ["compare", "--target", &targets[0], "--target", &targets[1], "--target-pid", &pid];
    let load = ["--requests", "40", "--rounds", "3", "--json", &json, "--html", &html];
    let (code, table, stderr) = said(&[&own[..], &CALL, &load].concat());
    assert_eq!((code, stderr.as_str()), (0, ""), "{table}");
    assert_eq!((fast.seen(), slow.seen()), (120, 120));

    let comparison = dir.json("c.json");
    let ratio = &figure(&comparison, "p50_us")["targets"][1]["ratio"];
    assert_eq!(ratio["verdict"], "clear", "{ratio}");
    assert!(ratio["min"].as_f64().unwrap() > 2.0, "{ratio}");
    let slowest = &figure(&comparison, "p50_us")["targets"][1];
    assert!((20_000.0..60_000.0).contains(&slowest["median"].as_f64().unwrap()), "{slowest}");
    assert!(slowest["min"].as_f64() <= slowest["median"].as_f64());
    // Only the one whose process was named has its figures.
    let memory = &figure(&comparison, "rss_bytes")["targets"];
    assert!(memory[0]["median"].as_f64() > Some(0.0) && memory[1].is_null(), "{memory}");
    for words in
        ["slow / fast", "rate, answers/s", "p99.9", "CPU a request", "medians of the rounds"]
    {
        assert!(table.contains(words), "{words}: {table}");
    }
    let (code, again, _) = said(&["report", &json]);
    assert_eq!((code, again), (0, table));
    let page = std::fs::read_to_string(&html).unwrap();
    for part in ["chart-percentiles", "chart-throughput", "slow / fast", "class=\"worse\""] {
        assert!(page.contains(part), "{part}");
    }
}

/// Two rounds cannot tell noise, and say so; a condition is about the target it names, in most of its rounds.
#[test]
fn few_rounds_and_conditions() {
    let server = Scripted::start(|seen| Act::Send(seen.hello()));
    let wrong =
        Scripted::start(|seen| Act::Send(if seen.number == 3 { ok("null") } else { seen.hello() }));
    let targets = [format!("a={}", server.url), format!("b={}", wrong.url)];
    let own = ["compare", "--target", &targets[0], "--target", &targets[1], "--rounds", "2"];
    let (code, table, _) = said(&[&own[..], &CALL, &["--requests", "20"]].concat());
    assert_eq!(code, 1, "{table}");
    assert!(table.contains("fewer than 3 rounds") && table.contains("? "), "{table}");
    assert!(table.contains("b had 1 errors; message: request 3"), "{table}");
    for (condition, expected) in
        [("a.errors>0", 0), ("b.p50>1ns", 3), ("p50>60s", 0), ("c.p50>1s", 3)]
    {
        let more = ["--requests", "20", "--fail-if", condition];
        let (code, _, stderr) = said(&[&own[..], &CALL, &more].concat());
        assert_eq!(code, expected, "{condition}: {stderr}");
    }
}

/// A server of the targets file is started for each of its turns, on its cores, looked at, and stopped.
#[test]
fn started_servers() {
    let dir = TempDir::new();
    let addr = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (program, cores) = (std::env::current_exe().unwrap(), dir.path("cores"));
    let program = program.display();
    let file = dir.write(
        "targets.toml",
        &format!(
            "generator = {{ cores = [0] }}\n[[target]]\nname = 'own'\nurl = 'http://{addr}/mcp'\n\
             start = ['{program}', '--ignored', '--exact', 'serves']\ncores = [0]\nready_within = '60s'\n\
             env = {{ {LISTEN} = '{addr}', {CORES} = '{cores}' }}\n"
        ),
    );
    let json = dir.path("c.json");
    let own = ["compare", "--targets", &file, "--rounds", "2", "--json", &json];
    let (code, table, stderr) = said(&[&own[..], &CALL, &["--requests", "300"]].concat());
    assert_eq!(code, 0, "{table}{stderr}");
    assert_eq!(std::fs::read_to_string(&cores).unwrap(), "0\n0\n", "two turns, both on core 0");
    let comparison = dir.json("c.json");
    assert_eq!(comparison["targets"][0]["cores"], Value::from(vec![0]));
    for metric in ["rss_bytes", "rate"] {
        assert!(
            figure(&comparison, metric)["targets"][0]["median"].as_f64() > Some(0.0),
            "{metric}"
        );
    }
    let pid = |round: usize| comparison["targets"][0]["rounds"][round]["target"]["pid"].clone();
    assert!(pid(0).is_u64() && pid(0) != pid(1));
    assert!(table.contains("share a core"), "{table}");
    assert!(TcpStream::connect(addr).is_err(), "the server goes on");
}

/// Not a test: the server that [`started_servers`] has started, in a process of its own.
#[test]
#[ignore = "serves for another test until it is stopped"]
fn serves() {
    let (Ok(listen), Ok(cores)) = (std::env::var(LISTEN), std::env::var(CORES)) else { return };
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    let before = std::fs::read_to_string(&cores).unwrap_or_default();
    std::fs::write(cores, format!("{before}{}\n", allowed.trim())).unwrap();
    let listener = TcpListener::bind(listen).unwrap();
    let _server = Scripted::start_on(listener, |seen| Act::Send(seen.hello()));
    loop {
        std::thread::park();
    }
}

/// What cannot be compared is told, with what is allowed, and with the last words of a server that would not start.
#[test]
fn refusals() {
    let dir = TempDir::new();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let file = |name: &str, text: &str| dir.write(name, text);
    let target = |more: &str| format!("[[target]]\nname = 'a'\nurl = 'http://{free}/'\n{more}");
    let dies = file("dies", &target("start = ['sh', '-c', 'echo no such core >&2; exit 3']"));
    let absent = file("absent", &target("start = ['/nonexistent/server']"));
    let typo = file("typo", &target("pids = 7"));
    let core = file("core", &target("start = ['true']\ncores = [9999]"));
    let (url, other) = (format!("a=http://{free}/"), format!("b=http://{free}/"));
    let cases: [(&[&str], i32, &str); 11] = [
        (&[], 2, "--target NAME=URL"),
        (&["--target", "http://h/"], 2, "NAME=URL"),
        (&["--target", "a b=http://h/"], 2, "A-Z a-z 0-9"),
        (&["--target", "a=https://h/"], 2, "http://"),
        (&["--target", &url, "--rounds", "0"], 2, "1..=1000"),
        (&["--target", &url, "--target", &url], 1, "two targets"),
        (&["--target", &other, "--target-pid", "a=1"], 1, "no --target"),
        (&["--targets", &dies], 1, "no such core"),
        (&["--targets", &absent], 1, "cannot start /nonexistent/server"),
        (&["--targets", &typo], 1, "pids"),
        (&["--targets", &core], 1, "cannot pin to cores [9999]"),
    ];
    for (own, expected, told) in cases {
        let (code, _, stderr) = said(&[&["compare"], own, &CALL, &["--requests", "1"]].concat());
        assert!(code == expected && stderr.contains(told), "{own:?}: {code} {stderr}");
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let text = format!("[[target]]\nname = 'a'\nurl = 'http://{addr}/'\nstart = ['true']");
    let taken = file("taken", &text);
    let (code, _, stderr) =
        said(&[&["compare", "--targets", &taken], &CALL[..], &["--requests", "1"]].concat());
    assert!(code == 1 && stderr.contains("already"), "{stderr}");
    let (code, help, _) = said(&["compare", "--help"]);
    assert_eq!(code, 0);
    for words in ["compare --target ours=", "[[target]]", "--rounds", "--connections", "--fail-if"]
    {
        assert!(help.contains(words), "{words}: {help}");
    }
    assert!(!help.contains("--url <URL>"), "{help}");
}

/// Ctrl-C keeps the rounds that are whole, and leaves no server behind.
#[test]
fn interrupted() {
    let server = Scripted::start(|seen| Act::Send(seen.hello()));
    let dir = TempDir::new();
    let (target, json) = (format!("a={}", server.url), dir.path("c.json"));
    let args = ["compare", "--target", &target, "--rounds", "1000", "--json", &json];
    let args = [&args[..], &CALL, &["--requests", "50"]].concat();
    let output = interrupt(&args, || server.wait_for(175));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    let comparison = dir.json("c.json");
    let rounds = comparison["targets"][0]["rounds"].as_array().unwrap();
    assert!(comparison["interrupted"] == true && (3..1000).contains(&rounds.len()), "{text}");
    assert!(rounds.iter().all(|round| round["ok"] == 50 && round["interrupted"] == false));
    assert!(text.contains("ended early by Ctrl-C"), "{text}");
}
