//! The generator's binary run against a scripted server, to its end or until it is interrupted, and what came of it.

use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

use super::Scripted;

/// What a run printed, wrote and returned.
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) text: String,
    pub(crate) json: Value,
}

impl Outcome {
    /// Errors of one kind.
    pub(crate) fn errors(&self, kind: &str) -> u64 {
        self.json["errors_by_kind"][kind]["count"].as_u64().unwrap_or(0)
    }
}

/// Runs the binary.
pub(crate) fn loadtest(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ringmcp-loadtest")).args(args).output().unwrap()
}

/// Runs the binary until `begun` returns, then interrupts it as Ctrl-C does.
pub(crate) fn interrupt(args: &[&str], begun: impl FnOnce()) -> Output {
    let child = Command::new(env!("CARGO_BIN_EXE_ringmcp-loadtest"))
        .args(args)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    begun();
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    child.wait_with_output().unwrap()
}

/// `run` of one request comes to nothing: it ends with this code, and says `why`.
#[track_caller]
pub(crate) fn fails(server: &Scripted, more: &[&str], code: i32, why: &str) {
    let output = loadtest(&[&["run", "--url", &server.url, "--requests", "1"], more].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(code) && said.contains(why), "{said}");
}

/// `run` on `driver`, with `--json`.
pub(crate) fn run_on(driver: &str, server: &Scripted, more: &[&str]) -> Outcome {
    static FILES: AtomicU64 = AtomicU64::new(0);
    let name =
        format!("ringmcp-loadtest-{}-{}", std::process::id(), FILES.fetch_add(1, Ordering::SeqCst));
    let file = std::env::temp_dir().join(name);
    let fixed = ["run", "--url", &server.url, "--driver", driver, "--json", file.to_str().unwrap()];
    let output = loadtest(&[&fixed, more].concat());
    let text =
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    let json = std::fs::read(&file).unwrap_or_else(|_| panic!("no figures: {text}"));
    std::fs::remove_file(&file).unwrap();
    let json = serde_json::from_slice(&json).unwrap();
    Outcome { code: output.status.code().unwrap(), text, json }
}

/// `run` of echo calls whose text must be `hello`.
pub(crate) fn run(server: &Scripted, more: &[&str]) -> Outcome {
    run_on("auto", server, &[&["--scenario", "tools-call", "--expect", "hello"], more].concat())
}

/// `run` of any scenario.
pub(crate) fn run_scenario(server: &Scripted, scenario: &str, more: &[&str]) -> Outcome {
    run_on("auto", server, &[&["--scenario", scenario], more].concat())
}

/// All went right, this often.
pub(crate) fn all_right(outcome: &Outcome, requests: u64) {
    assert_eq!((outcome.code, &outcome.json["ok"]), (0, &requests.into()), "{}", outcome.text);
    assert_eq!(outcome.json["errors"], 0, "{}", outcome.text);
}

/// Exactly one of 20 operations went wrong, in this way.
pub(crate) fn one_wrong(outcome: &Outcome, kind: &str) {
    let text = &outcome.text;
    assert_eq!((outcome.code, &outcome.json["ok"]), (1, &19.into()), "{kind}: {text}");
    assert_eq!((outcome.errors(kind), &outcome.json["errors"]), (1, &1.into()), "{kind}: {text}");
}

/// A file for an option, gone with the value.
pub(crate) struct File(std::path::PathBuf);

impl File {
    pub(crate) fn new(text: &str) -> Self {
        static FILES: AtomicU64 = AtomicU64::new(0);
        let number = FILES.fetch_add(1, Ordering::SeqCst);
        let name = format!("ringmcp-scenarios-{}-{number}", std::process::id());
        let file = Self(std::env::temp_dir().join(name));
        std::fs::write(&file.0, text).unwrap();
        file
    }

    pub(crate) fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
