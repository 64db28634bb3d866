//! The banner: what it prints works as it stands.

use serde_json::{Value, json};

use crate::http::{Conversation, call};
use crate::process::Server;

/// The raw request that a printed `curl` command sends.
fn bytes_of(curl: &str) -> String {
    // Between apostrophes stand: the URL, the headers, the body.
    let quoted: Vec<&str> = curl.split('\'').skip(1).step_by(2).collect();
    let (url, headers, body) = (quoted[0], &quoted[1..quoted.len() - 1], quoted[quoted.len() - 1]);
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let length = body.len();
    let headers = headers.join("\r\n");
    format!(
        "POST /{path} HTTP/1.1\r\nHost: {host}\r\n{headers}\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

fn curls(server: &Server) -> Vec<&str> {
    server.banner().lines().filter(|line| line.starts_with("curl ")).collect()
}

#[test]
fn the_demonstration_is_counted_and_its_commands_work() {
    let server = Server::start(&[]);
    let banner = server.banner();
    assert!(banner.contains("6 tools, 1 prompt, 3 resources, 1 template\n"), "{banner}");
    assert!(banner.contains(", 2 workers\n"), "{banner}");
    let [call, watch] = curls(&server)[..] else { panic!("{banner}") };
    let answer = Conversation::open(server.address(), &bytes_of(call)).until("Hello, Ada!");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    let mut events = Conversation::open(server.address(), &bytes_of(watch));
    events.until("notifications/subscriptions/acknowledged");
    // The clock ticks every second.
    events.until("notifications/resources/updated");
    events.until("demo://clock");
}

#[test]
fn the_fixture_with_a_catalogue_is_counted_on_epoll() {
    let args = ["--handlers", "everything", "--catalogue", "100", "--driver", "epoll"];
    let server = Server::start(&args);
    let banner = server.banner();
    assert!(banner.contains("144 tools, 6 prompts, 5 resources, 2 templates\n"), "{banner}");
    assert!(banner.contains(" on epoll, "), "{banner}");
    let answer = Conversation::open(server.address(), &bytes_of(curls(&server)[0])).until("hello");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
}

#[test]
fn another_path_and_host_are_part_of_the_command() {
    let server = Server::start(&["--path", "/else/where", "--allow-host", "mcp.example.com"]);
    let command = curls(&server)[0];
    assert!(command.contains("/else/where'") && command.contains("'Host: mcp.example.com'"));
    let request = bytes_of(command).replacen("Host: 127", "X-Not-Host: 127", 1);
    let answer = Conversation::open(server.address(), &request).until("Hello, Ada!");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
}

/// Every line of the log is one object, that of a panic too; nothing of it goes to standard output.
#[test]
fn the_log_is_json_lines_on_standard_error_where_asked() {
    let args = ["--handlers", "everything", "--log-format", "json", "--log", "debug"];
    let server = Server::start(&args);
    assert!(!server.banner().contains("INFO"));
    call(server.address(), "panic", json!({}));
    server.signal("TERM");
    let (status, log) = server.wait();
    assert_eq!(status.code(), Some(0), "{log}");
    let mut panics = 0;
    for line in log.lines() {
        let event: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}"));
        panics += usize::from(event["fields"]["message"] == "panicked");
    }
    assert_eq!(panics, 1, "{log}");
}
