//! Framing of answers: every cut of the bytes gives the same answers, and what is no answer is refused.

use proptest::prelude::*;

use super::*;

const JSON: Head = Head { status: 200, form: Form::Json, keep_alive: true };

/// The answers in `bytes` when they arrive in pieces that end at `cuts`: status and body of each, then the fault.
fn read_all(bytes: &[u8], cuts: &[usize], ended: bool) -> (Vec<(Head, Vec<u8>)>, Option<Kind>) {
    let mut reader = Reader::default();
    let (mut found, mut start) = (Vec::new(), 0);
    let ends: Vec<usize> = cuts.iter().copied().chain([bytes.len()]).collect();
    for (piece, end) in ends.iter().copied().enumerate() {
        let last = ended && piece + 1 == ends.len();
        loop {
            if last && start == bytes.len() && !found.is_empty() {
                break;
            }
            match reader.read(&bytes[start..end], last) {
                Ok(Some(answer)) => {
                    found.push((answer.head, answer.body.to_vec()));
                    start += answer.len;
                }
                Ok(None) => break,
                Err(fault) => return (found, Some(fault.kind)),
            }
        }
    }
    (found, None)
}

const PIPELINED: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\n\
    content-length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n\
    6;x=y\r\ndata: \r\n4\r\n{}\n\n\r\n0\r\nT: 1\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n\
    HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{\"a\":1}";

fn pipelined() -> Vec<(Head, Vec<u8>)> {
    vec![
        (JSON, b"{}".to_vec()),
        (Head { form: Form::Events, ..JSON }, b"data: {}\n\n".to_vec()),
        (Head { status: 204, form: Form::Other, keep_alive: true }, Vec::new()),
        (Head { keep_alive: false, ..JSON }, b"{\"a\":1}".to_vec()),
    ]
}

/// All framings in one stream, interim answers skipped, whole and cut at every byte.
#[test]
fn every_cut() {
    for cut in 0..=PIPELINED.len() {
        assert_eq!(read_all(PIPELINED, &[cut], true), (pipelined(), None), "cut at {cut}");
    }
}

/// An end too early is told from an end before the beginning.
#[test]
fn ends() {
    for (bytes, kind) in [
        (&b""[..], Kind::Closed),
        (b"HTTP/1.1 200", Kind::Truncated),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{", Kind::Truncated),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", Kind::Truncated),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", Kind::Truncated),
    ] {
        assert_eq!(read_all(bytes, &[], true), (vec![], Some(kind)), "{}", bytes.escape_ascii());
        assert_eq!(read_all(bytes, &[], false), (vec![], None), "{}", bytes.escape_ascii());
    }
}

/// What has no certain end is not guessed at.
#[test]
fn refused() {
    let head = |lines: &str| format!("HTTP/1.1 200 OK\r\n{lines}\r\n");
    for bytes in [
        "SSH-2.0-x\r\n".to_owned(),
        head("Content-Length: 2\r\nContent-Length: 2\r\n"),
        head("Content-Length: +2\r\n"),
        head("Content-Length: 99999999999999999999\r\n"),
        head("Content-Length: 67108865\r\n"),
        head("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n"),
        head("Transfer-Encoding: gzip\r\n"),
        head("Transfer-Encoding: chunked\r\n") + "x\r\n",
        head("Transfer-Encoding: chunked\r\n") + "1\r\nab\r\n",
        head("Transfer-Encoding: chunked\r\n") + "4000001\r\n",
        head(&format!("X: {}\r\n", "x".repeat(HEAD_BYTES_MAX)))[..HEAD_BYTES_MAX + 10].to_owned(),
    ] {
        let (found, fault) = read_all(bytes.as_bytes(), &[], false);
        assert_eq!((found.len(), fault), (0, Some(Kind::Http)), "{:.80}", bytes);
    }
}

proptest! {
    /// Any bytes, however cut, are read as when they come at once, without a panic.
    #[test]
    fn any_bytes(tail in prop::collection::vec(any::<u8>(), 0..64), keep in 0..PIPELINED.len(), cuts in prop::collection::vec(0usize..400, 0..5)) {
        let bytes = [&PIPELINED[..keep], &tail].concat();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.sort_unstable();
        prop_assert_eq!(read_all(&bytes, &cuts, true), read_all(&bytes, &[], true));
    }
}
