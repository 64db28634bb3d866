//! `--stdio`: the binary as a client starts it, with pipes, files and closed ends.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::process::{PATIENCE, run};

/// A started server with its pipes.
struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ringmcp-server"));
    command.args(["--stdio", "--handlers", "everything"]).args(args);
    command.env_remove("RINGMCP_BEARER").env_remove("RINGMCP_STATE_KEY");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

impl Client {
    fn start(args: &[&str]) -> Self {
        Self::spawn(command(args))
    }

    fn spawn(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin, stdout }
    }

    fn write(&mut self, text: impl AsRef<[u8]>) {
        self.stdin.as_mut().unwrap().write_all(text.as_ref()).unwrap();
    }

    fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n"));
    }

    fn message(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.stdout.read_line(&mut line).unwrap() > 0, "the server has ended");
        serde_json::from_str(&line).unwrap()
    }

    fn ask(&mut self, message: &Value) -> Value {
        self.send(message);
        self.message()
    }

    /// Ends the input; what still comes, every line of it a message, and how the process ended.
    fn finish(mut self) -> (Vec<Value>, ExitStatus) {
        drop(self.stdin.take());
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        let rest = rest.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        (rest, self.wait())
    }

    fn wait(&mut self) -> ExitStatus {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(begun.elapsed() < PATIENCE, "the server does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn request(id: impl Into<Value>, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "probe", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    request(id, "tools/call", json!({ "name": tool, "arguments": arguments }))
}

const PROBES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/probes/probes.jsonl");

/// What comes back for each probe that is its own input: the ids that are answered with a result, in any order.
const ANSWERED: [(&str, &[i64]); 9] = [
    ("P374", &[1]),
    ("P376", &[]),
    ("P377", &[1]),
    ("P378", &[1]),
    ("P381", &[0, 5, 6]),
    ("P382", &[0, 1, 5]),
    ("P383", &[0]),
    ("P384", &[0, 9]),
    ("P385", &[0, 5]),
];

/// [STD-05] [STD-06] [LEG-50] [LEG-52] [LEG-54] the probes of this transport are answered in their era, and the process ends
/// in time with code 0.
#[test]
fn probes_of_stdio() {
    let Ok(text) = std::fs::read_to_string(PROBES) else {
        eprintln!("SKIPPED: no probes beside the checkout");
        return;
    };
    let probes: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("a probe is JSON")).collect();
    for (name, expected) in ANSWERED {
        let probe = probes.iter().find(|probe| probe["id"] == name).expect(name);
        let mut client = Client::start(&[]);
        client.write(probe["stdin"].as_str().unwrap());
        let begun = Instant::now();
        let (answers, status) = client.finish();
        assert!(begun.elapsed() < Duration::from_secs(5), "{name}: {:?}", begun.elapsed());
        assert_eq!(status.code(), Some(0), "{name}");
        let mut ids: Vec<i64> = answers
            .iter()
            .filter(|answer| answer["result"].is_object())
            .map(|answer| answer["id"].as_i64().unwrap())
            .collect();
        ids.sort_unstable();
        assert_eq!(ids, expected, "{name}: {answers:?}");
        for answer in answers.iter().filter(|answer| answer["id"] == 5) {
            assert!(answer["result"].get("resultType").is_none(), "{name}: {answer}");
        }
    }
}

/// [STD-01] a text with line breaks is one line (probe P391).
#[test]
fn line_breaks_in_a_text() {
    let mut client = Client::start(&[]);
    let text = "a\nb\r\nc\u{2028}\u{85}";
    let answer = client.ask(&call(1, "echo", json!({ "text": text })));
    assert_eq!(answer["result"]["content"][0]["text"], text);
    assert!(client.finish().0.is_empty());
}

/// [PAR-14] header annotations mean nothing where there are no headers.
#[test]
fn header_annotations_are_not_looked_at() {
    let mut client = Client::start(&[]);
    let answer = client.ask(&call(1, "route", json!({ "region": "eu", "shard": 7, "dry": true })));
    let text = answer["result"]["content"][0]["text"].as_str();
    assert!(text.is_some_and(|text| text.contains("eu")), "{answer}");
    assert!(client.finish().0.is_empty());
}

/// [STD-02] a log that nobody reads holds no answer back (probe P394).
#[test]
fn an_unread_log() {
    let mut command = command(&[]);
    command.stderr(Stdio::piped());
    let mut client = Client::spawn(command);
    let unread = client.child.stderr.take().unwrap();
    for id in 1..=100 {
        client.send(&call(id, "log_spam", json!({})));
        assert_eq!(client.message()["id"], id);
    }
    assert_eq!(client.finish().1.code(), Some(0));
    drop(unread);
}

