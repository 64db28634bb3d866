//! JSON-RPC over HTTP: messages, ids, what is and is not one message (ledger section 1a).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ringmcp::types::{Capability, ElicitForm};
use ringmcp::{Builder, Context, Server, ToolError};
use serde_json::{Map, Value, json};

use crate::support::{CC, PV, Request, Running, VERSION, read_answer, serve, support_write};

type Arguments = Map<String, Value>;

/// `echo` answers with its arguments; `meet` waits until two of it run; `needy` needs sampling.
fn server(runs: &Arc<AtomicUsize>) -> Builder {
    let (echoed, met) = (Arc::clone(runs), Arc::new(AtomicUsize::new(0)));
    Server::builder("messages", "1")
        .tool("echo", "Echoes", async move |_: &Context, arguments: Arguments| {
            echoed.fetch_add(1, Ordering::SeqCst);
            Ok::<_, ToolError>(Value::Object(arguments).to_string())
        })
        .tool("meet", "Meets another call", async move |ctx: &Context, arguments: Arguments| {
            met.fetch_add(1, Ordering::SeqCst);
            while met.load(Ordering::SeqCst) < 2 {
                ctx.sleep(Duration::from_millis(1)).await;
            }
            Ok::<_, ToolError>(Value::Object(arguments).to_string())
        })
        .tool("needy", "Needs sampling", async |ctx: &Context, _: Arguments| {
            ctx.require(&Capability::Sampling)?;
            Ok::<_, ToolError>("sampled")
        })
}

fn plain() -> Running {
    serve(server(&Arc::default()))
}

/// The baseline request with another body.
fn post(body: impl Into<Vec<u8>>) -> Request {
    Request::new("tools/list", json!({})).body(body)
}

fn list() -> String {
    Request::new("tools/list", json!({})).message.to_string()
}

fn envelope() -> String {
    json!({ PV: VERSION, CC: {} }).to_string()
}

/// The baseline message with `id` as these bytes.
fn with_id(id: &str) -> String {
    let meta = envelope();
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list","params":{{"_meta":{meta}}}}}"#)
}

/// Sends a body that is refused: status, code, and the id as it stands in the answer.
fn refused(running: &Running, body: impl Into<Vec<u8>>) -> (u16, i64, Option<Value>) {
    let answer = running.send(&post(body));
    let (status, code) = answer.error();
    (status, code, answer.message().get("id").cloned())
}

