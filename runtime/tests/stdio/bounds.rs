//! The bounds of a stream of lines, and its end.

use std::future::pending;
use std::io::Read;
use std::net::Shutdown;
use std::time::{Duration, Instant};

use ringmcp::{Builder, Context, Limits, NoArgs, Principal, Server, ToolError};
use serde::Deserialize;
use serde_json::json;

use crate::peer::{Peer, call, cancel, on_both_drivers, request};

#[derive(Deserialize, schemars::JsonSchema)]
struct Text {
    text: String,
}

fn server(limits: Limits) -> Builder {
    Server::builder("bounds", "1")
        .limits(limits)
        .tool("echo", "Says it again", async |_: &Context<'_>, said: Text| {
            Ok::<_, ToolError>(said.text)
        })
        .tool("big", "Says much", async |_: &Context<'_>, _: NoArgs| {
            Ok::<_, ToolError>("x".repeat(100_000))
        })
        .tool("who", "Names its caller", async |ctx: &Context<'_>, _: NoArgs| {
            let name = ctx.principal().map_or("nobody", |principal| &principal.subject);
            Ok::<_, ToolError>(name.to_owned())
        })
        .tool("hang", "Never answers", async |_: &Context<'_>, _: NoArgs| {
            pending::<()>().await;
            Ok::<_, ToolError>("never")
        })
}

/// [STD-09] [SEC-02] a line at the limit is served; a longer one is skipped, however it comes, and the next one is served.
#[test]
fn lines_have_a_limit() {
    let limits = Limits { line_bytes: 2_000, ..Limits::default() };
    on_both_drivers(
        || server(limits.clone()),
        |mut peer| {
            let fits = |bytes: usize, id: u32| {
                let frame = call(id, "echo", json!({ "text": "" })).to_string().len();
                call(id, "echo", json!({ "text": "t".repeat(bytes - frame) })).to_string()
            };
            peer.write(format!("{}\n", fits(2_000, 1)));
            assert_eq!(peer.message()["id"], 1);
            peer.write(format!("{}\n{}\n", fits(2_001, 2), fits(500, 3)));
            let told = peer.message();
            assert_eq!((told.get("id"), &told["error"]["code"]), (None, &json!(-32600)));
            assert_eq!(peer.message()["id"], 3);
            for _ in 0..300 {
                peer.write("a".repeat(10_000));
            }
            peer.write("\n");
            assert_eq!(peer.message()["error"]["code"], -32600);
            assert_eq!(peer.ask(&call(4, "echo", json!({ "text": "a\nb\r\u{2028}" })))["id"], 4);
            peer.finish();
        },
    );
}

/// [SEC-02] requests beyond the limit are refused, not held: a cancellation behind them is heard and makes room.
#[test]
fn requests_under_way_have_a_limit() {
    let limits =
        Limits { requests_per_stream: 2, stream_grace: Duration::ZERO, ..Limits::default() };
    on_both_drivers(
        || server(limits.clone()),
        |mut peer| {
            let filter = json!({ "notifications": { "toolsListChanged": true } });
            peer.ask(&request("l", "subscriptions/listen", filter));
            peer.send(&call(1, "hang", json!({})));
            let busy = peer.ask(&call(2, "echo", json!({ "text": "" })));
            assert_eq!((&busy["id"], &busy["error"]["code"]), (&json!(2), &json!(-32603)));
            peer.send(&cancel(1));
            while peer.ask(&call(3, "echo", json!({ "text": "" }))).get("error").is_some() {}
            peer.finish();
        },
    );
}

/// [STD-04] [SSE-11] a client that reads late gets every answer, whole and once; meanwhile the server reads no further
/// than it may.
#[test]
fn a_late_reader_loses_nothing() {
    let limits = Limits { unread_bytes: 50_000, ..Limits::default() };
    on_both_drivers(
        || server(limits.clone()),
        |peer| {
            const COUNT: u64 = 400;
            let mut writing = peer.stream.try_clone().unwrap();
            let sender = std::thread::spawn(move || {
                use std::io::Write;
                for id in 0..COUNT {
                    writing
                        .write_all(format!("{}\n", call(id, "big", json!({}))).as_bytes())
                        .unwrap();
                }
                writing.shutdown(Shutdown::Write).unwrap();
            });
            // Once it reads no more, its counter stands still well below what was asked.
            let mut seen = 0;
            loop {
                std::thread::sleep(Duration::from_millis(50));
                let now = peer.handle.counters().requests;
                if now == seen && now > 0 {
                    break;
                }
                seen = now;
            }
            assert!(seen < 50, "{seen} answers of 100 kB wait");
            let mut text = String::new();
            let mut reading = peer.stream.try_clone().unwrap();
            reading.read_to_string(&mut text).unwrap();
            sender.join().unwrap();
            let ids: Vec<u64> = text
                .lines()
                .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].as_u64())
                .map(Option::unwrap)
                .collect();
            assert_eq!(ids, (0..COUNT).collect::<Vec<_>>());
            peer.handle.join().unwrap();
        },
    );
}

/// [STD-06] [SUB-14] at the end of the input what hangs is given up after the grace, and everything ends; a last line
/// without its end is served.
#[test]
fn the_end_of_the_input_ends_the_server() {
    let limits = Limits { stream_grace: Duration::from_millis(200), ..Limits::default() };
    on_both_drivers(
        || server(limits.clone()),
        |mut peer| {
            peer.send(&call(1, "hang", json!({})));
            peer.write(call(2, "echo", json!({ "text": "last" })).to_string());
            let begun = Instant::now();
            let rest = peer.finish();
            assert_eq!(rest.len(), 1, "{rest:?}");
            assert_eq!(rest[0]["id"], 2);
            assert!(begun.elapsed() < Duration::from_secs(10));
        },
    );
}

/// [STD-13] a client that is gone ends the server, whatever runs.
#[test]
fn a_broken_output_ends_the_server() {
    on_both_drivers(
        || server(Limits::default()),
        |mut peer| {
            peer.send(&call(1, "hang", json!({})));
            peer.stream.shutdown(Shutdown::Read).unwrap();
            peer.send(&call(2, "echo", json!({ "text": "nobody hears" })));
            let Peer { handle, stream, .. } = peer;
            handle.join().unwrap();
            drop(stream);
        },
    );
}

/// [STD-07] [SUB-15] the program ends the server: a subscription gets exactly its closing result, and the stream ends.
#[test]
fn a_drain_ends_the_stream() {
    on_both_drivers(
        || server(Limits::default()),
        |mut peer| {
            let filter = json!({ "notifications": { "toolsListChanged": true } });
            peer.ask(&request(0, "subscriptions/listen", filter));
            peer.handle.drain(Duration::from_secs(5));
            let closing = peer.message();
            assert_eq!(
                (&closing["id"], &closing["result"]["resultType"]),
                (&json!(0), &json!("complete"))
            );
            peer.handle.join().unwrap();
        },
    );
}

/// [STD-14] the client is who the program says it is.
#[test]
fn the_program_names_its_client() {
    for (principal, name) in [(None, "nobody"), (Some(Principal::new("ada")), "ada")] {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        let mut piped = server(Limits::default()).stream(theirs.try_clone().unwrap(), theirs);
        if let Some(principal) = principal {
            piped = piped.principal(principal);
        }
        let handle = piped.start().unwrap();
        let mut peer = Peer::over(handle, ours);
        let answer = peer.ask(&call(1, "who", json!({})));
        assert_eq!(answer["result"]["content"][0]["text"], name);
        peer.finish();
    }
}
