//! The probes of `../shared/probes`: inputs that broke other servers, sent to the fixture over raw sockets.
//!
//! A probe is as expected when its status is one of those listed and its machine check holds. Those that are not as
//! expected on purpose are listed here, each with the reason.

mod check;
mod exchange;

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use exchange::Reply;

const PROBES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/probes/probes.jsonl");

/// Sent at once: most of the time goes into waiting for what must not come.
const SENDERS: usize = 16;

/// Not as expected, on purpose.
const DECIDED: [(&str, &str); 2] = [
    (
        "P121",
        "HDR-14: a body that names nothing is for the params rung to refuse, -32602 at status 200",
    ),
    ("P122", "HDR-14: the same for a name that is no string"),
];

/// Not as expected with a bearer check: metadata of a protected resource (AUTH-02) must name an authorization server,
/// and behind one static token there is none.
const WITHOUT_OAUTH: [(&str, &str); 2] = [
    ("P364", "AUTH-02 is not served: a static token has no authorization server to name"),
    ("P365", "the same under the endpoint's own path"),
];

/// [HTTP-01] [RPC-01] [HDR-01] [PAR-01] [ENV-01] every probe of the modern era is answered as expected, but for those
/// decided otherwise.
#[test]
fn modern_probes() {
    let Some(probes) = probes("modern", None) else { return };
    let server = Server::start(&[], &[]);
    let odd = run(&probes, server.address, "");
    settle(probes.len(), &odd, &DECIDED);
}

/// [LEG-13] [LEG-01] every probe of the 2025 era is answered as expected, with sessions and without.
#[test]
fn legacy_probes() {
    let Some(probes) = probes("legacy", None) else { return };
    for mode in ["stateless", "sessions"] {
        let server = Server::start(&["--legacy", mode], &[]);
        let odd = run(&probes, server.address, "");
        settle(probes.len(), &odd, &[]);
    }
}

/// [AUTH-04] [AUTH-02] [D-49] every probe of the modern era against a server with a bearer check is answered as
/// expected.
#[test]
fn modern_probes_with_a_bearer() {
    const TOKEN: &str = "probe-token-0123456789abcdef0123456789abcdef";
    let Some(probes) = probes("modern", Some("auth")) else { return };
    let server = Server::start(&[], &[("RINGMCP_BEARER", TOKEN)]);
    let odd = run(&probes, server.address, TOKEN);
    settle(probes.len(), &odd, &WITHOUT_OAUTH);
}

/// Nothing is odd but what is known to be; what is known to be is.
fn settle(sent: usize, odd: &[(String, String)], known: &[(&str, &str)]) {
    let listed = |id: &str| known.iter().any(|(known, _)| *known == id);
    let surprises: Vec<_> = odd.iter().filter(|(id, _)| !listed(id)).collect();
    assert!(surprises.is_empty(), "{sent} probes: {surprises:#?}");
    let settled: Vec<_> =
        known.iter().filter(|(id, _)| !odd.iter().any(|(odd, _)| odd == id)).collect();
    assert!(settled.is_empty(), "as expected by now, drop them from the list: {settled:?}");
    eprintln!("{sent} probes, {} of them otherwise for a known reason", odd.len());
}

/// The probes over HTTP in this era for this configuration; `None` where they are not beside the checkout.
fn probes(era: &str, config: Option<&str>) -> Option<Vec<Value>> {
    let Ok(text) = std::fs::read_to_string(PROBES) else {
        eprintln!("SKIPPED: no probes beside the checkout");
        return None;
    };
    let all =
        text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a probe is JSON"));
    let wanted = |probe: &Value| {
        probe["transport"] == "http" && probe["era"] == era && probe["config"].as_str() == config
    };
    let probes: Vec<Value> = all.filter(wanted).collect();
    assert!(!probes.is_empty(), "no probes for {config:?}");
    Some(probes)
}

/// Sends all probes; those that were not as expected, with the reasons.
fn run(probes: &[Value], address: SocketAddr, token: &str) -> Vec<(String, String)> {
    let (next, odd) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..SENDERS {
            scope.spawn(|| {
                while let Some(probe) = probes.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let reply = Reply::to(probe, address, token);
                    let faults = check::faults(probe, &reply);
                    if !faults.is_empty() {
                        let what = format!("{}: {}", probe["name"], faults.join("; "));
                        let id = probe["id"].as_str().expect("an id").to_owned();
                        odd.lock().expect("no panic inside").push((id, what));
                    }
                }
            });
        }
    });
    odd.into_inner().expect("no panic inside")
}

/// The fixture as a process, ended with the test.
struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    fn start(flags: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ringmcp-server"));
        command.args(["--handlers", "everything", "--listen", "127.0.0.1:0", "--log", "error"]);
        command.args(flags);
        command.env_remove("RINGMCP_BEARER").envs(environment.iter().copied());
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the server starts");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let address = lines.by_ref().map_while(Result::ok).find_map(|line| {
            let url = line.split("http://").nth(1)?;
            url.split('/').next()?.parse().ok()
        });
        // Whatever else it says is read, so that it never waits for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address: address.expect("the banner names the address") }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
