//! The clients of the official SDKs against `--handlers everything`: each lists and calls tools, reads a resource, gets a
//! prompt, answers an interview of two elicitations and a sampling request, and hears of a change.
//!
//! The SDKs are installed, pinned, into `target/`. Set `RINGMCP_SKIP_CLIENTS=1` to leave them out, loudly.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};

const SKIP: &str = "RINGMCP_SKIP_CLIENTS";

/// What each client says it saw, in this order.
const CHECKS: [&str; 8] = [
    "connect",
    "tools/list",
    "tools/call",
    "resources/read",
    "prompts/get",
    "elicitation and sampling",
    "list changed",
    "close",
];

const SERVER: &str = env!("CARGO_BIN_EXE_ringmcp-server");

/// [LEG-01] [LEG-50] the TypeScript SDK's v2 client in each of its modes, over HTTP and stdio.
#[test]
fn typescript_v2() {
    let Some(node) = node() else { return };
    for mode in ["modern", "legacy", "auto"] {
        on_each_transport(|| node.script("typescript2.mjs", &[mode]));
    }
}

/// [LEG-13] [LEG-66] the TypeScript SDK's v1 client, which knows the 2025 era only, over HTTP and stdio.
#[test]
fn typescript_v1() {
    let Some(node) = node() else { return };
    on_each_transport(|| node.script("typescript1.mjs", &[]));
}

/// [LEG-01] [LEG-50] the Python SDK's client in each of its modes, over HTTP and stdio.
#[test]
fn python() {
    let Some(python) = python_sdk() else { return };
    for mode in ["modern", "legacy", "auto"] {
        on_each_transport(|| {
            let mut command = Command::new(&python);
            command.arg(source("python.py")).arg(mode);
            command
        });
    }
}

/// [LEG-01] [LEG-50] the official Rust SDK's client in each of its modes, over HTTP and stdio.
#[test]
fn rust() {
    let Some(client) = rust_sdk() else { return };
    for mode in ["modern", "legacy", "auto"] {
        on_each_transport(|| {
            let mut command = Command::new(&client);
            command.arg(mode);
            command
        });
    }
}

/// Runs a client against a server of two workers over HTTP, and against one that it starts itself.
fn on_each_transport(client: impl Fn() -> Command) {
    let mut server = Server::start();
    run(client().arg(&server.url));
    server.stop();
    run(client().args([SERVER, "--stdio", "--handlers", "everything"]));
}

fn run(client: &mut Command) {
    let output = client.output().expect("the client starts");
    let seen = String::from_utf8_lossy(&output.stdout);
    let problems = String::from_utf8_lossy(&output.stderr);
    let passed: Vec<&str> = seen.lines().filter_map(|line| line.strip_prefix("passed ")).collect();
    assert!(output.status.success() && passed == CHECKS, "{client:?}\n{seen}\n{problems}");
}

struct Server {
    process: Child,
    url: String,
}

impl Server {
    /// Starts the server on a port from the kernel; the banner names it.
    fn start() -> Self {
        let mut process = Command::new(SERVER)
            .args(["--listen", "127.0.0.1:0", "--workers", "2"])
            .args(["--handlers", "everything", "--legacy", "sessions"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");
        let banner = BufReader::new(process.stdout.take().expect("piped"));
        let url = banner.lines().map_while(Result::ok).find_map(|line| {
            let url = &line[line.find("http://127.0.0.1:")?..];
            Some(url.split_whitespace().next().unwrap_or(url).to_owned())
        });
        Self { process, url: url.expect("the banner names the address") }
    }

    fn stop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(name)
}

/// Where everything that a client needs is installed.
fn installed(name: &str) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clients").join(name);
    std::fs::create_dir_all(&place).expect("the target folder can be written");
    place
}

fn skipped(what: &str) -> bool {
    let skip = std::env::var_os(SKIP).is_some();
    if skip {
        eprintln!("SKIPPED: {SKIP} is set: {what} was not tried");
    }
    skip
}

fn succeed(command: &mut Command, remedy: &str) {
    let output = command.output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}: {remedy}"));
    let problems = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {remedy}\n{problems}");
}

/// A folder with both TypeScript SDKs and the scripts.
struct Node(PathBuf);

impl Node {
    fn script(&self, name: &str, args: &[&str]) -> Command {
        let mut command = Command::new("node");
        command.arg(self.0.join(name)).args(args);
        command
    }
}

fn node() -> Option<Node> {
    if skipped("the TypeScript SDK") {
        return None;
    }
    static READY: Mutex<bool> = Mutex::new(false);
    let mut ready = READY.lock().unwrap_or_else(PoisonError::into_inner);
    let place = installed("node");
    if !*ready {
        let files = [
            "package.json",
            "package-lock.json",
            "checks.mjs",
            "typescript1.mjs",
            "typescript2.mjs",
        ];
        for file in files {
            std::fs::copy(source(file), place.join(file)).expect("the script can be copied");
        }
        succeed(
            Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(&place),
            "Node.js with npm is needed, or RINGMCP_SKIP_CLIENTS=1",
        );
        *ready = true;
    }
    Some(Node(place))
}

/// A Python that has the SDK.
fn python_sdk() -> Option<PathBuf> {
    static SDK: LazyLock<PathBuf> = LazyLock::new(|| {
        let place = installed("python");
        let remedy = "Python 3.10 or later with venv is needed, or RINGMCP_SKIP_CLIENTS=1";
        succeed(Command::new("python3").args(["-m", "venv"]).arg(&place), remedy);
        let python = place.join("bin/python");
        succeed(
            Command::new(&python)
                .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
                .arg("--requirement")
                .arg(source("requirements.txt")),
            remedy,
        );
        python
    });
    (!skipped("the Python SDK")).then(|| SDK.clone())
}

/// The client of the official Rust SDK, built in a workspace of its own.
fn rust_sdk() -> Option<PathBuf> {
    static SDK: LazyLock<PathBuf> = LazyLock::new(|| {
        let place = installed("rust");
        succeed(
            Command::new(env!("CARGO"))
                .args(["build", "--locked", "--quiet", "--manifest-path"])
                .arg(source("rust/Cargo.toml"))
                .arg("--target-dir")
                .arg(&place),
            "the client of the Rust SDK does not build",
        );
        place.join("debug/rust-client")
    });
    (!skipped("the Rust SDK")).then(|| SDK.clone())
}
