//! The ladder of ledger section 1c over sockets: each rung alone, every two rungs at once, the connection after each.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::course::{ANSWERS, COURSE, Draft, ID, IMPOSSIBLE, Seen, Way, server};
use crate::support::{Answer, LL, Request, Running, read_answer, serve, support_write};

/// Sends a broken request: the rung answers, nothing above it has been asked.
fn refused(running: &Running, seen: &Seen, draft: &Draft, rung: u8, what: &str) -> Answer {
    let (guards, handlers) = seen.counts();
    let answer = running.send_raw(&draft.bytes());
    ANSWERS[usize::from(rung) - 1].check(&answer, what);
    let (guards_now, handlers_now) = seen.counts();
    assert_eq!(handlers_now - handlers, usize::from(rung == 24), "{what}: handlers that ran");
    assert_eq!(guards_now > guards, rung >= 20, "{what}: guards that were asked");
    answer
}

/// [PREC-01] the request that is broken in the other tests climbs the whole ladder: it is broken by what they say and
/// by nothing else.
#[test]
fn the_course_can_be_climbed() {
    let seen = Seen::default();
    let running = serve(server(&seen));
    let answer = running.send_raw(&Draft::new().bytes());
    assert_eq!(answer.text(), "through");
    assert_eq!(seen.counts(), (1, 1));

    let capabilities = json!({ "extensions": { "com.example/course": {} } });
    let custom = Request::new("ext/run", json!({ "arguments": {} })).capabilities(capabilities);
    let answer = running.send(&custom.header("Authorization", "Bearer all"));
    assert_eq!(answer.result("ext/run")["through"], true);
}

/// [PREC-01] [RPC-10] [HDR-20] [ERR-07] each rung alone answers with its status, code, id and headers; the observer
/// and the counters know which one it was.
#[test]
fn every_rung_refuses() {
    let seen = Seen::default();
    let running = serve(server(&seen));
    for (at, way) in COURSE.iter().enumerate() {
        assert_eq!(usize::from(way.rung), at + 1, "the table is in order");
        refused(&running, &seen, &Draft::broken(&[way]), way.rung, way.what);
        if way.rung < 23 {
            running.until(way.what, |counters| counters.rejected.get(at) == Some(&1));
        }
    }
}

/// [PREC-01] observers see every refusal with its rung, those by the head of a request alone included.
#[test]
fn observers_see_every_rung() {
    let seen = Seen::default();
    let answers = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&answers);
    let running = serve(server(&seen).observe(move |answered| {
        noted.lock().expect("no panic inside").push((answered.rung, answered.status));
    }));
    for way in &COURSE {
        let answer = running.send_raw(&Draft::broken(&[way]).bytes());
        // What a handler answers, the last two rungs, is no refusal.
        let rung = (way.rung < 23).then_some(way.rung);
        let last = answers.lock().expect("no panic inside").pop();
        assert_eq!(last, Some((rung, answer.status)), "{}", way.what);
    }
    let mut elsewhere = Draft::new();
    elsewhere.request.path = "/other".into();
    assert_eq!(running.send_raw(&elsewhere.bytes()).status, 404);
    assert_eq!(*answers.lock().expect("no panic inside"), [(None, 404)]);
}

/// [PREC-01] [PREC-02] [SEC-12] every two rungs broken at once: the lower one answers, no handler runs. All 276 pairs, but for
/// those that cannot be.
#[test]
fn the_lower_of_two_rungs_answers() {
    let seen = Seen::default();
    let running = serve(server(&seen));
    let impossible: HashSet<_> = IMPOSSIBLE.iter().map(|(low, high, _)| (*low, *high)).collect();
    let mut tried = 0;
    for low in &COURSE {
        for high in COURSE.iter().filter(|high| high.rung > low.rung) {
            if impossible.contains(&(low.rung, high.rung)) {
                continue;
            }
            let what = format!("{} {} and {} {}", low.rung, low.what, high.rung, high.what);
            refused(&running, &seen, &Draft::broken(&[low, high]), low.rung, &what);
            tried += 1;
        }
    }
    assert_eq!(tried, 276 - IMPOSSIBLE.len());
}