/// [STD-04] ten thousand requests at once are answered once each (probe P388).
#[test]
fn ten_thousand_requests_at_once() {
    let mut client = Client::start(&["--log", "off"]);
    let mut stdin = client.stdin.take().unwrap();
    let sender = std::thread::spawn(move || {
        for id in 1..=10_000 {
            writeln!(stdin, "{}", call(id, "noargs", json!({}))).unwrap();
        }
    });
    let (answers, status) = client.finish();
    sender.join().unwrap();
    assert_eq!(status.code(), Some(0));
    let mut ids: Vec<u64> = answers.iter().map(|answer| answer["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (1..=10_000).collect::<Vec<_>>());
    assert!(answers.iter().all(|answer| answer["result"].is_object()));
}

/// [STD-09] [SEC-02] a line without an end takes no memory, and the next one is served (probe P392); a message of the
/// largest size is served.
#[test]
fn an_endless_line() {
    let mut client = Client::start(&[]);
    let piece = vec![b'a'; 1 << 20];
    for _ in 0..128 {
        client.write(&piece);
    }
    client.write("\n");
    assert_eq!(client.ask(&call(1, "echo", json!({ "text": "after" })))["id"], 1);
    let status = std::fs::read_to_string(format!("/proc/{}/status", client.child.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak_kib: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak_kib < 100 * 1024, "{peak_kib} KiB for an endless line");
    let frame = call(2, "echo", json!({ "text": "" })).to_string().len();
    let text = "t".repeat(10 * 1024 * 1024 - frame);
    let answer = client.ask(&call(2, "echo", json!({ "text": &text })));
    assert_eq!(answer["result"]["content"][0]["text"].as_str().map(str::len), Some(text.len()));
    assert_eq!(client.finish().1.code(), Some(0));
}

/// [STD-02] [ERR-11] whatever is logged, every line of the output is a message (probe P420).
#[test]
fn the_output_is_messages_alone() {
    let mut command = command(&["--log", "trace"]);
    command.stderr(Stdio::piped());
    let mut client = Client::spawn(command);
    let log = client.child.stderr.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        BufReader::new(log).read_to_string(&mut text).unwrap();
        text
    });
    client.write("garbage\n{}\n[]\n");
    client.send(&call(1, "panic", json!({})));
    client.write("more garbage\n");
    client.send(&call(2, "log_spam", json!({})));
    let (messages, status) = client.finish();
    assert_eq!(status.code(), Some(0));
    let ids: Vec<&Value> = messages.iter().filter_map(|message| message.get("id")).collect();
    assert!(ids.contains(&&json!(1)) && ids.contains(&&json!(2)), "{messages:?}");
    assert!(messages.iter().all(|message| message["jsonrpc"] == "2.0"));
    assert!(reader.join().unwrap().contains("panicked"));
}

/// [STD-13] a client that closes the output ends the process quietly.
#[test]
fn a_closed_output() {
    let mut command = command(&["--log", "info"]);
    command.stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, "{}", call(1, "sleep", json!({ "ms": 60_000 }))).unwrap();
    writeln!(stdin, "{}", call(2, "echo", json!({ "text": "x" }))).unwrap();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!(output.status.code(), Some(0));
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(!log.contains("panicked") && !log.contains("ERROR"), "{log}");
}

/// [STD-12] files serve as well as pipes, on either driver.
#[test]
fn files_as_input_and_output() {
    let folder = std::env::temp_dir().join(format!("ringmcp-stdio-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for driver in ["auto", "epoll"] {
        let (input, output) = (folder.join("in"), folder.join("out"));
        let lines = [call(1, "echo", json!({ "text": "x" })), request(2, "tools/list", json!({}))];
        std::fs::write(&input, lines.map(|line| format!("{line}\n")).concat()).unwrap();
        let mut command = command(&["--driver", driver]);
        command.stdin(File::open(&input).unwrap()).stdout(File::create(&output).unwrap());
        assert_eq!(command.status().unwrap().code(), Some(0));
        let text = std::fs::read_to_string(&output).unwrap();
        let ids: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone())
            .collect();
        assert_eq!(ids, [1, 2], "{driver}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// [STD-07] SIGTERM ends the process although its input is open: subscriptions are closed, code 0.
#[test]
fn a_signal_ends_it() {
    let mut client = Client::start(&[]);
    let filter = json!({ "notifications": { "toolsListChanged": true } });
    client.ask(&request(1, "subscriptions/listen", filter));
    let pid = client.child.id().to_string();
    assert!(Command::new("kill").args(["-s", "TERM", &pid]).status().unwrap().success());
    assert_eq!(client.message()["id"], 1);
    assert_eq!(client.wait().code(), Some(0));
}

/// Flags that make no sense together are refused in one line.
#[test]
fn flags_that_exclude_each_other() {
    let (code, out, log) = run(&["--stdio", "--listen", "127.0.0.1:0"]);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(log.contains("--stdio"), "{log}");
}
