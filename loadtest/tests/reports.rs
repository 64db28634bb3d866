//! What becomes of the figures: text, JSON and back, the page, conditions, and the line on a terminal.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails with the line it is on")]

mod support;

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;
use support::{Act, Scripted, interrupt, loadtest, ok};

/// A file that is gone with the test.
struct TempFile(PathBuf);

impl TempFile {
    fn new(ending: &str) -> Self {
        static FILES: AtomicU64 = AtomicU64::new(0);
        let number = FILES.fetch_add(1, Ordering::SeqCst);
        let name = format!("ringmcp-reports-{}-{number}.{ending}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }

    fn read(&self) -> String {
        std::fs::read_to_string(&self.0).unwrap()
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn hello() -> Scripted {
    Scripted::start(|seen| Act::Send(seen.hello()))
}

/// Exit status, stdout and stderr.
fn said(args: &[&str]) -> (i32, String, String) {
    let output = loadtest(args);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn call<'a>(server: &'a Scripted, more: &[&'a str]) -> Vec<&'a str> {
    let fixed = ["run", "--url", &server.url, "--scenario", "tools-call", "--expect", "hello"];
    [&fixed[..], more].concat()
}

/// A saved report shows what the run showed, and saves as what it was. Nothing is on stderr, which is no terminal.
#[test]
fn again() {
    let (server, json, html) = (hello(), TempFile::new("json"), TempFile::new("html"));
    let (again, page) = (TempFile::new("json"), TempFile::new("html"));
    let files = ["--requests", "200", "--json", json.path(), "--html", html.path()];
    let (code, shown, stderr) = said(&call(&server, &files));
    assert_eq!((code, stderr.as_str()), (0, ""), "{shown}");
    let (code, second, _) =
        said(&["report", json.path(), "--json", again.path(), "--html", page.path()]);
    assert_eq!((code, &second), (0, &shown));
    assert_eq!(json.read(), again.read());
    assert_eq!(html.read(), page.read());
    for figure in ["200 right, 0 errors", "p50 ", "p99.9 ", "right answers/s", "own CPU"] {
        assert!(shown.contains(figure), "{figure}: {shown}");
    }
}

/// Every member that is written is documented, and the figures agree with each other.
#[test]
fn documented() {
    let (server, json) = (hello(), TempFile::new("json"));
    let pid = std::process::id().to_string();
    let (code, text, _) =
        said(&call(&server, &["--requests", "500", "--pid", &pid, "--json", json.path()]));
    assert_eq!(code, 0, "{text}");
    let report: Value = serde_json::from_str(&json.read()).unwrap();
    let words = include_str!("../REPORT.md");
    for part in [
        &report,
        &report["machine"],
        &report["latency_us"],
        &report["target"],
        &report["series"][0],
    ] {
        let members = part.as_object().unwrap();
        assert!(!members.is_empty());
        for member in members.keys() {
            assert!(words.contains(&format!("`{member}`")), "REPORT.md is silent about {member}");
        }
    }
    let sum = |list: &str, member: &str| -> u64 {
        report[list].as_array().unwrap().iter().map(|item| item[member].as_u64().unwrap()).sum()
    };
    assert_eq!((sum("histogram", "count"), sum("series", "ok")), (500, 500));
    let curve = report["percentiles"].as_array().unwrap();
    assert_eq!(curve[curve.len() - 1]["us"], report["latency_us"]["max"]);
    // The scripted server lives in this process.
    assert_eq!(report["target"]["pid"].to_string(), pid);
    assert!(report["target"]["rss_bytes"].as_u64().unwrap() > 100_000);
    assert!(report["command"][1] == "run" && report["machine"]["cores"].as_u64() > Some(0));
}

/// Conditions decide the exit status; one about errors decides about them, others leave them what they are.
#[test]
fn conditions() {
    let server = hello();
    let wrong = Scripted::start(|seen| {
        Act::Send(if seen.number.is_multiple_of(10) { ok("null") } else { seen.hello() })
    });
    for (server, conditions, expected) in [
        (&server, &["p99>10s", "errors>0", "rate<1"][..], 0),
        (&server, &["p50>1ns"], 3),
        (&server, &["requests<100", "requests!=100"], 0),
        (&server, &["requests==100"], 3),
        // A figure that is not there shows no objective met.
        (&server, &["lost>0"], 3),
        (&wrong, &[], 1),
        (&wrong, &["p99>10s"], 1),
        (&wrong, &["errors>0"], 3),
        (&wrong, &["error-rate>10.1%"], 0),
    ] {
        let flags = conditions.iter().flat_map(|condition| ["--fail-if", condition]);
        let flags: Vec<&str> = flags.chain(["--requests", "100"]).collect();
        let (code, text, stderr) = said(&call(server, &flags));
        assert_eq!(code, expected, "{conditions:?}: {text}{stderr}");
        assert_eq!(code == 3, stderr.contains("failed: "), "{stderr}");
    }
    for (condition, told) in
        [("p98>1ms", "p50, p90, p99"), ("p99>1", "ns, us, ms or s"), ("p99", "'p99>5ms'")]
    {
        let (code, _, stderr) = said(&call(&server, &["--requests", "1", "--fail-if", condition]));
        assert!(code == 2 && stderr.contains(told), "{code} {stderr}");
    }
}

/// What is no report is not shown as one.
#[test]
fn other_files() {
    let file = TempFile::new("json");
    let (code, _, stderr) = said(&["report", file.path()]);
    assert!(code == 1 && stderr.contains("cannot read"), "{stderr}");
    for (text, told) in [
        ("hello", "no report"),
        ("{}", "names no format"),
        (r#"{"format":2}"#, "format 2"),
        (r#"{"format":1,"url":7}"#, "no report"),
    ] {
        std::fs::write(&file.0, text).unwrap();
        let (code, _, stderr) = said(&["report", file.path()]);
        assert!(code == 1 && stderr.contains(told), "{text}: {code} {stderr}");
    }
    let (code, help, _) = said(&["report", "--help"]);
    assert!(code == 0 && help.contains("report run.json --html run.html"), "{help}");
}

/// The page loads nothing, and what a hostile server sends stays text on it and on the terminal.
#[test]
fn hostile_answers() {
    let server =
        Scripted::start(|_| Act::Send(ok("<script>alert('\x1b[2J')</script><b onclick=x>")));
    let html = TempFile::new("html");
    let (code, text, _) = said(&call(&server, &["--requests", "3", "--html", html.path()]));
    assert_eq!(code, 1);
    assert!(text.contains("<script>alert") && !text.contains('\x1b'), "{text}");
    let page = html.read();
    assert!(page.contains("&lt;script&gt;alert") && !page.contains("<script>alert"), "{page}");
    for loads in [" src=", " href=", "url(", "@import", "fetch("] {
        assert!(!page.contains(loads), "the page has {loads}");
    }
    assert!(page.contains("default-src 'none'"));
}

/// A browser finds the page's charts and draws them.
#[test]
fn browser() {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let Some(chromium) = names.into_iter().find(|name| starts(name)) else {
        println!("SKIPPED: no chromium to open the page with");
        return;
    };
    let (server, html) = (hello(), TempFile::new("html"));
    let load = ["--duration", "1200ms", "--warmup", "0ms", "--rate", "500", "--html", html.path()];
    let (code, text, _) = said(&call(&server, &load));
    assert_eq!(code, 0, "{text}");
    let url = format!("file://{}", html.path());
    let profile = std::env::temp_dir().join(format!("ringmcp-chromium-{}", std::process::id()));
    let flags =
        ["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1280,1500", "--dump-dom"];
    let output = Command::new(chromium)
        .args(flags)
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(&url)
        .output()
        .unwrap();
    let _ = std::fs::remove_dir_all(&profile);
    let dom = String::from_utf8_lossy(&output.stdout);
    // The page's own script counts those that have a size on the screen.
    assert!(dom.contains(r#"data-charts="4""#), "{dom}");
    for chart in ["chart-percentiles", "chart-throughput", "chart-latency", "chart-histogram"] {
        let figure =
            dom.split(&format!("id=\"{chart}\"")).nth(1).unwrap_or_else(|| panic!("no {chart}"));
        let drawn = figure.split("</figure>").next().unwrap();
        let marks =
            ["<polyline", "<rect class=\"bar"].iter().map(|mark| drawn.matches(mark).count());
        assert!(marks.sum::<usize>() > 0, "{chart} is empty");
    }
    for origin in
        ["--rate 500", "Machine", "Versions", "ringmcp-loadtest 0.", "protocol 2026-07-28"]
    {
        assert!(dom.contains(origin), "{origin}");
    }
}

fn starts(program: &str) -> bool {
    let version = Command::new(program).arg("--version").stderr(Stdio::null()).output();
    version.is_ok_and(|output| output.status.success())
}

/// Ctrl-C ends a run early, with the report of what was measured.
#[test]
fn interrupted() {
    let (server, json) = (hello(), TempFile::new("json"));
    let args = call(&server, &["--duration", "60s", "--warmup", "0ms", "--json", json.path()]);
    let output = interrupt(&args, || server.wait_for(100));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    let report: Value = serde_json::from_str(&json.read()).unwrap();
    assert!(report["interrupted"] == true && report["ok"].as_u64() >= Some(90), "{text}");
    assert!(text.contains("ended early by Ctrl-C"), "{text}");
    assert!(report["measured_s"].as_f64().unwrap() < 50.0);
}

/// On a terminal a line shows rate, errors and p99 while the run goes on, and is gone at the end.
#[test]
fn progress_line() {
    let server = hello();
    let args = call(&server, &["--duration", "1500ms", "--warmup", "0ms"]);
    let line = format!("{} {}", env!("CARGO_BIN_EXE_ringmcp-loadtest"), args.join(" "));
    // script(1) runs it on a terminal of its own.
    let Ok(output) =
        Command::new("script").args(["-qec", &line, "/dev/null"]).stdin(Stdio::null()).output()
    else {
        println!("SKIPPED: no script(1) to make a terminal with");
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    let live = text.lines().find(|line| line.contains("/s  errors 0  p99 "));
    assert!(live.is_some_and(|line| line.contains("tools-call")), "{text}");
}