/// [PREC-01] a request broken at every rung it can be broken at climbs one rung each time one fault is mended.
#[test]
fn mending_climbs_rung_by_rung() {
    let seen = Seen::default();
    let running = serve(server(&seen));
    // The rungs of a call whose faults combine, without those that exclude another one of the list.
    let rungs = [1, 2, 3, 4, 5, 6, 7, 9, 10, 13, 14, 15, 18, 19, 20, 21, 23, 24];
    for at in 0..rungs.len() {
        let ways: Vec<&Way> = rungs[at..].iter().map(|rung| &COURSE[rung - 1]).collect();
        let what = format!("all from {} up", ways[0].rung);
        refused(&running, &seen, &Draft::broken(&ways), ways[0].rung, &what);
    }
}

/// [HTTP-17] [PREC-01] a kept connection serves the next request after a refusal, whatever was refused and however
/// much of its body was read; a body that is too large to skip ends it.
#[test]
fn a_connection_survives_its_refusals() {
    let seen = Seen::default();
    let running = serve(server(&seen));
    let mut stream = running.connect();
    for way in &COURSE {
        support_write(&mut stream, &Draft::broken(&[way]).bytes());
        let answer = read_answer(&mut stream).expect("an answer");
        ANSWERS[usize::from(way.rung) - 1].check(&answer, way.what);
        let closes = answer.header("connection") == Some("close");
        assert_eq!(closes, way.rung == 5, "{}", way.what);
        if closes {
            assert!(read_answer(&mut stream).is_none(), "closed after {}", way.what);
            stream = running.connect();
        }
        support_write(&mut stream, &Draft::new().bytes());
        let next = read_answer(&mut stream).expect("the next answer");
        assert_eq!(next.text(), "through", "after {}", way.what);
    }
}

/// [PREC-01] the same, with all requests sent ahead in one write: answers come in the order of the requests.
#[test]
fn refusals_keep_their_place_in_a_pipeline() {
    let seen = Seen::default();
    let running = serve(server(&seen));
    let mut bytes = Vec::new();
    let ways: Vec<&Way> = COURSE.iter().filter(|way| way.rung != 5).collect();
    for way in &ways {
        bytes.extend(Draft::broken(&[way]).bytes());
        bytes.extend(Draft::new().bytes());
    }
    let mut stream = running.connect();
    support_write(&mut stream, &bytes);
    for way in ways {
        let answer = read_answer(&mut stream).expect("an answer");
        ANSWERS[usize::from(way.rung) - 1].check(&answer, way.what);
        assert_eq!(read_answer(&mut stream).expect("an answer").text(), "through");
    }
}