/// [RPC-01] `jsonrpc` is exactly the string 2.0; the body is UTF-8 and JSON.
#[test]
fn version_and_encoding() {
    let running = plain();
    for version in [json!("1.0"), json!("2"), json!("2.00"), json!(2.0), json!(2), Value::Null] {
        let body = Request::new("tools/list", json!({})).member("jsonrpc", version.clone());
        let found = refused(&running, body.message.to_string());
        assert_eq!(found, (400, -32600, Some(json!(1))), "{version}");
    }
    let body = Request::new("tools/list", json!({})).without_member("jsonrpc");
    assert_eq!(refused(&running, body.message.to_string()), (400, -32600, Some(json!(1))));

    let text = |bytes: &[u8]| {
        let (before, after) = (r#"{"jsonrpc":"2.0","id":1,"x":""#, r#"","method":"tools/list"}"#);
        [before.as_bytes(), bytes, after.as_bytes()].concat()
    };
    // A stray byte, an overlong slash, a surrogate as three bytes, a code point beyond the last.
    let not_utf8: [&[u8]; 5] =
        [b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe6\x97"];
    for bytes in not_utf8 {
        assert_eq!(refused(&running, text(bytes)), (400, -32700, None), "{bytes:x?}");
    }
    let utf16: Vec<u8> = list().encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(refused(&running, utf16), (400, -32700, None));
}

/// [RPC-01] [RPC-10] what is no JSON text is a parse error without an id, even where an id could be seen.
#[test]
fn no_json() {
    let running = plain();
    let whole = list();
    let mut bodies: Vec<String> = [
        "",
        " ",
        "{",
        "nul",
        "{\"id\":1,}",
        "[1,]",
        "{'id':1}",
        "{\"id\":01}",
        "{\"id\":+1}",
        "{\"id\":.5}",
        "{\"id\":1.}",
        "{\"id\":NaN}",
        "{\"a\":\"\n\"}",
        "{\"a\":\"\\x\"}",
        "{\"a\":\"\\u12\"}",
        "{\"a\" 1}",
        "{\"a\":1 \"b\":2}",
        "// {}",
    ]
    .map(str::to_owned)
    .into();
    bodies.push(format!("{whole}{whole}"));
    bodies.push(format!("{whole},"));
    bodies.push(format!("{whole}\0"));
    bodies.extend((1..whole.len()).step_by(7).map(|end| whole[..end].to_owned()));
    for body in bodies {
        assert_eq!(refused(&running, body.clone()), (400, -32700, None), "{body}");
    }
}

/// [RPC-20] escapes that stand for half a character are no text.
#[test]
fn lone_surrogates() {
    let running = plain();
    for escape in [r"\ud800", r"\udc00", r"\ud800\ud800", r"\ud800x", r"\udc00\ud800"] {
        let call = Request::call("echo", json!({ "a": "HERE" })).message.to_string();
        let answer =
            running.send(&Request::call("echo", json!({})).body(call.replace("HERE", escape)));
        assert_eq!(answer.error(), (400, -32700), "{escape}");
    }
    let call = Request::call("echo", json!({ "a": "HERE" })).message.to_string();
    let whole = call.replace("HERE", r"\ud83d\ude00");
    assert_eq!(
        running.send(&Request::call("echo", json!({})).body(whole)).text(),
        "{\"a\":\"😀\"}"
    );
}

/// [RPC-02] [RPC-04] [RPC-10] an id is a string or an integer of 64 bits; nothing else is, and none is repeated.
#[test]
fn ids_that_are_none() {
    let running = plain();
    let ids = [
        "null",
        "true",
        "false",
        "{}",
        "[]",
        "[1]",
        "1.5",
        "1.0",
        "-1.0",
        "1e3",
        "1E3",
        "1e0",
        "1e400",
        "-1e400",
        "18446744073709551616",
        "-9223372036854775809",
        "123456789012345678901234567890",
    ];
    for id in ids {
        assert_eq!(refused(&running, with_id(id)), (400, -32600, None), "{id}");
    }
}

/// [RPC-03] [RPC-04] [RPC-10] ids come back byte for byte: in results, in errors of the ladder, in events.
#[test]
fn ids_that_come_back() {
    let running = plain();
    let ids = [
        "0",
        "-0",
        "\"0\"",
        "\"\"",
        "1",
        "\"1\"",
        "-7",
        "9007199254740993",
        "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551615",
        "\"日本語\"",
        r#""a\"b\\c\/d""#,
        r#""\u0041\u00e9""#,
        r#""\ud83d\ude00""#,
        r#""\n\t\u0000""#,
        "\" padded \"",
        "\"null\"",
    ];
    let long = format!("\"{}\"", "x".repeat(5000));
    for id in ids.into_iter().chain([long.as_str()]) {
        let echo = format!("\"id\":{id},");
        let check = |request: Request, status: u16| {
            let answer = running.send(&request);
            let body = String::from_utf8(answer.body.clone()).expect("UTF-8");
            assert_eq!(answer.status, status, "{body}");
            assert!(body.contains(&echo), "{echo} in {body}");
        };
        check(post(with_id(id)), 200);
        check(post(with_id(id)).header("Accept", "text/event-stream"), 200);
        check(post(with_id(id)).header("Mcp-Method", "tools/call"), 400);
        check(post(with_id(id).replace("2.0", "1.0")), 400);
    }
}

/// [RPC-05] [SSE-12] ids of different POSTs have nothing to do with each other: two live requests with id 1 are both
/// answered, each with its own.
#[test]
fn equal_ids_on_two_connections() {
    let running = plain();
    let mut streams = [running.connect(), running.connect()];
    for (at, stream) in streams.iter_mut().enumerate() {
        support_write(stream, &Request::call("meet", json!({ "at": at })).bytes());
    }
    for (at, stream) in streams.iter_mut().enumerate() {
        let answer = read_answer(stream).expect("an answer");
        assert_eq!(answer.text(), format!("{{\"at\":{at}}}"));
        assert_eq!(answer.message()["id"], 1);
    }
}

/// [RPC-11] [RPC-12] an object that is no request is refused with its id, where it has a legal one.
#[test]
fn malformed_requests_keep_their_id() {
    let running = plain();
    let meta = envelope();
    let bodies = [
        r#"{"jsonrpc":"2.0","id":5,"method":7}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":5,"method":null}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":5,"method":["tools/list"]}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":5}"#.to_owned(),
        r#"{"id":5,"method":"tools/list"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":5,"method":"tools/list","params":[]}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":5,"method":"tools/list","params":1}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":5,"method":"tools/list","params":"x"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":5,"method":"tools/list","params":null}"#.to_owned(),
        format!(
            r#"{{"jsonrpc":"2.0","id":5,"method":"tools/list","params":[{{"_meta":{meta}}}]}}"#
        ),
    ];
    for body in bodies {
        assert_eq!(refused(&running, body.clone()), (400, -32600, Some(json!(5))), "{body}");
    }
    // Without an id and without a method it is nothing at all; a method alone is a notification.
    for body in ["{}", r#"{"jsonrpc":"2.0"}"#, r#"{"jsonrpc":"2.0","method":1}"#] {
        assert_eq!(refused(&running, body), (400, -32600, None), "{body}");
    }
}

/// [RPC-13] [HTTP-06] [LEG-41] one message a POST: arrays of any length, and other values, are refused without an id.
#[test]
fn batches_and_scalars() {
    let runs = Arc::default();
    let running = serve(server(&runs));
    let call = Request::call("echo", json!({})).message.to_string();
    let bodies = [
        "[]".to_owned(),
        format!("[{call}]"),
        format!("[{call},{call}]"),
        "[[]]".to_owned(),
        "[1]".to_owned(),
        "1".to_owned(),
        "\"tools/list\"".to_owned(),
        "null".to_owned(),
        "true".to_owned(),
    ];
    for body in bodies {
        assert_eq!(refused(&running, body.clone()), (400, -32600, None), "{body}");
    }
    assert_eq!(runs.load(Ordering::SeqCst), 0);
}

/// [RPC-14] [LEG-41] a server takes no responses, and does not repeat the id of one.
#[test]
fn posted_responses() {
    let running = plain();
    for body in [
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","error":{"code":1,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":null}"#,
    ] {
        assert_eq!(refused(&running, body), (400, -32600, None), "{body}");
    }
}

/// [RPC-15] [ENV-07] nothing is remembered from the request before on the same connection: no capability.
#[test]
fn capabilities_are_of_one_request() {
    let running = plain();
    let mut stream = running.connect();
    let mut send = |capabilities: Value| {
        let request = Request::call("needy", json!({})).capabilities(capabilities);
        support_write(&mut stream, &request.bytes());
        read_answer(&mut stream).expect("an answer")
    };
    assert_eq!(send(json!({ "sampling": {} })).text(), "sampled");
    let refused = send(json!({}));
    assert_eq!(refused.error(), (400, -32021));
    let required = &refused.error_object()["data"]["requiredCapabilities"];
    assert_eq!(*required, json!({ "sampling": {} }));
    assert_eq!(send(json!({ "sampling": {} })).text(), "sampled");
}

/// [RPC-16] [RPC-17] [RS-06] two rounds of one call go to two servers that share a key: the state alone connects them,
/// so a restart in between changes nothing.
#[test]
fn rounds_on_two_servers() {
    let replica = || {
        let make = Server::builder("replica", "1").state_key("k1", [7; 32]).tool(
            "greet",
            "Greets",
            async |ctx: &Context, _: Arguments| {
                let form = ElicitForm::new("Who?").string("name", |field| field.required());
                let mut ask = ctx.ask();
                ask.state(&json!({ "round": 1 }));
                let answer = ask.elicit("who", form);
                let answer = ask.done(answer)?;
                let state: Option<Value> = ctx.state();
                Ok::<_, ToolError>(format!(
                    "{:?} {}",
                    answer.text("name"),
                    state.unwrap_or_default()
                ))
            },
        );
        serve(make)
    };
    let capabilities = json!({ "elicitation": {} });
    let call = || Request::call("greet", json!({})).capabilities(capabilities.clone());
    let first = replica();
    let asked = first.send(&call()).result("tools/call");
    assert_eq!(asked["resultType"], "input_required");
    let state = asked["requestState"].clone();
    first.stop();
    let responses = json!({ "who": { "action": "accept", "content": { "name": "Ada" } } });
    let again = call().param("inputResponses", responses).param("requestState", state);
    assert_eq!(replica().send(&again).text(), r#"Some("Ada") {"round":1}"#);
}

/// [RPC-18] [ENV-11] unknown members are ignored wherever a client may put them.
#[test]
fn unknown_members() {
    let running = plain();
    let request = Request::new("tools/list", json!({ "foo": [1, { "a": null }] }))
        .capabilities(
            json!({ "roots": { "listChanged": true }, "zzz": {}, "sampling": { "x": 1 } }),
        )
        .meta("com.example/x", json!(1))
        .meta("unprefixed", json!({}))
        .meta("io.modelcontextprotocol/unheardOf", json!([]))
        .meta("not a key at all", json!(null))
        .member("extra", json!({ "a": 1 }))
        .member("Id", json!({}));
    request_is_served(&running, &request);
}

fn request_is_served(running: &Running, request: &Request) {
    running.send(request).result(request.method());
}

/// [RPC-19] a repeated member of the message, of `params` or of `params._meta` is refused: somebody in front may have
/// read the other one. Nothing runs.
#[test]
fn repeated_members() {
    let runs = Arc::default();
    let running = serve(server(&runs));
    let call = Request::call("echo", json!({ "a": 1 })).message.to_string();
    let doubled = |from: &str, to: &str| {
        assert!(call.contains(from), "{from} in {call}");
        call.replacen(from, to, 1)
    };
    let cases = [
        (doubled(r#""id":1"#, r#""id":1,"id":1"#), None),
        (doubled(r#""id":1"#, r#""id":1,"id":2"#), None),
        (doubled(r#""id":1"#, r#""id":1,"\u0069d":2"#), None),
        (doubled(r#""method":"#, r#""method":"tools/list","method":"#), Some(1)),
        (doubled(r#""jsonrpc":"2.0""#, r#""jsonrpc":"2.0","jsonrpc":"2.0""#), Some(1)),
        (doubled(r#""params":"#, r#""params":{},"params":"#), Some(1)),
        (doubled(r#""name":"echo""#, r#""name":"echo","name":"meet""#), Some(1)),
        (doubled(r#""name":"echo""#, r#""name":"echo","n\u0061me":"echo""#), Some(1)),
        (doubled(r#""_meta":"#, r#""_meta":{},"_meta":"#), Some(1)),
        (doubled(r#""arguments":"#, r#""arguments":{},"arguments":"#), Some(1)),
        (doubled(&format!("\"{CC}\":"), &format!("\"{CC}\":{{}},\"{CC}\":")), Some(1)),
        (doubled(&format!("\"{PV}\":"), &format!("\"{PV}\":\"2025-11-25\",\"{PV}\":")), Some(1)),
        (doubled("{\"jsonrpc\"", "{\"zzz\":1,\"zzz\":2,\"jsonrpc\""), Some(1)),
    ];
    for (body, id) in cases {
        let answer = running.send(&Request::call("echo", json!({})).body(body.clone()));
        assert_eq!(answer.error(), (400, -32600), "{body}");
        assert_eq!(answer.message().get("id").and_then(Value::as_i64), id, "{body}");
    }
    // Many members are compared another way than few.
    let many: String = (0..100).map(|at| format!("\"m{at}\":{at},")).collect();
    let body = doubled("{\"jsonrpc\"", &format!("{{{many}\"m50\":0,\"jsonrpc\""));
    assert_eq!(running.send(&Request::call("echo", json!({})).body(body)).error(), (400, -32600));
    assert_eq!(runs.load(Ordering::SeqCst), 0, "a handler ran");
}

/// [RPC-19b] one byte order mark is tolerated, and only in front.
#[test]
fn byte_order_mark() {
    let running = plain();
    let bom = b"\xef\xbb\xbf".as_slice();
    request_is_served(&running, &post([bom, list().as_bytes()].concat()));
    let wrong = [
        [bom, bom, list().as_bytes()].concat(),
        [list().as_bytes(), bom].concat(),
        [b" ", bom, list().as_bytes()].concat(),
        bom.to_vec(),
    ];
    for body in wrong {
        assert_eq!(refused(&running, body), (400, -32700, None));
    }
}

/// [RPC-20] [SEC-02] nesting has a bound; what goes beyond it is a parse error, however it is nested.
#[test]
fn depth() {
    let running = plain();
    let nested = |open: &str, close: &str, depth: usize| {
        let value = format!("{}0{}", open.repeat(depth), close.repeat(depth));
        let message = Request::call("echo", json!({ "a": "HERE" })).message.to_string();
        running.send(&Request::call("echo", json!({})).body(message.replace("\"HERE\"", &value)))
    };
    // The message, its params and its arguments are three levels.
    assert_eq!(nested("[", "]", 125).status, 200);
    assert!(nested("[", "]", 125).text().contains("[[[0]]]"));
    for depth in [126, 127, 200, 1_000, 100_000] {
        assert_eq!(nested("[", "]", depth).error(), (400, -32700), "{depth}");
        assert_eq!(nested("{\"a\":", "}", depth).error(), (400, -32700), "{depth}");
    }
    let open = running.send(&post("[".repeat(100_000)));
    assert_eq!(open.error(), (400, -32700));
}

/// [RPC-20] numbers of any size neither crash the server nor pass for others.
#[test]
fn numbers() {
    let running = plain();
    let sent = |number: &str| {
        let message = Request::call("echo", json!({ "a": "HERE" })).message.to_string();
        running.send(&Request::call("echo", json!({})).body(message.replace("\"HERE\"", number)))
    };
    assert_eq!(sent("9007199254740993").text(), r#"{"a":9007199254740993}"#);
    assert_eq!(sent("18446744073709551615").text(), r#"{"a":18446744073709551615}"#);
    assert_eq!(sent("0.1").text(), r#"{"a":0.1}"#);
    assert_eq!(sent("50").text(), r#"{"a":50}"#);
    assert_eq!(sent("1e400").error(), (400, -32600));
    let digits = "9".repeat(100_000);
    let answer = sent(&digits);
    assert_eq!(answer.error(), (400, -32600), "beyond any double");
    assert_eq!(sent(&format!("0.{digits}")).status, 200);
}

/// [RPC-07] [RPC-08] [ENV-09] [HTTP-10] every method's result is typed, stamped and valid by the published schema.
#[test]
fn results() {
    let running = plain();
    for request in [
        Request::new("server/discover", json!({})),
        Request::new("tools/list", json!({})),
        Request::call("echo", json!({})),
    ] {
        let answer = running.send(&request);
        let result = answer.result(request.method());
        assert_eq!(result["resultType"], "complete");
        assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "messages");
        assert_eq!(answer.header("content-type"), Some("application/json"));
    }
}
