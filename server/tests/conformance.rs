//! The official conformance suite, pinned, against `--handlers everything`, on both drivers.
//!
//! The suite and, where the installed Node is too old for it, a newer Node are installed into `target/`. Set
//! `RINGMCP_SKIP_CONFORMANCE=1` to leave it out, loudly.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const SKIP: &str = "RINGMCP_SKIP_CONFORMANCE";

/// The revisions and how many scenarios each has: none of them with a failure or a warning, one after the other against
/// the same process.
const REVISIONS: [(&str, usize); 2] = [("2026-07-28", 40), ("2025-11-25", 33)];

/// [DSC-04] [SUB-02] [MR-01] [CCH-01] [HTTP-02] [LEG-01] [LEG-60] [LEG-80] all scenarios of both eras pass without a
/// warning on epoll.
#[test]
fn official_suite_on_epoll() {
    run("epoll");
}

/// [DSC-04] [SUB-02] [MR-01] [CCH-01] [HTTP-02] the same on `io_uring`, where the kernel allows it.
#[test]
fn official_suite_on_io_uring() {
    run("uring");
}

fn run(driver: &str) {
    if std::env::var_os(SKIP).is_some() {
        eprintln!("SKIPPED: {SKIP} is set: the official conformance suite did not run on {driver}");
        return;
    }
    for tool in ["node", "npm"] {
        let found = Command::new(tool).arg("--version").stdout(Stdio::null()).status();
        assert!(
            found.is_ok_and(|status| status.success()),
            "{tool} is missing: install Node.js with npm, or set {SKIP}=1 to leave the official suite out"
        );
    }
    let Some((server, url)) = start(driver) else { return };
    let outputs = REVISIONS.map(|(revision, scenarios)| (suite(&url, driver, revision), scenarios));
    stop(server);
    for (output, scenarios) in outputs {
        let report = String::from_utf8_lossy(&output.stdout);
        let problems = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{report}\n{problems}");
        let passed = report.lines().filter(|line| line.split('\t').nth(1) == Some("pass")).count();
        // The TOTAL line says "pass", too.
        assert_eq!(passed, scenarios + 1, "{report}\n{problems}");
    }
}

/// Both tests install into the same folder; the script is not made for that at once.
fn suite(url: &str, driver: &str, revision: &str) -> std::process::Output {
    static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("conformance");
    Command::new(root.join("tests/conformance/run"))
        .args(["--strict", "--out"])
        .arg(cache.join(format!("results-{driver}-{revision}")))
        .args([url, revision])
        .env("CONFORMANCE_CACHE", &cache)
        .env("CONFORMANCE_LOCK", root.join("tests/conformance/package-lock.json"))
        .output()
        .expect("bash runs the script")
}

/// Starts the server on a port from the kernel; the banner names it.
fn start(driver: &str) -> Option<(Child, String)> {
    let mut server = Command::new(env!("CARGO_BIN_EXE_ringmcp-server"))
        .args(["--listen", "127.0.0.1:0", "--handlers", "everything", "--legacy", "sessions"])
        .args(["--driver", driver])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the server starts");
    let stdout = BufReader::new(server.stdout.take().expect("piped"));
    let url = stdout.lines().map_while(Result::ok).find_map(|line| {
        let at = line.find("http://127.0.0.1:")?;
        let url: String = line[at..].chars().take_while(|c| !c.is_whitespace()).collect();
        Some(url)
    });
    if let Some(url) = url {
        return Some((server, url));
    }
    let output = server.wait_with_output().expect("it ended");
    let why = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(driver == "uring" && why.contains("io_uring is not available"), "{why}");
    eprintln!("SKIPPED: the conformance suite on io_uring: {why}");
    None
}

fn stop(mut server: Child) {
    server.kill().expect("our own child");
    server.wait().expect("our own child");
}
