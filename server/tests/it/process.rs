//! One running server process, ended with the test that started it.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Nothing here takes this long: it only keeps a fault from hanging the tests.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The binary with these arguments, on a free port of the loopback, its environment free of settings.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ringmcp-server"));
    command.args(["--listen", "127.0.0.1:0", "--workers", "2"]).args(args);
    command.env_remove("RINGMCP_BEARER").env_remove("RINGMCP_STATE_KEY");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A process that was expected to end by itself: exit code, standard output, standard error.
pub(crate) fn run(args: &[&str]) -> (Option<i32>, String, String) {
    // Without a --listen of its own: some of these tests give one.
    let mut command = Command::new(env!("CARGO_BIN_EXE_ringmcp-server"));
    let output = command.args(args).stdin(Stdio::null()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// A server that has said where it listens.
pub(crate) struct Server {
    child: Child,
    banner: String,
    log: Receiver<String>,
}

impl Server {
    pub(crate) fn start(args: &[&str]) -> Self {
        Self::spawn(command(args))
    }

    /// Waits for the whole banner.
    pub(crate) fn spawn(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let log = follow(child.stderr.take().unwrap());
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut banner = String::new();
        while !banner.ends_with("Ctrl-C ends it.\n") {
            assert_ne!(
                out.read_line(&mut banner).unwrap(),
                0,
                "ended early: {banner} {:?}",
                log.recv()
            );
        }
        Self { child, banner, log }
    }

    pub(crate) fn banner(&self) -> &str {
        &self.banner
    }

    /// `127.0.0.1:PORT`
    pub(crate) fn address(&self) -> &str {
        let after = self.banner.split("http://").nth(1).unwrap();
        after.split('/').next().unwrap()
    }

    /// Sends a signal, such as `TERM`.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let status = Command::new("kill").args(["-s", name, &pid]).status().unwrap();
        assert!(status.success());
    }

    /// Reads the log up to a line that holds `text`.
    pub(crate) fn wait_for_log(&self, text: &str) -> String {
        loop {
            let line = self
                .log
                .recv_timeout(PATIENCE)
                .unwrap_or_else(|_| panic!("no {text:?} in the log"));
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Waits for the end; the exit status and the rest of the log.
    pub(crate) fn wait(mut self) -> (ExitStatus, String) {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(begun.elapsed() < PATIENCE, "the server does not end");
            std::thread::sleep(Duration::from_millis(5));
        };
        (status, self.log.iter().collect::<Vec<_>>().join("\n"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Takes the log away as it comes, so that a full pipe never holds the server up.
fn follow(stderr: ChildStderr) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(stderr);
        let mut line = String::new();
        while reader.read_line(&mut line).is_ok_and(|read| read > 0) {
            // Whoever asked may be gone; the pipe is emptied all the same.
            let _ = sender.send(std::mem::take(&mut line).trim_end().to_owned());
        }
        let _ = reader.read_to_end(&mut Vec::new());
    });
    receiver
}