/// Further ways to fail one rung, beside those of the course.
const MORE: [Way; 41] = [
    more(1, |draft| draft.header("Origin", "http://evil.example")),
    more(1, |draft| draft.header("Origin", "null")),
    more(1, |draft| draft.header("Origin", "http://localhost.evil.example")),
    more(1, |draft| draft.header("Host", "127.0.0.1.evil.example")),
    more(2, |draft| draft.request.http_method = "GET".into()),
    more(2, |draft| draft.request.http_method = "DELETE".into()),
    more(2, |draft| draft.request.http_method = "PATCH".into()),
    more(2, |draft| draft.request.http_method = "OPTIONS".into()),
    more(2, |draft| draft.request.http_method = "post".into()),
    more(3, |draft| draft.header("Authorization", "Bearer none")),
    more(3, |draft| draft.header("Authorization", "")),
    more(4, |draft| draft.without_header("Content-Type")),
    more(4, |draft| draft.header("Content-Type", "application/jsonp")),
    more(4, |draft| draft.header("Content-Type", "application/json; charset=latin1")),
    more(7, |draft| draft.request.message["params"] = json!([])),
    more(7, |draft| draft.request.message["params"] = json!("x")),
    more(7, |draft| draft.request.message["params"] = Value::Null),
    more(7, |draft| draft.request.message["method"] = json!(7)),
    more(8, |draft| draft.request.message["params"]["_meta"] = json!({})),
    more(8, |draft| draft.request.message["params"]["_meta"] = json!([])),
    more(9, |draft| draft.meta("io.modelcontextprotocol/protocolVersion", Value::Null)),
    more(9, |draft| draft.meta("io.modelcontextprotocol/protocolVersion", json!({}))),
    more(10, |draft| draft.header("MCP-Protocol-Version", "v999.0.0")),
    more(10, |draft| draft.header("MCP-Protocol-Version", "")),
    more(13, |draft| draft.meta("io.modelcontextprotocol/clientCapabilities", Value::Null)),
    more(13, |draft| draft.meta("io.modelcontextprotocol/clientInfo", json!({ "name": 1 }))),
    more(13, |draft| draft.meta("io.modelcontextprotocol/clientInfo", json!("me"))),
    more(13, |draft| draft.meta(LL, json!("verbose"))),
    more(13, |draft| draft.meta(LL, json!(3))),
    more(13, |draft| draft.meta("progressToken", json!(1.5))),
    more(13, |draft| draft.meta("progressToken", json!({}))),
    more(14, |draft| draft.without_header("Mcp-Method")),
    more(14, |draft| draft.header("Mcp-Method", "TOOLS/CALL")),
    more(15, |draft| draft.without_header("Mcp-Name")),
    more(15, |draft| draft.header("Mcp-Name", "Course")),
    more(15, |draft| draft.header("Mcp-Name", "=?base64?Y291cnN?=")),
    more(18, |draft| draft.request.message["params"]["name"] = json!(5)),
    more(18, |draft| draft.request.message["params"]["arguments"] = json!([])),
    more(18, |draft| draft.request.message["params"]["requestState"] = json!(5)),
    more(19, |draft| draft.without_header("Mcp-Param-Region")),
    more(20, |draft| draft.header("Authorization", "Bearer scopeless")),
];

const fn more(rung: u8, apply: fn(&mut Draft)) -> Way {
    Way { rung, what: "", apply }
}

/// [PREC-01] [PREC-02] [HTTP-02] [HTTP-03] [HTTP-12] [HTTP-15] [RPC-12] [ENV-03] [ENV-04] [ENV-05] [ENV-06] [HDR-10]
/// [HDR-11] [CALL-01] [AUTH-12] further ways to fail a rung have the rung's status and code, and run nothing.
#[test]
fn further_ways_to_fail_a_rung() {
    let seen = Seen::default();
    let running = serve(server(&seen));
    for (at, way) in MORE.iter().enumerate() {
        let expected = &ANSWERS[usize::from(way.rung) - 1];
        let answer = running.send_raw(&Draft::broken(&[way]).bytes());
        let body: Value = serde_json::from_slice(&answer.body).expect("JSON");
        let what = format!("way {at} to fail rung {}: {body}", way.rung);
        assert_eq!(answer.status, expected.status, "{what}");
        assert_eq!(body["error"]["code"].as_i64(), expected.code, "{what}");
        assert_eq!(body.get("id"), expected.id.then(|| json!(ID)).as_ref(), "{what}");
        if let Some((name, _)) = expected.header {
            assert!(answer.header(name).is_some(), "{what}");
        }
        assert_eq!(seen.counts().1, 0, "{what}: a handler ran");
    }
}

/// [HTTP-12] an answer to HEAD has a head alone: the next answer on the connection stands where it should.
#[test]
fn head_has_no_body() {
    let seen = Seen::default();
    let running = serve(server(&seen));
    let mut draft = Draft::new();
    draft.request.http_method = "HEAD".into();
    let mut stream = running.connect();
    support_write(&mut stream, &draft.bytes());
    support_write(&mut stream, &Draft::new().bytes());
    let mut heads = Vec::new();
    let mut byte = [0];
    while !heads.ends_with(b"\r\n\r\n") {
        std::io::Read::read_exact(&mut stream, &mut byte).expect("a head");
        heads.push(byte[0]);
    }
    let head = String::from_utf8(heads).expect("ASCII");
    assert!(head.starts_with("HTTP/1.1 405 ") && head.contains("Allow: POST\r\n"), "{head}");
    assert_eq!(read_answer(&mut stream).expect("the next answer").text(), "through");
}
